#include "cli/parse.h"

#include "cli/option_table.h"
#include "cli/settle.h"
#include "core/command.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::cli {

namespace {

using WordSpan = std::span<const std::string>;

/// Options that users know from other tools, and what to write instead.
constexpr auto kOptionsOfOtherTools = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"--min-time", "use --duration TIME, which is the time for each command"},
    {"--show-progress",
     "leave it out, because lauka shows progress on a terminal unless --no-progress is given"},
    {"--no-shell", "leave it out, because lauka uses no shell unless -S is given"},
    {"--repeat", "use --runs N"},
    {"--iterations", "use --runs N"},
    {"--events", "use --event EVENT,..."},
    {"--debug-mode", "leave it out, because lauka measures every command that you give"},
    {"--allow-failures", "use --ignore-failure"},
    {"-f", "use --ignore-failure"},
    {"--names", "use --command-name NAME, once per command"},
    {"--name", "use --command-name NAME, once per command"},
    {"--range", "use --parameter-scan VAR MIN MAX"},
    {"--compare", "use --baseline FILE for earlier results, or give all commands in one call"},
    {"--json", "use --export-json FILE, or - for standard output"},
    {"--csv", "use --export-csv FILE, or - for standard output"},
    {"--markdown", "use --export-markdown FILE, or - for standard output"},
    {"--html", "use --export-html FILE"},
    {"--threshold", "use --fail-if-slower=PCT"},
    {"--time", "use --duration TIME"},
    {"--detailed", "use --verbose"},
    {"--null", "leave it out, because output goes to /dev/null unless you give --output"},
    {"-a", "leave it out, because lauka counts the program alone, not the whole machine"},
    {"-o", "use --export-json FILE, --export-csv FILE or another option that begins with --export"},
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

/// Finds the option in "--runs", "--runs=10" or "-r"; null for any other word, such as "-r10".
const OptionInfo* find_typed_option(std::string_view word) {
  if (word.starts_with("--")) return find_option(word.substr(2, word.find('=') - 2));
  return word.size() == 2 && word.front() == '-' ? find_option(word.back()) : nullptr;
}

/// Refuses "-L n -r 3", in which -r would be the value of n, and 3 a command.
std::optional<Error> refuse_option_as_value(WordSpan words, std::size_t at) {
  const std::string& word = words[at];
  const OptionInfo* option = find_typed_option(word);
  const std::size_t wanted = option == nullptr || word.find('=') != std::string::npos
                                 ? 0
                                 : count_words_if_several(*option);
  for (std::size_t i = 1; i <= wanted && at + i < words.size(); ++i)
    if (find_typed_option(words[at + i]) != nullptr)
      return Error{fmt::format("{} needs a value, but the word after it, {}, is an option",
                               option->spelling(), cited(words[at + i])),
                   "write " + option->usage()};
  return std::nullopt;
}

bool is_single_word(const std::string& word) {
  return !word.empty() && word.front() != '-' && word.find_first_of(" \t\n") == std::string::npos;
}

bool is_short_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '-';
}

/// One word of the command line with its options: "--runs=10", "-qr10".
struct OptionWord {
  std::vector<const OptionInfo*> options{};  ///< several if their letters share a dash
  std::optional<std::string_view> value{};   ///< value of the last option, if it is in the word
  std::optional<char> unknown{};             ///< first letter that is no option
  std::size_t words_after = 0;               ///< number of words that follow as its value

  /// True if lauka knows all options of the word, which neither has a value nor needs one after it.
  bool is_whole() const { return !value && !unknown && words_after == 0; }
};

/// True if `rest`, the text after the letter of `option` in a word such as -r10, belongs to the
/// option's value.
bool begins_value(const OptionInfo& option, std::string_view rest) {
  if (rest.empty() || option.value_form == ValueForm::Nothing) return false;
  return option.value_form != ValueForm::OptionalNumber || rest.front() == '=' ||
         is_digit(rest.front());
}

void read_letters(std::string_view letters, OptionWord& read) {
  while (!letters.empty() && !read.value) {
    const OptionInfo* option = find_option(letters.front());
    if (option == nullptr) {
      read.unknown = letters.front();
      return;
    }
    read.options.push_back(option);
    letters.remove_prefix(1);
    if (begins_value(*option, letters)) read.value = letters.substr(letters.front() == '=' ? 1 : 0);
  }
}

