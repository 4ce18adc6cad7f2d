#pragma once

namespace lauka::stats {

/// What a test says of a statistic, were the candidate exactly at the threshold.
struct Tails {
  double above = 1.0;  ///< the probability of a value at least as large: small if it is slower
  double below = 1.0;  ///< the probability of a value at most as large: small if it is not
};

}  // namespace lauka::stats
