#pragma once

#include "core/metric.h"
#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

/// Format of numbers that are read together: one unit, or one power of ten of it, and
/// with one number of decimals. So all are rounded alike, and keep their order.
struct Notation {
  double size = 1.0;     ///< base units in the unit with its power of ten: 0.001
  std::string suffix{};  ///< the unit: "ms"
  std::string power{};   ///< power before the unit: "e+15"; mostly empty
  int decimals = 0;

  /// Formats `value` (base units): "591.0ms"; "0ms" only if it is 0; "n/a" if it is not finite.
  /// Minus is U+2212.
  std::string text(double value) const;
};

/// Returns the notation of a row: of `value`, and of all that is shown with it. Its decimals show
/// two significant digits of `spread` (σ, or half of an interval) and three of the value, unless
/// the value is below a hundredth of `spread`. Its unit is the metric's display unit, or the
/// largest in which the value is at least 1; there are powers of ten beyond the units. Counts below
/// 10,000 have no prefix. Whole counts and bytes have no decimals if all are equal (`spread` is 0),
/// however large they are.
Notation notation_of(double value, std::optional<double> spread, const Metric& metric);
Notation notation_of(const stats::Summary& summary, const Metric& metric);

/// Returns the notation of an axis up to `largest`: it shows a step between neighbouring numbers
/// with `digits` significant digits.
Notation notation_of_steps(double largest, double step, const Metric& metric, int digits);

/// Formats a number by itself, with three significant digits: "591ms", "137MB", "2.51G"; in the
/// metric's display unit, if it has one: "0.591s".
std::string quantity(double value, const Metric& metric);
std::string quantity(double value, Unit unit);

/// Formats a time in `unit`; null: in the unit that fits.
std::string time_text(double seconds, const DisplayUnit* unit);

/// "591.0ms ± 7.6ms"; without σ, the mean alone.
std::string mean_text(double mean, std::optional<double> stddev, const Metric& metric);

/// Formats min and max: "583.1ms … 605.0ms". Rounds them like the mean, so that the mean shown is
/// never outside the range.
std::string range_text(const stats::Summary& summary, const Metric& metric);

/// Formats a delta in percent: "−78.0% ± 0.5%", or "+37% (+19% … +73%)" if it is lopsided; "+3.1%"
/// without an interval; "new" if the reference's mean is 0. One decimal, none if the half width is
/// 10% or more, and as many more (up to 12) as it takes to show the interval to a quarter of its
/// half width and, of a significant delta, that it excludes 0.
std::string delta_text(const stats::Change& delta);

/// Formats a delta without its interval, with the decimals of delta_text: "−78.0%"; "new" if the
/// reference's mean is 0.
std::string short_delta_text(const stats::Change& delta);

/// Formats the interval of a delta with the decimals of delta_text: "+19% … +73%". Empty if the
/// delta has no interval.
std::string interval_text(const stats::Change& delta);

/// A change and the ends of its interval, all with the decimals that delta_text has, or as many
/// more (up to 12) as it takes to distinguish both ends from `other`. No ends without an interval.
struct ChangeTexts {
  std::string change;
  std::string low{};
  std::string high{};
};
ChangeTexts change_texts(const stats::Change& delta, double other);

/// Formats `fraction` in percent with a sign: "+15.0%", "−0.02%"; "0.0%" if the digits are all 0.
std::string signed_percent(double fraction, int decimals);

/// Formats `fraction` (at least 0) in percent with two significant digits, and all digits before
/// the decimal point: "2.1%", "0.031%", "105%".
std::string rough_percent(double fraction);

/// Formats `fraction` like rough_percent, with a sign: "+2.9%", "−0.031%".
std::string signed_rough_percent(double fraction);

/// Formats "4.55 ± 0.04", or "1.37 (1.19 … 1.73)" if the interval is lopsided. Two decimals; fewer
/// if the half width makes them noise; more if the interval, or the distance from 1, would not be
/// visible, up to three digits of that distance. `sign` follows the half width, or the value if the
/// interval is in parentheses.
std::string ratio_text(const stats::RelativeSpeed& speed, const std::string& sign = "");

/// The shortest decimal that reads back as the same double: for programs.
std::string full_precision(double value);

// Texts that tables, lines and pages share.

/// True if a command has timed runs, or a row with a value. False if its session ended before its
/// timed runs, or needed none.
bool has_values(const CommandResult& command);

/// "591.0ms ± 7.6ms"; without "± σ" for one run; a bound as "≤ 451kB"; "n/a" if no run has a value.
std::string mean_cell(const MetricResult& row, const Metric& metric);

/// Returns the same without σ; of a percentile, its value without the interval.
std::string short_mean_cell(const MetricResult& row, const Metric& metric);

/// A percentile with its interval, as "12.3ms (11.9ms … 12.8ms)", or the runs that it needs.
std::string quantile_cell(const MetricResult& row, const Metric& metric, bool with_interval);

/// Returns a metric's name within a sentence: "wall time"; an event's unchanged.
std::string spoken(std::string_view metric);

/// The lines of a text, without those that are empty.
std::vector<std::string> split_lines(std::string_view text);

/// "12 of 12 (status 9)": failed runs; empty if all runs succeeded.
std::string failed_share(const Endings& endings, bool with_reasons = true);

/// "12 of 12 runs failed (status 9)", or "... runs of 'old' failed ..." with `whose`, " of 'old'".
/// Empty if all runs succeeded.
std::string failures_text(const Endings& endings, std::string_view whose = "");

/// ", 2 failed: SIGSEGV, 1 redone": the text after a number of runs; mostly empty.
std::string failed_and_redone(const CommandResult& command);

/// "Benchmark 1 (9 runs, 2 failed: SIGSEGV)".
std::string benchmark_title(const Results& results, std::size_t command);

}  // namespace lauka::report
