#include "core/numbers.h"
#include "format/sections.h"
#include "report/format.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// hyperfine 1.x has lists of times next to their statistics; its schema 2 an object for each run
// and
// one for each metric's statistics. Both are about wall time first, so a run without one (killed at
// --timeout, under --ignore-failure) is in neither; "lauka" has it.

namespace lauka {

namespace {

/// A metric under the name that hyperfine has for it.
struct Namesake {
  Role ours;
  std::string_view theirs;
  std::string_view unit;  ///< of schema 2; empty: a count, without a unit next to single values
};

constexpr auto kNamesakes = std::to_array<Namesake>({
    {Role::WallTime, "time_wall_clock", "second"},
    {Role::CpuTime, "time_cpu", "second"},
    {Role::UserTime, "time_user", "second"},
    {Role::SystemTime, "time_system", "second"},
    {Role::PeakRss, "memory_peak_resident", "byte"},
    {Role::Cycles, "cpu_cycles", ""},
    {Role::Instructions, "instructions", ""},
    {Role::CacheReferences, "cache_references", ""},
    {Role::CacheMisses, "cache_misses", ""},
    {Role::BranchMisses, "branch_misses", ""},
});

/// The places of these metrics, in the order of kNamesakes; nullopt if not measured.
using Places = std::array<std::optional<std::size_t>, kNamesakes.size()>;

Places places_of(const Results& results) {
  Places places;
  std::ranges::transform(kNamesakes, places.begin(), [&](const Namesake& name) {
    return find_metric(results.metrics, name.ours);
  });
  return places;
}

std::optional<double> value_of(const Results& results, std::size_t run,
                               std::optional<std::size_t> metric) {
  return metric ? results.runs->value(run, *metric) : std::nullopt;
}

/// The runs of `command` that have a wall time.
std::vector<std::size_t> timed_runs(const Results& results, std::size_t command) {
  const auto wall_time = find_metric(results.metrics, Role::WallTime);
  std::vector<std::size_t> runs;
  for (const std::size_t run : results.runs->of(command))
    if (value_of(results, run, wall_time)) runs.push_back(run);
  return runs;
}

void put_list(JsonWriter& json, std::string_view key, const Results& results,
              const std::vector<std::size_t>& runs, Role metric) {
  const auto index = find_metric(results.metrics, metric);
  json.list(key, runs.size(), [&](std::size_t i) {
    return json_sample(value_of(results, runs[i], index), results.metrics[*index].unit);
  });
}

void put_statistics(JsonWriter& json, const Results& results, const CommandResult& command) {
  const auto summary = [&](Role metric) -> const stats::Summary* {
    const MetricResult* row = row_of(command, find_metric(results.metrics, metric));
    return row != nullptr && row->summary ? &*row->summary : nullptr;
  };
  const auto mean = [&](Role metric) {
    const auto* of_metric = summary(metric);
    return of_metric != nullptr ? Json(of_metric->mean) : Json(nullptr);
  };
  const auto* wall_time = summary(Role::WallTime);
  const auto part = [&](double stats::Summary::*member) {
    return wall_time != nullptr ? Json(wall_time->*member) : Json(nullptr);
  };
  json.put("mean", part(&stats::Summary::mean));
  json.put("stddev", json_number(wall_time != nullptr ? wall_time->stddev : std::nullopt));
  json.put("median", part(&stats::Summary::median));
  json.put("user", mean(Role::UserTime));
  json.put("system", mean(Role::SystemTime));
  json.put("min", part(&stats::Summary::min));
  json.put("max", part(&stats::Summary::max));
}

void put_measurement(JsonWriter& json, const Results& results, const Places& places,
                     std::size_t run) {
  json.open('{');
  for (std::size_t i = 0; i < kNamesakes.size(); ++i) {
    const auto value = value_of(results, run, places[i]);
    if (!value) continue;
    const Namesake& name = kNamesakes[i];
    std::string text;
    text.reserve(64);
    text.append(R"({"value": )").append(json_sample(value, results.metrics[*places[i]].unit));
    if (!name.unit.empty()) text.append(", \"unit\": \"").append(name.unit).append("\"");
    json.put_text(name.theirs, text += '}');
  }
  json.put_text("exit_code", fmt::to_string(results.runs->row(run).status));
  json.close();
}

/// Returns the summaries of the metrics that every run has, as in schema 2, so that all are of the
/// same runs.
Json summary_json(const Results& results, const CommandResult& command, std::size_t runs) {
  Json all = Json::object();
  for (const Namesake& name : kNamesakes) {
    const MetricResult* row = row_of(command, find_metric(results.metrics, name.ours));
    if (row == nullptr || !row->summary || row->summary->count != runs) continue;
    // Even if there are as many counting runs as timed ones, they are other runs.
    if (results.metrics[row->metric].kind != RoundKind::Timed) continue;
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

void put_hyperfine_result(JsonWriter& json, const Results& results, std::size_t command) {
  const CommandResult& of_command = results.commands[command];
  const std::vector<std::size_t> runs = timed_runs(results, command);
  json.put("command", of_command.name);
  if (of_command.name != of_command.text) json.put("name", of_command.name);
  if (!results.reference.is_candidate(command) && results.commands.size() > 1)
    json.put("is_reference", true);
  put_statistics(json, results, of_command);
  put_list(json, "times", results, runs, Role::WallTime);
  // A list with gaps would not belong to the list of times: no list, like hyperfine if the system
  // does not report it.
  const auto peak_rss = find_metric(results.metrics, Role::PeakRss);
  const bool is_known = std::ranges::all_of(
      runs, [&](std::size_t run) { return value_of(results, run, peak_rss).has_value(); });
  if (!runs.empty() && is_known) put_list(json, "memory_usage_byte", results, runs, Role::PeakRss);
  json.list("exit_codes", runs.size(),
            [&](std::size_t i) { return fmt::to_string(results.runs->row(runs[i]).status); });
  const Places places = places_of(results);
  json.open("measurements", '[');
  for (const std::size_t run : runs) put_measurement(json, results, places, run);
  json.close();
  Json parameters;
  for (const Parameter& parameter : of_command.parameters)
    parameters[parameter.name]["value"] = parameter.value;  // of 2.0; 1.x has no "value"
  if (!parameters.is_null()) json.put("parameters", parameters);
  json.put("summary", summary_json(results, of_command, runs.size()));
}

Json hyperfine_metadata(const Circumstances& circumstances) {
  Json metadata;
  metadata["lauka_version"] = circumstances.version;
  metadata["start_time"] = rfc3339(circumstances.began);
  metadata["platform"] = {{"os", circumstances.machine.system},
                          {"architecture", circumstances.machine.architecture}};
  return metadata;
}

std::optional<JsonIn> wall_times(const JsonIn& result) {
  if (const JsonIn* times = list_in(result, "times")) return *times;
  const JsonIn* measurements = list_in(result, "measurements");
  if (measurements == nullptr) return std::nullopt;
  JsonIn times = JsonIn::array();
  for (const JsonIn& measurement : *measurements) {
    const JsonIn* wall = member(measurement, "time_wall_clock");
    const JsonIn* value = wall != nullptr ? member(*wall, "value") : nullptr;
    if (value == nullptr || text_in(*wall, "unit") != "second") return std::nullopt;
    times.push_back(*value);
  }
  return times;
}

}  // namespace lauka