OptionWord read_option_word(std::string_view word) {
  OptionWord read;
  if (!word.starts_with("--")) {
    read_letters(word.substr(1), read);
  } else if (const OptionInfo* option = find_option(word.substr(2, word.find('=') - 2))) {
    read.options = {option};
    if (word.find('=') != std::string_view::npos) read.value = word.substr(word.find('=') + 1);
  }
  if (read.options.empty() || read.value || read.unknown) return read;
  const OptionInfo& last = *read.options.back();
  read.words_after = last.value_form == ValueForm::Value ? 1 : count_words_if_several(last);
  return read;
}

/// Returns the first option that runs its value as a hook, or lists events instead of measuring.
const OptionInfo* find_harmful_option(WordSpan after) {
  const auto is_harmful = [](const OptionInfo* option) {
    return option->name == "list-events" ||
           std::ranges::find(kHookKinds, option->name, &HookRow::name) != std::end(kHookKinds);
  };
  for (const std::string& word : after) {
    if (!is_short_option(word)) break;
    const OptionWord read = read_option_word(word);
    const auto found = std::ranges::find_if(read.options, is_harmful);
    if (found != read.options.end()) return *found;
    if (!read.is_whole()) break;
  }
  return nullptr;
}

/// Returns the words as one argument, as a message shows them and a shell reads them.
std::string quote_command(WordSpan words) {
  const std::string text = shell_quoted(words);
  if (text.find('\'') == std::string::npos) return cited(text);
  const bool is_plain = text.find_first_of("\"\\$`!") == std::string::npos;
  return is_plain ? '"' + one_line(text) + '"' : one_line(shell_quoted(text));
}

/// A command whose quotes were probably forgotten: a word, and then a word that begins with a dash,
/// as in "lauka sort -r f".
struct ForgottenQuotes {
  UnquotedCommand unquoted;
  std::optional<Error> refusal;  ///< set if reading the command's option as lauka's would do harm
  std::size_t words_before_dash = 0;  ///< number of words up to the command's first word
};

/// Returns the words before the first one that is certainly meant for lauka.
WordSpan find_words_of_command(WordSpan words) {
  const auto is_for_lauka = [](const std::string& word) {
    return word == "--" || (word.starts_with("--") && find_typed_option(word) != nullptr);
  };
  const auto end = std::ranges::find_if(words, is_for_lauka);
  return words.first(static_cast<std::size_t>(end - words.begin()));
}

/// Returns an error if lauka would run a word of the command as a hook, or would list events
/// instead of measuring.
std::optional<Error> refuse_if_option_is_harmful(WordSpan words,
                                                 const std::string& quoted_command) {
  const OptionInfo* harmful = find_harmful_option(words.subspan(1));
  if (harmful == nullptr) return std::nullopt;
  return Error{
      fmt::format("'-{}' after {} would be read as lauka's option --{}", harmful->letter,
                  cited(words[0]), harmful->name),
      fmt::format("quote the command as {}, or put lauka's options first", quoted_command)};
}

/// True if lauka can read the option after a command's first word, but it may still be the
/// program's. An option with a valid number was probably meant for lauka, but any text is a valid
/// NAME.
bool may_be_programs_option(const OptionWord& dash_word) {
  return !dash_word.options.empty() &&
         (dash_word.is_whole() || dash_word.options.back()->value_placeholder == "NAME");
}

/// Describes the slip in "lauka sort -r f", in which lauka reads -r as its own option, but the user
/// may have meant the command 'sort -r f'. `words` begin with the command's first word and a word
/// with a dash: "sort -r f".
ForgottenQuotes describe_forgotten_quotes(WordSpan words) {
  const std::string program = cited(words[0]);
  const std::string& dash_word = words[1];
  const std::string typed_option = cited(dash_word.substr(0, dash_word.find('=')));
  const std::string quoted_command = quote_command(find_words_of_command(words));

  ForgottenQuotes forgotten;
  forgotten.refusal = refuse_if_option_is_harmful(words, quoted_command);

  // The tip is added to any error in these words.
  const std::string tip = fmt::format("if {} belongs to {}, quote the command as {}", typed_option,
                                      program, quoted_command);
  forgotten.unquoted = {.quoted_line = quoted_command, .tip = tip};

  // The note is shown if there is no error.
  const OptionWord as_read = read_option_word(dash_word);
  if (may_be_programs_option(as_read))
    forgotten.unquoted.note =
        fmt::format("{} after {} was read as lauka's option {}; {}", typed_option, program,
                    as_read.options.front()->spelling(), tip);

  return forgotten;
}

