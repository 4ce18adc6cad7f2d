#include "stats/rank_tests.h"

#include "stats/delta.h"
#include "stats/noise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::stats {
namespace {

/// A series in which round i differs from a reference of ones by signed relative differences `d`.
std::vector<double> with_differences(const std::vector<double>& d) {
  std::vector<double> candidate(d.size());
  std::transform(d.begin(), d.end(), candidate.begin(),
                 [](double x) { return (1.0 + x) / (1.0 - x); });
  return candidate;
}

/// Mid-rank of |d[i]| by definition: those below, and half of those equal (itself twice).
double rank_of(const std::vector<double>& d, std::size_t i) {
  double rank = 0.5;
  for (const double other : d) {
    const double gap = std::abs(d[i]) - std::abs(other);
    if (std::abs(gap) < 1e-9) {
      rank += 0.5;
    } else if (gap > 0.0) {
      rank += 1.0;
    }
  }
  return rank;
}

double sum_of_positive(const std::vector<double>& ranks, std::uint64_t signs) {
  double sum = 0.0;
  for (std::size_t i = 0; i < ranks.size(); ++i) sum += ((signs >> i) & 1U) != 0 ? ranks[i] : 0.0;
  return sum;
}

/// Both tails of W by going through all 2^m vectors of signs.
TailProbabilities by_brute_force(const std::vector<double>& d) {
  std::vector<double> ranks(d.size());
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    ranks[i] = rank_of(d, i);
    seen |= static_cast<std::uint64_t>(d[i] > 0.0) << i;
  }
  const double w = sum_of_positive(ranks, seen);
  const std::uint64_t all = std::uint64_t{1} << d.size();
  double above = 0.0;
  double below = 0.0;
  for (std::uint64_t signs = 0; signs < all; ++signs) {
    const double sum = sum_of_positive(ranks, signs);
    above += sum >= w ? 1.0 : 0.0;
    below += sum <= w ? 1.0 : 0.0;
  }
  return {.above = above / static_cast<double>(all), .below = below / static_cast<double>(all)};
}

/// Differences of few sizes, so that ties are frequent, or of many.
std::vector<double> random_differences(noise::Source& source, std::size_t count, bool tied) {
  std::vector<double> d(count);
  for (double& x : d) {
    const double size = tied ? 0.01 * std::ceil(4.0 * source.uniform()) : 0.5 * source.uniform();
    x = source.uniform() < 0.6 ? size : -size;
  }
  return d;
}

}  // namespace

TEST_CASE("signed ranks are counted as going through all vectors of signs would, ties included") {
  noise::Source source(10);
  for (std::size_t count = 1; count <= 12; ++count) {
    for (int trial = 0; trial < 20; ++trial) {
      const std::vector<double> d = random_differences(source, count, trial % 2 == 0);
      const TailProbabilities expected = by_brute_force(d);
      const SignedRank ranks =
          signed_rank(std::vector<double>(count, 1.0), with_differences(d), 1.0);
      INFO(count, " rounds, trial ", trial);
      CHECK(ranks.ranked_rounds == count);
      CHECK(ranks.tails.above == doctest::Approx(expected.above).epsilon(1e-14));
      CHECK(ranks.tails.below == doctest::Approx(expected.below).epsilon(1e-14));
    }
  }
}

TEST_CASE("counted and normal tails meet where one takes over from the other") {
  noise::Source source(11);
  for (int trial = 0; trial < 50; ++trial) {
    const std::vector<double> fifty = random_differences(source, 50, false);
    const SignedRank counted =
        signed_rank(std::vector<double>(50, 1.0), with_differences(fifty), 1.0);
    const double z = (counted.positive_sum - 0.5 - 637.5) / std::sqrt(50 * 51 * 101 / 24.0);
    CHECK(counted.tails.above == doctest::Approx(std::erfc(z / std::sqrt(2.0)) / 2).epsilon(0.08));
  }
}

TEST_CASE("rounds at the threshold decide nothing, up to rounding") {
  const std::vector<double> reference{100.0, 200.0, 300.0};
  const std::vector<double> candidate{110.0, 220.0, 330.0};
  const SignedRank ranks = signed_rank(reference, candidate, 1.0 + 10.0 / 100.0);
  CHECK(ranks.ranked_rounds == 0);
  CHECK(ranks.tails.above == 1.0);
  CHECK(ranks.tails.below == 1.0);
}

TEST_CASE("a round that goes from nothing to something counts most, from nothing to nothing not") {
  const SignedRank ranks =
      signed_rank(std::vector<double>{0.0, 0.0, 4.0}, std::vector<double>{0.0, 1.0, 3.0}, 1.0);
  CHECK(ranks.ranked_rounds == 2);
  CHECK(ranks.positive_sum == 2.0);
}

