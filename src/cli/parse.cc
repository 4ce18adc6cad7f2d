#include "cli/parse.h"

#include "cli/elsewhere.h"
#include "cli/option_table.h"
#include "core/foreign_text.h"
#include "core/text.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <fmt/format.h>

// Boost.Program_options walks along the words, fetches the values that stand in words of their own,
// and tells commands from options. What it would get wrong (1.74) is read here before it sees it:
// - an option with an optional value is always handed over with one, if an empty one: else Boost
//   gives it the next command;
// - letters: Boost takes "-iq" for -i with the value "q";
// - guessing of abbreviated names is not in the style, so --run is unknown and not --runs.
// Its variables_map is not used: it refuses an option that is given twice, and forgets the order in
// which --shell, -S and -N came.

namespace lauka::cli {

namespace {

namespace po = boost::program_options;

using Words = std::vector<std::string>;

constexpr std::string_view kSeeHelp = "lauka --help lists the options";

po::options_description describe_to_boost() {
  po::options_description description;
  for (const OptionInfo& option : option_table()) {
    std::string names(option.name);
    if (option.letter != '\0') {
      names += {',', option.letter};
    }
    // Boost's interface wants the semantic as a plain pointer and owns it from then on.
    auto* semantic = new po::untyped_value(option.takes == Takes::Nothing);
    description.add_options()(names.c_str(), semantic);
  }
  return description;
}

po::option found(std::string key, const std::string& word) {
  po::option option;
  option.string_key = std::move(key);
  option.original_tokens = {word};
  return option;
}

/// Whether `rest`, which follows the letter of `option` in its word, is its value, and not more
/// letters.
bool is_value(const OptionInfo& option, std::string_view rest) {
  switch (option.takes) {
    case Takes::Nothing:
      return false;
    case Takes::Value:
    case Takes::OptionalText:
    case Takes::TwoWords:  // refused later, as the next: they take words of their own
    case Takes::ThreeWords:
      return !rest.empty();
    case Takes::OptionalNumber:
      break;
  }
  return !rest.empty() && (rest.front() == '=' || (rest.front() >= '0' && rest.front() <= '9'));
}

/// "-iqr10": letters, of which the last may be followed by its value, with or without "=".
std::vector<po::option> read_letters(const std::string& word) {
  const std::string_view long_name = std::string_view(word).substr(1, word.find('=') - 1);
  if (long_name.size() > 1 && find_option(long_name) != nullptr) {
    return {found(word, word)};  // -runs: unknown, rather than -r with the value "uns"
  }
  std::vector<po::option> options;
  for (std::size_t i = 1; i < word.size(); ++i) {
    const OptionInfo* option = find_option(word[i]);
    if (option == nullptr) {
      options.push_back(found(std::string{'-', word[i]}, word));
      return options;
    }
    options.push_back(found(key_of(*option), word));
    const std::string_view rest = std::string_view(word).substr(i + 1);
    if (is_value(*option, rest)) {
      options.back().value.emplace_back(rest.substr(rest.front() == '=' ? 1 : 0));
      return options;
    }
    if (is_value_optional(*option)) options.back().value.emplace_back();
  }
  return options;
}

/// Gives the last option the words it takes: fewer where there are fewer, up to "--", but one at
/// least, if an empty one, lest Boost look for it.
void take_words(po::option& option, Words& words) {
  const OptionInfo* info = option_of_key(option.string_key);
  const std::size_t wanted = info == nullptr ? 0 : words_taken_by(*info);
  if (wanted == 0 || !option.value.empty()) return;
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, words.size()));
  const auto last = std::find(words.begin(), end, "--");
  option.value.assign(words.begin(), last);
  words.erase(words.begin(), last);
  if (option.value.empty()) option.value.emplace_back();
}

/// Reads the first word, and takes it away, if it is one that Boost would misread.
std::vector<po::option> read_word(Words& words) {
  const std::string word = words.front();
  std::vector<po::option> options;
  if (word.starts_with("--=")) {
    options.push_back(found("--", word));  // else a nameless option, which looks like a command
  } else if (word.starts_with("--")) {
    const OptionInfo* option = find_option(std::string_view(word).substr(2));
    if (option == nullptr || (!is_value_optional(*option) && words_taken_by(*option) == 0)) {
      return {};
    }
    options.push_back(found(key_of(*option), word));
    if (is_value_optional(*option)) options.back().value.emplace_back();
  } else if (word.size() > 1 && word.front() == '-') {
    options = read_letters(word);
  } else {
    return {};
  }
  words.erase(words.begin());
  take_words(options.back(), words);
  return options;
}

/// "--fail-if-slower 5": the number would be run as a command, and the gate be at 0.
Result<void> refuse_value_set_apart(const Words& words) {
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    const std::string_view word = words[i];
    const OptionInfo* option = word.starts_with("--") ? find_option(word.substr(2))
                               : word.size() == 2 && word.front() == '-' ? find_option(word.back())
                                                                         : nullptr;
    const std::string& next = words[i + 1];
    const bool is_number = next.find_first_of("0123456789") != std::string::npos &&
                           next.find_first_not_of("+-0123456789.,%") == std::string::npos;
    if (option != nullptr && option->takes == Takes::OptionalNumber && is_number) {
      return Error{fmt::format("{} after {} would be taken for a command", cited(next), word),
                   fmt::format("write {}={}", option->spelling(), next)};
    }
  }
  return {};
}

