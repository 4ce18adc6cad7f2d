#include "report/style.h"

#include "core/text.h"
#include "report/width_ranges.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace lauka::report {

namespace {

constexpr auto kJoins = std::to_array<std::string_view>({"±", "…", "+-"});
constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kCut = "~";  // in ASCII, where something was cut: as wide as that

template <typename Ranges>
bool is_in(const Ranges& ranges, char32_t code) {
  const auto* after =
      std::upper_bound(std::begin(ranges), std::end(ranges), code,
                       [](char32_t c, const CodePoints& range) { return c < range.first; });
  return after != std::begin(ranges) && code <= std::prev(after)->last;
}

std::size_t cells_of(const Character& character) {
  if (!character.valid || character.code < kZeroWidth.front().first) return 1;
  if (is_in(kZeroWidth, character.code)) return 0;
  return is_in(kDoubleWidth, character.code) ? 2 : 1;
}

/// As much of the front of `text` as fits into `width` cells.
std::string_view front_of(std::string_view text, std::size_t width) {
  std::size_t bytes = 0;
  std::size_t cells = 0;
  while (bytes < text.size()) {
    const Character character = first_character(text.substr(bytes));
    if (cells + cells_of(character) > width) break;
    cells += cells_of(character);
    bytes += character.bytes;
  }
  return text.substr(0, bytes);
}

/// As much of the end of `text` as fits into `width` cells, never beginning with a combining mark.
std::string_view back_of(std::string_view text, std::size_t width) {
  std::size_t cells = display_width(text);
  std::size_t from = 0;
  while (from < text.size()) {
    const Character character = first_character(text.substr(from));
    if (cells <= width && cells_of(character) > 0) break;
    cells -= cells_of(character);
    from += character.bytes;
  }
  return text.substr(from);
}

/// True if the blank at `at` is a part of "1.2 ± 0.1" or "1 … 2".
bool is_within_number(std::string_view text, std::size_t at) {
  const auto joins = [](std::string_view before, std::string_view after) {
    return std::any_of(kJoins.begin(), kJoins.end(), [&](std::string_view sign) {
      return before.ends_with(sign) || after.starts_with(sign);
    });
  };
  return joins(text.substr(0, at), text.substr(at + 1));
}

/// Returns the end of the name in quotes that begins at `at`; `at` if none does, or it would not
/// fit.
std::size_t end_of_name(std::string_view text, std::size_t at, std::size_t width) {
  constexpr std::string_view before = " (";
  constexpr std::string_view after = " :;,.)";
  if (at > 0 && before.find(text[at - 1]) == std::string_view::npos) return at;
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] != '\'') continue;
    if (i + 1 < text.size() && after.find(text[i + 1]) == std::string_view::npos) continue;
    return display_width(text.substr(at, i - at)) + 2 <= width ? i : at;
  }
  return at;
}

/// Returns `text` without its colour codes, which take no cells.
std::string without_ink(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t escape = text.find("\x1b[");
    plain += text.substr(0, escape);
    if (escape == std::string_view::npos) break;
    text.remove_prefix(std::min(text.find('m', escape), text.size() - 1) + 1);
  }
  return plain;
}

/// Returns the first word of `text`, or the first words if a break between them would be odd: a
/// number with its unit or interval, a name in quotes of up to `width` cells.
std::string_view unbroken(std::string_view text, std::size_t width) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') i = end_of_name(text, i, width);
    if (text[i] == ' ' && !is_within_number(text, i)) return text.substr(0, i);
  }
  return text;
}

std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::Bold:
      return "\x1b[1m";
    case Ink::Dim:
      return "\x1b[2m";
    case Ink::Green:
      return "\x1b[32m";
    case Ink::Red:
      return "\x1b[31m";
    case Ink::Plain:
      break;
  }
  return "";
}

}  // namespace

std::string inked(std::string_view text, Ink ink, bool color) {
  const std::string_view code = code_of(ink);
  if (!color || text.empty() || code.empty()) return std::string(text);
  std::string result(code);
  result += text;
  result += "\x1b[0m";
  return result;
}

std::size_t display_width(std::string_view text) {
  std::size_t cells = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    cells += cells_of(character);
    text.remove_prefix(character.bytes);
  }
  return cells;
}

std::string cut_end(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::string result(front_of(text, width - 1));
  result += kEllipsis;
  return result;
}

std::string cut_middle(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  const std::size_t end = (width - 1) / 2;
  std::string result(front_of(text, width - 1 - end));
  result += kEllipsis;
  result += back_of(text, end);
  return result;
}

std::string wrapped(std::string_view text, std::size_t width) {
  constexpr std::string_view indent = "  ";
  if (width == 0 || display_width(without_ink(text)) <= width) return std::string(text);
  std::string lines;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = unbroken(text, width - std::min(width, indent.size()));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t cells = display_width(without_ink(word));
    if (column > 0 && column + 1 + cells > width) {
      lines.append("\n").append(indent);
      column = indent.size();
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += cells;
  }
  return lines;
}

std::string wrapped_message(std::string_view text, std::size_t width) {
  std::string line = message_line(text);
  line.pop_back();  // its line break
  return wrapped(line, width) + "\n";
}

std::string ascii_of(std::string_view text) {
  struct Sign {
    std::string_view sign;
    std::string_view ascii;
  };
  constexpr auto signs = std::to_array<Sign>({{"±", "+-"},
                                              {"…", "..."},
                                              {"−", "-"},
                                              {"σ", "stddev"},
                                              {"µ", "u"},
                                              {"≤", "<="},
                                              {"⚡", "better"},
                                              {"💩", "worse"},
                                              {"█", "#"},
                                              {"▉", "#"},
                                              {"▊", "#"},
                                              {"▋", "#"},
                                              {"▌", "#"},
                                              {"▍", ""},
                                              {"▎", ""},
                                              {"▏", ""}});
  std::string ascii;
  while (!text.empty()) {
    const auto found = std::find_if(signs.begin(), signs.end(),
                                    [&](const Sign& sign) { return text.starts_with(sign.sign); });
    const bool is_cut = text.starts_with(kEllipsis) && (ascii.empty() || ascii.back() != ' ');
    ascii += is_cut ? kCut : found == signs.end() ? text.substr(0, 1) : found->ascii;
    text.remove_prefix(found == signs.end() ? 1 : found->sign.size());
  }
  return ascii;
}

}  // namespace lauka::report
