#pragma once

#include "stats/distributions.h"
#include "stats/resemblance.h"
#include "stats/sample_pair.h"

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::stats {

/// Returns the degrees of freedom of a difference of two independent means (Welch-Satterthwaite).
/// `first` and `second` are the means' squared standard errors; the counts of samples are at least
/// two.
double welch_degrees(double first, std::size_t first_count, double second,
                     std::size_t second_count);

struct MeanTest {
  /// Mean excess of the candidate over the threshold (ratio * reference), in the samples' unit;
  /// from test_over_layouts, a difference of logarithms if all values are positive. 0 if it is a
  /// rounding error or unknown.
  double difference = 0.0;
  std::optional<double> t{};
  std::optional<double> degrees{};
  TailProbabilities tails{};
};

/// Returns the tails for `count` equal differences: 4^-count on the side of `difference` (below for
/// 0), and 1 on the other side.
TailProbabilities tails_without_noise(double difference, std::size_t count);

/// Tests a difference by Student's t, given its standard error (positive) and its degrees of
/// freedom.
MeanTest mean_test(double difference, double standard_error, double degrees);

/// Tests the mean of candidate - ratio * reference within rounds (equal sizes, at least one round,
/// no negative sample) by Student's t. If two or more rounds all have the same difference, the
/// tails are from tails_without_noise. `widening` multiplies the standard error.
MeanTest paired_mean_test(std::span<const double> reference, std::span<const double> candidate,
                          double ratio, const Widening& widening = {});

/// Tests the mean of candidate - ratio * reference in independent samples (at least one per side,
/// none negative) by Welch's t. If there are two or more samples per side, and neither side varies,
/// the tails are from tails_without_noise. `widening` multiplies each mean's standard error.
MeanTest welch_mean_test(std::span<const double> reference, std::span<const double> candidate,
                         double ratio, const Widening& widening = {});

struct TypicalChange {
  double change = 0.0;
  IntervalEnds bounds{};
};

/// Returns the Hodges-Lehmann estimate of candidate / reference - 1, with the bounds beyond which
/// the rank test rejects a change at `tail`. For paired samples, uses the Walsh averages of log
/// ratios within rounds and the signed-rank test; else all differences of logarithms and the
/// Mann-Whitney test. `widening` multiplies the normal deviate of the test. nullopt if a sample is
/// not positive and finite, or there are too few samples for `tail`.
std::optional<TypicalChange> typical_change(const SamplePair& samples, double tail,
                                            const Widening& widening = {});

/// The natural logarithm of the ratio of two values, and its standard error if known.
struct LogRatio {
  double value = 0.0;
  std::optional<double> error{};
};

/// Returns the logarithm of candidate / reference in a typical round (typical_change), with half
/// the width of the 68.3% interval as its standard error. If a side has fewer than six samples,
/// returns the mean of log(candidate / reference) and its standard error. nullopt if a side has no
/// samples, or a sample is not positive.
std::optional<LogRatio> log_ratio(const SamplePair& samples);

/// A change as a fraction of the reference, with its confidence interval. Each is nullopt if
/// undefined or unknown; `bounds` may be nullopt although `change` is known.
struct Change {
  std::optional<double> change{};
  std::optional<IntervalEnds> bounds{};
  /// True if neither side varies (Moments::is_exact), so that the change has no uncertainty.
  bool is_exact = false;

  /// Returns the larger distance from `change` to a bound; nullopt if `change` or the bounds are
  /// unknown.
  std::optional<double> half_width() const;
  /// True if the interval leaves out 0, or if the change is exact and not 0.
  bool is_significant() const {
    return is_exact ? change.value_or(0.0) != 0.0 : bounds && bounds->leave_out(0.0);
  }
  /// True if the change is significant and at least 0.1% in either direction.
  bool is_relevant() const;
};

enum class Basis : unsigned char {
  Typical,
  Mean,
  Quantile,
  Layouts,
};

/// The change that is shown to users, and the change of the mean.
struct Delta : Change {
  Basis basis = Basis::Mean;
  Change change_of_mean{};  ///< change of the mean; empty for a quantile
  /// True if the changes of the mean and of the typical round clearly differ, by at least one
  /// percentage point.
  bool mean_and_typical_differ = false;
  /// Factor by which resemblance of neighbouring rounds widens the interval; at least 1.
  double widening = 1.0;
};

/// Probabilities that the truth is beyond one end of an interval: `tail` for the interval of a
/// delta, `tail_of_mean_change` for Delta::change_of_mean if the delta is not the mean's change
/// itself.
struct IntervalTails {
  double tail_of_delta = 0.025;
  double tail_of_mean_change = 0.025;
};

/// Returns the tails of intervals at `confidence` (a fraction).
IntervalTails tails_of(double confidence);

/// True if no sample is negative, as percentages require.
bool allows_percentages(std::span<const double> reference, std::span<const double> candidate);

/// Compares samples (at least one per side, none negative). The intervals are wider if neighbouring
/// rounds resemble each other. If `share` has a value, compares this quantile instead, without the
/// mean, and treats rounds as independent.
Delta estimate_delta(const SamplePair& samples, const IntervalTails& tails,
                     std::optional<double> share = std::nullopt);

/// Returns the change of the standard deviation between independent samples, with an interval by
/// Miller's jackknife. Without a change if a side has fewer than three samples or too little noise.
Change spread_change(std::span<const double> reference, std::span<const double> candidate,
                     double tail);

/// Returns the change of the width of estimate_delta's interval between two sets of samples, with a
/// jackknife interval. Treats rounds as independent. Divides the larger set into parts about as
/// large as the smaller set. Without a change if a width is undefined or 0.
Change width_change(const SamplePair& before, const SamplePair& after, const IntervalTails& tails);

/// A delta as users read it: "ran `speed_factor` times faster" or "ran `speed_factor` times
/// slower".
struct RelativeSpeed {
  /// Factor, at least 1, by which the candidate is faster or slower.
  double speed_factor = 1.0;
  std::optional<IntervalEnds> bounds{};
  bool faster = false;    ///< true if the candidate's value is smaller
  bool is_exact = false;  ///< Change::is_exact of the delta
};

/// Converts a delta and its interval; nullopt if the delta is unknown or at most -100%.
std::optional<RelativeSpeed> relative_speed(const Change& delta);

/// Returns the geometric mean of 1 + change, minus 1, for independent changes. It is exact if all
/// changes are. Without a change if
/// `changes` is empty, or a change is unknown or at most -100%. On each side of the interval, the
/// half widths of the logarithms add up as squares (Zou & Donner, Statistics in Medicine 27, 2008).
Change geometric_mean(std::span<const Change> changes);

}  // namespace lauka::stats
