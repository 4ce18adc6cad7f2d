#include "cli/toml_parser.h"

#include "core/text.h"

#include <algorithm>
#include <cctype>
#include <string>

#include <fmt/format.h>

namespace lauka::cli {
namespace {

struct BrokenToml {};

constexpr const char* kHowTomlIsWritten = "see https://toml.io for the syntax";

/// Returns the offset behind the string that begins at `at` with its quote. Such a string may have
/// several lines only if it has three quotes on each side.
std::size_t find_string_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool has_lines = text.substr(at, 3) == std::string(3, quote);
  const std::string_view closing = text.substr(at, has_lines ? 3 : 1);
  for (at += closing.size(); at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text.substr(at, closing.size()) == closing) {
      return at + closing.size();
    } else if (text[at] == '\n' && !has_lines) {
      return at;
    }
  }
  return text.size();
}

/// Returns the offset behind the string or the comment that begins at `at`; `at` if there is none.
std::size_t skip_string_or_comment(std::string_view text, std::size_t at) {
  if (text[at] == '"' || text[at] == '\'') return find_string_end(text, at);
  return text[at] == '#' ? std::min(text.find('\n', at), text.size()) : at;
}

/// Returns the line, from 1, of the first key with too many dots (a.b.c); kNoLine if there is none.
/// toml++ makes a table within a table for each dot, and destroys the tables by recursion, so a
/// file with such a key could overflow the stack.
std::size_t find_line_of_deep_key(std::string_view text) {
  constexpr std::size_t max_dots = 16;
  std::size_t dots_in_key = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    // Dots in strings and in comments do not count.
    const std::size_t end = skip_string_or_comment(text, at);
    const bool is_string_or_comment = end != at;
    if (is_string_or_comment) {
      at = end;
      continue;
    }

    const char c = text[at];
    if (c == '.') ++dots_in_key;
    if (dots_in_key > max_dots) {
      const auto lines_before = std::ranges::count(text.substr(0, at), '\n');
      return static_cast<std::size_t>(lines_before) + 1;
    }

    const bool may_begin_next_key = c == '\n' || c == '=' || c == ',' || c == '[' || c == '{';
    if (may_begin_next_key) dots_in_key = 0;
    ++at;
  }

  return kNoLine;
}

/// True if the value in line number `line` looks like text without quotes: duration = 500ms.
bool has_bare_text(std::string_view text, std::size_t line) {
  const auto lines = split(text, '\n');
  if (line == 0 || line > lines.size()) return false;
  const std::string_view line_text = lines[line - 1];
  const std::size_t equals = line_text.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view value = trimmed(line_text.substr(equals + 1));
  return value.find_first_of("'\"[{") == std::string_view::npos &&
         std::ranges::any_of(value, [](unsigned char c) { return std::isalpha(c) != 0; });
}

}  // namespace

void refuse_broken_toml() {
  throw BrokenToml{};
}

std::variant<toml::table, TomlFault> parse_toml(std::string_view text, const TomlAdvice& advice) {
  if (text.find('\0') != std::string_view::npos)
    return TomlFault{kNoLine, {"is not valid TOML, because it contains a zero byte", ""}};
  if (const std::size_t line = find_line_of_deep_key(text); line != kNoLine)
    return TomlFault{line, {"it has a key with more than 16 dots", advice.shape}};
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    const std::size_t line = error.source().begin.line;
    const std::string remedy = has_bare_text(text, line)
                                   ? fmt::format("put text in quotes: {}", advice.quoted_example)
                                   : kHowTomlIsWritten;
    return TomlFault{line, {fmt::format("is not valid TOML: {}", error.description()), remedy}};
  } catch (const BrokenToml&) {
    return TomlFault{
        kNoLine,
        {"is not valid TOML, because something in it is in the wrong place", kHowTomlIsWritten}};
  }
}

std::size_t line_of_toml(const toml::node& node) {
  return node.source().begin.line;
}

}  // namespace lauka::cli
