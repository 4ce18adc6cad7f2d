#pragma once

#include "stats/distributions.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace lauka::stats {

/// Up to here the distribution of a sum of signed ranks is counted out, beyond it is taken as
/// normal.
inline constexpr std::size_t kMaxCountedRanks = 50;

/// Wilcoxon's signed-rank test of the relative differences from the threshold.
struct SignedRank {
  std::size_t kept = 0;       ///< rounds that differ from the threshold at all
  double positive_sum = 0.0;  ///< W: sum of the mid-ranks of the rounds above the threshold
  Tails tails{};
};

/// Ranks the rounds (equal sizes, no sample negative) by |c - ratio * r| / (c + ratio * r) and
/// tests if the signs are like a fair coin's. In a shuffled round at the threshold they are,
/// whatever the noise, so the level holds for drift, heavy tails and few rounds; defined where r is
/// 0.
SignedRank signed_rank(std::span<const double> reference, std::span<const double> candidate,
                       double ratio);

/// Counts s = 0, 1, ... with P(W <= s) <= `probability` (below 0.5) for `count` untied ranks under
/// fair signs: the place, from either end, of the Walsh average that bounds an interval of
/// that tail. `widening` multiplies the deviate of its normal approximation; such a bound is the
/// outermost average at worst.
std::uint64_t signed_rank_place(std::size_t count, double probability, double widening = 1.0);

/// The Mann-Whitney test of independent samples against the threshold.
struct MannWhitney {
  double u = 0.0;  ///< pairs in which the candidate is above the threshold; half of the ties
  Tails tails{};
};

/// Ranks the candidate's samples among ratio * reference (at least one of each, none negative):
/// mid-ranks for ties, normal tails with a continuity correction of one half.
MannWhitney mann_whitney(std::span<const double> reference, std::span<const double> candidate,
                         double ratio);

/// Computes the exact tails of the rank sum of `later` among both samples' values (Mann & Whitney
/// 1947), mid-ranks for ties: `above` is small where `later` is higher. For some dozens of values:
/// it takes time by the third power of their number.
Tails rank_sum_tails(std::span<const double> earlier, std::span<const double> later);

/// Returns the place, from either end, of the difference that bounds an interval of that tail; 0 if
/// there are too few samples. `widening` as in signed_rank_place().
std::uint64_t mann_whitney_place(std::size_t reference, std::size_t candidate, double probability,
                                 double widening = 1.0);

}  // namespace lauka::stats
