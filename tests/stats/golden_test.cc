#include "stats/golden.h"

#include "stats/delta.h"
#include "stats/mann_whitney.h"
#include "stats/mean_test.h"
#include "stats/moments.h"
#include "stats/normal.h"
#include "stats/outliers.h"
#include "stats/quantiles.h"
#include "stats/signed_rank.h"
#include "stats/steadiness.h"
#include "stats/student_t.h"
#include "stats/summary.h"
#include "stats/typical.h"
#include "stats/welch.h"

#include <optional>
#include <string>
#include <vector>

namespace lauka::stats {

using golden::Json;

namespace {

/// The golden cases speak percent, the code fractions.
std::optional<double> percent(std::optional<double> fraction) {
  return fraction ? std::optional<double>(*fraction * 100.0) : std::nullopt;
}

void check_delta(const Delta& delta, const Json& expected) {
  CHECK(golden::agrees_or_neither(percent(delta.change), expected.at("delta")));
  CHECK(golden::agrees_or_neither(percent(delta.half_width), expected.at("half")));
  CHECK(delta.significant == expected.at("significant").get<bool>());
  if (delta.change && delta.half_width) {
    CHECK_GOLDEN((*delta.change - *delta.half_width) * 100.0, expected.at("low"));
    CHECK_GOLDEN((*delta.change + *delta.half_width) * 100.0, expected.at("high"));
  }
}

void check_tails(const Tails& tails, const Json& expected) {
  CHECK_GOLDEN(tails.above, expected.at("p_slower"));
  CHECK_GOLDEN(tails.below, expected.at("p_not_slower"));
}

double fences_case(const Summary& summary, bool high) {
  const Fences fences = tukey_fences(summary.q1, summary.q3, kOutlierReach);
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
    CHECK_GOLDEN(summary.min, expected.at("min"));
    CHECK_GOLDEN(summary.max, expected.at("max"));
    CHECK_GOLDEN(summary.q1, expected.at("q1"));
    CHECK_GOLDEN(summary.q3, expected.at("q3"));
    CHECK_GOLDEN(summary.q3 - summary.q1, expected.at("iqr"));
    CHECK(golden::agrees_or_neither(summary.stddev, expected.at("stddev")));
    CHECK(golden::agrees_or_neither(moments(values).variance, expected.at("variance")));
    CHECK_GOLDEN(median_absolute_deviation(sorted(values)), expected.at("mad"));
    CHECK_GOLDEN(fences_case(summary, false), expected.at("low_fence"));
    CHECK_GOLDEN(fences_case(summary, true), expected.at("high_fence"));
    CHECK(summary.outliers == expected.at("outliers").get<std::size_t>());
    CHECK(summary.severe == expected.at("severe").get<std::size_t>());
    CHECK(golden::agrees_or_neither(mean_half_width(values, c.at("confidence")),
                                    expected.at("mean_half_width")));
  }
}

TEST_CASE("a delta within rounds agrees with the golden cases") {
  for (const Json& c : golden::section("delta")) {
    INFO(c.at("name").get<std::string>());
    if (c.at("paired").is_null()) {
      continue;  // different numbers of runs make no pairs
    }
    const std::vector<double> reference = golden::series(c, "reference");
    CHECK(reference.size() == c.at("paired").at("n").get<std::size_t>());
    check_delta(paired_delta(reference, golden::series(c, "candidate"), c.at("confidence")),
                c.at("paired"));
  }
}

TEST_CASE("a delta of independent samples agrees with the golden cases") {
  for (const Json& c : golden::section("delta")) {
    INFO(c.at("name").get<std::string>());
    const std::vector<double> reference = golden::series(c, "reference");
    const std::vector<double> candidate = golden::series(c, "candidate");
    const Json& expected = c.at("unpaired");
    check_delta(unpaired_delta(reference, candidate, c.at("confidence")), expected);
    if (!expected.at("df").is_null()) {
      const Moments r = moments(reference);
      const Moments of_candidate = moments(candidate);
      const double ratio = of_candidate.mean / r.mean;
      CHECK_GOLDEN(
          welch_degrees(*of_candidate.variance / static_cast<double>(candidate.size()),
                        candidate.size(),
                        ratio * ratio * *r.variance / static_cast<double>(reference.size()),
                        reference.size()),
          expected.at("df"));
    }
  }
}

TEST_CASE("the four tests of a threshold agree with the golden cases") {
  for (const Json& c : golden::section("tests")) {
    INFO(c.at("name").get<std::string>());
    const std::vector<double> reference = golden::series(c, "reference");
    const std::vector<double> candidate = golden::series(c, "candidate");
    const double ratio = 1.0 + c.at("percent").get<double>() / 100.0;

    const SignedRank ranks = signed_rank(reference, candidate, ratio);
    CHECK(ranks.kept == c.at("signed_rank").at("n_eff").get<std::size_t>());
    CHECK_GOLDEN(ranks.positive_sum, c.at("signed_rank").at("w"));
    CHECK((ranks.kept <= kMostCountedRanks) == c.at("signed_rank").at("exact").get<bool>());
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
    const auto typical =
        typical_change(golden::series(c, "reference"), golden::series(c, "candidate"), c.at("p"));
    const Json& expected = c.at("expected");
    REQUIRE(typical.has_value() == !expected.is_null());
    if (typical) {
      CHECK_GOLDEN(typical->change * 100.0, expected.at("delta"));
      REQUIRE(typical->bounds.has_value() == !expected.at("low").is_null());
      if (typical->bounds) {
        CHECK_GOLDEN(typical->bounds->low * 100.0, expected.at("low"));
        CHECK_GOLDEN(typical->bounds->high * 100.0, expected.at("high"));
      }
    }
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
      CHECK(modes->two == expected.at("two_modes").get<bool>());
    }
  }
}

}  // namespace lauka::stats