/// `more`: further characters that the number may have.
bool looks_like_number(std::string_view word, std::string_view more = {}) {
  constexpr std::string_view digits = "0123456789";
  return word.find_first_of(digits) != std::string_view::npos &&
         word.find_first_not_of("+-.0123456789" + std::string(more)) == std::string_view::npos;
}

/// Refuses "-L n 1 2 3", in which 2 and 3 would be commands.
std::optional<Error> refuse_separate_values(WordSpan words, std::size_t at) {
  if (words[at] != "-L" && words[at] != "--parameter-list") return std::nullopt;
  const WordSpan values = words.subspan(std::min(at + 2, words.size()));
  const auto end = std::ranges::find_if_not(
      values, [](const std::string& value) { return looks_like_number(value); });
  if (end - values.begin() < 2) return std::nullopt;
  return Error{
      fmt::format("{} after {} would be read as a command", cited(values[1]), cited(values[0])),
      fmt::format("write {} {} {}", words[at], words[at + 1], fmt::join(values.begin(), end, ","))};
}

std::optional<Error> find_likely_slip(WordSpan words) {
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    if (words[i] == "-S" && is_shell(words[i + 1]))
      return Error{fmt::format("-S takes no value, so lauka would take {} for a command",
                               cited(words[i + 1])),
                   "write --shell " + words[i + 1]};
    if (auto slip = refuse_option_as_value(words, i)) return slip;
    if (auto slip = refuse_separate_values(words, i)) return slip;
  }
  return std::nullopt;
}

/// After "--", nothing is read as an option of lauka, so there is nothing to refuse or to note.
std::optional<ForgottenQuotes> find_quotes_forgotten_after_dashes(WordSpan words) {
  if (words.size() < 2 || !is_single_word(words[0]) || !words[1].starts_with('-'))
    return std::nullopt;
  return ForgottenQuotes{.unquoted = {.quoted_line = quote_command(words)},
                         .refusal = std::nullopt};
}

/// True if `next` was meant as the value of an option that takes a value only after "=". An option
/// that takes any text is assumed to be followed by a command, unless `next` is a number.
bool is_separate_value(const OptionWord& typed, const std::string& next) {
  if (typed.options.empty() || !typed.is_whole()) return false;
  const OptionInfo& option = *typed.options.back();
  if (!is_value_optional(option) || next.empty() || next.starts_with('-')) return false;
  if (looks_like_number(next, ",%")) return true;
  ParsedOptions unused;
  return option.value_form != ValueForm::OptionalText &&
         option.apply(unused, OptionValue{option, next}).has_value();
}

std::optional<ForgottenQuotes> find_forgotten_quotes(WordSpan words) {
  const auto asks = [](const OptionInfo* option) { return option->rules.scope == Scope::Call; };
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--") return find_quotes_forgotten_after_dashes(words.subspan(i + 1));
    if (words[i].size() > 1 && words[i][0] == '-') {
      const OptionWord read = read_option_word(words[i]);
      if (std::ranges::any_of(read.options, asks)) return std::nullopt;
      if (is_separate_value(read, words[i + 1])) return std::nullopt;
      i += read.words_after;
    } else if (is_short_option(words[i + 1]) && is_single_word(words[i])) {
      ForgottenQuotes found = describe_forgotten_quotes(words.subspan(i));
      found.words_before_dash = i + 1;
      return found;
    }
  }
  return std::nullopt;
}

// Boost.Program_options splits the words into commands and options with values. Words that
// Boost 1.74 would misread are read here first: options with an optional value, single-letter
// options, and options that take several words. Boost's variables_map is not used, because it
// refuses repeated options and forgets the order of options.

namespace po = boost::program_options;

using Words = std::vector<std::string>;

constexpr const char* kSeeHelp = "lauka --help lists the options";

bool may_be_among(const Words& words, const OptionInfo& option) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    if (word.starts_with("--")) return word.substr(2).starts_with(option.name);
    return word.starts_with('-') && word.find(option.letter) != std::string_view::npos;
  });
}

bool looks_like_option(const std::string& word) {
  return word.size() > 1 && word.front() == '-';
}

