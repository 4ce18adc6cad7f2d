#pragma once

#include "stats/delta.h"

#include <cmath>
#include <optional>
#include <span>

namespace lauka::stats {

/// The result of one machine (or study), with the variance of its sampling error (positive).
struct Effect {
  double value = 0.0;
  double variance = 0.0;
  double degrees =
      HUGE_VAL;  ///< degrees of freedom of the variance; infinite: the variance is known
};

/// The combined result of machines, whose true values may differ.
struct CombinedEffect {
  double value = 0.0;  ///< the mean of all such machines
  double standard_error = 0.0;
  ChangeBounds bounds{};       ///< bounds of the value
  double between = 0.0;        ///< standard deviation of the true values of machines, tau
  double heterogeneity = 0.0;  ///< part of the variance that is between them, I^2 (0..1)
  double p_same = 1.0;         ///< probability of so much difference, if all truths are the same
};

/// A random-effects meta-analysis (DerSimonian & Laird 1986): the variance between machines by
/// restricted maximum likelihood (Viechtbauer 2005), the interval with Student's t after Hartung
/// & Knapp (2001), but never narrower than the machines' own errors allow (Jackson et
/// al. 2017): machines may agree by accident. `confidence` is a fraction. A single machine
/// has its own interval, by Student's t. nullopt without machines, or if a number is not finite or
/// a variance not positive.
std::optional<CombinedEffect> combine(std::span<const Effect> effects, double confidence);

/// y = factor * x^exponent, fitted by least squares to the logarithms.
struct PowerLaw {
  double factor = 1.0;
  double exponent = 0.0;
  double low = 0.0;  ///< interval of the exponent
  double high = 0.0;
  double r_squared = 0.0;  ///< the share of the variance of log y that it explains
};

/// Fits it to points (as many x as y); nullopt if fewer than three, if all x are equal, or if one
/// is not positive. `confidence`: of the exponent's interval, a fraction.
std::optional<PowerLaw> fit_power_law(std::span<const double> x, std::span<const double> y,
                                      double confidence);

}  // namespace lauka::stats
