#pragma once

#include <optional>
#include <span>

namespace lauka::stats {

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
std::optional<PowerLaw> power_law_of(std::span<const double> x, std::span<const double> y,
                                     double confidence);

}  // namespace lauka::stats