po::options_description describe_to_boost(const Words& words) {
  Words options;
  std::ranges::copy_if(words, std::back_inserter(options), looks_like_option);
  po::options_description description;
  for (const OptionInfo& option : option_table()) {
    if (!may_be_among(options, option)) continue;
    std::string names(option.name);
    if (option.letter != '\0') names += {',', option.letter};
    // Boost takes ownership of the plain pointer.
    auto* semantic = new po::untyped_value(option.value_form == ValueForm::Nothing);
    description.add_options()(names.c_str(), semantic);
  }
  return description;
}

po::option make_option(std::string key, const std::string& word) {
  po::option option;
  option.string_key = std::move(key);
  option.original_tokens = {word};
  return option;
}

std::vector<po::option> make_all_options(const std::string& word) {
  const std::string_view long_name = std::string_view(word).substr(1, word.find('=') - 1);
  if (long_name.size() > 1 && find_option(long_name) != nullptr)
    return {make_option(word, word)};  // "-runs" is unknown, and not -r with the value "uns"
  const OptionWord read = read_option_word(word);
  std::vector<po::option> options;
  for (const OptionInfo* option : read.options) {
    options.push_back(make_option(key_of(*option), word));
    if (is_value_optional(*option)) options.back().value.emplace_back();
  }
  if (read.value) options.back().value = {std::string(*read.value)};
  if (read.unknown) options.push_back(make_option({'-', *read.unknown}, word));
  return options;
}

/// Moves the next words to an option that takes two or three words; fewer words if `words` ends or
/// "--" follows. Adds an empty word if there are no words, because Boost would otherwise look for a
/// value.
void move_next_words_to(po::option& option, Words& words) {
  const OptionInfo* info = option_of_key(option.string_key);
  const std::size_t wanted = info == nullptr ? 0 : count_words_if_several(*info);
  if (wanted == 0 || !option.value.empty()) return;
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, words.size()));
  const auto last = std::find(words.begin(), end, "--");
  option.value.assign(words.begin(), last);
  words.erase(words.begin(), last);
  if (option.value.empty()) option.value.emplace_back();
}

bool takes_several_words(const OptionInfo& option) {
  return count_words_if_several(option) > 0;
}

/// Moves all commands up to the next option into one option without a name.
po::option take_commands(Words& words) {
  const auto end_of_commands = std::ranges::find_if(words, looks_like_option);
  po::option commands;
  commands.value.assign(words.begin(), end_of_commands);
  commands.original_tokens = commands.value;
  words.erase(words.begin(), end_of_commands);
  return commands;
}

/// True if Boost would misread the value of a long option such as "--fail-if-slower", because the
/// value is optional or has several words.
bool has_unusual_value(std::string_view long_option) {
  const OptionInfo* option = find_option(long_option.substr(2));
  return option != nullptr && (is_value_optional(*option) || takes_several_words(*option));
}

/// Boost calls this function before it reads `words` itself. The function reads and removes the
/// option that they begin with, if Boost would misread it, or all commands up to the next option,
/// because Boost is slow with many commands. Returns nothing if it has left the words to Boost.
std::vector<po::option> read_option_or_commands(Words& words) {
  const std::string word = words.front();

  if (!looks_like_option(word)) {
    // A single word may be the value of the option before it. Boost takes it for the value if
    // nothing is returned.
    const bool may_be_value = words.size() == 1;
    if (may_be_value) return {};
    return {take_commands(words)};
  }

  // An option without a name would be read as a command. The name "--" makes it an unknown option.
  if (word.starts_with("--=")) {
    words.erase(words.begin());
    return {make_option("--", word)};
  }

  // Boost itself reads unknown long options, and those with exactly one value or none.
  if (word.starts_with("--") && !has_unusual_value(word)) return {};

  // A word such as -qr has several options. The words after it can only belong to the last one.
  std::vector<po::option> options = make_all_options(word);
  words.erase(words.begin());
  move_next_words_to(options.back(), words);
  return options;
}

/// Refuses "--fail-if-slower 5", in which 5 would be a command, and the gate's limit 0; and "-i=",
/// which would ignore all failures (Boost refuses "--ignore-failure=").
Result<void> refuse_separate_or_empty_value(const Words& words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (!looks_like_option(words[i])) continue;
    const OptionWord read = read_option_word(words[i]);
    if (read.options.empty() || !is_value_optional(*read.options.back())) continue;
    const OptionInfo* option = read.options.back();
    if (read.value && read.value->empty())
      return Error{option->spelling() + " needs a value", "write " + option->usage()};
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    if (is_separate_value(read, next))
      return Error{fmt::format("{} after {} would be read as a command", cited(next), words[i]),
                   fmt::format("write {}={}", option->spelling(), next)};
  }
  return {};
}

