#include "stats/resemblance.h"

#include "stats/delta.h"
#include "stats/golden.h"
#include "stats/noise.h"
#include "stats/rank_tests.h"
#include "stats/summary.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace lauka::stats {

using golden::Json;

namespace {

std::vector<double> waves(noise::Source& source, std::size_t count, double persistence) {
  std::vector<double> values = source.waves(count, persistence);
  for (double& value : values) value = std::exp(0.05 * value);
  return values;
}

}  // namespace

TEST_CASE("the likeness of neighbours and what it does to a mean agree with the golden cases") {
  for (const Json& c : golden::section_3("resemblance")) {
    const std::vector<double> values = golden::series(c, "values");
    INFO(c.dump());
    const NeighbourResemblance seen = neighbour_resemblance(values);
    CHECK_GOLDEN(seen.correlation, c.at("correlation"));
    CHECK_GOLDEN(seen.widening(), c.at("widening"));
    CHECK(golden::agrees_or_neither(mean_half_width(values, 0.95), c.at("half_width")));
  }
}

TEST_CASE("deltas and ratios of rounds that resemble each other agree with the golden cases") {
  for (const Json& c : golden::section_3("delta")) {
    INFO(c.at("name").get<std::string>());
    const std::vector<double> reference = golden::series(c, "reference");
    const std::vector<double> candidate = golden::series(c, "candidate");
    const bool paired = c.at("paired");
    const Delta delta = estimate_delta(
        {.reference = reference, .candidate = candidate, .paired = paired}, tails_of(0.95));
    REQUIRE((delta.basis == Basis::Typical && delta.bounds && delta.change_of_mean.bounds));
    CHECK_GOLDEN(delta.widening, c.at("widening"));
    CHECK_GOLDEN(*delta.change, c.at("change"));
    CHECK_GOLDEN(delta.bounds->low, c.at("low"));
    CHECK_GOLDEN(delta.bounds->high, c.at("high"));
    CHECK_GOLDEN(*delta.change_of_mean.change, c.at("mean")[0]);
    CHECK_GOLDEN(delta.change_of_mean.bounds->low, c.at("mean")[1]);
    CHECK_GOLDEN(delta.change_of_mean.bounds->high, c.at("mean")[2]);
    const auto ratio =
        log_ratio({.reference = reference, .candidate = candidate, .paired = paired});
    REQUIRE((ratio && ratio->error));
    CHECK_GOLDEN(ratio->value, c.at("log_ratio"));
    CHECK_GOLDEN(*ratio->error, c.at("log_error"));
  }
}

TEST_CASE("a boundary that is moved as far as an interval agrees with the golden cases") {
  for (const Json& c : golden::section_3("delta")) {
    if (!c.contains("p_slower_at_2_percent")) continue;
    INFO(c.at("name").get<std::string>());
    const std::vector<double> reference = golden::series(c, "reference");
    const std::vector<double> candidate = golden::series(c, "candidate");
    const Widening widening =
        widening_of({.reference = reference, .candidate = candidate, .paired = true});
    const Json& expected = c.at("p_slower_at_2_percent");
    CHECK_GOLDEN(
        widen_tails(signed_rank(reference, candidate, 1.02).tails, widening.paired_factor).above,
        expected.at("ranks"));
    CHECK_GOLDEN(paired_mean_test(reference, candidate, 1.02, widening).tails.above,
                 expected.at("mean"));
  }
}

TEST_CASE("certain tails stay certain however far a boundary moves") {
  const TailProbabilities tails = widen_tails({.above = 0.0, .below = 1.0}, 3.0);
  CHECK(tails.above == 0.0);
  CHECK(tails.below == 1.0);
}

TEST_CASE("rounds keep their order of ratios where a value is 0, and of differences below it") {
  const std::vector<double> reference{1.0, 0.0, 2.0, 0.0};
  const std::vector<double> candidate{2.0, 3.0, 1.0, 0.0};
  const std::vector<double> relative = relative_differences(reference, candidate);
  CHECK(ranks_in_order(relative) == std::vector<double>{3.0, 4.0, 1.0, 2.0});
  const std::vector<double> below{-1.0, -5.0};
  CHECK(relative_differences(below, std::vector<double>{-3.0, 5.0}) ==
        std::vector<double>{-2.0, 10.0});
}

TEST_CASE("noise of one command that lasts leaves the interval its coverage from 60 rounds on") {
  noise::Source source(38);
  constexpr std::size_t sessions = 600;
  std::size_t held = 0;
  std::size_t plain = 0;
  for (std::size_t i = 0; i < sessions; ++i) {
    const std::vector<double> ratios = waves(source, 60, 0.6);
    const std::vector<double> steady(60, 1.0);
    const Delta delta =
        estimate_delta({.reference = steady, .candidate = ratios, .paired = true}, tails_of(0.95));
    held += delta.bounds && !delta.bounds->leave_out(0.0) ? 1U : 0U;
    const auto narrow =
        typical_change({.reference = steady, .candidate = ratios, .paired = true}, 0.025);
    plain += narrow && !narrow->bounds.leave_out(0.0) ? 1U : 0U;
  }
  CHECK(plain < sessions * 85 / 100);
  CHECK(held > sessions * 90 / 100);
}

TEST_CASE("a likeness is clear in at most one of two hundred series of independent values") {
  noise::Source source(7);
  for (const std::size_t count : {20U, 30U, 100U}) {
    std::size_t clear = 0;
    for (std::size_t i = 0; i < 4000; ++i)
      clear += neighbour_resemblance(source.normals(count, 1.0, 0.01)).is_clear(0.005) ? 1U : 0U;
    INFO(count, ": ", clear);
    CHECK(clear <= 20 + 13);  // three standard errors
  }
  CHECK_FALSE(
      neighbour_resemblance(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).is_clear(0.005));
}

}  // namespace lauka::stats
