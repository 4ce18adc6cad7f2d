#include "core/metric.h"

#include "core/record.h"

#include <vector>

#include <doctest/doctest.h>

namespace lauka {
TEST_CASE("nanoseconds become the nearest number of seconds, which exports print without a tail") {
  Usage usage;
  usage.wall_ns = 1'097'222;  // times 1e-9 it is 0.0010972220000000001
  CHECK(kBuiltInMetrics[0].read(usage) == 0.001097222);
}

TEST_CASE("only rounds in which both commands have a value are compared") {
  const Series reference{{1, 2, 3, 4}, {0, 1, 3, 4}, {}};
  const Series candidate{{20, 30, 50}, {1, 3, 5}, {}};
  const Comparison pairs = pair_samples(reference, candidate, true);
  CHECK(pairs.reference == std::vector<double>{2, 3});
  CHECK(pairs.candidate == std::vector<double>{20, 30});
  const Comparison all = pair_samples(reference, candidate, false);
  CHECK(all.reference == reference.values);
  CHECK(all.candidate == candidate.values);
}

}  // namespace lauka
