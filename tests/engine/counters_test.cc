#include "engine/kperf/kpep.h"

#include <doctest/doctest.h>

namespace lauka::engine::kperf {
namespace {

TEST_CASE("counters are told as ranges") {
  CHECK(counters_in_words(0) == "no counter");
  CHECK(counters_in_words(0x80) == "PMC7");
  CHECK(counters_in_words(0xe0) == "PMC5-7");
  CHECK(counters_in_words(0x3fc) == "PMC2-9");
  CHECK(counters_in_words(0x0f4) == "PMC2 and PMC4-7");
  CHECK(counters_in_words(0xffffffff) == "PMC0-31");
}

}  // namespace
}  // namespace lauka::engine::kperf
