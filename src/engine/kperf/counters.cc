#include "engine/kperf/counters.h"

#include "engine/text.h"

#include <bit>
#include <vector>

#include <fmt/format.h>

namespace lauka::engine::kperf {

std::size_t place_among(CounterMask counters, unsigned counter) {
  return static_cast<std::size_t>(std::popcount(counters & ((CounterMask{1} << counter) - 1)));
}

std::string counters_in_words(CounterMask counters) {
  std::vector<std::string> ranges;
  while (counters != 0) {
    const int first = std::countr_zero(counters);
    const int length = std::countr_one(counters >> first);
    ranges.push_back(length == 1 ? fmt::format("PMC{}", first)
                                 : fmt::format("PMC{}-{}", first, first + length - 1));
    const int next = first + length;
    counters = next < 32 ? counters >> next << next : 0;
  }
  return ranges.empty() ? "no counter" : listed(ranges);
}

}  // namespace lauka::engine::kperf