TEST_CASE("exchanging the commands exchanges the tails of every test") {
  noise::Source source(12);
  for (const std::size_t count : {std::size_t{9}, std::size_t{70}}) {
    const std::vector<double> a = source.normals(count, 1.0, 0.05);
    const std::vector<double> b = source.normals(count, 1.02, 0.05);
    const auto check = [](const TailProbabilities& there, const TailProbabilities& back) {
      CHECK(there.above == doctest::Approx(back.below).epsilon(1e-12));
      CHECK(there.below == doctest::Approx(back.above).epsilon(1e-12));
    };
    check(signed_rank(a, b, 1.0).tails, signed_rank(b, a, 1.0).tails);
    check(mann_whitney(a, b, 1.0).tails, mann_whitney(b, a, 1.0).tails);
    check(paired_mean_test(a, b, 1.0).tails, paired_mean_test(b, a, 1.0).tails);
    check(welch_mean_test(a, b, 1.0).tails, welch_mean_test(b, a, 1.0).tails);
  }
}

TEST_CASE("the unit of the samples does not matter to any test") {
  noise::Source source(13);
  const std::vector<double> a = source.normals(30, 1.0, 0.05);
  const std::vector<double> b = source.normals(30, 1.1, 0.05);
  const auto nanoseconds = [](std::vector<double> values) {
    std::for_each(values.begin(), values.end(), [](double& value) { value *= 1e9; });
    return values;
  };
  for (const auto test : {paired_mean_test, welch_mean_test})
    CHECK(test(nanoseconds(a), nanoseconds(b), 1.08, {}).tails.above ==
          doctest::Approx(test(a, b, 1.08, {}).tails.above).epsilon(1e-9));
  CHECK(signed_rank(nanoseconds(a), nanoseconds(b), 1.08).tails.above ==
        signed_rank(a, b, 1.08).tails.above);
  CHECK(mann_whitney(nanoseconds(a), nanoseconds(b), 1.08).tails.above ==
        mann_whitney(a, b, 1.08).tails.above);
}

TEST_CASE("Mann-Whitney's u counts the pairs that are above, ties half") {
  // 5 is above 1, 2 and tied with 5; 2 is above 1 and tied with 2; 9 is above all three.
  const MannWhitney test =
      mann_whitney(std::vector<double>{1.0, 2.0, 5.0}, std::vector<double>{5.0, 2.0, 9.0}, 1.0);
  CHECK(test.u == 2.5 + 1.5 + 3.0);
}

TEST_CASE("without noise the mean is decided by how many rounds agreed") {
  const std::vector<double> reference(3, 100.0);
  CHECK(paired_mean_test(reference, std::vector<double>(3, 103.0), 1.0).tails.above == 1.0 / 64);
  CHECK(paired_mean_test(reference, std::vector<double>(3, 103.0), 1.1).tails.below == 1.0 / 64);
  CHECK(welch_mean_test(reference, std::vector<double>(5, 103.0), 1.0).tails.above == 1.0 / 64);
  CHECK_FALSE(paired_mean_test(reference, std::vector<double>(3, 103.0), 1.0).t.has_value());
}

TEST_CASE("places of bounds are as in the published table of signed ranks") {
  // Wilcoxon's table: the largest W with a one-sided probability of at most .025 is 0 for 6, 8 for
  // 10, 52 for 20 and 434 for 50; the place of the average is one more, W counting from 0.
  CHECK(signed_rank_place(5, 0.025) == 0);
  CHECK(signed_rank_place(6, 0.025) == 1);
  CHECK(signed_rank_place(10, 0.025) == 9);
  CHECK(signed_rank_place(20, 0.025) == 53);
  CHECK(signed_rank_place(50, 0.025) == 435);
}

TEST_CASE("the tails of a rank sum agree with all draws of the later sample") {
  // Counted out of all combinations of the mid-ranks, in Python.
  const auto tails = [](std::vector<double> earlier, std::vector<double> later) {
    return rank_sum_tails(earlier, later);
  };
  const TailProbabilities apart = tails({1, 2, 3, 4, 5}, {6, 7, 8});
  CHECK(apart.above == doctest::Approx(1.0 / 56));
  CHECK(apart.below == doctest::Approx(1.0));
  const TailProbabilities tied = tails({3, 1, 2, 2, 5}, {2, 4, 4});
  CHECK(tied.above == doctest::Approx(16.0 / 56));
  CHECK(tied.below == doctest::Approx(46.0 / 56));
  const TailProbabilities lower = tails({-1, -2, 0.5}, {-3, -2});
  CHECK(lower.above == doctest::Approx(1.0));
  CHECK(lower.below == doctest::Approx(0.2));
}

}  // namespace lauka::stats
