#include "stats/golden.h"

#include "stats/delta.h"
#include "stats/distributions.h"
#include "stats/rank_tests.h"
#include "stats/summary.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka::stats {

using golden::Json;

namespace {

/// A value of 0 there is 0 to 1e-12 here: these are changes of values about 1.
bool agrees_or_neither(const std::optional<double>& value, const Json& expected) {
  if (expected == 0.0) return value && std::abs(*value) <= 1e-12;
  return golden::agrees_or_neither(value, expected);
}

void check_change(const Change& change, const Json& delta, const Json& low, const Json& high) {
  CHECK(agrees_or_neither(change.change, delta));
  REQUIRE(change.bounds.has_value() == !low.is_null());
  if (!change.bounds) return;
  CHECK(agrees_or_neither(std::optional(change.bounds->low), low));
  CHECK(agrees_or_neither(std::optional(change.bounds->high), high));
}

void check_tails(const TailProbabilities& tails, const Json& expected) {
  CHECK_GOLDEN(tails.above, expected.at("p_slower"));
  CHECK_GOLDEN(tails.below, expected.at("p_not_slower"));
}

double fences_case(const Summary& summary, bool high) {
  const IntervalEnds fences = tukey_fences(summary.q1, summary.q3, kOutlierReach);
  return high ? fences.high : fences.low;
}

}  // namespace

TEST_CASE("quantiles of Student's t and the normal agree with the golden cases") {
  const Json quantiles = golden::section("quantiles");
  for (const Json& c : quantiles.at("student_t_upper")) {
    CHECK_GOLDEN(student_t_quantile_above(c.at("p"), c.at("df")), c.at("t"));
    CHECK_GOLDEN(student_t_above(c.at("t"), c.at("df")), c.at("p"));
  }
  for (const Json& c : quantiles.at("normal_upper")) {
    CHECK_GOLDEN(normal_quantile_above(c.at("p")), c.at("z"));
    CHECK_GOLDEN(normal_above(c.at("z")), c.at("p"));
  }
}

TEST_CASE("a summary agrees with the golden cases") {
  for (const Json& c : golden::section("summary")) {
    INFO(c.at("name").get<std::string>());
    const std::vector<double> values = golden::series(c, "values");
    const Json& expected = c.at("expected");
    const Summary summary = summarize(values);
    CHECK(summary.count == expected.at("n").get<std::size_t>());
    CHECK_GOLDEN(summary.mean, expected.at("mean"));
    CHECK_GOLDEN(summary.median, expected.at("median"));
    CHECK_GOLDEN(median_deviation(values, median(sorted(values))), expected.at("mad"));
    CHECK_GOLDEN(summary.min, expected.at("min"));
    CHECK_GOLDEN(summary.max, expected.at("max"));
    CHECK_GOLDEN(summary.q1, expected.at("q1"));
    CHECK_GOLDEN(summary.q3, expected.at("q3"));
    CHECK_GOLDEN(summary.q3 - summary.q1, expected.at("iqr"));
    CHECK(golden::agrees_or_neither(summary.stddev(), expected.at("stddev")));
    CHECK(golden::agrees_or_neither(moments(values).variance, expected.at("variance")));
    CHECK_GOLDEN(fences_case(summary, false), expected.at("low_fence"));
    CHECK_GOLDEN(fences_case(summary, true), expected.at("high_fence"));
    CHECK(summary.outliers == expected.at("outliers").get<std::size_t>());
    CHECK(summary.severe_outliers == expected.at("severe").get<std::size_t>());
    CHECK(golden::agrees_or_neither(mean_half_width(values, c.at("confidence")),
                                    expected.at("mean_half_width")));
  }
}

TEST_CASE("the four tests of a threshold agree with the golden cases") {
  for (const Json& c : golden::section("tests")) {
    INFO(c.at("name").get<std::string>());
    const std::vector<double> reference = golden::series(c, "reference");
    const std::vector<double> candidate = golden::series(c, "candidate");
    const double ratio = 1.0 + c.at("percent").get<double>() / 100.0;

    const SignedRank ranks = signed_rank(reference, candidate, ratio);
    CHECK(ranks.ranked_rounds == c.at("signed_rank").at("n_eff").get<std::size_t>());
    CHECK_GOLDEN(ranks.positive_sum, c.at("signed_rank").at("w"));
    CHECK((ranks.ranked_rounds <= kMaxExactRanks) == c.at("signed_rank").at("exact").get<bool>());
    check_tails(ranks.tails, c.at("signed_rank"));

    const MeanTest mean = paired_mean_test(reference, candidate, ratio);
    CHECK_GOLDEN(mean.difference, c.at("mean_t").at("mean"));
    CHECK(golden::agrees_or_neither(mean.t, c.at("mean_t").at("t")));
    check_tails(mean.tails, c.at("mean_t"));

    const MannWhitney pooled = mann_whitney(reference, candidate, ratio);
    CHECK_GOLDEN(pooled.u, c.at("mann_whitney").at("u"));
    check_tails(pooled.tails, c.at("mann_whitney"));

    const MeanTest welch = welch_mean_test(reference, candidate, ratio);
    CHECK_GOLDEN(welch.difference, c.at("welch_t").at("mean"));
    CHECK(golden::agrees_or_neither(welch.t, c.at("welch_t").at("t")));
    CHECK(golden::agrees_or_neither(welch.degrees, c.at("welch_t").at("df")));
    check_tails(welch.tails, c.at("welch_t"));
  }
}

