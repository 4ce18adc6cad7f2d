#include "cli/describe.h"

#include <array>

namespace lauka::cli {

namespace {

constexpr std::array<std::string_view, 1> kDescription = {
    "Each COMMAND is one argument, split into words as a shell does and run without one. The first "
    "is the reference; each later one is shown with its difference from it. After -- everything is "
    "a command."};

constexpr auto kExamples = std::to_array<std::string_view>({
    "lauka 'sleep 0.1' 'sleep 0.12'",
    "lauka -r 20 -n short -n long -- 'ls /' 'ls -l /'",
    "lauka -d 1s -S 'ls / | sort' 'ls / | sort -r'",
    "lauka -r 10 --fail-if-slower=50 --reference 'sleep 0.1' 'sleep 0.11'",
    "lauka -qr 10 --metrics all --export-csv - true",
});

constexpr auto kStatuses = std::to_array<StatusMeaning>({
    {"0", "done, gates passed or inconclusive"},
    {"1", "a command failed, or it could not be measured"},
    {"2", "the command line cannot be understood, nothing was run"},
    {"3", "a gate failed"},
    {"4", "a gate was inconclusive, under --fail-if-inconclusive (or the status it names)"},
    {"128+N", "ended by signal N"},
});

constexpr auto kVariables = std::to_array<VariableMeaning>({
    {"NO_COLOR", "set to anything: no colour where --color is auto, and no progress bar"},
    {"CLICOLOR_FORCE", "set to anything but 0: colour also where it is not a terminal"},
    {"LAUKA_ITERATION", "set for --prepare and --conclude: the run that they belong to"},
    {"LAUKA_METRICS",
     "set for each run: a file to which it may append lines NAME VALUE [UNIT] "
     "[higher|lower] [sum|mean|last], each a metric"},
    {"PATH", "where commands without a slash are looked for"},
    {"TMPDIR",
     "where the files of LAUKA_METRICS and of --engine cachegrind are kept meanwhile (default "
     "/dev/shm, else /tmp)"},
});

}  // namespace

std::string_view purpose() {
  return "compares the performance of commands";
}

std::span<const std::string_view> description() {
  return kDescription;
}

std::span<const std::string_view> examples() {
  return kExamples;
}

std::span<const StatusMeaning> exit_statuses() {
  return kStatuses;
}

std::span<const VariableMeaning> variables() {
  return kVariables;
}

std::string_view release_date() {
  return "2026-11-22";
}

std::string_view version() {
  return LAUKA_VERSION;
}

std::string version_line() {
  return "lauka " + std::string(version()) + "\n";
}

}  // namespace lauka::cli
