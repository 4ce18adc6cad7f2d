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

/// The index of each of kHyperfineMetrics among the session's metrics; nullopt if it was not
/// measured.
using MetricIndices = std::array<std::optional<std::size_t>, kHyperfineMetrics.size()>;

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
  const MetricResult* row = metric_result_of(results, command, Role::WallTime);
  const stats::Summary* wall_time = row != nullptr && row->summary ? &*row->summary : nullptr;
  const auto put = [&](std::string_view key, double stats::Summary::*member) {
    json.put(key, wall_time != nullptr ? Json(wall_time->*member) : Json(nullptr));
  };
  const auto put_mean = [&](std::string_view key, Role role) {
    const MetricResult* time = metric_result_of(results, command, role);
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

void put_measurement(JsonWriter& json, const Results& results, const MetricIndices& metric_indices,
                     std::size_t run) {
  json.open('{');
  for (std::size_t i = 0; i < kHyperfineMetrics.size(); ++i) {
    const auto value = read_value(results, run, metric_indices[i]);
    if (!value) continue;
    const HyperfineMetric& name = kHyperfineMetrics[i];
    json.put_with(name.hyperfine_key, [&](std::string& to) {
      add_sample(value, results.session.metrics[*metric_indices[i]].unit, to += R"({"value": )"sv);
      if (!name.unit.empty()) to.append(R"(, "unit": ")"sv).append(name.unit) += '"';
      to += '}';
    });
  }
  json.put_with("exit_code",
                [&](std::string& to) { to += status_json(results.session.runs.row(run).status); });
  json.close();
}

/// Returns the summary of a command's metric; a null pointer if not each of its `timed_run_count`
/// timed runs has a value.
const stats::Summary* find_summary_of_timed_runs(const Results& results,
                                                 const CommandResult& command, Role role,
                                                 std::size_t timed_run_count) {
  const MetricResult* row = metric_result_of(command, find_metric(results.session.metrics, role));
  if (row == nullptr || !row->summary || row->summary->count != timed_run_count) return nullptr;

  // There may be as many counting runs as timed runs, so the number of values does not suffice.
  const bool is_of_timed_runs = results.session.metrics[row->metric_index].kind == RoundKind::Timed;
  return is_of_timed_runs ? &*row->summary : nullptr;
}

/// Returns the summaries of those of hyperfine's metrics that have a value in each timed run.
Json summaries_json(const Results& results, const CommandResult& command,
                    std::size_t timed_run_count) {
  Json summaries = Json::object();
  for (const HyperfineMetric& metric : kHyperfineMetrics) {
    const stats::Summary* summary =
        find_summary_of_timed_runs(results, command, metric.our_role, timed_run_count);
    if (summary == nullptr) continue;

    Json& json = summaries[std::string(metric.hyperfine_key)];
    json["unit"] = metric.unit.empty() ? "count" : metric.unit;
    json["count"] = summary->count;
    json["mean"] = summary->mean;
    json["stddev"] = json_number(summary->stddev());
    json["median"] = summary->median;
    json["min"] = summary->min;
    json["max"] = summary->max;
  }
  return summaries;
}

constexpr int kHyperfineSchema = 2;

void put_name_and_role(JsonWriter& json, const Results& results, std::size_t command) {
  const Recording& session = results.session;
  const Command& measured = session.commands[command];

  // hyperfine has the name under "command" if the user gave one, and so has lauka.
  json.put("command", measured.name);
  const bool has_name_of_its_own = measured.name != measured.text;
  if (has_name_of_its_own) json.put("name", measured.name);
  const bool is_compared = results.commands.size() > 1;
  if (is_compared && !session.reference.is_candidate(command)) json.put("is_reference", true);
}

/// Writes the lists of hyperfine 1.x, which have an item for each of `runs`. These are the indices
/// of the runs that have a wall time.
void put_lists_of_runs(JsonWriter& json, const Results& results,
                       const std::vector<std::size_t>& runs) {
  const Recording& session = results.session;

  // `metric` may be missing only if there are no runs. The list is empty then.
  const auto put_values_of_runs = [&](std::string_view key, std::optional<std::size_t> metric) {
    json.list(key, runs.size(), [&](std::size_t i, std::string& to) {
      add_sample(read_value(results, runs[i], metric), session.metrics[*metric].unit, to);
    });
  };
  put_values_of_runs("times", find_metric(session.metrics, Role::WallTime));

  // The peaks of memory are written only if each run has one, so that they match the times.
  const auto peak_rss = find_metric(session.metrics, Role::PeakRss);
  const bool is_peak_of_all_runs_known = std::ranges::all_of(
      runs, [&](std::size_t run) { return read_value(results, run, peak_rss).has_value(); });
  if (!runs.empty() && is_peak_of_all_runs_known) put_values_of_runs("memory_usage_byte", peak_rss);

  json.list("exit_codes", runs.size(), [&](std::size_t i, std::string& to) {
    to += status_json(session.runs.row(runs[i]).status);
  });
}

/// Writes the list of schema 2, which has an object for each of `runs`.
void put_measurements(JsonWriter& json, const Results& results,
                      const std::vector<std::size_t>& runs) {
  MetricIndices metric_indices;
  std::ranges::transform(kHyperfineMetrics, metric_indices.begin(),
                         [&](const HyperfineMetric& metric) {
                           return find_metric(results.session.metrics, metric.our_role);
                         });
  json.open("measurements", '[');
  for (const std::size_t run : runs) put_measurement(json, results, metric_indices, run);
  json.close();
}

/// Writes the members of a command's result that readers of hyperfine's JSON know: first those of
/// hyperfine 1.x, then those of schema 2. Each has only runs with a wall time.
void put_hyperfine_result(JsonWriter& json, const Results& results, std::size_t command) {
  const std::vector<std::size_t> runs = timed_runs(results, command);
  put_name_and_role(json, results, command);
  put_statistics(json, results, command);
  put_lists_of_runs(json, results, runs);
  put_measurements(json, results, runs);

  Json parameters;
  for (const Parameter& parameter : results.session.commands[command].parameters)
    parameters[parameter.name]["value"] = parameter.value;
  if (!parameters.is_null()) json.put("parameters", parameters);
  json.put("summary", summaries_json(results, results.commands[command], runs.size()));
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

/// Moves the results out of the document, into a list for each benchmark.
std::map<std::string, ParsedJson> take_results_by_benchmark(ParsedJson& document) {
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

/// Returns the document that a session of this benchmark alone would have. Takes its results out of
/// `results_by_name`.
Result<ParsedJson> take_document_of_benchmark(const ParsedJson& document, const ParsedJson& session,
                                              const ParsedJson& benchmark,
                                              std::map<std::string, ParsedJson>& results_by_name) {
  const std::string name = text_in(benchmark, "name");
  const auto results = results_by_name.find(name);
  if (name.empty() || results == results_by_name.end())
    return Error{"has a benchmark " + cited(name) + " without results", "export it again"};

  ParsedJson alone = ParsedJson::object();
  if (const ParsedJson* metadata = object_in(document, "metadata")) alone["metadata"] = *metadata;
  alone["results"] = std::move(results->second);
  results_by_name.erase(results);
  ParsedJson& ours = alone["lauka"] = session;
  if (benchmark.is_object()) ours.update(benchmark);
  return alone;
}

/// Reads the file of a suite: makes a document of each benchmark, and reads it like the file of a
/// single session.
Result<FileSessions> read_suite(ParsedJson document, RunLists& run_lists) {
  FileSessions file;
  file.suite_error_rate =
      value_in(kErrorRateWords, text_in(part_in(document, "lauka"), "gates_control"));

  // The document of each benchmark gets a copy of `session_json`. So the list of all benchmarks is
  // taken out first.
  ParsedJson session_json = std::move(document["lauka"]);
  ParsedJson benchmarks_json = std::move(session_json["benchmarks"]);
  session_json.erase("benchmarks");
  auto results_by_name = take_results_by_benchmark(document);

  for (ParsedJson& benchmark_json : benchmarks_json) {
    auto benchmark_document =
        take_document_of_benchmark(document, session_json, benchmark_json, results_by_name);
    if (!benchmark_document) return benchmark_document.error();
    auto session = read_session_document(*std::move(benchmark_document), run_lists);
    if (!session) return session.error();
    session->benchmark = text_in(benchmark_json, "name");
    file.benchmarks.push_back(*std::move(session));

    // A benchmark may be large, so its JSON is freed before the next is read.
    free_json(benchmark_json);
  }

  if (file.benchmarks.empty()) return Error{"has no benchmarks", "export it again"};
  return file;
}

/// Writes what readers of hyperfine's JSON do not know about the session.
void put_lauka_session(JsonWriter& json, const Report& report) {
  const Results& first_benchmark = report.benchmarks.front();
  json.open("lauka", '{');
  put_session_members(json, first_benchmark, report.complete());

  // A suite lists its benchmarks. The members of a single benchmark follow those of the session.
  if (report.is_suite())
    put_suite(json, report);
  else
    put_lauka_benchmark(json, first_benchmark);
  json.close();
}

}  // namespace

// The file is one that readers of hyperfine's JSON understand. What they do not know is under
// "lauka", in each command's result and at the end.
void write_json(const Report& report, const Sink& sink) {
  // All benchmarks of a suite were measured in one session, so they have the same circumstances.
  const Circumstances& circumstances = report.benchmarks.front().session.circumstances;
  const Machine& machine = circumstances.machine;
  JsonWriter json(sink);

  json.open('{');
  json.put("schema_version", kHyperfineSchema);
  json.put("metadata",
           {{"lauka_version", circumstances.version},
            {"start_time", rfc3339(circumstances.began)},
            {"platform", {{"os", machine.system}, {"architecture", machine.architecture}}}});
  json.put("primary_metric", "time_wall_clock");

  json.open("results", '[');
  for (const Results& results : report.benchmarks) put_results(json, results);
  json.close();

  put_lauka_session(json, report);
  json.close();
}

Result<FileSessions> read_sessions(std::string_view text) {
  return read_sessions(source_of(text));
}

Result<FileSessions> read_sessions(const TextSource& source) {
  // The long lists of the file go to `run_lists`, which needs less memory than their JSON would.
  RunLists run_lists;
  auto document = parse_json(source, run_lists);
  if (!document) return document.error();

  const bool is_suite = list_in(part_in(*document, "lauka"), "benchmarks") != nullptr;
  if (is_suite) return read_suite(*std::move(document), run_lists);

  auto session = read_session_document(*std::move(document), run_lists);
  if (!session) return session.error();
  FileSessions file;
  file.benchmarks.push_back(*std::move(session));
  return file;
}

}  // namespace lauka
