#pragma once

#include "core/choices.h"
#include "history/store.h"
#include "history/trend.h"
#include "report/style.h"
#include "report/table.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::history {

/// Converts a metric of a history for the functions of `report`.
Metric as_metric(const MetricRecord& record);

/// Returns a time, given in milliseconds since 1970, as "2026-11-22 18:00", UTC.
std::string minute_text(std::int64_t milliseconds);

/// Returns the first ten digits of a commit's hash, with "+dirty" if it has that; the whole text if
/// it is shorter, or no hash.
std::string short_commit(const std::string& commit);

/// Returns the short commit, or the time of measuring if the commit is unknown.
std::string commit_name(const Observation& commit);

/// Returns the title of a series on one line: "parse, wall_time, candidate".
std::string title_of(const MetricHistory& series);

/// Returns what the values are: "value", "to the anchor", ...
std::string_view against_text(Against against);

/// Returns "machine 1a2b3c4d5e6f7081: AMD EPYC, 8 CPUs, Linux 6.1".
std::string machine_line(const Variant& variant);

/// Returns the value of a commit with its 95% interval, if known: "591ms ± 5.1ms", or for ratios
/// "−2.1% ± 0.3%".
std::string value_text(const SteppedSeries& stepped, const Observation& commit);

/// Returns the change from the previous commit to the one with index `commit` (at least 1), with
/// its 95% interval, if known: "−2.1% ± 0.3%"; without Trend::is_logarithm, the difference alone.
std::string change_text(const SteppedSeries& stepped, std::size_t commit);

/// Returns the size of a step: "+10.0% ± 0.2%"; without Trend::is_logarithm, the difference alone.
std::string step_change_text(const SteppedSeries& stepped, const stats::LevelStep& step);

/// Returns the state of a step: ", acknowledged: new parser"; empty for an alarm.
std::string state_words(const KnownStep& step);

/// Returns "a step may be at 5793c096; one more commit decides"; empty if no step is pending.
std::string pending_text(const SteppedSeries& stepped);

/// Describes the steps of a series, and one that may be at its end. If the series is too short for
/// steps, describes a clear change at its end. Empty if there is nothing of this.
std::string steps_text(const SteppedSeries& stepped, const report::Style& style);

/// Returns the text of `lauka-history list`.
std::string sessions_text(const std::vector<SessionLine>& sessions, const report::Style& style);
/// Returns the text of `lauka-history list --benchmarks`.
std::string benchmarks_text(const std::vector<Variant>& variants, const report::Style& style);

/// Returns the text of `lauka-history show` for a series: a line for each of its last commits.
std::string series_text(const SteppedSeries& stepped, const report::Style& style);

/// Returns a line with a small drawing for each machine, a line for all machines, and a sentence on
/// how much they differ.
std::string fleet_text(const FleetEffect& effect, const report::Style& style);

/// Returns a forest plot of the machines as HTML.
std::string fleet_html(const FleetEffect& effect);

/// Writes series as a table for other programs.
struct TableWriter {
  std::function<void(const MetricHistory& series)> add;  ///< writes a series; called once for each
  std::function<void()> end = [] {};  ///< writes the parts that need all series; called last
};

/// Returns the writer for a format of `lauka-history export`. csv (also for unknown formats): a row
/// per point, in base units, with the shortest digits that read back as the same number. jsonl: an
/// object per point and line, with the same numbers. benchfmt: Go's benchmark format, with labels
/// as configuration. bmf: Bencher's format, with the last point of each series. otava: CSV for
/// Apache Otava, with a row per session and a column per series.
TableWriter table_writer(std::string_view format, const Sink& sink);

/// Writes a self-contained page: the changes, a card and a section for each series that has commits
/// (regressions first, then improvements; the largest first), and a forest plot if there are
/// several classes of machines. `commit_url` has {} in place of a commit; empty: commits are not
/// links.
void write_history_page(const std::string& title, const std::string& commit_url,
                        std::span<const SteppedSeries> all, const Sink& sink);

}  // namespace lauka::history