/// Returns the option's name that the user probably meant by `name`; empty if none is similar.
/// `next_word`: the word after it on the command line.
std::string_view find_intended_name(std::string_view name, std::string_view next_word) {
  // A name may have been typed with a blank instead of a hyphen: --min runs.
  const OptionInfo* joined = find_option(fmt::format("{}-{}", name, next_word));
  if (joined != nullptr) return joined->name;

  std::vector<std::string_view> names;
  for (const OptionInfo& option : option_table())
    if (!option.name.empty()) names.push_back(option.name);
  return nearest(name, names);
}

/// Returns the word after `word` on the command line; empty if there is none.
std::string_view find_next_word(const Words& words, const std::string& word) {
  const auto found = std::ranges::find(words, word);
  const bool has_next = std::ranges::distance(found, words.end()) > 1;
  return has_next ? std::string_view(*std::next(found)) : "";
}

/// True if the unknown option is one of several letters in `word` that can be shown alone.
bool is_one_of_several_letters(const po::option& typed, const std::string& word) {
  // The key of an unknown letter is a dash and one byte. In UTF-8, a byte whose highest bit is set
  // is only a part of a letter.
  const bool is_one = !word.starts_with("--") && word.size() > 2 && typed.string_key.size() == 2;
  const bool is_whole_letter = (static_cast<unsigned char>(typed.string_key.back()) & 0x80U) == 0;
  return is_one && is_whole_letter;
}

/// Returns the remedy for an option of another tool; empty for any other option.
std::string_view find_remedy_for_other_tool(std::string_view spelled) {
  const auto* const found =
      std::ranges::find(kOptionsOfOtherTools, spelled, [](const auto& row) { return row.first; });
  return found == kOptionsOfOtherTools.end() ? std::string_view() : found->second;
}

/// Returns the name of the option that the user probably meant by `spelled`; empty if none is
/// similar, and for a letter, which would be similar to many names. `next_word`: the word after it.
std::string_view find_intended_option(std::string_view spelled, std::string_view next_word) {
  const bool is_letter = spelled.size() <= 2;
  if (is_letter) return "";
  const std::size_t dashes = std::min(spelled.find_first_not_of('-'), spelled.size());
  return find_intended_name(spelled.substr(dashes), next_word);
}

/// Returns an error for an option that lauka does not have. Its remedy is what the user probably
/// meant. `words`: the whole command line.
Error make_unknown_option_error(const po::option& typed, const Words& words) {
  // Boost does not always keep the word as it was typed.
  const std::string& word =
      typed.original_tokens.empty() ? typed.string_key : typed.original_tokens.front();
  const std::string word_without_value = word.substr(0, word.find('='));

  // In -q=1, the equals sign was read as a further letter.
  const bool is_equals_sign = typed.string_key == "-=";
  if (is_equals_sign)
    return Error{fmt::format("-{} takes no value", word_without_value.back()),
                 "write " + word_without_value};

  const std::string unknown_option = fmt::format("unknown option {}", cited(word_without_value));
  const std::string_view remedy = find_remedy_for_other_tool(word_without_value);
  if (!remedy.empty()) return Error{unknown_option, std::string(remedy)};

  if (is_one_of_several_letters(typed, word))
    return Error{fmt::format("unknown option {} in {}", cited(typed.string_key), cited(word)),
                 kSeeHelp};

  const std::string_view intended =
      find_intended_option(word_without_value, find_next_word(words, word));
  if (intended.empty()) return Error{unknown_option, kSeeHelp};
  return Error{.what = unknown_option,
               .remedy = fmt::format("did you mean --{}? {}", intended, kSeeHelp),
               .unknown_name = word_without_value,
               .has_similar = true};
}

Error make_misuse_error(const po::invalid_command_line_syntax& fault) {
  std::string name = fault.get_option_name();
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  const OptionInfo* option = name.size() == 1 ? find_option(name.front()) : find_option(name);
  if (option == nullptr) return Error{"unknown option " + cited("--" + name), kSeeHelp};
  const std::string spelling = option->spelling();
  if (fault.kind() == po::invalid_syntax::extra_parameter)
    return Error{spelling + " takes no value", "write " + spelling};
  return Error{spelling + " needs a value", "write " + option->usage()};
}

