#include "core/decimal.h"

#include "core/numbers.h"
#include "core/words.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

namespace lauka {

namespace {

/// 18 digits always fit into 64 bits, and so does the difference of two such numbers.
constexpr std::size_t kMostDigits = 18;

/// digits / 10^places.
struct Decimal {
  std::int64_t digits = 0;
  std::size_t places = 0;
};

std::optional<Decimal> read(std::string_view text) {
  if (!is_decimal(text, true)) return std::nullopt;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  Decimal decimal;
  bool after_point = false;
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    if (digits > 0 || c != '0' || after_point) ++digits;
    if (digits > kMostDigits) return std::nullopt;
    decimal.digits = decimal.digits * 10 + (c - '0');
    if (after_point) ++decimal.places;
  }
  if (negative) decimal.digits = -decimal.digits;
  return decimal;
}

/// The digits of the same number with `places` places; none where they are too many.
std::optional<std::int64_t> widened(const Decimal& decimal, std::size_t places) {
  constexpr std::int64_t limit = 1'000'000'000'000'000'000;
  std::int64_t digits = decimal.digits;
  for (std::size_t i = decimal.places; i < places; ++i) {
    if (std::abs(digits) >= limit / 10) return std::nullopt;
    digits *= 10;
  }
  return digits;
}

std::string written(std::int64_t digits, std::size_t places) {
  const std::string sign = digits < 0 ? "-" : "";
  std::string text = fmt::format("{:0{}}", std::abs(digits), places + 1);
  if (places == 0) return sign + text;
  text.insert(text.size() - places, ".");
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return sign + text;
}

Error no_number(std::string_view text) {
  return Error{cited(text) + " is not a number", "write a decimal of at most 18 digits"};
}

}  // namespace

Result<std::vector<std::string>> decimals_of(const DecimalRange& range, std::size_t most) {
  const auto min = read(range.min);
  const auto max = read(range.max);
  const auto step = read(range.step);
  if (!min) return no_number(range.min);
  if (!max) return no_number(range.max);
  if (!step) return no_number(range.step);
  if (step->digits <= 0)
    return Error{fmt::format("the step {} is not above 0", cited(range.step)),
                 "write a step above 0, and the smaller end first"};
  const std::size_t places = std::max({min->places, max->places, step->places});
  const auto first = widened(*min, places);
  const auto last = widened(*max, places);
  const auto apart = widened(*step, places);
  if (!first || !last || !apart)
    return Error{"the numbers have more than 18 digits together", "write fewer digits"};
  if (*first > *last)
    return Error{fmt::format("{} is above {}", cited(range.min), cited(range.max)),
                 "write the smaller one first"};
  const auto count = static_cast<std::uint64_t>((*last - *first) / *apart) + 1;
  if (count > most)
    return Error{fmt::format("{} values are more than the {} that are allowed", count, most),
                 "write a larger step (-D)"};
  std::vector<std::string> values;
  for (std::uint64_t i = 0; i < count; ++i)
    values.push_back(written(*first + static_cast<std::int64_t>(i) * *apart, places));
  return values;
}

}  // namespace lauka
