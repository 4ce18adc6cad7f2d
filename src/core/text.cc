#include "core/text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace lauka {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::optional<std::uint64_t> parse_digits(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || stop != end || error != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

bool same_ignoring_case(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, [](char a, char b) { return lower(a) == lower(b); });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> blank_separated(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(kBlanks); begin != std::string_view::npos;
       begin = text.find_first_not_of(kBlanks, begin)) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<std::string> value_of(std::string_view text, std::string_view key, char separator) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t at = line.find(separator);
    if (at == std::string_view::npos || trimmed(line.substr(0, at)) != key) continue;
    std::string_view value = trimmed(line.substr(at + 1));
    const bool is_quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
                           value.back() == value.front();
    return std::string(is_quoted ? value.substr(1, value.size() - 2) : value);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_hex(text.substr(2));
  return parse_digits(text, 10);
}

std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  return parse_digits(digits, 16);
}

std::string listed(std::span<const std::string> names, std::string_view last_word) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0 && i + 1 < names.size()) text += ", ";
    if (i > 0 && i + 1 == names.size()) text.append(" ").append(last_word).append(" ");
    text += names[i];
  }
  return text;
}

std::vector<std::string_view> wrapped(std::string_view text, std::size_t width) {
  constexpr auto none = std::string_view::npos;
  std::vector<std::string_view> lines;
  while (width > 0 && text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    if (end == none || end == 0) {
      const std::size_t comma = text.rfind(',', width - 1);
      end = comma == none ? text.find(' ') : comma + 1;
    }
    if (end == none || end == 0) break;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(text[end] == ' ' ? end + 1 : end);
  }
  lines.push_back(text);
  return lines;
}

std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> d(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = d[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[from.size()][to.size()];
}

std::string_view nearest(std::string_view typed, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(typed.size() / 3, 1) + 1;
  for (const std::string_view candidate : candidates) {
    const bool abbreviated = typed.size() > 1 && candidate.starts_with(typed);
    const std::size_t far = abbreviated ? 0 : edit_distance(typed, candidate);
    if (far < best_distance) {
      best = candidate;
      best_distance = far;
    }
  }
  return best;
}

std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates) {
  struct Near {
    std::size_t distance;
    bool has_it_whole;
    std::string name;
  };
  const std::string wanted = lower_case(name);
  const std::size_t farthest = std::max<std::size_t>(2, wanted.size() / 3);
  std::vector<Near> near;
  for (const std::string& candidate : candidates) {
    const std::string lowered = lower_case(candidate);
    const bool whole = wanted.size() >= 4 && lowered.find(wanted) != std::string::npos;
    const std::size_t distance = edit_distance(wanted, lowered);
    if (whole || distance <= farthest) near.push_back({distance, whole, candidate});
  }
  std::ranges::stable_sort(near,
                           [](const Near& a, const Near& b) { return a.distance < b.distance; });
  std::vector<std::string> names;
  for (Near& one : near) {
    if (names.size() == 3) break;
    // Beside a near miss, what is far off is no help.
    if (!one.has_it_whole && one.distance > near.front().distance + 1) continue;
    if (std::ranges::find(names, one.name) == names.end()) names.push_back(std::move(one.name));
  }
  return names;
}

}  // namespace lauka
