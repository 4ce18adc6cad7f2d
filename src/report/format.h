#pragma once

#include "core/metric.h"
#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

/// A format for numbers that are read together. Its unit, power of ten and decimals are the same
/// for all of them.
struct Notation {
  double divisor_of_base_units = 1.0;  ///< divisor of values in base units: 0.001 for "ms"
  std::string suffix{};
  std::string power_of_ten_text{};  ///< power of ten before the unit: "e+15"; usually empty
  int decimals = 0;

  /// Formats a value in base units: "591.0ms"; "n/a" if it is not finite. The minus sign is U+2212.
  std::string text(double value) const;
};

/// Returns the notation for `value` and the numbers shown next to it. `spread`: σ, or half the
/// width of an interval; 0 if all values are equal; nullopt if unknown.
Notation notation_of(double value, std::optional<double> spread, const Metric& metric);

/// Returns the notation for numbers up to `largest` that are `step` apart, with enough decimals for
/// `digits` significant digits of `step`.
Notation notation_of_steps(double largest, double step, const Metric& metric, int digits);

/// Formats a rounded number with its unit: "591ms", "137MB", "2.51G".
std::string quantity(double value, const Metric& metric);
std::string quantity(double value, Unit unit);

/// Returns a difference of two means with its sign and, if known, the half width of its interval:
/// "+11.8ms ± 1.1ms".
std::string difference_of_means(double difference, const std::optional<double>& half_width,
                                const Metric& metric);

/// Formats a time in `unit`; null: in a unit that fits.
std::string time_text(double seconds, const DisplayUnit* unit);

/// What is known of the distance between a shown number and the truth, as text. All texts are empty
/// if nothing is known.
struct UncertaintyTexts {
  bool is_exact = false;     ///< true: there is no distance
  std::string half_width{};  ///< empty if the ends are not at the same distance
  std::string low{};
  std::string high{};
};
/// Returns a number with its uncertainty: "2.51G ± 0.02G", "+37% (+19% … +73%)", "294,635,992
/// exact", or the number alone. All numbers with an uncertainty are written by this function.
std::string with_uncertainty(const std::string& number, const UncertaintyTexts& uncertainty);

/// Formats the value of a constant count, with all its digits in groups: "294,635,992". Other
/// values, such as a ratio of two counts, have six significant digits.
std::string exact_quantity(double value, const Metric& metric);

/// Formats a mean with its σ: "591.0ms ± 7.6ms"; the mean alone if σ is unknown or infinite.
std::string mean_text(double mean, std::optional<double> stddev, const Metric& metric);

/// Formats a mean with its σ, or "294,635,992 exact" if the values are_exact().
std::string mean_text(const stats::Summary& summary, const Metric& metric);

/// True if the values are the same in each run, and the metric's values can be exact.
bool are_exact(const stats::Summary& summary, const Metric& metric);

/// Returns the smallest and the largest value: "583ms … 605ms". Empty if the values are_exact().
std::string range_text(const stats::Summary& summary, const Metric& metric);

/// Formats a delta in percent with its interval: "−78.0% ± 0.5%", "+37% (+19% … +73%)" or "+2.03%
/// exact". Returns "new" if Change::change is nullopt.
std::string delta_text(const stats::Change& delta);

/// Formats a delta without its interval: "−78.0%". Returns "new" if Change::change is nullopt.
std::string short_delta_text(const stats::Change& delta);

/// Formats the interval of a delta: "+19% … +73%"; empty if it is unknown, infinite or exact.
std::string interval_text(const stats::Change& delta);

/// A change and the ends of its interval, as text. `low` and `high` are empty if the change has no
/// interval, or if it is exact.
struct ChangeTexts {
  std::string change;
  std::string low{};
  std::string high{};
};
/// Formats a change. Adds decimals, up to 12, if the change, if it is exact, or else an end of its
/// interval would otherwise look equal to `other`. `other`: a fraction, such as the limit of a
/// gate.
ChangeTexts change_texts(const stats::Change& delta, double other);