Result<std::vector<po::option>> read_by_boost(const Words& words) {
  const po::options_description description = describe_to_boost(words);
  namespace style = po::command_line_style;
  const int long_options = style::allow_long | style::long_allow_adjacent | style::long_allow_next;
  try {
    return po::command_line_parser(words)
        .options(description)
        .style(long_options)
        .extra_style_parser(read_option_or_commands)
        .allow_unregistered()
        .run()
        .options;
  } catch (const po::invalid_command_line_syntax& fault) {
    return make_misuse_error(fault);
  }
}

/// Takes the word after --help, which was read as a command, as the topic, unless --help has one.
void take_topic_of_help(const po::option* next, Inquiry& inquiry) {
  const bool lacks_topic = inquiry.kind == InquiryKind::Help && inquiry.filter_or_topic.empty();
  const bool is_word = next != nullptr && next->string_key.empty();
  if (lacks_topic && is_word) inquiry.filter_or_topic = next->value.front();
}

/// Applies an option to the draft, in which it is listed then. `words`: the whole command line,
/// from which errors quote.
Result<void> apply_option(const po::option& typed, const Words& words, ParsedOptions& draft) {
  const OptionInfo* option = option_of_key(typed.string_key);
  if (option == nullptr) return make_unknown_option_error(typed, words);
  const std::size_t words_wanted = count_words_if_several(*option);
  if (words_wanted > 0 && typed.value.size() != words_wanted)
    return Error{fmt::format("{} needs {} words after it", option->spelling(),
                             words_wanted == 2 ? "two" : "three"),
                 "write " + option->usage()};

  const std::string first_word = typed.value.empty() ? "" : typed.value.front();
  draft.applied_options.push_back(option);
  draft.options.command_line_options.push_back({key_of(*option), typed.value});
  return option->apply(draft,
                       OptionValue{.option = *option, .value = first_word, .words = typed.value});
}

/// Applies the options in the order typed, and collects the commands. What several options decide
/// together is settled later, so the result is a draft. `words`: the whole command line, which
/// errors quote.
Result<ParsedOptions> make_draft(const std::vector<po::option>& typed_options, const Words& words) {
  ParsedOptions draft;
  for (std::size_t i = 0; i < typed_options.size(); ++i) {
    const po::option& typed = typed_options[i];

    // Commands are options without a name.
    if (typed.string_key.empty()) {
      std::vector<std::string>& commands = draft.options.commands.command_lines;
      commands.insert(commands.end(), typed.value.begin(), typed.value.end());
      continue;
    }

    if (auto applied = apply_option(typed, words, draft); !applied) return applied.error();

    // An option such as --help sets the inquiry. After --help and --version, nothing else
    // matters, so an error in later options is ignored.
    std::optional<Inquiry>& inquiry = draft.options.inquiry;
    const bool is_help_or_version = inquiry && is_about_lauka(inquiry->kind);
    if (is_help_or_version) {
      const bool has_next = i + 1 < typed_options.size();
      take_topic_of_help(has_next ? &typed_options[i + 1] : nullptr, *inquiry);
      return draft;
    }
  }

  return draft;
}

/// True if the call needs a command to measure, and has none.
bool lacks_command(const ParsedOptions& draft) {
  const Options& options = draft.options;
  const bool has_command =
      !options.commands.command_lines.empty() || draft.reference_command.has_value();
  const bool needs_no_command = options.inquiry || !options.saved_session_files.empty() ||
                                options.suite.suite_path || options.gates.series_file;
  return !has_command && !needs_no_command;
}

/// True if the last word of the option's value may be a file's name.
bool ends_in_file(const OptionInfo& option) {
  return option.value_placeholder == "FILE";
}

/// True if the last word of the option's value is the MAX of -P VAR MIN MAX.
bool ends_in_max(const OptionInfo& option) {
  return option.value_form == ValueForm::ThreeWords;
}

