#pragma once

#include "core/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

// Conversion of numbers and times from and to text. The error of a function that reads text is a
// predicate ("is out of range"); the caller adds the subject ("--runs '0'").

/// Converts nanoseconds to seconds, the base unit.
constexpr double to_seconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e9;
}
constexpr double to_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Reads a whole number from `min` to `max` (both included), written as digits without sign or
/// blanks.
Result<std::uint64_t> parse_whole_number(std::string_view text, std::uint64_t min,
                                         std::uint64_t max);

/// Returns the length of a number's exponent ("e-3") at index `begin`; 0 if missing.
std::size_t exponent_at(std::string_view text, std::size_t begin);

/// One end of a range.
struct Limit {
  double value = 0.0;
  bool included = false;  ///< true if `value` itself is in the range
};

/// True if `text` is a decimal number: digits, at most one decimal point, and, if `signs` is true,
/// an optional sign. Refuses what strtod would also accept: exponents, "inf", "nan", hexadecimals.
bool is_decimal(std::string_view text, bool signs);

/// Reads a decimal number, optionally with a sign, from `low` to `high`.
Result<double> parse_decimal(std::string_view text, Limit low, Limit high);

/// Returns the numbers `from`, `from` + `by`, ... up to `to`. Computes exactly (0.1 and 0.2 make
/// 0.3) and writes no exponents or trailing zeros. Refuses numbers of more than 18 digits, a step
/// that is not positive, an end below the beginning, and more than `most` values.
Result<std::vector<std::string>> list_decimals(std::string_view from, std::string_view to,
                                               std::string_view by, std::size_t most);

/// The longest time that users can type: a year, so that multiples of it fit into 64 bits.
inline constexpr std::chrono::nanoseconds kMaxDuration = std::chrono::hours(8760);

/// Reads a time: a decimal number without sign, and a unit (ns, us, ms, s, m, h; without a unit:
/// seconds). The time must be positive and at most kMaxDuration.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// Writes a time without rounding, in the largest unit that keeps it short: "2s", "1.5s", "500ms".
std::string exact_duration(std::chrono::nanoseconds duration);

/// A point in time, UTC.
using TimeOfDay = std::chrono::sys_time<std::chrono::milliseconds>;

/// Returns the time as RFC 3339 text: "2026-11-21T17:54:14.123Z".
std::string rfc3339(TimeOfDay time);
/// Returns the time as RFC 3339 text without a fraction: "2026-11-21T17:54:14Z".
std::string rfc3339(std::chrono::sys_seconds time);

}  // namespace lauka
