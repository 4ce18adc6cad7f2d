#include "report/ending.h"

#include "report/describe.h"

#include <sstream>
#include <string_view>
#include <variant>

#include <fmt/format.h>

namespace lauka::report {
namespace {

std::string indented(const std::string& text) {
  std::string lines;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) lines += "  | " + line + "\n";
  return lines;
}

/// -i goes on after a run that ended by itself or was killed, not after one that never began or
/// would never end.
bool could_be_ignored(const Outcome& outcome) {
  return std::holds_alternative<Exited>(outcome) || std::holds_alternative<Signalled>(outcome) ||
         std::holds_alternative<TimedOut>(outcome);
}

std::string_view kind_of(const RunFailed& failed) {
  if (failed.simulated) return "simulated ";
  return failed.step.warmup ? "warm-up " : "";
}

struct Teller {
  const std::vector<std::string>& names;

  std::string operator()(const RunFailed& failed) const {
    return fmt::format(
        "lauka: {}run {} of '{}' {}{}{}\n{}", kind_of(failed), failed.step.round + 1,
        names.at(failed.step.command), describe(failed.outcome),
        failed.simulated ? " under Valgrind; try it without --engine cachegrind" : "",
        could_be_ignored(failed.outcome) ? "; -i goes on all the same" : "",
        indented(failed.error_output_end));
  }

  std::string operator()(const Interrupted& interrupted) const {
    return fmt::format("lauka: interrupted by {}\n", signal_name(interrupted.signal));
  }

  std::string operator()(const Error& error) const {
    return fmt::format("lauka: {}\n", error.line());
  }
};

}  // namespace

std::string ending_lines(const CutShort& why, const std::vector<std::string>& names) {
  return std::visit(Teller{names}, why);
}

}  // namespace lauka::report
