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

/// Returns a metric of a history as `report` shows metrics.
Metric as_metric(const MetricRecord& record);

/// Returns "2026-11-22 18:00", UTC.
std::string minute_text(std::int64_t milliseconds);

/// Returns ten digits of the commit, with "+dirty".
std::string short_commit(const std::string& commit);

/// Returns the short commit, or when it was measured if it is not known.
std::string commit_name(const Observation& commit);

/// Returns the title of a series, on one line: "parse, wall_time, candidate".
std::string title_of(const MetricHistory& series);

/// Returns the name of the values: "value", "to the anchor".
std::string_view against_text(Against against);

/// Returns "machine 1a2b3c4d5e6f7081: AMD EPYC, 8 CPUs, Linux 6.1".
std::string machine_line(const Variant& variant);

/// Returns the value of a commit with its 95% interval: "591ms ± 5.1ms"; a ratio as "−2.1% ± 0.3%".
std::string value_text(const SteppedSeries& stepped, const Observation& commit);

/// Returns the change to the commit at index `commit` (1 or more) from the one before, likewise.
std::string change_text(const SteppedSeries& stepped, std::size_t commit);

/// Returns the size of a step: "+10.0% ± 0.2%".
std::string step_change_text(const SteppedSeries& stepped, const stats::Step& step);

/// Returns ", acknowledged: new parser"; empty for an alarm.
std::string state_words(const KnownStep& step);

/// Returns "a step may be at 5793c096; one more commit decides"; empty if that is not so.
std::string pending_text(const SteppedSeries& stepped);

/// Describes the steps; of a series too short for steps, a clear last change. Empty without either.
std::string steps_text(const SteppedSeries& stepped, const report::Style& style);

/// Returns what `list` shows.
std::string sessions_text(const std::vector<SessionLine>& sessions, const report::Style& style);
std::string benchmarks_text(const std::vector<Variant>& variants, const report::Style& style);

/// Returns what `show` shows of a series: a line for each of its last commits.
std::string series_text(const SteppedSeries& stepped, const report::Style& style);

/// A line per machine with a small drawing, one for all of them, and how much they differ in words.
std::string fleet_text(const FleetEffect& effect, const report::Style& style);

/// Returns the same as a forest plot for the page.
std::string fleet_html(const FleetEffect& effect);

/// Writes the points of one series after the other for other programs.
struct TableWriter {
  std::function<void(const MetricHistory& series)> add;
  std::function<void()> end = [] {};  ///< writes the parts that need all series
};

/// Returns the writer of a format of `lauka-history export`:
/// csv: a row per point, base units, shortest digits that read back as the same number;
/// jsonl: the same as an object in a line each;
/// benchfmt: Go's benchmark format, the labels as its configuration;
/// bmf: Bencher's, of the last point of each series;
/// otava: CSV with a row per session and a column per series, as Apache Otava reads it.
TableWriter table_writer(std::string_view format, const Sink& sink);

/// Writes one self-contained page: the changes, a card and a section for each series (those that
/// changed most come first), and a forest plot of what several classes of machines found. In
/// `commit_url` the commit replaces {}; empty: commits are no links.
void write_history_page(const std::string& title, const std::string& commit_url,
                        std::span<const SteppedSeries> all, const Sink& sink);

}  // namespace lauka::history
