#pragma once

#include "core/choices.h"
#include "history/store.h"
#include "history/trend.h"
#include "report/style.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::history {

/// Converts a record to a metric for the functions of `report`.
Metric as_metric(const MetricRecord& record);

/// Returns a time, given in milliseconds since 1970, as "2026-11-22 18:00", UTC.
std::string date_time_text(std::int64_t milliseconds);

/// Returns `commit` on one line. Cuts a hash to ten digits; keeps "+dirty".
std::string short_commit(const std::string& commit);

/// Returns the short commit; if the commit is unknown, the time when the session began.
std::string commit_name(const CommitValue& commit);

/// Returns the title of a series on one line, such as "parse, wall_time, candidate".
std::string title_of(const MetricHistory& series);

/// Returns the heading of a column of values: "relative to the anchor", "relative to the reference"
/// or "value".
std::string_view values_heading(ComparedWith against);

/// Returns a line such as "machine 1a2b3c4d5e6f7081: AMD EPYC, 8 CPUs, Linux 6.1".
std::string machine_line(const MeasuredCommand& variant);

/// Returns the value of a commit with its 95% interval, if known, such as "591ms ± 5.1ms"; for a
/// ratio, the change, such as "−2.1% ± 0.3%".
std::string value_text(const SteppedSeries& stepped, const CommitValue& commit);

/// Returns the change from the previous commit to the commit with index `commit` (at least 1): in
/// percent, such as "−2.1% ± 0.3%", if Trend::is_logarithm, else in the metric's unit.
std::string change_text(const SteppedSeries& stepped, std::size_t commit);

/// Returns the change at a step: in percent, such as "+10.0% ± 0.2%", if Trend::is_logarithm, else
/// in the metric's unit.
std::string step_change_text(const SteppedSeries& stepped, const stats::LevelStep& step);

/// Returns the state of a step, such as ", acknowledged: new parser"; empty for an alarm.
std::string state_suffix(const KnownStep& step);

/// Returns a text such as "a step may be at 5793c096; one more commit decides"; empty if
/// SteppedSeries::possible_step_at is nullopt.
std::string pending_text(const SteppedSeries& stepped);

/// Returns a line for each split, such as "note: the histories of 3 commands are split at
/// 2026-11-22 18:00, where the class of machines becomes ...".
std::string write_split_notes(const std::vector<HistorySplit>& splits);

/// Returns the text of `lauka-history steps` for a series; empty if there is nothing to report.
std::string steps_text(const SteppedSeries& stepped, const report::Style& style);

/// Returns the text of `lauka-history list`.
std::string sessions_text(const std::vector<SessionLine>& sessions, const report::Style& style);
/// Returns the text of `lauka-history list --benchmarks`.
std::string benchmarks_text(const std::vector<MeasuredCommand>& variants,
                            const report::Style& style);

/// Returns the text of `lauka-history show` for a series.
std::string series_text(const SteppedSeries& stepped, const report::Style& style);

/// Returns the text of `lauka-history combine` for an effect.
std::string fleet_text(const FleetEffect& effect, const report::Style& style);

/// Returns HTML with a chart of the change on each class of machines and of the combined change.
std::string fleet_html(const FleetEffect& effect);

struct TableWriter {
  std::function<void(const MetricHistory& series)> add;
  /// Completes the output; must be called once after the last series.
  std::function<void()> end = [] {};
};

/// Returns the writer for a format of `lauka-history export`; CSV if the format is unknown.
TableWriter table_writer(std::string_view format, const Sink& sink);

}  // namespace lauka::history
