#include "cli/option_table.h"
#include "core/text.h"

#include <algorithm>

#include <fmt/format.h>

// What is asked of a row of the table.

namespace lauka::cli {

namespace {

template <typename Is>
const OptionInfo* row_where(const Is& is) {
  const auto rows = option_table();
  const auto found = std::find_if(rows.begin(), rows.end(), is);
  return found == rows.end() ? nullptr : &*found;
}

bool is_choice(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

ValueWord word_of(std::string_view name) {
  ValueWord word{.name = name, .choices = {}};
  const auto parts = split(name, '|');
  for (const std::string_view part : parts) {
    // "p" alone would be a placeholder's name as well as a choice: one that stands alone is none.
    if (parts.size() > 1 && is_choice(part)) word.choices.push_back(part);
    word.is_file = word.is_file || part == "FILE";
    word.is_command = word.is_command || part == "CMD" || part == "COMMAND" || part == "SHELL";
  }
  return word;
}

}  // namespace

std::string OptionInfo::spelling() const {
  return name.empty() ? std::string{'-', letter} : "--" + std::string(name);
}

std::string OptionInfo::usage() const {
  switch (takes) {
    case Takes::Nothing:
      return spelling();
    case Takes::Value:
    case Takes::TwoWords:
    case Takes::ThreeWords:
      return fmt::format("{} {}", spelling(), value);
    case Takes::OptionalNumber:
    case Takes::OptionalText:
      break;
  }
  return fmt::format("{}[={}]", spelling(), value);
}

std::string_view title_of(Group group) {
  switch (group) {
    case Group::Runs:
      return "Runs";
    case Group::Commands:
      return "Commands";
    case Group::Measured:
      return "What is measured";
    case Group::Gate:
      return "Deltas and the gate";
    case Group::Output:
      break;
  }
  return "Output";
}

const OptionInfo* find_option(std::string_view name) {
  return row_where([&](const OptionInfo& row) { return !name.empty() && row.name == name; });
}

const OptionInfo* find_option(char letter) {
  return row_where([&](const OptionInfo& row) { return letter != '\0' && row.letter == letter; });
}

std::string key_of(const OptionInfo& option) {
  return option.name.empty() ? option.spelling() : std::string(option.name);
}

const OptionInfo* option_of_key(std::string_view key) {
  return key.size() == 2 && key.front() == '-' ? find_option(key.back()) : find_option(key);
}

std::size_t words_taken_by(const OptionInfo& option) {
  return option.takes == Takes::TwoWords ? 2 : option.takes == Takes::ThreeWords ? 3 : 0;
}

std::vector<ValueWord> value_words(const OptionInfo& option) {
  std::vector<ValueWord> words;
  if (option.value.empty()) return words;
  if (option.value.front() == '\'') {
    words.push_back(word_of(option.value));
    return words;
  }
  for (const std::string_view name : split(option.value, ' ')) words.push_back(word_of(name));
  return words;
}

bool is_value_optional(const OptionInfo& option) {
  return option.takes == Takes::OptionalNumber || option.takes == Takes::OptionalText;
}

std::string short_help(const OptionInfo& option) {
  const std::string_view help = option.help;
  const std::size_t end =
      std::min({help.find("; "), help.find(". "), help.find(" ("), help.size()});
  return std::string(help.substr(0, end));
}

}  // namespace lauka::cli
