#include "report/cells.h"

#include "core/foreign_text.h"
#include "report/format.h"

#include <algorithm>

#include <fmt/format.h>

namespace lauka::report {

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string name_cell(const Metric& metric, const MetricResult& row, std::size_t runs) {
  std::string name = one_line(metric.name);
  if (!metric.note.empty()) name += " " + metric.note;
  if (row.runs != runs) name += " (" + plural(row.runs, "run") + ")";
  return name;
}

std::string mean_cell(const MetricResult& row, const Metric& metric) {
  if (row.at_most) return "≤ " + quantity(*row.at_most, metric);
  if (row.is_doubtful) return "0 (not counted?)";
  if (!row.summary) return "n/a";
  return mean_text(row.summary->mean, row.summary->stddev, metric);
}

std::string range_cell(const stats::Summary& summary, const Metric& metric, bool fine) {
  if (!fine) return quantity(summary.min, metric) + " … " + quantity(summary.max, metric);
  const auto [low, high] = range(summary.min, summary.max, metric);
  return low + " … " + high;
}

std::string outliers_cell(const stats::Summary& summary, bool with_percent) {
  if (!with_percent) return fmt::format("{}", summary.outliers);
  const double percent =
      100.0 * static_cast<double>(summary.outliers) / static_cast<double>(summary.count);
  if (summary.outliers > 0 && percent < 0.5) return fmt::format("{} (<1%)", summary.outliers);
  return fmt::format("{} ({:.0f}%)", summary.outliers, percent);
}

std::string spoken(std::string_view metric) {
  if (metric == metric_name_of(Role::PeakRss)) return "peak RSS";
  if (metric == "cpu_time") return "CPU time";
  std::string name = one_line(metric);
  const bool is_ours =
      std::any_of(kBuiltInMetrics.begin(), kBuiltInMetrics.end(),
                  [&](const BuiltInMetric& built_in) { return built_in.name == metric; });
  if (is_ours) std::replace(name.begin(), name.end(), '_', ' ');
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

std::string benchmark_title(const CommandResult& command, std::size_t number) {
  std::string runs = command.runs == 0 ? "no timed runs" : plural(command.runs, "run");
  if (command.failed_runs > 0) runs += fmt::format(", {} failed", command.failed_runs);
  if (command.redone_runs > 0) runs += fmt::format(", {} redone", command.redone_runs);
  return fmt::format("Benchmark {} ({})", number, runs);
}

}  // namespace lauka::report
