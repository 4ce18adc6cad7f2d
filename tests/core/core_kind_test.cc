#include "core/machine.h"

#include <doctest/doctest.h>

namespace lauka {

using Cpus = std::vector<std::uint32_t>;

TEST_CASE("a list of CPUs reads as Linux writes it") {
  CHECK(parse_cpu_list("0-3,8,10-11\n") == Cpus{0, 1, 2, 3, 8, 10, 11});
  CHECK(parse_cpu_list("5") == Cpus{5});
  CHECK(parse_cpu_list("4,0-1") == Cpus{0, 1, 4});
  CHECK(parse_cpu_list("\n") == Cpus{});
  CHECK(parse_cpu_list("1,1") == Cpus{1, 1});
}

TEST_CASE("text that is not a list of CPUs is refused") {
  for (const char* text : {"a", "1-", "-1", "3-1", "1,", ",1", "1 2", "0-70000", "0x1", "1-2-3"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_cpu_list(text).has_value());
  }
}

TEST_CASE("a list of CPUs is written with ranges") {
  CHECK(cpu_list_text({0, 1, 2, 3, 8, 10, 11}) == "0-3,8,10-11");
  CHECK(cpu_list_text({}).empty());
}

TEST_CASE("the metrics of a kind have its name in lower case") {
  CHECK(time_metric_name("P") == "p_time");
  CHECK(share_metric_name("Big-1") == "big-1_share");
}

}  // namespace lauka
