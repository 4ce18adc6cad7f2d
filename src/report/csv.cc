#include "report/csv.h"

#include "report/format.h"
#include "report/parameters.h"

#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// RFC 4180: a field with a comma, a quote or a line break stands in quotes; quotes are doubled.
std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string number(std::optional<double> value) {
  return value ? full_precision(*value) : "";
}

/// mean, stddev, median, min, max, outliers.
std::string summary_fields(const MetricResult& row) {
  if (!row.summary) return fmt::format(",,,,{},", number(row.at_most));
  const stats::Summary& s = *row.summary;
  return fmt::format("{},{},{},{},{},{}", number(s.mean), number(s.stddev), number(s.median),
                     number(s.min), number(s.max), s.outliers);
}

/// delta_percent, delta_low_percent, delta_high_percent.
std::string delta_fields(const std::optional<stats::Delta>& delta) {
  if (!delta || !delta->change) return ",,";
  const double change = *delta->change;
  if (!delta->half_width) return fmt::format("{},,", number(100 * change));
  const double half = *delta->half_width;
  return fmt::format("{},{},{}", number(100 * change), number(100 * (change - half)),
                     number(100 * (change + half)));
}

/// The values of a command, each after a comma; empty for a variable that it does not use.
std::string parameter_fields(const CommandResult& command, const std::vector<std::string>& names) {
  std::string fields;
  for (const std::string& name : names) {
    const Parameter* parameter = find_parameter(command, name);
    fields += "," + (parameter == nullptr ? "" : field(parameter->value));
  }
  return fields;
}

}  // namespace

std::string summary_csv(const Results& results) {
  std::string csv =
      "command,metric,unit,runs,mean,stddev,median,min,max,outliers,"
      "delta_percent,delta_low_percent,delta_high_percent";
  const std::vector<std::string> parameters = parameter_names(results);
  for (const std::string& name : parameters) csv += "," + field("parameter_" + name);
  csv += "\n";
  for (const CommandResult& command : results.commands) {
    for (const MetricResult& row : command.rows) {
      const Metric& metric = results.metrics[row.metric];
      csv += fmt::format("{},{},{},{},{},{}{}\n", field(command.name), field(metric.name),
                         unit_symbol(metric.unit), row.runs, summary_fields(row),
                         delta_fields(row.delta), parameter_fields(command, parameters));
    }
  }
  return csv;
}

std::string runs_csv(const Results& results) {
  std::string csv = "command,run,round,pass,status";
  for (const Metric& metric : results.metrics) csv += "," + field(metric.name);
  csv += "\n";
  std::size_t run = 0;
  for (const RunRow& row : results.runs) {
    csv += fmt::format("{},{},{},{},{}", field(results.commands[row.command].name), ++run,
                       row.round + 1, row.pass + 1, row.status);
    for (const auto& value : row.values) csv += "," + number(value);
    csv += "\n";
  }
  return csv;
}

}  // namespace lauka::report
