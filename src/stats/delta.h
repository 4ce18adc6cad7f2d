#pragma once

#include "stats/distributions.h"
#include "stats/resemblance.h"

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::stats {

/// Returns the degrees of freedom of a difference of two independent means (Welch-Satterthwaite;
/// not an integer). `first` and `second` are the squared standard errors, of `first_count` and
/// `second_count` samples (at least two each); where both are 0, the counts alone decide.
double welch_degrees(double first, std::size_t first_count, double second,
                     std::size_t second_count);

/// A one-sided t test, both ways, of the mean difference from the threshold.
struct MeanTest {
  double difference = 0.0;          ///< mean of c - ratio * r; 0 if it is a rounding error
  std::optional<double> t{};        ///< nullopt: one sample, or no noise at all
  std::optional<double> degrees{};  ///< degrees of freedom, if t has a value
  Tails tails{};
};

/// Bounds the effect of noise of two values by 4^-count where all of `count` differences are the
/// same.
Tails tails_without_noise(double difference, std::size_t count);

/// Computes Student's t of a difference with its standard error (above 0).
MeanTest mean_test(double difference, double standard_error, double degrees);

/// Computes Student's t of c - ratio * r within rounds (equal sizes, at least one, no sample
/// negative). If all rounds differ by the same, 4^-n bounds the effect of noise of two values.
/// `widening` divides t.
MeanTest paired_mean_test(std::span<const double> reference, std::span<const double> candidate,
                          double ratio, const Widening& widening = {});

/// Computes Welch's t of independent samples (at least one of each, none negative); without any
/// noise, 4^-(the smaller number). `widening` multiplies each mean's standard error.
MeanTest welch_mean_test(std::span<const double> reference, std::span<const double> candidate,
                         double ratio, const Widening& widening = {});

/// A range of changes, as fractions.
struct ChangeBounds {
  double low = 0.0;
  double high = 0.0;

  bool leave_out(double value) const { return low > value || high < value; }
};

/// The change of the typical round, as a fraction of the reference's value.
struct TypicalChange {
  double change = 0.0;
  ChangeBounds bounds{};
};

/// Returns the Hodges-Lehmann estimate of c / r - 1, with the bounds outside which the rank test
/// rejects at `tail` on either side. `paired`: from the Walsh averages of the log ratios within
/// rounds (equal sizes), by the signed-rank test; else from all differences of logarithms, by
/// Mann-Whitney, whose deviate `widening` multiplies. nullopt if a sample is not positive, or there
/// are too few for a decision at that tail. Needs memory for the samples, not for their pairs, and
/// time n log n.
std::optional<TypicalChange> typical_change(std::span<const double> reference,
                                            std::span<const double> candidate, bool paired,
                                            double tail, const Widening& widening = {});

/// The logarithm of a ratio of two values, and its standard error.
struct LogRatio {
  double value = 0.0;
  std::optional<double> error{};  ///< nullopt if there is one sample
};

/// Returns the logarithm of candidate / reference of the typical round, with half the width of its
/// 68.3% rank interval as standard error, widened as the delta's; of fewer than six rounds the mean
/// of the logarithms with its standard error. `paired` as in typical_change(). nullopt if there are
/// no samples, or one is not above 0.
std::optional<LogRatio> log_ratio(std::span<const double> reference,
                                  std::span<const double> candidate, bool paired);

/// A change as a fraction of the reference, with its interval.
struct Change {
  std::optional<double> change{};        ///< nullopt if only the reference's mean is 0
  std::optional<ChangeBounds> bounds{};  ///< nullopt if the interval is not defined or bounded

  /// Returns the larger of the two sides, for --precision.
  std::optional<double> half_width() const;
  /// True if the interval does not contain 0.
  bool is_significant() const { return bounds && bounds->leave_out(0.0); }
  /// True if it is also at least 0.1%: of counts that hardly vary the least change is significant.
  bool is_relevant() const;
};

/// The kind of change that a delta shows.
enum class Basis : unsigned char {
  Typical,   ///< the typical round: Hodges & Lehmann's estimate, with its rank interval
  Mean,      ///< the mean, with Fieller's interval: too few rounds for ranks, or a value of 0
  Quantile,  ///< a quantile, with the interval that order statistics give
  Layouts,   ///< the mean over layouts of the logarithms' means, with Student's interval
};

/// The displayed change, and the mean's change.
struct Delta : Change {
  Basis basis = Basis::Mean;
  Change mean{};              ///< the same if that is the basis
  bool mean_differs = false;  ///< clearly outside the typical round's interval
  /// The factor by which the intervals are wider than those of independent rounds; 1: no wider.
  double widening = 1.0;
};

/// The error on either side of the interval of a delta, and of its mean.
struct IntervalTails {
  double tail = 0.025;
  double of_mean =
      0.025;  ///< tail of the mean's interval at the plain confidence, also for a gated metric
};

/// Returns the plain ones of `confidence`, a fraction.
IntervalTails tails_of(double confidence);

/// True if no sample is below 0: a change from -5 to -7 is no percentage.
bool has_percentages(std::span<const double> reference, std::span<const double> candidate);

/// Compares samples (at least one of each, none negative). `paired`: reference[i] and candidate[i]
/// were measured in the same round (equal sizes); else they are independent. Both are in the order
/// measured: where neighbouring rounds resemble each other, intervals are wider (Widening).
/// `share`: compares this quantile, without a mean and as if rounds were independent.
Delta estimate_delta(std::span<const double> reference, std::span<const double> candidate,
                     bool paired, const IntervalTails& tails,
                     std::optional<double> share = std::nullopt);

/// Returns the change of the standard deviation from `reference` to `candidate`, samples that were
/// measured independently, with an interval by Miller's jackknife; empty if one has no noise, or
/// fewer than three samples.
Change spread_change(std::span<const double> reference, std::span<const double> candidate,
                     double tail);

/// Samples of two commands, round by round (equal sizes).
struct Rounds {
  std::span<const double> reference{};
  std::span<const double> candidate{};
};

/// The change of the width of the interval that estimate_delta gives for independent rounds, at the
/// same number of rounds: the set that has more is divided. Its own interval is a jackknife's.
/// Empty if one of the intervals is not defined, also without a twentieth of its rounds.
Change width_change(const Rounds& before, const Rounds& after, bool paired,
                    const IntervalTails& tails);

/// A delta as "ran `ratio` times faster", or slower.
struct RelativeSpeed {
  double ratio = 1.0;  ///< times as fast, or as slow; at least 1
  std::optional<ChangeBounds>
      bounds{};         ///< bounds of the ratio; nullopt if the delta's reach -100%
  bool faster = false;  ///< the candidate has less
};

/// Converts a delta with its interval; nullopt if it has no ratio.
std::optional<RelativeSpeed> relative_speed(const Change& delta);

/// Returns the geometric mean of 1 + change, minus 1, of changes that were measured independently.
/// Its interval is about these changes, not about others that might have been measured: the half
/// widths of their logarithms, each side for itself, add up as squares (the method of variance
/// estimates recovery, Zou & Donner, Statistics in Medicine 27, 2008). Empty without changes or if
/// one is -100% or less; no interval if one lacks its own.
Change geometric_mean(std::span<const Change> changes);

}  // namespace lauka::stats
