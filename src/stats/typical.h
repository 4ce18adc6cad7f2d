#pragma once

#include <optional>
#include <span>

namespace lauka::stats {

/// A range of changes, as fractions.
struct ChangeBounds {
  double low = 0.0;
  double high = 0.0;
};

/// The change of the typical round, as a fraction of the reference's value.
struct TypicalChange {
  double change = 0.0;
  std::optional<ChangeBounds>
      bounds{};  ///< none: too few rounds for the signed-rank test to speak at that tail
};

/// The Hodges-Lehmann estimate of c / r - 1 within rounds (equal sizes), from the Walsh averages of
/// the log ratios, with the bounds outside which the signed-rank test rejects at `tail` on either
/// side. None where a sample is 0 or there is none. Needs memory for n numbers, not for the n^2 / 2
/// averages, and time n log n.
std::optional<TypicalChange> typical_change(std::span<const double> reference,
                                            std::span<const double> candidate, double tail);

}  // namespace lauka::stats
