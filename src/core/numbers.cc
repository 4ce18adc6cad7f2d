#include "core/numbers.h"

#include "core/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace lauka {
namespace {

/// Numbers of 18 digits, and their differences, fit into 64 bits.
constexpr std::size_t kMaxDigits = 18;

/// The decimal number digits / 10^places: 1.25 has the digits 125 and two places.
struct Decimal {
  std::int64_t digits = 0;
  std::size_t places = 0;
};

/// Returns nullopt for a text that is not a decimal, or has too many digits.
std::optional<Decimal> read_decimal(std::string_view text) {
  if (!is_decimal(text)) return std::nullopt;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  if (point < text.size()) digits += text.substr(point + 1);
  if (digits.size() > kMaxDigits) return std::nullopt;
  Decimal decimal{.places = digits.size() - point};
  std::from_chars(digits.data(), digits.data() + digits.size(), decimal.digits);
  if (negative) decimal.digits = -decimal.digits;
  return decimal;
}

/// Returns the digits of the same number with `places` decimal places, which are at least its own:
/// 1250 for 1.25 with three. Returns nullopt if that has too many digits.
std::optional<std::int64_t> scale_digits(const Decimal& decimal, std::size_t places) {
  constexpr std::int64_t limit = 1'000'000'000'000'000'000;
  std::int64_t digits = decimal.digits;
  for (std::size_t i = decimal.places; i < places; ++i) {
    if (std::abs(digits) >= limit / 10) return std::nullopt;
    digits *= 10;
  }
  return digits;
}

/// Returns the text of digits / 10^places, without zeros at the end: "1.25" for 1250 and 3.
std::string format_decimal(std::int64_t digits, std::size_t places) {
  const std::string sign = digits < 0 ? "-" : "";
  std::string text = fmt::format("{:0{}}", std::abs(digits), places + 1);
  if (places == 0) return sign + text;
  text.insert(text.size() - places, ".");
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return sign + text;
}

Error make_not_a_number_error(std::string_view text) {
  return Error{cited(text) + " is not a number", "write a decimal of at most 18 digits"};
}

/// Numbers in even steps, by their digits with `places` decimal places. The digits are whole
/// numbers (of 0.5 and 1.25 with two places: 50 and 125), so that no sum is rounded.
struct DecimalRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 0;
  std::size_t places = 0;
};

/// Returns the range that a user typed, for example in --parameter-scan VAR MIN MAX -D STEP.
Result<DecimalRange> read_range(std::string_view from, std::string_view to, std::string_view by) {
  const auto min = read_decimal(from);
  const auto max = read_decimal(to);
  const auto step = read_decimal(by);
  if (!min) return make_not_a_number_error(from);
  if (!max) return make_not_a_number_error(to);
  if (!step) return make_not_a_number_error(by);
  if (step->digits <= 0)
    return Error{fmt::format("the step {} is not above 0", cited(by)),
                 "write a step above 0, and the smaller end first"};

  const std::size_t places = std::max({min->places, max->places, step->places});
  const auto first = scale_digits(*min, places);
  const auto last = scale_digits(*max, places);
  const auto increment = scale_digits(*step, places);
  if (!first || !last || !increment)
    return Error{"the numbers have more than 18 digits together", "write fewer digits"};
  return DecimalRange{.first = *first, .last = *last, .step = *increment, .places = places};
}

struct TimeUnit {
  std::string_view suffix;
  double nanoseconds;
};

constexpr std::array kTimeUnits = {
    TimeUnit{"ns", 1.0}, TimeUnit{"us", 1e3}, TimeUnit{"ms", 1e6},   TimeUnit{"s", 1e9},
    TimeUnit{"", 1e9},   TimeUnit{"m", 6e10}, TimeUnit{"h", 3.6e12},
};

}  // namespace

std::size_t exponent_length(std::string_view text, std::size_t begin) {
  if (begin >= text.size() || (text[begin] != 'e' && text[begin] != 'E')) return 0;
  std::size_t end = begin + 1;
  if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
  const std::size_t digits_begin = end;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end > digits_begin ? end - begin : 0;
}

