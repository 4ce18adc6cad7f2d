#pragma once

#include <cmath>
#include <cstdint>

namespace lauka::stats {

/// Returns the value that Student's t with `degrees` of freedom (at least 1, fractional under
/// Welch-Satterthwaite) exceeds with `probability` (0..1, exclusive).
double student_t_quantile_above(double probability, double degrees);

/// Returns the probability that Student's t with `degrees` of freedom is at least `t`. Exact in the
/// far tail, too; use -t for the lower tail.
double student_t_above(double t, double degrees);

/// Returns the standard normal deviate that is exceeded with `probability` (0..1, exclusive).
double normal_quantile_above(double probability);

/// Returns the probability that a standard normal deviate is at least `z`. Exact in the far tail,
/// too; use -z for the lower tail.
double normal_above(double z);

/// Returns the probability that chi squared with `degrees` of freedom is at least `x` (not
/// negative).
double chi_squared_above(double x, double degrees);

/// Returns the value that chi squared with `degrees` of freedom exceeds with `probability` (0..1,
/// exclusive).
double chi_squared_quantile_above(double probability, double degrees);

/// Returns the probability that F, a quotient of two mean squares with these degrees of freedom, is
/// at least `x` (not negative, may be infinite).
double f_above(double x, double numerator_degrees, double denominator_degrees);

/// Returns the place, from either end, of the value that bounds a rank interval of that `tail`: of
/// `values` in ascending order, if the count of those below the truth has that `variance`. At most
/// the exact place; 0 if there is no bound. `factor` multiplies the normal deviate.
std::uint64_t place_by_normal(double values, double variance, double tail, double factor = 1.0);

/// Two results of the same arithmetic are equal up to this part of the values that went in: 1.1 *
/// 100 is not 110 in binary, and a fused multiply-add rounds once where two operations round twice.
inline constexpr double kSame = 1e-12;

/// True if `difference` is a rounding error of values that add up to `scale` (not negative).
inline bool is_rounding_error(double difference, double scale) {
  return std::abs(difference) <= kSame * scale;
}

/// The tails of a statistic if the candidate is exactly at the threshold.
struct Tails {
  double above = 1.0;  ///< the probability of a value at least as large: small if it is slower
  double below = 1.0;  ///< the probability of a value at most as large: small if it is not
};

/// A number of trials, and those among them that had a result.
struct Share {
  std::uint64_t of = 0;
  std::uint64_t trials = 0;
};

/// Returns the probability, were the true shares of both the same, of shares at least as unlikely
/// as these: Fisher's exact test, two-sided (Agresti, Categorical Data Analysis, 2.6), as R's
/// fisher.test. 1 without trials.
double fisher_exact(const Share& share, const Share& other);

}  // namespace lauka::stats
