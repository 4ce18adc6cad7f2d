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
  std::size_t kept = 0;  ///< number of rounds that differ from the threshold by more than rounding
  double positive_sum = 0.0;  ///< W: sum of the mid-ranks of rounds above the threshold
  Tails tails{};
};

/// Tests if candidates c are above or below ratio * r in the same rounds (equal sizes, no negative
/// sample). Ranks the rounds by |c - ratio * r| / (c + ratio * r), and compares the signs with a
/// fair coin's. In shuffled rounds, the error rate holds under drift, heavy tails and few rounds.
SignedRank signed_rank(std::span<const double> reference, std::span<const double> candidate,
                       double ratio);

/// Returns the position, from either end of the sorted Walsh averages, of the interval's end with
/// `probability` (below 0.5) beyond it; 0 if there are too few ranks. `count` is the number of
/// untied ranks. `widening` multiplies the deviate of the normal approximation, but reaches at most
/// the outermost average.
std::uint64_t signed_rank_place(std::size_t count, double probability, double widening = 1.0);

struct MannWhitney {
  double u =
      0.0;  ///< number of pairs in which the candidate is above the threshold; ties count half
  Tails tails{};
};

/// Tests if the candidate's samples are above or below ratio * reference (at least one sample each,
/// none negative). Ties get mid-ranks. The tails are normal, with a continuity correction of one
/// half.
MannWhitney mann_whitney(std::span<const double> reference, std::span<const double> candidate,
                         double ratio);

/// Computes the exact p values of the rank sum of `later` among all values (Mann & Whitney 1947);
/// `above` is small if `later` is higher. Ties get mid-ranks. Meant for dozens of values: the time
/// grows with the fourth power of their number.
Tails rank_sum_tails(std::span<const double> earlier, std::span<const double> later);

/// Returns the position, from either end of the sorted differences, of the interval's end with
/// `probability` beyond it; 0 if there are too few samples. `reference` and `candidate` are numbers
/// of samples. `widening` multiplies the normal deviate.
std::uint64_t mann_whitney_place(std::size_t reference, std::size_t candidate, double probability,
                                 double widening = 1.0);

}  // namespace lauka::stats
