#pragma once

#include "stats/distributions.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace lauka::stats {

/// The largest number of rounds for which the distribution of signed ranks is computed exactly; for
/// more rounds it is approximated by the normal distribution.
inline constexpr std::size_t kMaxCountedRanks = 50;

/// The result of Wilcoxon's signed-rank test of relative differences from the threshold.
struct SignedRank {
  std::size_t kept = 0;       ///< number of rounds that are not at the threshold, up to rounding
  double positive_sum = 0.0;  ///< W: sum of the mid-ranks of rounds above the threshold
  Tails tails{};
};

/// Ranks the rounds (equal sizes, no negative sample) by |c - ratio * r| / (c + ratio * r) and
/// tests if the signs are like a fair coin's. For shuffled rounds at the threshold they are,
/// whatever the noise, so the error rate holds under drift, heavy tails and few rounds. Defined
/// even if r is 0.
SignedRank signed_rank(std::span<const double> reference, std::span<const double> candidate,
                       double ratio);

/// Returns the position, from either end of the sorted Walsh averages, of the average that bounds
/// an interval with `probability` (below 0.5) beyond it: the number of s = 0, 1, ... with P(W <= s)
/// <= `probability`, for `count` untied ranks with fair signs. `widening` multiplies the deviate of
/// the normal approximation; the bound is then at worst the outermost average. 0 if there are too
/// few ranks.
std::uint64_t signed_rank_place(std::size_t count, double probability, double widening = 1.0);

/// The result of the Mann-Whitney test of independent samples against a threshold.
struct MannWhitney {
  double u =
      0.0;  ///< number of pairs in which the candidate is above the threshold; ties count half
  Tails tails{};
};

/// Ranks the candidate's samples among ratio * reference (at least one sample each, none negative).
/// Ties get mid-ranks; tails are normal, with a continuity correction of one half.
MannWhitney mann_whitney(std::span<const double> reference, std::span<const double> candidate,
                         double ratio);

/// Computes exact tails of the rank sum of `later` among all values (Mann & Whitney 1947); ties get
/// mid-ranks. `above` is small if `later` is higher. For at most some dozens of values: time grows
/// with the third power of their number.
Tails rank_sum_tails(std::span<const double> earlier, std::span<const double> later);

/// Returns the position, from either end of the sorted differences, of the difference that bounds
/// an interval with `probability` beyond it; 0 if there are too few samples. `reference` and
/// `candidate` are numbers of samples; `widening` multiplies the normal deviate.
std::uint64_t mann_whitney_place(std::size_t reference, std::size_t candidate, double probability,
                                 double widening = 1.0);

}  // namespace lauka::stats
