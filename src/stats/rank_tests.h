#pragma once

#include "stats/distributions.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace lauka::stats {

/// The largest number of ranks for which the signed-rank distribution is computed exactly. More
/// ranks use the normal approximation.
inline constexpr std::size_t kMaxExactRanks = 50;

struct SignedRank {
  /// Number of rounds whose difference from the threshold is not a rounding error.
  std::size_t ranked_rounds = 0;
  double positive_sum = 0.0;  ///< W: sum of the mid-ranks of rounds above the threshold
  TailProbabilities tails{};
};

/// Tests if `candidate` is above or below ratio * `reference` in the same rounds (equal sizes, no
/// negative sample). Ranks the rounds by |c - ratio * r| / (c + ratio * r), with the candidate's
/// value c and the reference's value r.
SignedRank signed_rank(std::span<const double> reference, std::span<const double> candidate,
                       double ratio);

/// Returns the position (from 1, counted from either end of the sorted Walsh averages) at which an
/// interval ends; 0 if there are too few ranks. The truth is beyond each end with at most about
/// `probability` (below 0.5). `count`: number of ranks, without ties. `widening` multiplies the
/// normal deviate, but moves an end at most to the outermost average.
std::uint64_t signed_rank_place(std::size_t count, double probability, double widening = 1.0);

struct MannWhitney {
  /// Number of pairs of samples in which the candidate is above the threshold; ties count half.
  double u = 0.0;
  TailProbabilities tails{};
};

/// Tests if the candidate's samples are above or below ratio * reference (at least one sample each,
/// none negative). Ties get mid-ranks. The tails are normal, with a continuity correction of one
/// half.
MannWhitney mann_whitney(std::span<const double> reference, std::span<const double> candidate,
                         double ratio);

/// Returns the exact p values of the rank sum of `later` among all values (Mann & Whitney 1947);
/// `above` is small if `later` is higher. Ties get mid-ranks. Meant for dozens of values: the time
/// grows with up to the fourth power of their number.
TailProbabilities rank_sum_tails(std::span<const double> earlier, std::span<const double> later);

/// Returns the position (from 1, counted from either end of the sorted differences between the two
/// sides' samples) at which an interval ends; 0 if there are too few samples. The truth is beyond
/// each end with at most about `probability`. `reference` and `candidate` are numbers of samples.
/// `widening` multiplies the normal deviate, but moves an end at most to the outermost difference.
std::uint64_t mann_whitney_place(std::size_t reference, std::size_t candidate, double probability,
                                 double widening = 1.0);

}  // namespace lauka::stats
