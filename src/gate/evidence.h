#pragma once

#include <cstddef>
#include <span>

namespace lauka::gate {

enum class Answer : unsigned char { Pass, Fail, Inconclusive };

/// The samples of one metric that a gate decides on.
struct Evidence {
  std::span<const double> reference;
  std::span<const double> candidate;
  bool paired = true;  ///< reference[i] and candidate[i] are of the same round

  /// Rounds behind it; unpaired: runs of the candidate, since a baseline does not grow.
  std::size_t rounds() const { return candidate.size(); }
};

}  // namespace lauka::gate
