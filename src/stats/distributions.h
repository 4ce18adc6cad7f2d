#pragma once

#include <cmath>
#include <cstdint>

namespace lauka::stats {

/// Returns the value that Student's t exceeds with `probability` (0..1, exclusive). `degrees` of
/// freedom are at least 1, fractional under Welch-Satterthwaite.
double student_t_quantile_above(double probability, double degrees);

/// Returns the probability that Student's t with `degrees` of freedom is at least `t`. Exact in the
/// far upper tail; for the lower tail, pass -t.
double student_t_above(double t, double degrees);

/// Returns the standard normal value that is exceeded with `probability` (0..1, exclusive).
double normal_quantile_above(double probability);

/// Returns the probability that a standard normal value is at least `z`. Exact in the far upper
/// tail; for the lower tail, pass -z.
double normal_above(double z);

/// Returns the probability that chi squared with `degrees` of freedom is at least `x` (not
/// negative).
double chi_squared_above(double x, double degrees);

/// Returns the value that chi squared with `degrees` of freedom exceeds with `probability` (0..1,
/// exclusive).
double chi_squared_quantile_above(double probability, double degrees);

/// Returns the probability that F, a quotient of two mean squares with the given degrees of
/// freedom, is at least `x` (not negative, may be infinite).
double f_above(double x, double numerator_degrees, double denominator_degrees);

/// Returns the position, counted from either end of `values` sorted values, of the value that
/// bounds a rank interval with probability `tail` beyond it. `variance` is the variance of the
/// number of values below the truth. `factor` multiplies the normal deviate. Rounds down; 0 means
/// unbounded.
std::uint64_t place_by_normal(double values, double variance, double tail, double factor = 1.0);

/// The relative error up to which two results of the same arithmetic count as equal: 1.1 * 100 is
/// not 110 in binary, and a fused multiply-add rounds once instead of twice.
inline constexpr double kSame = 1e-12;

/// True if `difference` is a rounding error of terms whose magnitudes add up to `scale`.
inline bool is_rounding_error(double difference, double scale) {
  return std::abs(difference) <= kSame * scale;
}

/// The tail probabilities of a statistic, if the candidate is exactly at the threshold.
struct Tails {
  double above = 1.0;  ///< probability of a value at least as large; small if the candidate is
                       ///< above the threshold
  double below = 1.0;  ///< probability of a value at most as large; small if the candidate is below
                       ///< the threshold
};

/// A number of trials, and how many of them had a certain result.
struct Share {
  std::uint64_t of = 0;      ///< trials with the result
  std::uint64_t trials = 0;  ///< all trials
};

/// Returns the p value of Fisher's exact test, two-sided: the probability of shares at least as
/// unlikely as these, if both true shares are equal (Agresti, Categorical Data Analysis, 2.6; R's
/// fisher.test). 1 without trials.
double fisher_exact(const Share& share, const Share& other);

}  // namespace lauka::stats