TEST_CASE("the typical round agrees with the golden cases") {
  for (const Json& c : golden::section("typical")) {
    INFO(c.at("name").get<std::string>());
    const auto typical = typical_change({.reference = golden::series(c, "reference"),
                                         .candidate = golden::series(c, "candidate"),
                                         .paired = true},
                                        c.at("p"));
    const Json& expected = c.at("expected");
    REQUIRE(typical.has_value() == (!expected.is_null() && !expected.at("low").is_null()));
    if (!typical) continue;
    CHECK_GOLDEN(typical->change * 100.0, expected.at("delta"));
    CHECK_GOLDEN(typical->bounds.low * 100.0, expected.at("low"));
    CHECK_GOLDEN(typical->bounds.high * 100.0, expected.at("high"));
  }
}

TEST_CASE("the places of both rank intervals agree with the golden cases") {
  const Json places = golden::section_2("places");
  for (const Json& c : places.at("signed_rank")) {
    INFO(c.dump());
    CHECK(signed_rank_place(c.at("rounds").get<std::size_t>(), c.at("tail")) ==
          c.at("place").get<std::uint64_t>());
  }
  for (const Json& c : places.at("mann_whitney")) {
    INFO(c.dump());
    CHECK(mann_whitney_place(c.at("reference").get<std::size_t>(),
                             c.at("candidate").get<std::size_t>(),
                             c.at("tail")) == c.at("place").get<std::uint64_t>());
  }
}

TEST_CASE("deltas, and what is said of the mean, agree with the golden cases") {
  for (const Json& c : golden::section_2("delta")) {
    INFO(c.at("name").get<std::string>());
    const double confidence = c.at("confidence");
    const Delta delta = estimate_delta({.reference = golden::series(c, "reference"),
                                        .candidate = golden::series(c, "candidate"),
                                        .paired = c.at("order") == "paired"},
                                       {c.at("tail"), tails_of(confidence).tail_of_mean_change});
    const Json& expected = c.at("expected");
    check_change(delta, expected.at("delta"), expected.at("low"), expected.at("high"));
    CHECK(agrees_or_neither(delta.half_width(), expected.at("half")));
    CHECK((delta.basis == Basis::Typical) == (expected.at("basis") == "typical"));
    CHECK(delta.is_significant() == expected.at("significant").get<bool>());
    if (const Json& mean = expected.at("mean_warning"); !mean.is_null()) {
      check_change(delta.change_of_mean, mean.at("mean"), mean.at("mean_low"),
                   mean.at("mean_high"));
      CHECK(delta.mean_and_typical_differ == mean.at("warn").get<bool>());
    }
    const auto speed = relative_speed(delta);
    REQUIRE(speed.has_value() == !expected.at("speed").is_null());
    if (!speed) continue;
    const Json& line = expected.at("speed");
    CHECK_GOLDEN(speed->speed_factor, line.at("ratio"));
    CHECK(speed->faster == line.at("faster").get<bool>());
    REQUIRE(speed->bounds.has_value() == !line.at("low").is_null());
    if (!speed->bounds) continue;
    CHECK_GOLDEN(speed->bounds->low, line.at("low"));
    CHECK_GOLDEN(speed->bounds->high, line.at("high"));
  }
}

TEST_CASE("what warnings rest on agrees with the golden cases") {
  for (const Json& c : golden::section("warnings")) {
    INFO(c.at("name").get<std::string>());
    const std::vector<double> values = golden::series(c, "values");
    const Json& expected = c.at("expected");

    const auto first = first_run(values);
    REQUIRE(first.has_value() == expected.contains("slow_first"));
    CHECK((!first || first->slow == expected.at("slow_first").get<bool>()));

    const auto noise = slow_noise(values);
    REQUIRE(noise.has_value() == expected.contains("lag1"));
    if (noise) {
      CHECK_GOLDEN(noise->autocorrelation, expected.at("lag1"));
      CHECK(noise->slow == expected.at("slow_noise").get<bool>());
    }

    const auto trend = drift(values);
    REQUIRE(trend.has_value() == expected.contains("spearman"));
    if (trend) {
      CHECK_GOLDEN(trend->rank_correlation, expected.at("spearman"));
      CHECK_GOLDEN(trend->change * 100.0, expected.at("change_of_thirds_percent"));
      CHECK(trend->drifting == expected.at("drift").get<bool>());
    }

    const auto modes = two_modes(values);
    REQUIRE(modes.has_value() == expected.contains("separation"));
    if (modes) {
      CHECK_GOLDEN(modes->separation, expected.at("separation"));
      CHECK_GOLDEN(modes->smaller_share, expected.at("smaller_share"));
      CHECK(modes->is_bimodal == expected.at("two_modes").get<bool>());
    }
  }
}

}  // namespace lauka::stats
