#pragma once

#include "os/darwin_calls.h"

#include <cstdint>

namespace lauka::os {

/// Nanoseconds of `ticks` mach units; exact, however many they are.
constexpr std::uint64_t ns_of_mach(std::uint64_t ticks, Timebase timebase) {
  const std::uint64_t whole = ticks / timebase.denominator;
  const std::uint64_t rest = ticks % timebase.denominator;
  return whole * timebase.numerator + rest * timebase.numerator / timebase.denominator;
}

/// 1/1 where the system does not say.
inline Timebase timebase_of(const DarwinCalls& calls) {
  Timebase timebase;
  const bool is_known = calls.mach_timebase_info(&timebase) == 0 && timebase.denominator != 0;
  return is_known ? timebase : Timebase{};
}

}  // namespace lauka::os
