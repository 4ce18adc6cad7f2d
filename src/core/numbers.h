#pragma once

#include "core/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

// Numbers and times from text and to text. The errors of these functions are predicates: callers
// put the subject before them
// ("--runs '0'" + " " + "is out of range").

/// Converts nanoseconds to seconds, the base unit.
constexpr double to_seconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e9;
}
constexpr double to_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Reads a whole number from `min` to `max`, both included. Digits only: no sign, no blanks.
Result<std::uint64_t> parse_whole_number(std::string_view text, std::uint64_t min,
                                         std::uint64_t max);

/// Returns the length of the exponent of a number at `begin` ("e-3"); 0 if it has none.
std::size_t exponent_at(std::string_view text, std::size_t begin);

/// One end of a range.
struct Limit {
  double value = 0.0;
  bool included = false;
};

/// True if `text` is a decimal: digits with at most one point among them, and a sign before them if
/// `signs` allows it. No exponent, "inf", "nan" or hexadecimals, which strtod would take.
bool is_decimal(std::string_view text, bool signs);

/// Reads a decimal (see is_decimal, with a sign) between `low` and `high`.
Result<double> parse_decimal(std::string_view text, Limit low, Limit high);

/// Returns the decimals between two, `by` apart: computed exactly (0.1 and 0.2 make 0.3), and
/// written without an exponent and without zeros at the end, so that whole numbers stay whole.
/// Refuses decimals of more than 18 digits, a step that is not above 0, an end below the beginning,
/// and more than `most` values.
Result<std::vector<std::string>> list_decimals(std::string_view from, std::string_view to,
                                               std::string_view by, std::size_t most);

/// The longest time that can be typed: a year, so that multiples of it fit into 64 bits.
inline constexpr std::chrono::nanoseconds kLongestDuration = std::chrono::hours(8760);

/// Reads a time: a decimal without sign, and one of the units ns, us, ms, s, m, h (default:
/// seconds); more than 0 and at most kLongestDuration. The error is a predicate, as in numbers.h.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// Writes a time exactly, in the largest unit that keeps it short: "2s", "1.5s", "500ms".
std::string exact_duration(std::chrono::nanoseconds duration);

/// A time of day, UTC.
using TimeOfDay = std::chrono::sys_time<std::chrono::milliseconds>;

/// Returns "2026-11-21T17:54:14.123Z", or without a fraction.
std::string rfc3339(TimeOfDay time);
std::string rfc3339(std::chrono::sys_seconds time);

}  // namespace lauka
