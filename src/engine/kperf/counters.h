#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lauka::engine::kperf {

/// Hardware counters as bits: bit i is PMCi, which is also how a kpep database numbers them.
using CounterMask = std::uint32_t;

/// More than any processor has; a database that names a higher one is damaged or foreign.
inline constexpr unsigned kMostCounters = 16;

/// The place of `counter` among `counters`: of its word among the words, and, after the fixed ones,
/// of its value among the values.
std::size_t place_among(CounterMask counters, unsigned counter);

/// "PMC7", "PMC5-7", "PMC2 and PMC5-7"; "no counter" where no bit is set.
std::string counters_in_words(CounterMask counters);

}  // namespace lauka::engine::kperf
