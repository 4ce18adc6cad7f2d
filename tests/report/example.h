#pragma once

#include "core/text.h"
#include "has.h"
#include "report/exports.h"
#include "report/screen.h"
#include "report/style.h"
#include "report/suite_screen.h"
#include "results/results.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::report {

/// The widest line of `text`, in cells.
inline std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (const std::string_view line : split(text, '\n'))
    widest = std::max(widest, display_width(line));
  return widest;
}

inline std::string screen(const Results& results, const Style& style, bool quiet) {
  const auto content = quiet ? ScreenContent::VerdictsOnly : ScreenContent::All;
  const ScreenSections parts = screen_sections_of_benchmark(results, style, content);
  return parts.tables + parts.verdicts;
}

inline std::string screen(const Report& report, const Style& style, bool quiet) {
  const auto content = quiet ? ScreenContent::VerdictsOnly : ScreenContent::All;
  const ScreenSections parts = screen_sections(report, style, content);
  return parts.tables + parts.verdicts;
}

inline std::string tables(const Results& results, const Style& style) {
  return screen_sections_of_benchmark(results, style, ScreenContent::All).tables;
}

/// The tables and the lines that compare.
inline std::string table(const Results& results, const Style& style) {
  const std::string summary = comparison_lines(results, style);
  return tables(results, style) + (summary.empty() ? "" : "\n" + summary);
}

inline std::vector<std::string> warning_texts(const Results& results, const Style& style) {
  return warning_texts(Report{.benchmarks = {results}}, style);
}

/// A metric of the role of its name, that needs no source: results are made by hand here.
inline Metric metric(std::string name, Unit unit, Better better = Better::Less,
                     Shown shown = Shown::Always, std::string note = "") {
  Metric made{.name = std::move(name),
              .unit = unit,
              .better = better,
              .shown = shown,
              .metric_suffix = std::move(note)};
  for (const BuiltInMetric& one : kBuiltInMetrics)
    if (one.name == made.name) made.role = one.role;
  if (made.role == Role::Other) made.role = role_of_event(made.name);
  return made;
}

/// The figures of one row; median and quartiles are in the middle of the range.
inline stats::Summary summary(std::size_t count, double mean, std::optional<double> stddev,
                              double min, double max, std::size_t outliers = 0) {
  const double middle = (min + max) / 2;
  const auto variance = stddev ? std::optional(*stddev * *stddev) : std::nullopt;
  return {{count, mean, variance, min, max}, middle, middle, middle, outliers, 0};
}

/// A delta of the mean with an even interval, if it has one.
inline stats::Delta changed(std::optional<double> change, std::optional<double> half_width) {
  stats::Delta delta;
  delta.change = change;
  if (half_width) delta.bounds = {*change - *half_width, *change + *half_width};
  delta.change_of_mean = delta;
  return delta;
}

/// The ratio that the first metric's delta makes.
inline HeadlineComparison ranked(std::size_t command, double ratio,
                                 std::optional<double> half_width, bool faster, bool significant) {
  HeadlineComparison ranking{command, 0, {.speed_factor = ratio, .faster = faster}, significant};
  if (half_width) ranking.speed.bounds = {ratio - *half_width, ratio + *half_width};
  return ranking;
}

inline MetricResult row(std::size_t index, const stats::Summary& values,
                        std::optional<stats::Delta> delta = std::nullopt) {
  MetricResult result;
  result.metric_index = index;
  result.runs = values.count;
  result.summary = values;
  result.delta = delta;
  return result;
}

/// A command with its results.
struct MadeCommand {
  Command command;
  CommandResult result;
};

inline MadeCommand command(std::string name, std::size_t runs, std::vector<MetricResult> rows) {
  MadeCommand made{{.name = name, .text = std::move(name), .words = {}}, {}};
  made.result.runs = runs;
  made.result.rows = std::move(rows);
  return made;
}

inline void add_command(MadeCommand made, Results& results) {
  results.session.commands.push_back(std::move(made.command));
  results.commands.push_back(std::move(made.result));
}

inline void set_commands(Results& results, std::vector<MadeCommand> commands) {
  results.session.commands.clear();
  results.commands.clear();
  for (MadeCommand& one : commands) add_command(std::move(one), results);
}