Result<std::uint64_t> parse_whole_number(std::string_view text, std::uint64_t min,
                                         std::uint64_t max) {
  const auto remedy = [&] { return fmt::format("write a whole number from {} to {}", min, max); };
  const bool negative = text.starts_with('-') && text.size() > 1;
  std::uint64_t value = 0;
  const char* first = text.data() + (negative ? 1 : 0);
  const char* last = text.data() + text.size();
  const auto [end, fault] = std::from_chars(first, last, value);
  if (fault == std::errc::invalid_argument || end != last)
    return Error{"is not a whole number", remedy()};
  if (fault != std::errc{} || negative || value < min || value > max)
    return Error{"is out of range", remedy()};
  return value;
}

bool is_unsigned_decimal(std::string_view text) {
  const auto points = std::ranges::count(text, '.');
  const auto digits = std::ranges::count_if(text, is_digit);
  return digits > 0 && points <= 1 && digits + points == std::ssize(text);
}

bool is_decimal(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return is_unsigned_decimal(text);
}

Result<double> parse_decimal(std::string_view text, Limit low, Limit high) {
  const auto remedy = [&] {
    return fmt::format("write a number {} {} and {} {}", low.included ? "from" : "above", low.value,
                       high.included ? "at most" : "below", high.value);
  };
  if (!is_decimal(text)) return Error{"is not a number", remedy()};
  // std::from_chars for double is missing from libc++ before LLVM 20. strtod expects a point,
  // because the locale is never set.
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  const bool high_enough = value > low.value || (low.included && value == low.value);
  const bool low_enough = value < high.value || (high.included && value == high.value);
  if (!high_enough || !low_enough) return Error{"is out of range", remedy()};
  return value;
}

Result<std::vector<std::string>> list_decimals(std::string_view from, std::string_view to,
                                               std::string_view by, std::size_t most) {
  const auto range = read_range(from, to, by);
  if (!range) return range.error();
  if (range->first > range->last)
    return Error{fmt::format("{} is above {}", cited(from), cited(to)),
                 "write the smaller number first"};
  const auto count = static_cast<std::uint64_t>((range->last - range->first) / range->step) + 1;
  if (count > most)
    return Error{fmt::format("{} values are more than the {} that are allowed", count, most),
                 "write a larger step (-D)"};

  std::vector<std::string> values;
  for (std::uint64_t i = 0; i < count; ++i)
    values.push_back(
        format_decimal(range->first + static_cast<std::int64_t>(i) * range->step, range->places));
  return values;
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const std::size_t number_size = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string number(text.substr(0, number_size));
  const auto* const unit =
      std::ranges::find(kTimeUnits, text.substr(number_size), &TimeUnit::suffix);
  if (!is_unsigned_decimal(number) || unit == kTimeUnits.end())
    return Error{"is not a time", "write 5s, 500ms or 2m (a bare number is seconds)"};
  const double nanoseconds = std::round(std::strtod(number.c_str(), nullptr) * unit->nanoseconds);
  if (nanoseconds < 1.0 || nanoseconds > static_cast<double>(kMaxDuration.count()))
    return Error{"is out of range", "write a time above 0 and at most 8760h"};
  return std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds));
}

std::string exact_duration(std::chrono::nanoseconds duration) {
  struct ShownUnit {
    std::int64_t nanoseconds;
    std::string_view suffix;
  };
  constexpr std::array<ShownUnit, 4> units{
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "µs"}, {1, "ns"}}};
  const std::int64_t count = duration.count();
  const auto fits = [&](const ShownUnit& unit) { return count >= unit.nanoseconds; };
  const auto* const unit = std::find_if(units.begin(), units.end() - 1, fits);

  // Added to the unit, a power of ten, the remainder keeps its leading zeros: 5 ms of a second are
  // written as 1005000000, from which "005" remains.
  const std::string whole = fmt::format("{}", count / unit->nanoseconds);
  std::string decimals = fmt::format("{}", unit->nanoseconds + count % unit->nanoseconds).substr(1);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  const std::string point = decimals.empty() ? "" : ".";
  return whole + point + decimals + std::string(unit->suffix);
}

std::string rfc3339(UtcTime time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  std::string text = rfc3339(second);
  text.insert(text.size() - 1, fmt::format(".{:03}", (time - second).count()));
  return text;
}

std::string rfc3339(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace lauka
