#pragma once

#include "stats/distributions.h"
#include "stats/resemblance.h"

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::stats {

/// Returns the degrees of freedom of a difference of two independent means (Welch-Satterthwaite).
/// `first` and `second` are the means' squared standard errors; the counts of samples are at least
/// two. If both errors are 0, the result depends on the counts alone.
double welch_degrees(double first, std::size_t first_count, double second,
                     std::size_t second_count);

struct MeanTest {
  double difference =
      0.0;  ///< mean distance of the candidate above the threshold, in the samples' unit or (over
            ///< layouts of positive values) in logarithms; 0 if it is a rounding error or unknown
  std::optional<double> t{};
  std::optional<double> degrees{};
  Tails tails{};
};

/// Returns the tails for `count` equal differences: 4^-count on the side of `difference` (below for
/// 0), and 1 on the other side. 4^-count bounds the effect of noise that takes two values.
Tails tails_without_noise(double difference, std::size_t count);

/// Computes Student's t from a difference, its standard error (positive) and its degrees of
/// freedom.
MeanTest mean_test(double difference, double standard_error, double degrees);

/// Computes Student's t for the mean of candidate - ratio * reference within rounds (equal sizes,
/// at least one round, no negative sample). If two or more rounds all have the same difference, the
/// tails are from tails_without_noise. `widening` divides t.
MeanTest paired_mean_test(std::span<const double> reference, std::span<const double> candidate,
                          double ratio, const Widening& widening = {});

/// Computes Welch's t for the mean of candidate - ratio * reference in independent samples (at
/// least one per side, none negative). If two or more samples per side have no noise, the tails are
/// from tails_without_noise. `widening` multiplies each mean's standard error.
MeanTest welch_mean_test(std::span<const double> reference, std::span<const double> candidate,
                         double ratio, const Widening& widening = {});

/// A range of changes, as fractions of the reference.
struct ChangeBounds {
  double low = 0.0;
  double high = 0.0;

  bool leave_out(double value) const { return low > value || high < value; }
};

struct TypicalChange {
  double change = 0.0;
  ChangeBounds bounds{};
};

/// Returns the Hodges-Lehmann estimate of c / r - 1, with the bounds beyond which the rank test
/// rejects a change at `tail`. If `paired`, uses the Walsh averages of log ratios within rounds
/// (equal sizes) and the signed-rank test; else all differences of logarithms and the Mann-Whitney
/// test. `widening` multiplies the normal deviate of the test. nullopt if a sample is not positive
/// and finite, or there are too few samples for `tail`. Takes memory n and time n log n.
std::optional<TypicalChange> typical_change(std::span<const double> reference,
                                            std::span<const double> candidate, bool paired,
                                            double tail, const Widening& widening = {});

/// The natural logarithm of the ratio of two values, and its standard error if known.
struct LogRatio {
  double value = 0.0;
  std::optional<double> error{};
};

/// Returns the logarithm of candidate / reference in a typical round (typical_change). The standard
/// error is half the width of the 68.3% rank interval. If a side has fewer than six samples,
/// returns the mean of the logarithms and its standard error. `paired`: compares within rounds.
/// nullopt if there are no samples or a sample is not positive.
std::optional<LogRatio> log_ratio(std::span<const double> reference,
                                  std::span<const double> candidate, bool paired);

/// A change as a fraction of the reference, with its confidence interval. Both are nullopt if
/// undefined or unknown.
struct Change {
  std::optional<double> change{};
  std::optional<ChangeBounds> bounds{};

  /// Returns the larger distance from `change` to a bound; nullopt if there are no bounds.
  std::optional<double> half_width() const;
  bool is_significant() const { return bounds && bounds->leave_out(0.0); }
  /// True if the change is significant and at least 0.1%. In counts that hardly vary, even tiny
  /// changes are significant.
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
  Change mean{};              ///< change of the mean; empty for a quantile
  bool mean_differs = false;  ///< true if the changes of the mean and of the typical round clearly
                              ///< differ, by at least one percentage point
  /// Factor by which the intervals are wider than for independent rounds; 1 if they are not.
  double widening = 1.0;
};

/// The probabilities that the truth is beyond either end of the intervals of a delta and of its
/// mean's change.
struct IntervalTails {
  double tail = 0.025;
  double of_mean = 0.025;
};

/// Returns the tails of intervals at `confidence` (a fraction), without allowance for gates.
IntervalTails tails_of(double confidence);

/// True if no sample is negative, so that changes can be percentages.
bool has_percentages(std::span<const double> reference, std::span<const double> candidate);

/// Compares samples in the order measured (at least one per side, none negative). If `paired`,
/// reference[i] and candidate[i] are of the same round (equal sizes). Widens the intervals if
/// neighbouring rounds resemble each other (Widening). If `share` has a value, compares this
/// quantile, without a mean and as if rounds were independent.
Delta estimate_delta(std::span<const double> reference, std::span<const double> candidate,
                     bool paired, const IntervalTails& tails,
                     std::optional<double> share = std::nullopt);

/// Returns the change of the standard deviation between independent samples, with an interval by
/// Miller's jackknife. Empty if a side has fewer than three samples or too little noise.
Change spread_change(std::span<const double> reference, std::span<const double> candidate,
                     double tail);

struct Rounds {
  std::span<const double> reference{};
  std::span<const double> candidate{};
};

/// Returns the change of the width of estimate_delta's interval between two sets of rounds, with a
/// jackknife interval. Rounds count as independent. The larger set is divided, so that widths are
/// of the same number of rounds. Empty if a width is undefined or 0.
Change width_change(const Rounds& before, const Rounds& after, bool paired,
                    const IntervalTails& tails);

/// A delta as users read it: "ran `ratio` times faster" or "slower".
struct RelativeSpeed {
  double ratio = 1.0;  ///< factor by which the candidate is faster, or slower; at least 1
  std::optional<ChangeBounds> bounds{};
  bool faster = false;  ///< true if the candidate's value is smaller
};

/// Converts a delta and its interval; nullopt if the delta is unknown or at most -100%.
std::optional<RelativeSpeed> relative_speed(const Change& delta);

/// Returns the geometric mean of 1 + change, minus 1, for independent changes. Empty if there are
/// no changes, or a change is unknown or at most -100%. The interval is about exactly these
/// changes, not a wider population: on each side, the half widths of the logarithms add up as
/// squares (method of variance estimates recovery; Zou & Donner, Statistics in Medicine 27, 2008).
Change geometric_mean(std::span<const Change> changes);

}  // namespace lauka::stats
