#include "cli/option_table.h"
#include "core/command.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace lauka::cli {

namespace {

using WordSpan = std::span<const std::string>;

struct OtherTool {
  std::string_view option;
  std::string_view instead;
};

/// Options of hyperfine, poop, perf stat and time that lauka does not have.
constexpr auto kOtherTools = std::to_array<OtherTool>({
    {"--min-time", "use --duration, the time for each command"},
    {"--show-progress", "leave it out: a terminal shows progress, --no-progress turns it off"},
    {"--no-shell", "leave it out: commands are run without a shell unless -S is given"},
    {"--repeat", "use --runs N"},
    {"--iterations", "use --runs N"},
    {"--events", "use --event EVENT,..."},
    {"--debug-mode", "leave it out: lauka measures every command that it is given"},
    {"--allow-failures", "use --ignore-failure"},
    {"-f", "use --ignore-failure"},
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
    {"--null", "leave it out: output goes to /dev/null unless --output changes that"},
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
  return find_typed_option(word) != nullptr;
}

/// Refuses "-L n -r 3": -r would be the only value, and 3 a command.
std::optional<Error> option_as_value(WordSpan words, std::size_t at) {
  const std::string& word = words[at];
  const OptionInfo* option = find_typed_option(word);
  const std::size_t wanted =
      option == nullptr || word.find('=') != std::string::npos ? 0 : words_taken_by(*option);
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

bool is_short_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '-';
}

/// One word of options: "-iqr10", "--runs=10".
struct OptionWord {
  std::vector<const OptionInfo*> options{};  ///< up to the first that is unknown
  std::size_t words_after = 0;               ///< taken as values
  bool is_whole = true;                      ///< all are known, and none has a value
};

OptionWord read_option_word(std::string_view word) {
  OptionWord read;
  bool has_value = word.find('=') != std::string_view::npos;
  if (word.starts_with("--")) {
    read.options = {find_option(word.substr(2, word.find('=') - 2))};
  } else {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const OptionInfo* option = find_option(word[i]);
      read.options.push_back(option);
      has_value = option != nullptr && begins_value(*option, word.substr(i + 1));
      if (option == nullptr || has_value) break;
    }
  }
  const OptionInfo* last = read.options.back();
  if (last == nullptr) read.options.pop_back();
  if (last != nullptr && !has_value)
    read.words_after = last->takes == Takes::Value ? 1 : words_taken_by(*last);
  read.is_whole = last != nullptr && !has_value && read.words_after == 0;
  return read;
}

/// True if lauka would not measure but run the word after the option as a hook, or answer a
/// question.
bool is_harmful(const OptionInfo* option) {
  return option->name == "list-events" ||
         std::ranges::find(kHookKinds, option->name, &HookRow::name) != std::end(kHookKinds);
}

/// Finds the first harmful option of those directly after a command.
const OptionInfo* harmful_option(WordSpan after) {
  for (const std::string& word : after) {
    if (!is_short_option(word)) break;
    const OptionWord read = read_option_word(word);
    const auto found = std::ranges::find_if(read.options, is_harmful);
    if (found != read.options.end()) return *found;
    if (!read.is_whole) break;
  }
  return nullptr;
}

/// Returns the command in quotes, as typed in a shell: 'gcc -O2', "bash -c 'echo hi'".
std::string quoted_command(WordSpan words) {
  const std::string text = shell_quoted(words);
  if (text.find('\'') == std::string::npos) return cited(text);
  const bool is_plain = text.find_first_of("\"\\$`!") == std::string::npos;
  return is_plain ? '"' + one_line(text) + '"' : one_line(shell_quoted(text));
}

/// Describes the command at the beginning of `words`; it ends at the first long option of lauka's.
Forgotten forgotten_in(WordSpan words) {
  const auto ends = [](const std::string& word) { return word == "--" || is_option(word); };
  const auto end = std::ranges::find_if(
      words, [&](const std::string& word) { return word.starts_with("--") && ends(word); });
  const std::string line =
      quoted_command(words.first(static_cast<std::size_t>(end - words.begin())));
  const std::string program = cited(words[0]);
  const OptionWord read = read_option_word(words[1]);
  Forgotten found;
  if (const OptionInfo* harmful = harmful_option(words.subspan(1)); harmful != nullptr)
    found.refusal = Error{fmt::format("'-{}' after {} would be lauka's --{}", harmful->letter,
                                      program, harmful->name),
                          fmt::format("quote the command: {}, or put options first", line)};
  const std::string option = cited(words[1].substr(0, words[1].find('=')));
  found.quotes = {
      .line = line,
      .tip = fmt::format("if {} belongs to {}, quote the command: {}", option, program, line)};
  // An accepted number or time is no accident; any text can be a name.
  const bool is_taken_for_any =
      !read.options.empty() && (read.is_whole || read.options.back()->value == "NAME");
  if (is_taken_for_any)
    found.quotes.note =
        fmt::format("{} after {} is lauka's {}; {}", option, program,
                    read.options.front()->name.empty() ? read.options.front()->usage()
                                                       : read.options.front()->spelling(),
                    found.quotes.tip);
  return found;
}

/// Refuses "-L n 1 2 3": 2 and 3 would be commands.
std::optional<Error> separate_values(WordSpan words, std::size_t at) {
  if (words[at] != "-L" && words[at] != "--parameter-list") return std::nullopt;
  const WordSpan values = words.subspan(std::min(at + 2, words.size()));
  const auto end = std::ranges::find_if_not(
      values, [](const std::string& value) { return looks_like_number(value); });
  if (end - values.begin() < 2) return std::nullopt;
  std::string joined;
  for (auto value = values.begin(); value != end; ++value)
    joined += (joined.empty() ? "" : ",") + *value;
  return Error{fmt::format("{} after {} would be a command", cited(values[1]), cited(values[0])),
               fmt::format("write {} {} {}", words[at], words[at + 1], joined)};
}

}  // namespace

std::optional<Forgotten> forgotten_quotes(WordSpan words) {
  const auto asks = [](const OptionInfo* option) { return option->traits.scope == Scope::Call; };
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    if (words[i].size() > 1 && words[i][0] == '-') {
      const OptionWord read = read_option_word(words[i]);
      if (std::ranges::any_of(read.options, asks)) return std::nullopt;
      i += read.words_after;
    } else if (is_single_word(words[i]) && is_short_option(words[i + 1])) {
      return forgotten_in(words.subspan(i));
    }
  }
  return std::nullopt;
}

bool looks_like_number(std::string_view word, std::string_view more) {
  constexpr std::string_view digits = "0123456789";
  return word.find_first_of(digits) != std::string_view::npos &&
         word.find_first_not_of("+-.0123456789" + std::string(more)) == std::string_view::npos;
}

std::string_view lauka_word_for(std::string_view option) {
  const auto found = std::ranges::find(kOtherTools, option, &OtherTool::option);
  return found == kOtherTools.end() ? std::string_view{} : found->instead;
}

std::optional<Error> likely_slip(WordSpan words) {
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    if (words[i] == "-S" && is_shell(words[i + 1]))
      return Error{
          fmt::format("-S takes no shell, so {} would be taken for a command", cited(words[i + 1])),
          "write --shell " + words[i + 1]};
    if (auto slip = option_as_value(words, i)) return slip;
    if (auto slip = separate_values(words, i)) return slip;
  }
  return std::nullopt;
}

}  // namespace lauka::cli
