#include "format/json.h"

#include "core/numbers.h"
#include "core/text.h"
#include "format/command_json.h"
#include "format/field_json.h"
#include "format/hyperfine.h"
#include "format/json_text.h"
#include "format/run_lists.h"
#include "format/sections.h"
#include "format/session_json.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

// JSON of hyperfine 1.x has lists of times and their statistics. Schema 2 has an object for each
// run and for each metric's statistics. Both need the wall time, so runs without a wall time are
// only under "lauka".

namespace lauka {

namespace {

using std::string_view_literals::operator""sv;

using Places = std::array<std::optional<std::size_t>, kHyperfineMetrics.size()>;

std::optional<double> read_value(const Results& results, std::size_t run,
                                 std::optional<std::size_t> metric) {
  return metric ? results.session.runs.value(run, *metric) : std::nullopt;
}

std::vector<std::size_t> timed_runs(const Results& results, std::size_t command) {
  const auto wall_time = find_metric(results.session.metrics, Role::WallTime);
  std::vector<std::size_t> runs;
  for (const std::size_t run : results.session.runs.of_command(command))
    if (read_value(results, run, wall_time)) runs.push_back(run);
  return runs;
}

void put_statistics(JsonWriter& json, const Results& results, std::size_t command) {
  const MetricResult* row = row_of(results, command, Role::WallTime);
  const stats::Summary* wall_time = row != nullptr && row->summary ? &*row->summary : nullptr;
  const auto put = [&](std::string_view key, double stats::Summary::*member) {
    json.put(key, wall_time != nullptr ? Json(wall_time->*member) : Json(nullptr));
  };
  const auto put_mean = [&](std::string_view key, Role role) {
    const MetricResult* time = row_of(results, command, role);
    json.put(key, json_number(time != nullptr ? time->mean() : std::nullopt));
  };
  put("mean", &stats::Summary::mean);
  json.put("stddev", json_number(wall_time != nullptr ? wall_time->stddev() : std::nullopt));
  put("median", &stats::Summary::median);
  put_mean("user", Role::UserTime);
  put_mean("system", Role::SystemTime);
  put("min", &stats::Summary::min);
  put("max", &stats::Summary::max);
}

void put_measurement(JsonWriter& json, const Results& results, const Places& places,
                     std::size_t run) {
  json.open('{');
  for (std::size_t i = 0; i < kHyperfineMetrics.size(); ++i) {
    const auto value = read_value(results, run, places[i]);
    if (!value) continue;
    const HyperfineMetric& name = kHyperfineMetrics[i];
    json.put_with(name.hyperfine_key, [&](std::string& to) {
      add_sample(value, results.session.metrics[*places[i]].unit, to += R"({"value": )"sv);
      if (!name.unit.empty()) to.append(R"(, "unit": ")"sv).append(name.unit) += '"';
      to += '}';
    });
  }
  json.put_with("exit_code",
                [&](std::string& to) { to += status_json(results.session.runs.row(run).status); });
  json.close();
}

/// Returns the summaries of hyperfine's metrics that have a value in each of the `runs` timed runs.
Json summary_json(const Results& results, const CommandResult& command, std::size_t runs) {
  Json all = Json::object();
  for (const HyperfineMetric& name : kHyperfineMetrics) {
    const MetricResult* row = row_of(command, find_metric(results.session.metrics, name.our_role));
    if (row == nullptr || !row->summary || row->summary->count != runs) continue;
    // Values of counting runs do not belong to the timed runs, even if there are equally many runs.
    if (results.session.metrics[row->metric].kind != RoundKind::Timed) continue;
    const stats::Summary& summary = *row->summary;
    Json& there = all[std::string(name.hyperfine_key)];
    there["unit"] = name.unit.empty() ? "count" : name.unit;
    there["count"] = summary.count;
    there["mean"] = summary.mean;
    there["stddev"] = json_number(summary.stddev());
    there["median"] = summary.median;
    there["min"] = summary.min;
    there["max"] = summary.max;
  }
  return all;
}

constexpr int kHyperfineSchema = 2;

void put_hyperfine_result(JsonWriter& json, const Results& results, std::size_t command) {
  const CommandResult& of_command = results.commands[command];
  const std::vector<std::size_t> runs = timed_runs(results, command);
  const Command& typed = results.session.commands[command];

  json.put("command", typed.name);
  if (typed.name != typed.text) json.put("name", typed.name);
  if (!results.session.reference.is_candidate(command) && results.commands.size() > 1)
    json.put("is_reference", true);

  put_statistics(json, results, command);
  const auto put_list = [&](std::string_view key, Role role) {
    const auto metric = find_metric(results.session.metrics, role);
    json.list(key, runs.size(), [&](std::size_t i, std::string& to) {
      add_sample(read_value(results, runs[i], metric), results.session.metrics[*metric].unit, to);
    });
  };
  put_list("times", Role::WallTime);

  // A list with gaps would not match the list of times.
  const auto peak_rss = find_metric(results.session.metrics, Role::PeakRss);
  const bool is_known = std::ranges::all_of(
      runs, [&](std::size_t run) { return read_value(results, run, peak_rss).has_value(); });
  if (!runs.empty() && is_known) put_list("memory_usage_byte", Role::PeakRss);

  json.list("exit_codes", runs.size(), [&](std::size_t i, std::string& to) {
    to += status_json(results.session.runs.row(runs[i]).status);
  });

  Places places;
  std::ranges::transform(kHyperfineMetrics, places.begin(), [&](const HyperfineMetric& name) {
    return find_metric(results.session.metrics, name.our_role);
  });
  json.open("measurements", '[');
  for (const std::size_t run : runs) put_measurement(json, results, places, run);
  json.close();

  Json parameters;
  for (const Parameter& parameter : typed.parameters)
    parameters[parameter.name]["value"] = parameter.value;
  if (!parameters.is_null()) json.put("parameters", parameters);
  json.put("summary", summary_json(results, of_command, runs.size()));
}

void put_results(JsonWriter& json, const Results& results) {
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    json.open('{');
    put_hyperfine_result(json, results, c);
    json.open("lauka", '{');
    put_lauka_result(json, results, c);
    json.close();
    json.close();
  }
}

void put_suite(JsonWriter& json, const Report& report) {
  json.put("gates_control", word_in(kErrorRateWords, report.job_error_rate));
  put_value(json, "geomeans", report.geomeans);
  json.open("benchmarks", '[');
  for (const Results& results : report.benchmarks) {
    json.open('{');
    json.put("name", results.benchmark);
    json.put("complete", results.session.complete);
    put_lauka_benchmark(json, results);
    json.close();
  }
  json.close();
}

std::map<std::string, ParsedJson> results_by_benchmark(ParsedJson& document) {
  std::map<std::string, ParsedJson> all;
  const auto results = document.find("results");
  if (results == document.end() || !results->is_array()) return all;
  for (ParsedJson& result : *results) {
    const ParsedJson* ours = object_in(result, "lauka");
    if (ours == nullptr) continue;
    ParsedJson& list = all[text_in(*ours, "benchmark")];
    if (list.is_null()) list = ParsedJson::array();
    list.push_back(std::move(result));
  }
  return all;
}

ParsedJson join_document(const ParsedJson& document, const ParsedJson& session,
                         const ParsedJson& benchmark, ParsedJson results) {
  ParsedJson alone = ParsedJson::object();
  if (const ParsedJson* metadata = object_in(document, "metadata")) alone["metadata"] = *metadata;
  alone["results"] = std::move(results);
  ParsedJson& ours = alone["lauka"] = session;
  if (benchmark.is_object()) ours.update(benchmark);
  return alone;
}

}  // namespace

