#pragma once

#include "core/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

// Numbers and times from text and to text. The errors of these functions are predicates: whoever
// read the text puts its subject before them
// ("--runs '0'" + " " + "is out of range").

/// The whole number that `text` is, `min` to `max` included. Digits only: no sign, no blanks.
Result<std::uint64_t> parse_whole_number(std::string_view text, std::uint64_t min,
                                         std::uint64_t max);

/// How long the exponent of a number is that stands there ("e-3"); 0: there is none.
std::size_t exponent_at(std::string_view text, std::size_t begin);

/// One end of a range.
struct Limit {
  double value = 0.0;
  bool included = false;
};

/// Whether `text` is a decimal: digits with at most one point among them, a sign before them where
/// `signs` allows it. No exponent, "inf", "nan" or hexadecimals, all of which strtod would take.
bool is_decimal(std::string_view text, bool signs);

/// The decimal (see is_decimal, with a sign) that `text` is, between `low` and `high`.
Result<double> parse_decimal(std::string_view text, Limit low, Limit high);

/// The ends and the step of a range, as typed.
struct DecimalRange {
  std::string_view min;
  std::string_view max;
  std::string_view step;
};

/// The decimals from min on, step apart, up to max: computed exactly (0.1 and 0.2 make 0.3), and
/// written without an exponent and without zeros at the end, so that whole numbers stay whole.
/// Refused: what is no decimal of at most 18 digits, a step that is not above 0, a min above max,
/// more than `most` values.
Result<std::vector<std::string>> decimals_of(const DecimalRange& range, std::size_t most);

/// The longest time that can be written: a year, which leaves room for multiples of it in 64 bits.
inline constexpr std::chrono::nanoseconds kLongestDuration = std::chrono::hours(8760);

/// The time that `text` is: a decimal without sign, and one of the units ns, us, ms, s, m, h (none:
/// seconds); more than 0 and at most kLongestDuration. The error is a predicate, as in numbers.h.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// Exactly what was asked for, in the largest unit that keeps it short: "2s", "1.5s", "500ms".
std::string exact_duration(std::chrono::nanoseconds duration);

/// A time of day, UTC.
using TimeOfDay = std::chrono::sys_time<std::chrono::milliseconds>;

/// "2026-11-21T17:54:14.123Z", and without a fraction.
std::string rfc3339(TimeOfDay time);
std::string rfc3339(std::chrono::sys_seconds time);

}  // namespace lauka
