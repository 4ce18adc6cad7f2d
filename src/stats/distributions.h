#pragma once

#include <cmath>
#include <cstdint>

namespace lauka::stats {

/// Returns the value that Student's t with `degrees` degrees of freedom (above 0) exceeds with
/// `probability` (0..1, exclusive).
double student_t_quantile_above(double probability, double degrees);

/// Returns the probability that Student's t with `degrees` degrees of freedom is at least `t`;
/// precise even if tiny.
double student_t_above(double t, double degrees);

/// Returns the value that a standard normal variable exceeds with `probability` (0..1, exclusive).
double normal_quantile_above(double probability);

/// Returns the probability that a standard normal variable is at least `z`; precise even if tiny.
double normal_above(double z);

/// Returns the probability that chi squared with `degrees` degrees of freedom is at least `x` (not
/// negative).
double chi_squared_above(double x, double degrees);

/// Returns the value that chi squared with `degrees` degrees of freedom exceeds with `probability`
/// (0..1, exclusive).
double chi_squared_quantile_above(double probability, double degrees);

/// Returns the probability that F, a quotient of two mean squares with the given degrees of
/// freedom, is at least `x` (not negative, may be infinite).
double f_above(double x, double numerator_degrees, double denominator_degrees);

/// Returns the position (from 1, counted from either end of `values` sorted values) at which a rank
/// interval ends; 0 if there are too few values. The truth is beyond each end with probability
/// `tail`, by the normal approximation. `variance`: variance of the number of values below the
/// truth. `factor` multiplies the normal deviate.
std::uint64_t normal_rank_position(double values, double variance, double tail,
                                   double factor = 1.0);

/// The ends of an interval, in the unit of the values.
struct IntervalEnds {
  double low = 0.0;
  double high = 0.0;

  bool leave_out(double value) const { return low > value || high < value; }
};

/// The largest difference that counts as a rounding error, as a fraction of the values' magnitude.
inline constexpr double kRoundingError = 1e-12;

/// True if `difference` may be a rounding error of terms with magnitude `scale`.
inline bool is_rounding_error(double difference, double scale) {
  return std::abs(difference) <= kRoundingError * scale;
}

/// Returns `difference`; 0 if it may be a rounding error.
inline double without_rounding_error(double difference, double scale) {
  return is_rounding_error(difference, scale) ? 0.0 : difference;
}

/// The p values of two one-sided tests of a candidate against a threshold: `above` is small if the
/// candidate is above the threshold, `below` if the candidate is below it.
struct TailProbabilities {
  double above = 1.0;
  double below = 1.0;
};

/// The number of trials with a certain result, such as failed runs, and of all trials.
struct CountedShare {
  std::uint64_t trials_with_result = 0;
  std::uint64_t trials = 0;
};

/// Returns the two-sided p value of Fisher's exact test that both true shares are equal (Agresti,
/// Categorical Data Analysis, 2.6; R's fisher.test). 1 if a side has no trials.
double fisher_exact(const CountedShare& share, const CountedShare& other);

}  // namespace lauka::stats
