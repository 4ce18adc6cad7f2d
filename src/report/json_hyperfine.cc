#include "report/format.h"
#include "report/json_parts.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

// hyperfine 1.x has lists of times beside their statistics; its schema 2 an object for each run and
// one for each metric's statistics. Both are about wall time first, so a run without one (killed at
// --timeout, under --ignore-failure) is in neither; "lauka" has it.

namespace lauka::report {

namespace {

/// A metric under the name that hyperfine has for it.
struct Namesake {
  std::string_view ours;
  std::string_view theirs;
  std::string_view unit;  ///< of schema 2; empty: a count, which has none beside a single value
};

constexpr auto kNamesakes = std::to_array<Namesake>({
    {"wall_time", "time_wall_clock", "second"},
    {"cpu_time", "time_cpu", "second"},
    {"user_time", "time_user", "second"},
    {"system_time", "time_system", "second"},
    {"peak_rss", "memory_peak_resident", "byte"},
    {"cycles", "cpu_cycles", ""},
    {"instructions", "instructions", ""},
    {"cache-references", "cache_references", ""},
    {"cache-misses", "cache_misses", ""},
    {"branch-misses", "branch_misses", ""},
});

std::optional<std::size_t> index_of(const Results& results, std::string_view name) {
  for (std::size_t m = 0; m < results.metrics.size(); ++m) {
    if (results.metrics[m].name == name) return m;
  }
  return std::nullopt;
}

const MetricResult* row_of(const CommandResult& command, std::optional<std::size_t> metric) {
  for (const MetricResult& row : command.rows) {
    if (row.metric == metric) return &row;
  }
  return nullptr;
}

std::optional<double> value_of(const RunRow& run, std::optional<std::size_t> metric) {
  if (!metric || *metric >= run.values.size()) return std::nullopt;
  return run.values[*metric];
}

/// The runs of `command` that have a wall time.
std::vector<const RunRow*> timed_runs(const Results& results, std::size_t command) {
  const auto wall_time = index_of(results, "wall_time");
  std::vector<const RunRow*> runs;
  for (const RunRow& run : results.runs) {
    if (run.command == command && value_of(run, wall_time)) runs.push_back(&run);
  }
  return runs;
}

Json list_of(const Results& results, const std::vector<const RunRow*>& runs,
             std::string_view metric) {
  const auto index = index_of(results, metric);
  Json list = Json::array();
  for (const RunRow* run : runs) {
    const auto value = value_of(*run, index);
    if (value) list.push_back(json_value(*value, results.metrics[*index].unit));
  }
  return list;
}

void add_statistics(Json& result, const Results& results, const CommandResult& command) {
  const auto summary = [&](std::string_view metric) -> const stats::Summary* {
    const MetricResult* row = row_of(command, index_of(results, metric));
    return row != nullptr && row->summary ? &*row->summary : nullptr;
  };
  const auto mean = [&](std::string_view metric) {
    const auto* of_metric = summary(metric);
    return of_metric != nullptr ? Json(of_metric->mean) : Json(nullptr);
  };
  const auto* wall_time = summary("wall_time");
  const auto part = [&](double stats::Summary::*member) {
    return wall_time != nullptr ? Json(wall_time->*member) : Json(nullptr);
  };
  result["mean"] = part(&stats::Summary::mean);
  result["stddev"] = json_number(wall_time != nullptr ? wall_time->stddev : std::nullopt);
  result["median"] = part(&stats::Summary::median);
  result["user"] = mean("user_time");
  result["system"] = mean("system_time");
  result["min"] = part(&stats::Summary::min);
  result["max"] = part(&stats::Summary::max);
}

Json measurement_of(const Results& results, const RunRow& run) {
  Json measurement;
  for (const Namesake& name : kNamesakes) {
    const auto index = index_of(results, name.ours);
    const auto value = value_of(run, index);
    if (!value) continue;
    Json& there = measurement[std::string(name.theirs)];
    there["value"] = json_value(*value, results.metrics[*index].unit);
    if (!name.unit.empty()) there["unit"] = name.unit;
  }
  measurement["exit_code"] = run.status;
  return measurement;
}

/// As in schema 2 only of what every run has: then all summaries are of the same runs.
Json summary_of(const Results& results, const CommandResult& command, std::size_t runs) {
  Json all = Json::object();
  for (const Namesake& name : kNamesakes) {
    const MetricResult* row = row_of(command, index_of(results, name.ours));
    if (row == nullptr || !row->summary || row->summary->count != runs) continue;
    // As many simulated runs as timed ones are still other runs.
    if (results.metrics[row->metric].note == kSimulatedNote) continue;
    const stats::Summary& summary = *row->summary;
    Json& there = all[std::string(name.theirs)];
    there["unit"] = name.unit.empty() ? "count" : name.unit;
    there["count"] = summary.count;
    there["mean"] = summary.mean;
    there["stddev"] = json_number(summary.stddev);
    there["median"] = summary.median;
    there["min"] = summary.min;
    there["max"] = summary.max;
  }
  return all;
}

}  // namespace

void add_hyperfine_result(Json& result, const Results& results, std::size_t command) {
  const CommandResult& of_command = results.commands[command];
  const std::vector<const RunRow*> runs = timed_runs(results, command);
  result["command"] = of_command.name;
  if (of_command.name != of_command.text) result["name"] = of_command.name;
  if (command == 0 && results.commands.size() > 1 && !results.baseline)
    result["is_reference"] = true;
  add_statistics(result, results, of_command);
  result["times"] = list_of(results, runs, "wall_time");
  // A list with gaps would not belong to the list of times: no list, as hyperfine has it where the
  // system does not tell.
  Json memory = list_of(results, runs, "peak_rss");
  if (!runs.empty() && memory.size() == runs.size())
    result["memory_usage_byte"] = std::move(memory);
  Json statuses = Json::array();
  Json measurements = Json::array();
  for (const RunRow* run : runs) {
    statuses.push_back(run->status);
    measurements.push_back(measurement_of(results, *run));
  }
  result["exit_codes"] = std::move(statuses);
  result["measurements"] = std::move(measurements);
  for (const Parameter& parameter : of_command.parameters)
    result["parameters"][parameter.name]["value"] = parameter.value;  // of 2.0; 1.x has no "value"
  result["summary"] = summary_of(results, of_command, runs.size());
}

Json hyperfine_metadata(const Circumstances& circumstances) {
  Json metadata;
  metadata["lauka_version"] = circumstances.version;
  metadata["start_time"] = rfc3339(circumstances.began);
  metadata["platform"] = {{"os", circumstances.machine.system},
                          {"architecture", circumstances.machine.architecture}};
  return metadata;
}

}  // namespace lauka::report
