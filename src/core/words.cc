#include "core/words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace lauka {

namespace {

constexpr std::string_view kWordBlanks = " \t\n";
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
      if (kWordBlanks.find(c) != std::string_view::npos) {
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

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// "$HOME", "$(", "${"; empty where the dollar is no more than that.
std::string expansion_at(std::string_view rest) {
  if (rest.size() < 2) return "";
  if (rest[1] == '(' || rest[1] == '{') return std::string(rest.substr(0, 2));
  const auto* const end =
      std::find_if(rest.begin() + 1, rest.end(), [](char c) { return !is_name(c); });
  return end == rest.begin() + 1 ? "" : std::string(rest.begin(), end);
}

/// What of a shell's syntax `rest` begins with.
std::string syntax_at(std::string_view rest, bool in_double_quotes) {
  if (rest.front() == '$') return expansion_at(rest);
  if (rest.front() == '`') return "`";
  if (in_double_quotes) return "";
  for (const std::string_view sign : {"&&", "||", "|", ">", "<", "*"})
    if (rest.starts_with(sign)) return std::string(sign);
  if (rest.starts_with("; ")) return ";";
  return "";
}

}  // namespace

std::string shell_syntax_in(std::string_view text) {
  bool in_double_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;
    } else if (c == '"') {
      in_double_quotes = !in_double_quotes;
    } else if (c == '\'' && !in_double_quotes) {
      i = text.find('\'', i + 1);
      if (i == std::string_view::npos) return "";
    } else if (std::string found = syntax_at(text.substr(i), in_double_quotes); !found.empty()) {
      return found;
    }
  }
  return "";
}

Result<std::vector<std::string>> split_words(std::string_view text) {
  return WordReader(text).read();
}

std::string shell_quoted(std::string_view word) {
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

std::string shell_quoted(std::span<const std::string> words) {
  std::string result;
  for (const std::string& word : words) {
    result += result.empty() ? "" : " ";
    result += shell_quoted(word);
  }
  return result;
}

std::string backslashed(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// A dot or a quote at the beginning of a line means something there, and these characters anywhere.
std::string for_roff(std::string_view text) {
  static constexpr std::string_view kCharacters = "\\-'\"^~`";
  static constexpr std::array kEscapes = {"\\e",   "\\-",   "\\(aq", "\\(dq",
                                          "\\(ha", "\\(ti", "\\(ga"};
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    const std::size_t at = kCharacters.find(c);
    out += at == std::string_view::npos ? std::string(1, c) : kEscapes.at(at);
  }
  return out;
}

}  // namespace lauka
