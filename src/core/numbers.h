#pragma once

#include "core/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

constexpr double to_seconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e9;
}
constexpr double to_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Reads a whole number from `min` to `max` that is written in digits alone. The error is a
/// predicate: "is out of range".
Result<std::uint64_t> parse_whole_number(std::string_view text, std::uint64_t min,
                                         std::uint64_t max);

/// Returns the length of the exponent ("e-3") that begins at offset `begin`; 0 if missing.
std::size_t exponent_length(std::string_view text, std::size_t begin);

struct Limit {
  double value = 0.0;
  bool included = false;
};

/// True if `text` is one or more digits with at most one decimal point.
bool is_unsigned_decimal(std::string_view text);

/// The same for a text that may begin with a sign.
bool is_decimal(std::string_view text);

/// Reads a decimal number between `low` and `high`. The error is a predicate: "is not a number".
Result<double> parse_decimal(std::string_view text, Limit low, Limit high);

/// Returns the numbers `from`, `from` + `by`, ... up to `to`, without rounding: 0.1 + 0.2 is 0.3.
/// Refuses invalid ranges, numbers with too many digits, and more than `most` values.
Result<std::vector<std::string>> list_decimals(std::string_view from, std::string_view to,
                                               std::string_view by, std::size_t most);

/// 365 days; in nanoseconds, this fits into 64 bits.
inline constexpr std::chrono::nanoseconds kMaxDuration = std::chrono::hours(8760);

/// Reads a time from 1 ns to kMaxDuration: "1.5s", "500ms". A number without a unit is in seconds.
/// The error is a predicate: "is out of range".
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// Writes a time without rounding, in s, ms, µs or ns: "1.5s", "500ms".
std::string exact_duration(std::chrono::nanoseconds duration);

using UtcTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// Returns the time as RFC 3339 text: "2026-11-21T17:54:14.123Z".
std::string rfc3339(UtcTime time);
/// Returns the time as RFC 3339 text without a fraction: "2026-11-21T17:54:14Z".
std::string rfc3339(std::chrono::sys_seconds time);

}  // namespace lauka
