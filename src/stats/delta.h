#pragma once

#include "stats/distributions.h"
#include "stats/resemblance.h"

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::stats {

/// Returns the degrees of freedom of a difference of two independent means (Welch-Satterthwaite);
/// the result need not be a whole number. `first` and `second` are the squared standard errors of
/// means of `first_count` and `second_count` samples (at least two each). If both errors are 0, the
/// result depends on the counts alone.
double welch_degrees(double first, std::size_t first_count, double second,
                     std::size_t second_count);

/// The result of two one-sided t tests: is the mean difference above the threshold, is it below?
struct MeanTest {
  double difference = 0.0;  ///< mean of c - ratio * r, or of log(c / r) - log(ratio) over layouts;
                            ///< 0 if it is a rounding error or unknown
  std::optional<double> t{};        ///< nullopt for too few samples, or if there is no noise
  std::optional<double> degrees{};  ///< degrees of freedom, if t has a value
  Tails tails{};
};

/// Returns the tails for `count` differences that are all the same: 4^-count on the side of
/// `difference` (below for 0), which bounds the effect of noise that takes two values, and 1 on the
/// other.
Tails tails_without_noise(double difference, std::size_t count);

/// Computes Student's t for a difference, from its standard error (positive) and degrees of
/// freedom.
MeanTest mean_test(double difference, double standard_error, double degrees);

/// Computes Student's t for the mean of candidate - ratio * reference within rounds (equal sizes,
/// at least one round, no negative sample). If all of two or more rounds have the same difference,
/// the tails are the result of tails_without_noise. `widening` divides t.
MeanTest paired_mean_test(std::span<const double> reference, std::span<const double> candidate,
                          double ratio, const Widening& widening = {});

/// Computes Welch's t for independent samples (at least one per side, none negative). Without
/// noise in two or more, the tails are the result of tails_without_noise for the smaller side.
/// `widening` multiplies each mean's standard error.
MeanTest welch_mean_test(std::span<const double> reference, std::span<const double> candidate,
                         double ratio, const Widening& widening = {});

/// A range of changes, as fractions of the reference.
struct ChangeBounds {
  double low = 0.0;
  double high = 0.0;

  bool leave_out(double value) const { return low > value || high < value; }
};

/// The change of a typical round, as a fraction of the reference's value.
struct TypicalChange {
  double change = 0.0;
  ChangeBounds bounds{};
};

/// Returns the Hodges-Lehmann estimate of c / r - 1, and the bounds beyond which the rank test
/// rejects a change at `tail` on either side. If `paired`, uses the Walsh averages of log ratios
/// within rounds (equal sizes) and the signed-rank test; else all differences of logarithms and the
/// Mann-Whitney test. `widening` multiplies the normal deviate of either. nullopt if a sample is
/// not positive and finite, or there are too few samples for that tail. Takes memory n and time n
/// log n.
std::optional<TypicalChange> typical_change(std::span<const double> reference,
                                            std::span<const double> candidate, bool paired,
                                            double tail, const Widening& widening = {});

/// The natural logarithm of the ratio of two values, and its standard error.
struct LogRatio {
  double value = 0.0;
  std::optional<double> error{};  ///< standard error; nullopt if a side has one sample, or no bound
};

/// Returns the logarithm of candidate / reference in a typical round (typical_change). Its standard
/// error is half the width of the 68.3% rank interval, which is wider if neighbouring samples
/// resemble each other (Widening). If a side has fewer than six samples: the mean of the logarithms
/// and its standard error. `paired`: compares within rounds. nullopt if there are no samples or a
/// sample is not positive.
std::optional<LogRatio> log_ratio(std::span<const double> reference,
                                  std::span<const double> candidate, bool paired);

/// A change as a fraction of the reference, with its confidence interval.
struct Change {
  std::optional<double> change{};  ///< nullopt if the reference's value is 0 and the candidate's is
                                   ///< not, or with too few data
  std::optional<ChangeBounds> bounds{};  ///< nullopt if the interval is undefined or unbounded

  /// Returns the larger distance from `change` to a bound, for --precision; nullopt without bounds.
  std::optional<double> half_width() const;
  /// True if there is an interval and it does not contain 0.
  bool is_significant() const { return bounds && bounds->leave_out(0.0); }
  /// True if the change is significant and at least 0.1%: in counts that hardly vary, even a tiny
  /// change is significant.
  bool is_relevant() const;
};

/// The way in which a delta was estimated.
enum class Basis : unsigned char {
  Typical,  ///< typical round: Hodges-Lehmann estimate with its rank interval
  Mean,  ///< mean with Fieller's interval; used if there are too few rounds for ranks, or a value
         ///< is not positive
  Quantile,  ///< quantile with an interval from order statistics
  Layouts,   ///< mean over layouts of each layout's mean logarithm (of its quantile's, for a
             ///< quantile; of its mean, if a value is not positive), with Student's interval
};

/// The change that is shown to users, and the change of the mean.
struct Delta : Change {
  Basis basis = Basis::Mean;
  Change mean{};  ///< change of the mean; equals the shown change if `basis` is Mean; empty for a
                  ///< quantile
  bool mean_differs = false;  ///< true if `mean` is clearly outside the interval of the typical
                              ///< round, by at least 1%
  /// Factor by which the intervals are wider than for independent rounds; 1: not wider.
  double widening = 1.0;
};

/// The probability that the truth is beyond an interval, on either side.
struct IntervalTails {
  double tail = 0.025;  ///< probability for the delta's interval
  double of_mean =
      0.025;  ///< probability for the interval of the mean's change, which gates do not affect
};

/// Returns the tails of `confidence` (a fraction), without allowance for gates.
IntervalTails tails_of(double confidence);

/// True if no sample is negative, so that changes can be percentages.
bool has_percentages(std::span<const double> reference, std::span<const double> candidate);

/// Compares samples (at least one per side, none negative), which are in the order measured. If
/// `paired`, reference[i] and candidate[i] are of the same round (equal sizes); else the sides are
/// independent. Widens the intervals if neighbouring rounds resemble each other (see Widening). If
/// `share` has a value, compares this quantile, without a mean and as if rounds were independent.
Delta estimate_delta(std::span<const double> reference, std::span<const double> candidate,
                     bool paired, const IntervalTails& tails,
                     std::optional<double> share = std::nullopt);

/// Returns the change of the standard deviation from `reference` to `candidate`, which are
/// independent samples, with an interval by Miller's jackknife. Empty if a side has fewer than
/// three samples, or no noise, even with a twentieth of the samples left out.
Change spread_change(std::span<const double> reference, std::span<const double> candidate,
                     double tail);

/// The samples of two commands in the same rounds (equal sizes).
struct Rounds {
  std::span<const double> reference{};
  std::span<const double> candidate{};
};

/// Returns the change of the interval's width, as estimate_delta gives it for independent rounds.
/// The larger set of rounds is divided, so that widths are of the same number of rounds. The change
/// has a jackknife interval. Empty if an interval is undefined or a point, even with a twentieth of
/// the rounds left out.
Change width_change(const Rounds& before, const Rounds& after, bool paired,
                    const IntervalTails& tails);

/// A delta as users read it: "ran `ratio` times faster" or "slower".
struct RelativeSpeed {
  double ratio = 1.0;                    ///< how many times as fast, or as slow; at least 1
  std::optional<ChangeBounds> bounds{};  ///< bounds of `ratio`; nullopt if the delta has no
                                         ///< interval, or one that reaches -100%
  bool faster = false;                   ///< true if the candidate's value is smaller
};

/// Converts a delta and its interval; nullopt if the delta has no finite ratio.
std::optional<RelativeSpeed> relative_speed(const Change& delta);

/// Returns the geometric mean of 1 + change, minus 1, for independent changes. The interval is
/// about exactly these changes, not a wider population: on each side, the half widths of the
/// logarithms add up as squares (method of variance estimates recovery; Zou & Donner, Statistics in
/// Medicine 27, 2008). Empty if there are no changes, or one is undefined, -100% or less; without
/// bounds if a change lacks bounds, or they reach -100%.
Change geometric_mean(std::span<const Change> changes);

}  // namespace lauka::stats
