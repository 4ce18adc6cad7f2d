#pragma once

#include "core/metric.h"
#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::report {

/// Formats `value` (base units) with its unit and exactly `digits` significant digits (3 or more):
/// "591ms", "137MB", "2.51G". The unit is chosen after rounding, so 999.9 ms is "1.00s". Zero is
/// "0s", "0B", "0" or "0%". Times go on from 999s to min, h and d; values beyond all units are
/// written as 1.23e+21. Whole counts below 10,000 are written in full. Minus is U+2212.
std::string quantity(double value, Unit unit, int digits = 3);

/// The same in the metric's own display unit, if it has one: "0.591s", "131MiB".
std::string quantity(double value, const Metric& metric, int digits = 3);

/// Formats a time in `unit`; null: in the unit that fits.
std::string time_text(double seconds, const DisplayUnit* unit);

/// "591ms ± 7.6ms", "1.6638G ± 0.2M": the mean has the digits that are reliable by σ, three to
/// seven, and σ two significant ones. Without σ, the mean alone.
std::string mean_text(double mean, std::optional<double> stddev, const Metric& metric);

/// Formats both ends of a range, "136.6MB" and "137.4MB", with the fewest digits that distinguish
/// them: 3 to 6, or 3 if six do not. With the values' `stddev`, uses no fewer digits than the mean
/// has: "148.3s" and "148.6s" next to "148.4s ± 0.1s".
std::pair<std::string, std::string> range(double low, double high, const Metric& metric,
                                          std::optional<double> stddev = {});

/// Formats a delta in percent: "−78.0% ± 0.5%", or "+37% (+19% … +73%)" if it is lopsided; "+3.1%"
/// without an interval; "new" if the reference's mean is 0. One decimal, none if the half width is
/// 10% or more, and as many more (up to 6) as it takes to show the interval to a quarter of its
/// half width and, of a significant delta, that it excludes 0.
std::string delta_text(const stats::Change& delta);

/// Returns only its change, with as many decimals.
std::string short_delta_text(const stats::Change& delta);

/// Returns only its interval, with as many decimals: "+19% … +73%". Empty if it has none.
std::string interval_text(const stats::Change& delta);

/// A change and the ends of its interval, all with the decimals that delta_text has, or as many
/// more (up to 6) as it takes to distinguish both ends from `other`. No ends without an interval.
struct ChangeTexts {
  std::string change;
  std::string low{};
  std::string high{};
};
ChangeTexts change_texts(const stats::Change& delta, double other);

/// Formats `fraction` in percent with a sign: "+15.0%", "−0.02%"; "0.0%" if the digits are all 0.
std::string signed_percent(double fraction, int decimals);

/// Formats "4.55 ± 0.04", or "1.37 (1.19 … 1.73)": two decimals, fewer if the half width makes them
/// noise, and as many more as it takes to show the interval well and to distinguish the ratio from
/// 1, up to three digits. `sign` follows the value, or its half width.
std::string ratio_text(const stats::RelativeSpeed& speed, const std::string& sign = "");

/// The shortest decimal that reads back as the same double: for programs.
std::string full_precision(double value);

// Texts that tables, lines and pages share.

/// True if a row has a value: a session may end before its timed runs, or need none.
bool has_values(const CommandResult& command);

/// "591ms ± 7.6ms"; without "± σ" for one run; a bound as "≤ 451kB"; "n/a" if no run has a value.
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