/// Formats `fraction` in percent with a sign: "+15.0%", "−0.02%". There is no sign if all digits
/// are 0. Returns "n/a" if `fraction` is not finite.
std::string signed_percent(double fraction, int decimals);

/// Returns the end of a sentence about a difference that is not significant, such as "; a
/// difference of 0.80% would have been found in four of five such sessions". `sessions`: what was
/// compared. Empty if `detectable` (MetricResult::detectable) is nullopt.
std::string detectable_text(std::optional<double> detectable,
                            std::string_view sessions = "sessions");

/// Formats `fraction` (at least 0) as a rounded percentage: "2.1%", "0.031%", "105%".
std::string rough_percent(double fraction);

std::string signed_rough_percent(double fraction);

/// Formats a ratio with its interval: "4.55 ± 0.04x" or "1.37x (1.19 … 1.73)". An exact ratio has
/// no interval. `sign`: the "x", or empty.
std::string ratio_text(const stats::RelativeSpeed& speed, const std::string& sign = "");

/// Groups the digits before the point by thousands: "12,345.6". A number with at most
/// `longest_without_groups` digits there has no groups.
std::string group_digits(std::string number, std::size_t longest_without_groups = 4);

/// Formats `value` with the fewest significant digits that read back as the same double.
std::string exact_decimal(double value);

/// True if a command has timed runs, or any run with a value of a metric.
bool has_values(const CommandResult& command);

/// Returns the text that tables show for a metric's mean: usually mean and σ, "591.0ms ± 7.6ms".
std::string mean_cell_text(const MetricResult& row, const Metric& metric);

/// Returns the text that tables show for a metric's mean without σ: usually "591ms".
std::string short_mean_text(const MetricResult& row, const Metric& metric);

/// Formats a percentile: "12.3ms", or "n/a" if it is unknown.
std::string quantile_text(const MetricResult& row, const Metric& metric);

/// Formats a percentile with its interval: "12.3ms (11.9ms … 12.8ms)", or "n/a (needs 36 runs)" if
/// it is unknown.
std::string quantile_with_interval(const MetricResult& row, const Metric& metric);

/// Returns a metric's name for a sentence: "wall time" for wall_time.
std::string metric_in_words(std::string_view metric);

std::vector<std::string> lines_with_text(std::string_view text);

/// Returns "warm-up", "counting", "sampled", ...; empty for timed runs. `are_samples_taken`: true
/// for a counting run that takes samples (--profile).
std::string_view round_kind_word(RoundKind kind, bool are_samples_taken = false);

/// Returns "run", "simulated run".
std::string run_of_kind(RoundKind kind, bool are_samples_taken = false);

/// Returns the number of failed runs, by kind of round: "12 of 12 (status 9), 3 of 3 simulated
/// (SIGILL)"; empty if no run failed.
std::string failed_runs_text(const Endings& endings, bool with_reasons = true);

/// Returns "12 of 12 runs failed (status 9)", for each kind of round; empty if no run failed.
/// `whose`, such as " of 'old'", follows "runs".
std::string failures_text(const Endings& endings, std::string_view whose = "");

/// Returns ", 2 failed: SIGSEGV, 1 redone", to follow a number of runs; empty if no run failed or
/// was redone.
std::string failed_and_redone_text(const CommandResult& command);

/// Returns the number of the command's timed runs or, without timed runs, of the runs that gave the
/// most values.
std::size_t count_runs(const CommandResult& command);

/// Returns count_runs() in words: "9 runs", "3 simulated runs" or "no runs".
std::string runs_text(const Results& results, std::size_t command);

/// Returns the number of the command's runs that give the metric: its timed runs, or the counting,
/// sampled or simulated runs with a value.
std::size_t count_runs(const Results& results, std::size_t command, std::size_t metric);

/// Returns "run", "simulated run", "counting run" or "sampled run": the runs that give a metric.
std::string run_words(const Metric& metric);

/// Returns "Benchmark 1 (9 runs, 2 failed: SIGSEGV)"; in a suite "Command 1 (...)".
std::string command_title(const Results& results, std::size_t command);

/// Returns a time in microseconds, rounded.
std::int64_t to_microseconds(double seconds);

}  // namespace lauka::report