/// True if `word`, the last one of a value that the option has accepted, looks like a command.
bool looks_like_command(const OptionInfo& option, const std::string& word) {
  const std::string_view placeholder = option.value_placeholder;
  const bool takes_any_text = placeholder == "NAME" || placeholder == "CMD" ||
                              ends_in_file(option) || takes_several_words(option);
  if (!takes_any_text) return false;

  // A command has a blank or a {variable}. Any word could be a program's name, but this is only
  // likely for FILE, and for MAX, which should be a number.
  const bool is_not_number = word.find_first_not_of("+-.0123456789") != std::string::npos;
  return ends_in_file(option) || word.find_first_of(" {") != std::string::npos ||
         (ends_in_max(option) && is_not_number);
}

/// Returns what the last word of the option's value is called in messages.
std::string_view name_last_word(const OptionInfo& option) {
  if (ends_in_max(option)) return "MAX";
  return ends_in_file(option) ? "FILE" : "its value";
}

/// Returns an error if there is no command, but the last option's value looks like a command: "-P n
/// 1 'sleep {n}'". `ends_in_dashes`: the last word is "--", which shows that the value before it is
/// meant as one.
std::optional<Error> find_command_taken_as_value(const std::vector<po::option>& typed,
                                                 const ParsedOptions& draft, bool ends_in_dashes) {
  if (!lacks_command(draft) || typed.empty() || ends_in_dashes) return std::nullopt;
  const po::option& last = typed.back();
  const OptionInfo* option = option_of_key(last.string_key);
  if (option == nullptr || last.value.empty()) return std::nullopt;

  const std::string& word = last.value.back();
  if (!looks_like_command(*option, word)) return std::nullopt;
  return Error{
      fmt::format("there is no command to measure, because {} takes {}, and lauka took {} for {}",
                  option->spelling(), option->value_placeholder, cited(word),
                  name_last_word(*option)),
      fmt::format("write {} COMMAND", option->usage())};
}

void rename_options_of_other_tools(Words& words) {
  constexpr std::string_view theirs = "--min-benchmarking-time";
  for (std::string& word : words) {
    if (word == "--") return;
    if (std::string_view(word).substr(0, word.find('=')) == theirs)
      word.replace(0, theirs.size(), "--duration");
  }
}

/// Writes "--help --shell" and "--help -S" as "--help=--shell" and "--help=-S", so that the option
/// is a topic and needs no value.
void join_topic(Words& words) {
  const auto dashes = std::ranges::find(words, "--");
  const auto help = std::find(words.begin(), dashes, "--help");
  if (help == dashes || help + 1 == dashes || find_typed_option(*(help + 1)) == nullptr) return;
  *help += "=" + *(help + 1);
  words.erase(help + 1);
}

Result<Options> parse_words(const Words& words) {
  if (auto slip = find_likely_slip(words)) return *std::move(slip);
  const auto typed = read_by_boost(words);
  if (!typed) return typed.error();
  auto draft = make_draft(*typed, words);
  if (!draft) return draft.error();
  if (!draft->options.inquiry)
    if (auto fits = refuse_separate_or_empty_value(words); !fits) return fits.error();
  if (auto taken =
          find_command_taken_as_value(*typed, *draft, !words.empty() && words.back() == "--"))
    return *std::move(taken);
  if (auto fits = refuse_if_unfit_for_suite(*draft); !fits) return fits.error();
  return complete_options(*std::move(draft));
}

/// Adds the tip about forgotten quotes to an error of `words`. If the option after the command has
/// caused the error, the tip replaces the remedy.
Error add_tip(const Error& error, const ForgottenQuotes& forgotten, const Words& words) {
  // The option did not cause an error that is there without it.
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(forgotten.words_before_dash);
  const auto without = parse_words(Words(words.begin(), end));
  const bool is_of_option = without || without.error() != error;
  return is_of_option ? Error{error.what, forgotten.unquoted.tip}
                      : with_second_remedy(error, forgotten.unquoted.tip);
}

}  // namespace

Result<Options> parse(int argc, const char* const* argv) {
  Words words(argv + (argc > 0 ? 1 : 0), argv + argc);
  rename_options_of_other_tools(words);
  join_topic(words);
  const auto forgotten = find_forgotten_quotes(words);
  if (forgotten && forgotten->refusal) return *forgotten->refusal;
  auto options = parse_words(words);
  if (!forgotten) return options;
  if (options) options->commands.unquoted_command = forgotten->unquoted;
  if (options || options.error().has_similar || forgotten->unquoted.tip.empty()) return options;
  return add_tip(options.error(), *forgotten, words);
}

}  // namespace lauka::cli
