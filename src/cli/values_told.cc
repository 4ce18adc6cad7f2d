#include "cli/values_told.h"

#include <algorithm>

namespace lauka::cli {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
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
    if (parts.size() > 1 && is_choice(part)) {
      word.choices.push_back(part);
    }
    word.is_file = word.is_file || part == "FILE";
    word.is_command = word.is_command || part == "CMD" || part == "COMMAND" || part == "SHELL";
  }
  return word;
}

}  // namespace

std::vector<ValueWord> value_words(const OptionInfo& option) {
  std::vector<ValueWord> words;
  if (option.value.empty()) {
    return words;
  }
  if (option.value.front() == '\'') {
    words.push_back(word_of(option.value));
    return words;
  }
  for (const std::string_view name : split(option.value, ' ')) {
    words.push_back(word_of(name));
  }
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
