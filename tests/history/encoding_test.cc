#include "history/record.h"

#include <vector>

#include <doctest/doctest.h>

namespace lauka::history {

TEST_CASE("encoded values are decoded to the same numbers") {
  const std::vector<MetricRecord> metrics = {
      {"wall_time", Unit::Seconds, Better::Less, 0.1 + 0.2, 1e-300, 12, LogRatio{-1.0 / 3, 0.0},
       std::nullopt},
      {"my;metric \"x\"\n", Unit::Ratio, Better::More, -1.7976931348623157e308, std::nullopt, 1,
       std::nullopt, LogRatio{5e-324, std::nullopt}, 0.7, 1e-9}};
  auto read = decode_layout(encode_layout(metrics));
  const std::string numbers = encode_values(metrics);
  CHECK(numbers.find_first_not_of("0123456789.+-e; ") == std::string::npos);
  REQUIRE(read.size() == 2);
  for (std::size_t i = 0; i < read.size(); ++i) {
    REQUIRE(decode_values(read[i], i, numbers));
    CHECK(read[i].name == metrics[i].name);
    CHECK(read[i].unit == metrics[i].unit);
    CHECK(read[i].better == metrics[i].better);
    CHECK(read[i].mean == metrics[i].mean);
    CHECK(read[i].stddev == metrics[i].stddev);
    CHECK(read[i].runs == metrics[i].runs);
    CHECK(read[i].median == metrics[i].median);
    CHECK(read[i].mad == metrics[i].mad);
    CHECK(read[i].to_reference.has_value() == metrics[i].to_reference.has_value());
    CHECK(read[i].to_anchor.has_value() == metrics[i].to_anchor.has_value());
  }
  CHECK(read[0].to_reference->value == -1.0 / 3);
  CHECK(read[1].to_anchor->value == 5e-324);
  CHECK_FALSE(decode_values(read[0], 2, numbers));
  // Written by an older lauka-history wrote them.
  REQUIRE(decode_values(read[1], 0, "1 2 3 - - - -"));
  CHECK(read[1].mean == 1.0);
  CHECK_FALSE(read[1].median);
}

TEST_CASE("what another program wrote into the database is not a metric") {
  MetricRecord metric;
  CHECK(decode_layout("").empty());
  CHECK(decode_layout("[[1, 2, 3]]").empty());
  CHECK_FALSE(decode_values(metric, 0, ""));
  CHECK_FALSE(decode_values(metric, 0, "inf - 1 - - - -"));
  CHECK_FALSE(decode_values(metric, 0, "1 2 3"));
}

TEST_CASE("a text's number is the same everywhere, and never negative") {
  // SHA-256 of "abc" begins with ba7816bf8f01cfea.
  CHECK(text_id("abc") == 0xba7816bf8f01cfea / 2);
  CHECK(text_id("") == 0);
}

}  // namespace lauka::history
