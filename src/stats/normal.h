#pragma once

namespace lauka::stats {

/// The standard normal deviate that is exceeded with `probability` (0..1, exclusive).
double normal_quantile_above(double probability);

/// The probability that a standard normal deviate is at least `z`. Exact in the far tail, too; the
/// lower tail is that of -z.
double normal_above(double z);

}  // namespace lauka::stats
