#include "cli/elsewhere.h"

#include "cli/option_table.h"
#include "core/foreign_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <fmt/format.h>

namespace lauka::cli {

namespace {

struct Elsewhere {
  std::string_view option;
  std::string_view instead;
};

/// Of hyperfine, poop, perf stat and time. What lauka has by the same name is not here.
constexpr auto kElsewhere = std::to_array<Elsewhere>({
    {"--style", "use --color never, --no-progress or --quiet"},
    {"--min-benchmarking-time", "use --duration, the time for each command"},
    {"--min-time", "use --duration, the time for each command"},
    {"--export-asciidoc", "use --export-markdown, or --export-csv for other formats"},
    {"--export-orgmode", "use --export-markdown, or --export-csv for other formats"},
    {"--show-progress", "leave it out: a terminal shows progress, --no-progress turns it off"},
    {"--no-shell", "leave it out: commands are run without a shell unless -S is given"},
    {"--repeat", "use --runs N"},
    {"--iterations", "use --runs N"},
    {"--events", "use --event EVENT,..."},
    {"--names", "use --command-name NAME, once per command"},
    {"--name", "use --command-name NAME, once per command"},
    {"--range", "use --parameter-scan VAR MIN MAX"},
    {"--compare", "use --baseline FILE for earlier results, or give all commands at once"},
    {"--json", "use --export-json FILE, or - for standard output"},
    {"--csv", "use --export-csv FILE, or - for standard output"},
    {"--markdown", "use --export-markdown FILE, or - for standard output"},
    {"--html", "use --export-html FILE"},
    {"--threshold", "use --fail-if-slower=PCT"},
    {"--time", "use --duration TIME"},
    {"--detailed", "use --verbose"},
    {"--null", "leave it out: output goes to /dev/null unless --output says otherwise"},
    {"-a", "leave it out: the program alone is counted, not the whole machine"},
    {"-o", "use --export-json FILE, --export-csv FILE or another --export-..."},
    {"-x", "use --export-csv FILE"},
    {"-t", "use --duration TIME, or --timeout TIME to kill runs that take longer"},
    {"-b", "use --baseline FILE"},
});

bool is_shell(std::string_view word) {
  const std::string_view program = word.substr(word.rfind('/') + 1);
  constexpr auto shells = std::to_array<std::string_view>(
      {"sh", "bash", "zsh", "fish", "dash", "ksh", "nu", "default", "none"});
  return std::ranges::find(shells, program) != shells.end();
}

bool is_option(std::string_view word) {
  if (word.starts_with("--")) return find_option(word.substr(2, word.find('=') - 2)) != nullptr;
  return word.size() == 2 && word.front() == '-' && find_option(word.back()) != nullptr;
}

/// "-L n -r 3": -r would be the only value, and 3 a command.
std::optional<Error> option_as_value(const std::vector<std::string>& words, std::size_t at) {
  const std::string& word = words[at];
  const OptionInfo* option = word.starts_with("--") ? find_option(std::string_view(word).substr(2))
                             : is_option(word)      ? find_option(word.back())
                                                    : nullptr;
  const std::size_t wanted = option == nullptr                    ? 0
                             : option->takes == Takes::TwoWords   ? 2
                             : option->takes == Takes::ThreeWords ? 3
                                                                  : 0;
  for (std::size_t i = 1; i <= wanted && at + i < words.size(); ++i) {
    if (!is_option(words[at + i])) continue;
    return Error{fmt::format("{} lacks a value: {} after it is an option", option->spelling(),
                             cited(words[at + i])),
                 "write " + option->usage()};
  }
  return std::nullopt;
}

bool is_single_word(const std::string& word) {
  return !word.empty() && word.front() != '-' && word.find_first_of(" \t\n") == std::string::npos;
}

}  // namespace

std::string_view instead_of(std::string_view option) {
  const auto found =
      std::ranges::find_if(kElsewhere, [&](const Elsewhere& one) { return one.option == option; });
  return found == kElsewhere.end() ? std::string_view{} : found->instead;
}

std::optional<Error> likely_slip(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    if (words[i] == "-S" && is_shell(words[i + 1])) {
      return Error{
          fmt::format("-S takes no shell, so {} would be taken for a command", cited(words[i + 1])),
          "write --shell " + words[i + 1]};
    }
    if (auto slip = option_as_value(words, i)) return slip;
  }
  return std::nullopt;
}

std::string quoting_hint(const std::vector<std::string>& words, std::string_view spelled) {
  const auto option = std::ranges::find_if(
      words, [&](const std::string& word) { return word.substr(0, word.find('=')) == spelled; });
  if (option == words.end() || option == words.begin() || !is_single_word(*(option - 1))) return "";
  // What stands before the command might take it for its value.
  if (option - 1 != words.begin() && (option - 2)->starts_with("-")) return "";
  return fmt::format("if it belongs to the command, quote them together: {}",
                     cited(*(option - 1) + " " + *option));
}

}  // namespace lauka::cli