void write_json(const Report& report, const Sink& sink) {
  const Results& first = report.benchmarks.front();
  JsonWriter json(sink);

  json.open('{');
  json.put("schema_version", kHyperfineSchema);
  const Circumstances& at = first.session.circumstances;
  json.put("metadata",
           {{"lauka_version", at.version},
            {"start_time", rfc3339(at.began)},
            {"platform", {{"os", at.machine.system}, {"architecture", at.machine.architecture}}}});
  json.put("primary_metric", "time_wall_clock");

  json.open("results", '[');
  for (const Results& results : report.benchmarks) put_results(json, results);
  json.close();

  json.open("lauka", '{');
  put_session_members(json, first, report.complete());
  if (report.is_suite())
    put_suite(json, report);
  else
    put_lauka_benchmark(json, first);
  json.close();
  json.close();
}

Result<FileSessions> read_sessions(std::string_view text) {
  return read_sessions(source_of(text));
}

Result<FileSessions> read_sessions(const TextSource& source) {
  RunLists lists;
  auto document = parse_json(source, lists);
  if (!document) return document.error();

  FileSessions file;
  const ParsedJson& ours = part_in(*document, "lauka");
  if (list_in(ours, "benchmarks") == nullptr) {
    auto session = read_session_document(*std::move(document), lists);
    if (!session) return session.error();
    file.benchmarks.push_back(*std::move(session));
    return file;
  }

  file.suite_error_rate = value_in(kErrorRateWords, text_in(ours, "gates_control"));

  // Each benchmark's document gets a copy of the session, which must not hold all benchmarks.
  ParsedJson session = std::move((*document)["lauka"]);
  ParsedJson names = std::move(session["benchmarks"]);
  session.erase("benchmarks");
  auto results = results_by_benchmark(*document);

  for (ParsedJson& benchmark : names) {
    const std::string name = text_in(benchmark, "name");
    const auto found = results.find(name);
    if (name.empty() || found == results.end())
      return Error{"has a benchmark " + cited(name) + " without results", "export it again"};

    auto read = read_session_document(
        join_document(*document, session, benchmark, std::move(found->second)), lists);
    if (!read) return read.error();

    results.erase(found);
    free_json(benchmark);
    file.benchmarks.push_back(*std::move(read));
    file.benchmarks.back().benchmark = name;
  }

  if (file.benchmarks.empty()) return Error{"has no benchmarks", "export it again"};
  return file;
}

}  // namespace lauka
