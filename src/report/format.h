#pragma once

#include "core/metric.h"
#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

/// A format for numbers that are read together: with the same unit, power of ten and number of
/// decimals. So all are rounded alike and keep their order.
struct Notation {
  double size = 1.0;     ///< number of base units that are shown as 1: 0.001
  std::string suffix{};  ///< unit: "ms"
  std::string power{};   ///< power of ten before the unit: "e+15"; usually empty
  int decimals = 0;

  /// Formats `value` (in base units): "591.0ms"; "0ms" only if it is 0; "n/a" if it is not finite.
  /// The minus sign is U+2212.
  std::string text(double value) const;
};

/// Returns the notation for `value` and all numbers next to it. Decimals show two significant
/// digits of `spread` (σ, or half of an interval) and three of the value, unless the value is below
/// a hundredth of `spread`. The unit is the metric's display unit, or the largest unit in which the
/// value is at least 1; beyond the units, powers of ten are used. Counts below 10,000 have no
/// prefix. Whole counts and bytes have no decimals if all are equal (`spread` is 0), however large
/// they are.
Notation notation_of(double value, std::optional<double> spread, const Metric& metric);
Notation notation_of(const stats::Summary& summary, const Metric& metric);

/// Returns the notation for an axis up to `largest`. It shows a step between neighbouring numbers
/// with `digits` significant digits.
Notation notation_of_steps(double largest, double step, const Metric& metric, int digits);

/// Formats a single number with three significant digits, or a small whole count with all: "591ms",
/// "137MB", "2.51G"; in the metric's display unit, if it has one: "0.591s".
std::string quantity(double value, const Metric& metric);
std::string quantity(double value, Unit unit);

/// Formats a time in `unit`; null: in a unit that fits.
std::string time_text(double seconds, const DisplayUnit* unit);

/// Returns "591.0ms ± 7.6ms"; only the mean if there is no σ.
std::string mean_text(double mean, std::optional<double> stddev, const Metric& metric);

/// Formats minimum and maximum: "583.1ms … 605.0ms". Rounds them like the mean, so that the mean
/// shown is never outside the range.
std::string range_text(const stats::Summary& summary, const Metric& metric);

/// Formats a delta in percent: "−78.0% ± 0.5%", or "+37% (+19% … +73%)" if the interval is
/// asymmetric; "+3.1%" without an interval; "new" without a change (only the reference's mean is
/// 0). Has one decimal; none if the half width is 10% or more; and more, up to 12, until the
/// interval shows to a quarter of its half width and a significant delta visibly excludes 0.
std::string delta_text(const stats::Change& delta);

/// Formats a delta without its interval, with the decimals of delta_text: "−78.0%"; "new" without a
/// change.
std::string short_delta_text(const stats::Change& delta);

/// Formats the interval of a delta with the decimals of delta_text: "+19% … +73%"; empty without an
/// interval.
std::string interval_text(const stats::Change& delta);

/// A change and the ends of its interval as text, with the decimals of delta_text, or more (up to
/// 12) until both ends differ from `other`. `low` and `high` are empty without an interval.
struct ChangeTexts {
  std::string change;
  std::string low{};
  std::string high{};
};
ChangeTexts change_texts(const stats::Change& delta, double other);

/// Formats `fraction` in percent with a sign: "+15.0%", "−0.02%"; "0.0%" if all digits are 0; "n/a"
/// if it is not finite.
std::string signed_percent(double fraction, int decimals);

/// Formats `fraction` (at least 0) in percent with two significant digits, and all digits before
/// the decimal point: "2.1%", "0.031%", "105%".
std::string rough_percent(double fraction);

/// Formats `fraction` like rough_percent, with a sign: "+2.9%", "−0.031%".
std::string signed_rough_percent(double fraction);

/// Formats "4.55 ± 0.04", or "1.37 (1.19 … 1.73)" if the interval is asymmetric. Has two decimals;
/// fewer if the half width makes them noise; more if the interval or the distance from 1 would be
/// invisible, up to three digits of that distance. `sign` follows the half width, or the value if
/// the interval is in parentheses or left out: if it is not finite, or the ratio is 100,000 or
/// more.
std::string ratio_text(const stats::RelativeSpeed& speed, const std::string& sign = "");

/// Returns the shortest decimal that reads back as the same double, for programs.
std::string full_precision(double value);

// Texts that tables, lines and pages share.

/// True if a command has timed runs, or a metric with a value. False if its session ended before
/// there were any.
bool has_values(const CommandResult& command);

/// Returns "591.0ms ± 7.6ms"; without "± σ" for one run; an upper bound as "≤ 451kB"; "n/a" if no
/// run has a value. A percentile is shown as by quantile_cell, a count that may be wrong as "0 (not
/// counted?)".
std::string mean_cell(const MetricResult& row, const Metric& metric);

/// Returns the mean without σ, "591.0ms"; for a percentile, its value without the interval.
std::string short_mean_cell(const MetricResult& row, const Metric& metric);

/// Returns a percentile with its interval, "12.3ms (11.9ms … 12.8ms)", or "n/a (needs 36 runs)";
/// without the parentheses if `with_interval` is false.
std::string quantile_cell(const MetricResult& row, const Metric& metric, bool with_interval);

/// Returns a metric's name for use in a sentence: "wall time". Names of events are unchanged.
std::string spoken(std::string_view metric);

/// Returns the lines of a text, except empty lines.
std::vector<std::string> split_lines(std::string_view text);

/// Returns "12 of 12 (status 9)", the failed runs; empty if all runs succeeded.
std::string failed_share(const Endings& endings, bool with_reasons = true);

/// Returns "12 of 12 runs failed (status 9)", or "... runs of 'old' failed ..." if `whose` is " of
/// 'old'". Empty if all runs succeeded.
std::string failures_text(const Endings& endings, std::string_view whose = "");

/// Returns ", 2 failed: SIGSEGV, 1 redone", to be added to a number of runs; usually empty.
std::string failed_and_redone(const CommandResult& command);

/// Returns "Benchmark 1 (9 runs, 2 failed: SIGSEGV)"; in a suite, "Command 1 (...)".
std::string benchmark_title(const Results& results, std::size_t command);

}  // namespace lauka::report
