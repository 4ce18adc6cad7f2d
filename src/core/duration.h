#pragma once

#include "core/result.h"

#include <chrono>
#include <string_view>

namespace lauka {

/// The longest time that can be written: a year, which leaves room for multiples of it in 64 bits.
inline constexpr std::chrono::nanoseconds kLongestDuration = std::chrono::hours(8760);

/// The time that `text` is: a decimal without sign, and one of the units ns, us, ms, s, m, h (none:
/// seconds); more than 0 and at most kLongestDuration. The error is a predicate, as in numbers.h.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace lauka
