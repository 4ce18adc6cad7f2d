#include "report/cells.h"

#include "core/foreign_text.h"
#include "core/text.h"
#include "report/format.h"

#include <algorithm>

#include <fmt/format.h>

namespace lauka::report {

std::string quantile_cell(const MetricResult& row, const Metric& metric, bool with_interval) {
  if (!row.quantile)
    return with_interval ? fmt::format("n/a (needs {})", plural(row.fewest_runs, "run")) : "n/a";
  const auto [value, low, high] = *row.quantile;
  std::string text = quantity(value, metric, 4);
  if (!with_interval) return text;
  const auto ends = range(low, high, metric);
  return fmt::format("{} ({} … {})", text, ends.first, ends.second);
}

std::string mean_cell(const MetricResult& row, const Metric& metric) {
  if (row.at_most) return "≤ " + quantity(*row.at_most, metric);
  if (row.is_doubtful) return "0 (not counted?)";
  if (metric.percentile) return quantile_cell(row, metric, true);
  if (!row.summary) return "n/a";
  return mean_text(row.summary->mean, row.summary->stddev, metric);
}

std::string spoken(std::string_view metric) {
  if (metric == metric_name_of(Role::PeakRss)) return "peak RSS";
  if (metric == "cpu_time") return "CPU time";
  std::string name = one_line(metric);
  if (built_in_metric(metric) != nullptr) std::ranges::replace(name, '_', ' ');
  return name;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!line.empty()) lines.emplace_back(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return lines;
}

bool has_values(const CommandResult& command) {
  return command.runs > 0 ||
         std::ranges::any_of(command.rows, [](const MetricResult& row) { return row.runs > 0; });
}

std::string failed_and_redone(const CommandResult& command) {
  std::string text;
  if (command.failed_runs > 0) text += fmt::format(", {} failed", command.failed_runs);
  if (command.redone_runs > 0) text += fmt::format(", {} redone", command.redone_runs);
  return text;
}

std::string benchmark_title(const Results& results, std::size_t index) {
  const CommandResult& command = results.commands[index];
  const std::string runs = command.runs == 0 ? "no timed runs" : plural(command.runs, "run");
  // A suite's benchmarks have names, and commands below them.
  return fmt::format("{} {} ({}{})", results.benchmark.empty() ? "Benchmark" : "Command", index + 1,
                     runs, failed_and_redone(command));
}

}  // namespace lauka::report
