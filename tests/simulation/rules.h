#pragma once

#include <span>

// What other programs' rules would have said of the same samples, from their descriptions.

namespace lauka::simulation {

/// poop: the interval of the difference by a pooled variance, 95%, of independent samples; it fails
/// where all of it is beyond the limit, and beyond 1%.
bool fails_poop(std::span<const double> reference, std::span<const double> candidate, double limit);

/// The rule of CI scripts around hyperfine: ratio of the means, less its propagated standard
/// deviation, above the limit.
bool fails_mean_sigma(std::span<const double> reference, std::span<const double> candidate,
                      double limit);

/// A one-sided paired t test at 5%, looked at after every round from the third on.
bool fails_t_at_any_round(std::span<const double> reference, std::span<const double> candidate,
                          double limit);

}  // namespace lauka::simulation
