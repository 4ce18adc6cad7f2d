#include "core/words.h"

#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

constexpr std::string_view kBlanks = " \t\n";
constexpr std::string_view kEscapedInDoubleQuotes = "$`\"\\\n";
constexpr std::string_view kSafeInShell =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";

/// Reads one text from left to right.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : rest_(text) {}

  Result<std::vector<std::string>> read() {
    while (!rest_.empty()) {
      const char c = take();
      if (kBlanks.find(c) != std::string_view::npos) {
        end_word();
        continue;
      }
      const Result<void> added = add(c);
      if (!added) {
        return added.error();
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  /// The word so far; one begins where there is none. Quotes alone begin one: '' is an empty word.
  std::string& word() {
    if (!word_) {
      word_.emplace();
    }
    return *word_;
  }

  void end_word() {
    if (word_) {
      words_.push_back(std::move(*word_));
      word_.reset();
    }
  }

  Result<void> add(char c) {
    switch (c) {
      case '\'':
        return add_single_quoted();
      case '"':
        return add_double_quoted();
      case '\\':
        return add_escaped();
      default:
        word().push_back(c);
        return {};
    }
  }

  Result<void> add_escaped() {
    if (rest_.empty()) {
      return Error{"ends in a backslash", "write \\\\ for the character itself"};
    }
    const char c = take();
    if (c != '\n') {  // a continued line: both vanish
      word().push_back(c);
    }
    return {};
  }

  Result<void> add_single_quoted() {
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) {
      return Error{"has an unterminated single quote",
                   "close it, or write \\' for the character itself"};
    }
    word().append(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return {};
  }

  Result<void> add_double_quoted() {
    std::string& word = this->word();
    while (!rest_.empty()) {
      const char c = take();
      if (c == '"') {
        return {};
      }
      const bool escapes = c == '\\' && !rest_.empty() &&
                           kEscapedInDoubleQuotes.find(rest_.front()) != std::string_view::npos;
      if (!escapes) {
        word.push_back(c);
      } else if (const char escaped = take(); escaped != '\n') {  // as in add_escaped
        word.push_back(escaped);
      }
    }
    return Error{"has an unterminated double quote",
                 "close it, or write \\\" for the character itself"};
  }

  std::string_view rest_;
  std::optional<std::string> word_;
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  return WordReader(text).read();
}

std::string quoted(std::string_view word) {
  if (!word.empty() && word.find_first_not_of(kSafeInShell) == std::string_view::npos) {
    return std::string(word);
  }
  std::string result = "'";
  for (const char c : word) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result.push_back(c);
    }
  }
  result.push_back('\'');
  return result;
}

std::string quoted(std::span<const std::string> words) {
  std::string result;
  for (const std::string& word : words) {
    result += result.empty() ? "" : " ";
    result += quoted(word);
  }
  return result;
}

std::string cited(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result.push_back(c);
    }
  }
  result.push_back('\'');
  return result;
}

}  // namespace lauka
