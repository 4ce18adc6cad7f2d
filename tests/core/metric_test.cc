#include "core/metric.h"

#include "core/record.h"

#include <doctest/doctest.h>

namespace lauka {

TEST_CASE("nanoseconds become the nearest number of seconds, which exports print without a tail") {
  Usage usage;
  usage.wall_ns = 1'097'222;  // times 1e-9 it is 0.0010972220000000001
  CHECK(kBuiltInMetrics[0].read(usage) == 0.001097222);
}

}  // namespace lauka
