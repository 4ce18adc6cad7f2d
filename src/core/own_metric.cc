#include "core/own_metric.h"

#include "core/display_unit.h"
#include "core/foreign_text.h"
#include "core/numbers.h"
#include "core/text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka {
namespace {

constexpr std::size_t kLongestName = 100;
constexpr std::size_t kLongestUnit = 20;
constexpr std::size_t kLongestNumber = 400;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::size_t digits_at(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - from;
}

/// Where the number at the beginning of `text` ends; its commas, each before three digits, are left
/// out of `plain`. 0: there is none.
std::size_t read_number(std::string_view text, std::string& plain) {
  std::size_t end = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) plain += text[end++];
  std::size_t digits = digits_at(text, end);
  const bool has_whole = digits > 0;
  plain += text.substr(end, digits);
  end += digits;
  if (digits >= 1 && digits <= 3) {
    while (end < text.size() && text[end] == ',' && digits_at(text, end + 1) == 3) {
      plain += text.substr(end + 1, 3);
      end += 4;
    }
  }
  if (end < text.size() && text[end] == '.') {
    digits = digits_at(text, end + 1);
    if (!has_whole && digits == 0) return 0;
    plain += text.substr(end, 1 + digits);
    end += 1 + digits;
  } else if (!has_whole) {
    return 0;
  }
  const std::size_t exponent = exponent_at(text, end);
  plain += text.substr(end, exponent);
  return end + exponent;
}

}  // namespace

bool is_measurable(double value) {
  const double magnitude = std::fabs(value);
  return value == 0.0 || (magnitude >= 1e-30 && magnitude <= 1e30);
}

bool is_unit_word(std::string_view word) {
  if (word == "1") return true;
  return !word.empty() && word.size() <= kLongestUnit && one_line(word) == word &&
         word.find_first_of(" \t,=:()0123456789") == std::string_view::npos;
}

OwnUnit own_unit_of(std::string_view word) {
  OwnUnit unit{.word = std::string(word)};
  if (const DisplayUnit* known = find_display_unit(word)) {
    unit.unit = known->unit;
    unit.size = known->size;
    unit.shown_in = word == "1" ? nullptr : known;
  } else if (word == "%") {
    unit.unit = Unit::Fraction;
    unit.size = 0.01;
  } else if (word == "J") {
    unit.unit = Unit::Joules;
  }
  return unit;
}

bool is_own_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) {
           return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '/' || c == '%';
         });
}

std::optional<Better> better_of(std::string_view word) {
  if (word == "higher") return Better::More;
  if (word == "lower") return Better::Less;
  return std::nullopt;
}

Result<OwnMetric> parse_own_metric(std::string_view head) {
  std::vector<std::string_view> parts = split(head, ':');
  OwnMetric metric{.name = std::string(trimmed(parts.front()))};
  if (!is_own_name(metric.name))
    return Error{fmt::format("has {} for a name", cited(metric.name)),
                 "begin it with a letter, and go on with letters, digits, _ . - / or %"};
  if (parts.size() > 1) {
    if (const auto better = better_of(parts.back())) {
      metric.better = *better;
      parts.pop_back();
    }
  }
  if (parts.size() > 2)
    return Error{fmt::format("has {}, which is neither higher nor lower", cited(parts.back())),
                 "say with one of them what is better"};
  if (parts.size() == 1) return metric;
  if (!is_unit_word(parts[1]))
    return Error{fmt::format("has {} for a unit", cited(parts[1])),
                 "write one like ms, MiB, % or $, or leave the colon out"};
  metric.unit = own_unit_of(parts[1]);
  return metric;
}

Result<double> parse_own_value(std::string_view text, const OwnUnit& unit) {
  text = trimmed(text);
  std::string plain;
  const std::size_t end = text.size() > kLongestNumber ? 0 : read_number(text, plain);
  if (end == 0) return Error{"is not a number", "write it as 1234.5, 1,234.5 or 1.2e6"};
  const std::string_view word = trimmed(text.substr(end));
  double size = unit.size;
  const bool is_plain = word == "1" && unit.word.empty();
  if (!word.empty() && word != unit.word && !is_plain) {
    const OwnUnit told = own_unit_of(word);
    if (told.unit != unit.unit || !told.is_known() || !unit.is_known()) {
      return Error{fmt::format("has {} behind the number, and its unit is {}", cited(word),
                               unit.word.empty() ? "none" : cited(unit.word)),
                   told.is_known() && unit.word.empty()
                       ? fmt::format("give it this unit (NAME:{})", told.word)
                       : "leave it out, or give another unit"};
    }
    size = told.size;
  }
  const double value = std::strtod(plain.c_str(), nullptr) * size;
  if (!is_measurable(value)) return Error{"is beyond 1e30, or below 1e-30", "use another unit"};
  return value;
}

Metric metric_of(const OwnMetric& own, Formula source) {
  Metric metric{.name = own.name,
                .unit = own.unit.unit,
                .better = own.better,
                .source = std::move(source),
                .shown_in = own.unit.shown_in};
  if (!own.unit.is_known()) metric.note = "(" + own.unit.word + ")";
  return metric;
}

}  // namespace lauka
