#pragma once

#include <cmath>
#include <cstdint>

namespace lauka::stats {

/// The value that Student's t with `degrees` of freedom (at least 1, fractional under
/// Welch-Satterthwaite) exceeds with `probability` (0..1, exclusive).
double student_t_quantile_above(double probability, double degrees);

/// The probability that Student's t with `degrees` of freedom is at least `t`. Exact in the far
/// tail, too; the lower tail is that of -t.
double student_t_above(double t, double degrees);

/// The standard normal deviate that is exceeded with `probability` (0..1, exclusive).
double normal_quantile_above(double probability);

/// The probability that a standard normal deviate is at least `z`. Exact in the far tail, too; the
/// lower tail is that of -z.
double normal_above(double z);

/// The probability that chi squared with `degrees` of freedom is at least `x` (not negative).
double chi_squared_above(double x, double degrees);

/// The place, from either end, of the value that bounds a rank interval of that `tail`: of `values`
/// in ascending order, where the sum that counts those below the truth has that `variance`. Not
/// more than the exact one, and 0 where there is none.
std::uint64_t place_by_normal(double values, double variance, double tail);

/// Two results of the same arithmetic are equal up to this part of the values that went in: 1.1 *
/// 100 is not 110 in binary, and a fused multiply-add rounds once where two operations round twice.
inline constexpr double kSame = 1e-12;

/// Whether `difference` is rounding error of values that add up to `scale` (not negative).
inline bool is_rounding_error(double difference, double scale) {
  return std::abs(difference) <= kSame * scale;
}

/// What a test says of a statistic, were the candidate exactly at the threshold.
struct Tails {
  double above = 1.0;  ///< the probability of a value at least as large: small if it is slower
  double below = 1.0;  ///< the probability of a value at most as large: small if it is not
};

}  // namespace lauka::stats
