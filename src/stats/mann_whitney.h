#pragma once

#include "stats/tails.h"

#include <span>

namespace lauka::stats {

/// The Mann-Whitney test of independent samples against the threshold.
struct MannWhitney {
  double u = 0.0;  ///< pairs in which the candidate is above the threshold; half of the ties
  Tails tails{};
};

/// Ranks the candidate's samples among ratio * reference (at least one of each, none negative):
/// mid-ranks for ties, normal tails with a continuity correction of one half.
MannWhitney mann_whitney(std::span<const double> reference, std::span<const double> candidate,
                         double ratio);

}  // namespace lauka::stats
