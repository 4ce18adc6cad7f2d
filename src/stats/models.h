#pragma once

#include "stats/distributions.h"

#include <cmath>
#include <optional>
#include <span>

namespace lauka::stats {

struct Effect {
  double value = 0.0;
  double variance = 0.0;      ///< squared standard error of `value`; positive
  double degrees = HUGE_VAL;  ///< degrees of freedom of `variance`; infinite if `variance` is exact
};

struct EffectOverMachines {
  double value = 0.0;
  double standard_error = 0.0;
  IntervalEnds bounds{};
  /// Standard deviation of the machines' true values (tau).
  double deviation_between_machines = 0.0;
  double heterogeneity = 0.0;  ///< fraction of the variance of the machines' values that is not
                               ///< sampling error, I^2 (0..1)
  double p_same = 1.0;  ///< p value of the hypothesis that all machines have the same true value
};

/// Combines machines' results by a random-effects meta-analysis (DerSimonian & Laird 1986). The
/// variance between machines is estimated by restricted maximum likelihood (Viechtbauer 2005). The
/// interval is Hartung & Knapp's (2001), but at least as wide as without their factor (Jackson et
/// al. 2017). A single machine keeps its own value and interval. `confidence` is a fraction.
/// nullopt if `effects` is empty, a value or variance is not finite, or a variance is not positive.
std::optional<EffectOverMachines> combine(std::span<const Effect> effects, double confidence);

/// The curve y = factor * x^exponent, fitted by least squares to logarithms. `exponent_low` and
/// `exponent_high` are the ends of the exponent's confidence interval.
struct PowerLaw {
  double factor = 1.0;
  double exponent = 0.0;
  double exponent_low = 0.0;
  double exponent_high = 0.0;
  /// Fraction of the variance of log y that the curve explains; 1 if all y are equal.
  double r_squared = 0.0;
};

/// Fits a power law to the points (x[i], y[i]). `confidence` is a fraction. nullopt if there are
/// fewer than three points, a number is not positive, or all x are equal.
std::optional<PowerLaw> fit_power_law(std::span<const double> x, std::span<const double> y,
                                      double confidence);

}  // namespace lauka::stats