/// Removes the commands from `first` up to `end`.
inline void remove_commands(Results& results, std::size_t first, std::size_t end) {
  const auto erase = [&](auto& list) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(first),
               list.begin() + static_cast<std::ptrdiff_t>(end));
  };
  erase(results.session.commands);
  erase(results.commands);
  std::erase_if(results.headline_comparisons, [&](const HeadlineComparison& ranking) {
    return ranking.command >= first && ranking.command < end;
  });
  for (HeadlineComparison& ranking : results.headline_comparisons)
    if (ranking.command >= end) ranking.command -= end - first;
}

/// Adds a command as often as `times` again.
inline void repeat_command(Results& results, std::size_t command, std::size_t times = 1) {
  for (std::size_t i = 0; i < times; ++i)
    add_command({results.session.commands[command], results.commands[command]}, results);
}

/// Results of these commands alone, whose rows are of these metrics.
inline Results results_of(std::vector<Metric> metrics, std::vector<MadeCommand> commands) {
  Results results;
  results.session.metrics = std::move(metrics);
  set_commands(results, std::move(commands));
  return results;
}

/// A command that never ran.
inline void without_values(CommandResult& command) {
  command.runs = 0;
  for (MetricResult& row : command.rows) row = {.metric_index = row.metric_index};
}

/// Runs made by hand: a value for each metric.
struct MadeRun {
  RunRow row;
  std::vector<std::optional<double>> values;
};

inline Runs made(const std::vector<MadeRun>& made_runs) {
  Runs runs;
  for (const auto& [row, values] : made_runs) {
    const std::size_t run = runs.add(row);
    for (std::size_t metric = 0; metric < values.size(); ++metric)
      if (values[metric]) runs.set_value(run, metric, *values[metric]);
  }
  return runs;
}

/// Returns the output of an exporter.
inline std::string written(Exporter exporter, const Report& report) {
  std::string text;
  exporter(report, [&](std::string_view piece) { text += piece; });
  return text;
}

inline std::string written(Exporter exporter, const Results& results) {
  return written(exporter, Report{{results}});
}

/// The manual's example.
inline Results manual_example() {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds), metric("peak_rss", Unit::Bytes),
                             metric("core_active_cycle", Unit::Count)};
  set_commands(
      results,
      {command("./build-old", 9,
               {row(0, summary(9, 0.591, 0.0076, 0.583, 0.605)),
                row(1, summary(9, 137e6, 0.3e6, 136.6e6, 137.4e6)),
                row(2, summary(9, 2.51e9, 22.1e6, 2.48e9, 2.54e9))}),
       command("./build-new -O2", 9,
               {row(0, summary(9, 0.130, 0.0083, 0.125, 0.141), changed(-0.78, 0.005)),
                row(1, summary(9, 141e6, 0.4e6, 140.4e6, 141.9e6, 1), changed(0.031, 0.004)),
                row(2, summary(9, 2.5e9, 31.4e6, 2.41e9, 2.59e9), changed(-0.004, 0.011))})});
  results.headline_comparisons = {ranked(1, 4.5512, 0.0411, true, true)};
  return results;
}

/// An estimate over eight layouts, with a 95% interval of `half_width` to either side.
inline stats::LayoutEstimate estimate_over_layouts(double value, double half_width) {
  constexpr double t = 2.364624;  // of 7 degrees of freedom
  stats::LayoutEstimate estimate{.value = value,
                                 .squared_standard_error = half_width / t * (half_width / t),
                                 .degrees = 7.0,
                                 .layout_count = 8};
  for (std::uint32_t layout = 0; layout < 8; ++layout)
    estimate.layout_means.push_back({layout, 2, value});
  return estimate;
}

/// The manual's example with eight layouts, over which the means of wall time have intervals of
/// 5% to either side.
inline Results example_over_layouts(const stats::Delta& of_all, const stats::Delta& of_first) {
  Results results = manual_example();
  results.session.setting.layouts = 8;
  for (CommandResult& command : results.commands) {
    MetricResult& row = command.rows[0];
    LayoutResult over{.mean = estimate_over_layouts(row.summary->mean, 0.05 * row.summary->mean)};
    if (row.delta) {
      row.delta = of_all;
      over.mean_log_ratio = estimate_over_layouts(of_all.change.value_or(0.0), 0.01);
      over.delta_of_first_layout = of_first;
    }
    row.layouts = std::make_shared<const LayoutResult>(std::move(over));
  }
  return results;
}

}  // namespace lauka::report
