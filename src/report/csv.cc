#include "core/numbers.h"
#include "core/text.h"
#include "report/exports.h"
#include "report/format.h"
#include "report/metric_tables.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr const char* kLineEnd = "\r\n";

/// True if a spreadsheet takes the cell for a formula: -1.5 is a number, -1+2 is not.
bool is_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos &&
         !is_decimal(text, true);
}

std::string number(std::optional<double> value) {
  return value && std::isfinite(*value) ? full_precision(*value) : "";
}

/// mean, stddev, median, min, max, outliers.
std::string summary_fields(const MetricResult& row) {
  // A percentile has only a value: its interval is no minimum and maximum.
  if (row.quantile) return fmt::format("{},,,,,", number(row.quantile->value));
  if (!row.summary) return fmt::format(",,,,{},", number(row.at_most));
  const stats::Summary& s = *row.summary;
  return fmt::format("{},{},{},{},{},{}", number(s.mean), number(s.stddev), number(s.median),
                     number(s.min), number(s.max), s.outliers);
}

/// delta_percent, delta_low_percent, delta_high_percent.
std::string delta_fields(const std::optional<stats::Delta>& delta) {
  if (!delta || !delta->change) return ",,";
  const std::string change = number(100 * *delta->change);
  if (!delta->bounds) return change + ",,";
  return fmt::format("{},{},{}", change, number(100 * delta->bounds->low),
                     number(100 * delta->bounds->high));
}

/// The values of a command, each after a comma; empty for a variable that it does not use.
std::string parameter_fields(const CommandResult& command, const std::vector<std::string>& names) {
  std::string fields;
  for (const std::string& name : names) {
    const Parameter* parameter = find_parameter(command, name);
    fields += "," + (parameter == nullptr ? "" : csv_field(parameter->value));
  }
  return fields;
}

/// Adds those of `more` that are missing.
void add_missing(const std::vector<std::string>& more, std::vector<std::string>& all) {
  for (const std::string& one : more)
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

std::string first_heading(const Report& report) {
  return report.is_suite() ? "benchmark," : "";
}

std::string first_field(const Results& results) {
  return results.benchmark.empty() ? "" : csv_field(results.benchmark) + ",";
}

std::string summary_heading(const std::vector<std::string>& parameters) {
  std::string heading =
      "command,metric,unit,runs,mean,stddev,median,min,max,outliers,"
      "delta_percent,delta_low_percent,delta_high_percent";
  for (const std::string& name : parameters) heading += "," + csv_field("parameter_" + name);
  return heading;
}

/// `first`: the beginning of each row.
void write_summary_rows(const Results& results, const std::string& first,
                        const std::vector<std::string>& parameters, const Sink& sink) {
  for (const CommandResult& command : results.commands) {
    for (const MetricResult& row : command.rows) {
      const Metric& metric = results.metrics[row.metric];
      sink(fmt::format("{}{},{},{},{},{},{}{}{}", first, csv_field(command.name),
                       csv_field(metric.name), unit_symbol(metric.unit), row.runs,
                       summary_fields(row), delta_fields(row.delta),
                       parameter_fields(command, parameters), kLineEnd));
    }
  }
}

std::vector<std::string> metrics_of_runs(const Results& results) {
  std::vector<std::string> names;
  for (const Metric& metric : results.metrics)
    if (!metric.percentile) names.push_back(metric.name);
  return names;
}

std::string runs_heading(const std::vector<std::string>& metrics) {
  std::string heading = "command,run,round,pass,status";
  for (const std::string& name : metrics) heading += "," + csv_field(name);
  return heading;
}

/// Likewise; a field is empty if the metric is not measured here.
void write_run_rows(const Results& results, const std::string& first,
                    const std::vector<std::string>& metrics, const Sink& sink) {
  std::vector<std::optional<std::size_t>> places;
  places.reserve(metrics.size());
  for (const std::string& name : metrics) places.push_back(find_metric(results.metrics, name));
  for (std::size_t i = 0; i < results.runs->size(); ++i) {
    const RunRow run = results.runs->row(i);
    sink(first);
    if (!first.empty()) sink((run.order != 0 ? fmt::to_string(run.order) : "") + ",");
    sink(fmt::format("{},{},{},{},{}", csv_field(results.commands[run.command].name), i + 1,
                     run.round + 1, run.pass + 1, run.status));
    for (const auto& place : places)
      sink("," + (place ? number(results.runs->value(i, *place)) : ""));
    sink(kLineEnd);
  }
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string shown = (is_formula(text) ? "'" : "") + one_line(text);
  if (shown.find_first_of(",\"") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (const char c : shown) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

void write_summary_csv(const Report& report, const Sink& sink) {
  std::vector<std::string> parameters;
  for (const Results& one : report.benchmarks) add_missing(parameter_names(one), parameters);
  sink(first_heading(report) + summary_heading(parameters) + kLineEnd);
  for (const Results& one : report.benchmarks)
    write_summary_rows(one, first_field(one), parameters, sink);
}

void write_runs_csv(const Report& report, const Sink& sink) {
  std::vector<std::string> metrics;
  for (const Results& one : report.benchmarks) add_missing(metrics_of_runs(one), metrics);
  const std::string first = first_heading(report);
  sink(first + (first.empty() ? "" : "order,") + runs_heading(metrics) + kLineEnd);
  for (const Results& one : report.benchmarks) write_run_rows(one, first_field(one), metrics, sink);
}

}  // namespace lauka::report