Error unknown_option(const po::option& typed, const Words& words) {
  const std::string& word =
      typed.original_tokens.empty() ? typed.string_key : typed.original_tokens.front();
  if (typed.string_key == "-=") {  // -q=3
    return Error{fmt::format("-{} takes no value", word[word.find('=') - 1]),
                 "write " + word.substr(0, word.find('='))};
  }
  const std::string spelled = word.substr(0, word.find('='));
  const std::string what = fmt::format("unknown option {}", cited(spelled));
  if (const std::string_view instead = instead_of(spelled); !instead.empty())
    return Error{what, std::string(instead)};
  if (std::string hint = quoting_hint(words, spelled); !hint.empty())
    return Error{what, std::move(hint)};
  const bool is_whole_letter = (static_cast<unsigned char>(typed.string_key.back()) & 0x80U) == 0;
  if (!word.starts_with("--") && word.size() > 2 && typed.string_key.size() == 2 &&
      is_whole_letter) {
    return Error{fmt::format("unknown option {} in {}", cited(typed.string_key), cited(word)),
                 std::string(kSeeHelp)};
  }
  std::vector<std::string_view> names;
  for (const OptionInfo& option : option_table()) {
    if (!option.name.empty()) names.push_back(option.name);
  }
  const std::size_t dashes = std::min(spelled.find_first_not_of('-'), spelled.size());
  const std::string_view meant = nearest(std::string_view(spelled).substr(dashes), names);
  if (spelled.size() <= 2 || meant.empty()) {
    return Error{what, std::string(kSeeHelp)};
  }
  return Error{what, fmt::format("did you mean --{}? {}", meant, kSeeHelp)};
}

/// What Boost found wrong with an option that it knows.
Error misused_option(const po::invalid_command_line_syntax& fault) {
  std::string name = fault.get_option_name();
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  const OptionInfo* option = name.size() == 1 ? find_option(name.front()) : find_option(name);
  if (option == nullptr) {
    return Error{"unknown option " + cited("--" + name), std::string(kSeeHelp)};
  }
  const std::string spelling = option->spelling();
  if (fault.kind() == po::invalid_syntax::extra_parameter) {
    return Error{spelling + " takes no value", "write " + spelling};
  }
  return Error{spelling + " needs a value", "write " + option->usage()};
}

Result<std::vector<po::option>> read_by_boost(const Words& words) {
  const po::options_description description = describe_to_boost();
  namespace style = po::command_line_style;
  const int long_options = style::allow_long | style::long_allow_adjacent | style::long_allow_next;
  try {
    return po::command_line_parser(words)
        .options(description)
        .style(long_options)
        .extra_style_parser(read_word)
        .allow_unregistered()
        .run()
        .options;
  } catch (const po::invalid_command_line_syntax& fault) {
    return misused_option(fault);
  }
}

/// Applies the options in the order typed; what is not an option is a command.
Result<Draft> draft_of(const std::vector<po::option>& typed, const Words& all) {
  Draft draft;
  for (const po::option& part : typed) {
    if (part.string_key.empty()) {
      draft.commands.insert(draft.commands.end(), part.value.begin(), part.value.end());
      continue;
    }
    const OptionInfo* option = option_of_key(part.string_key);
    if (option == nullptr) return unknown_option(part, all);
    const std::size_t wanted = words_taken_by(*option);
    if (wanted > 0 && part.value.size() != wanted) {
      return Error{fmt::format("{} needs {} words after it", option->spelling(),
                               wanted == 2 ? "two" : "three"),
                   "write " + option->usage()};
    }
    const std::string value = part.value.empty() ? "" : part.value.front();
    draft.typed.push_back(option);
    draft.options.typed.push_back({key_of(*option), part.value});
    const Result<void> applied = option->apply(draft, Given{*option, value, part.value});
    if (!applied) return applied.error();
    const auto& inquiry = draft.options.inquiry;
    if (inquiry && (inquiry->kind == InquiryKind::Help || inquiry->kind == InquiryKind::BriefHelp ||
                    inquiry->kind == InquiryKind::Version))
      return draft;
  }
  return draft;
}

/// "-P n 1 'sleep {n}'": the last option took what was meant as the command.
std::optional<Error> taken_command(const std::vector<po::option>& typed, const Draft& draft) {
  if (!draft.commands.empty() || draft.reference || draft.options.inquiry ||
      !draft.options.from.empty() || draft.options.suite || typed.empty())
    return std::nullopt;
  const po::option& last = typed.back();
  const OptionInfo* option = option_of_key(last.string_key);
  const bool takes_any_text =
      option != nullptr &&
      (option->value == "NAME" || option->value == "CMD" || words_taken_by(*option) > 0);
  if (!takes_any_text || last.value.empty()) return std::nullopt;
  const std::string& word = last.value.back();
  const bool is_max = option->takes == Takes::ThreeWords;
  const bool looks_like_command =
      word.find_first_of(" {") != std::string::npos ||
      (is_max && word.find_first_not_of("+-.0123456789") != std::string::npos);
  if (!looks_like_command) return std::nullopt;
  return Error{
      fmt::format("no command to measure: {} takes {}, and {} was taken for {}", option->spelling(),
                  option->value, cited(word), is_max ? "MAX" : "its value"),
      fmt::format("write {} COMMAND", option->usage())};
}

}  // namespace

Result<Options> parse(int argc, const char* const* argv) {
  const Words words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (auto slip = likely_slip(words)) return *std::move(slip);
  const auto typed = read_by_boost(words);
  if (!typed) return typed.error();
  auto draft = draft_of(*typed, words);
  if (!draft) return draft.error();
  if (!draft->options.inquiry) {
    const Result<void> apart = refuse_value_set_apart(words);
    if (!apart) return apart.error();
  }
  if (auto taken = taken_command(*typed, *draft)) return *std::move(taken);
  if (auto fits = fits_suite(*draft); !fits) return fits.error();
  const bool is_suite = draft->options.suite && !draft->options.inquiry;
  return is_suite ? settle_beside_suite(*std::move(draft)) : settle(*std::move(draft));
}

}  // namespace lauka::cli
