#include "format/exporters.h"

#include "core/metric.h"
#include "core/recording.h"
#include "core/runs.h"
#include "format/json.h"
#include "format/json_text.h"
#include "format/speedscope.h"
#include "report/exports.h"
#include "report/format.h"
#include "report/html.h"
#include "report/stacks.h"
#include "results/analyse.h"
#include "results/results.h"
#include "session/baseline.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// The table of all export formats is at the end. Before it are the formats in JSON for other tools,
// which are called by the table alone.

namespace lauka {

namespace {

Json make_bmf_measure(const MetricResult& row, double confidence) {
  if (row.quantile)
    return {{"value", row.quantile->value},
            {"lower_value", row.quantile->low},
            {"upper_value", row.quantile->high}};
  const auto estimate = estimate_mean(row, confidence);
  if (!estimate) return nullptr;
  Json measure = {{"value", estimate->mean}};
  if (!estimate->bounds) return measure;
  measure["lower_value"] = estimate->bounds->low;
  measure["upper_value"] = estimate->bounds->high;
  return measure;
}

/// Writes Bencher's JSON (BMF): for each command, the known means and percentiles of its metrics,
/// with their intervals if known, and the number of failed runs if it is not 0.
void write_bmf(const Report& report, const Sink& sink) {
  JsonWriter json(sink);
  json.open('{');
  for (const Results& results : report.benchmarks) {
    const std::vector<report::ExportedCommandName> names = report::exported_command_names(results);
    for (std::size_t c = 0; c < results.commands.size(); ++c) {
      json.open(names[c].text(), '{');
      for (const MetricResult& row : results.commands[c].rows)
        if (const Json measure = make_bmf_measure(row, results.session.confidence);
            !measure.is_null())
          json.put(results.session.metrics[row.metric_index].name, measure);
      if (const std::size_t failed = results.commands[c].endings.failed_runs(); failed > 0)
        json.put("failed_runs", {{"value", failed}});
      json.close();
    }
  }
  json.close();
}

Json make_github_entry(const MetricResult& row, const Metric& metric, const std::string& command,
                       const Endings& endings) {
  const bool is_wanted = metric.shown == Shown::Always && metric.better == Better::Less;
  if (!is_wanted || (!row.summary && !row.quantile)) return nullptr;
  Json entry = {{"name", command + " " + metric.name},
                {"unit", unit_symbol(metric.unit)},
                {"value", row.quantile ? row.quantile->value : row.summary->mean}};
  if (row.summary && row.summary->variance)
    entry["range"] = fmt::format("± {:.3g}", *row.summary->stddev());
  entry["extra"] = fmt::format("{} runs", row.runs) +
                   (endings.failed_run_groups.empty() ? "" : "; " + report::failures_text(endings));
  return entry;
}

/// Writes github-action-benchmark's JSON (customSmallerIsBetter). Contains only metrics that are
/// shown without --verbose and for which smaller is better.
void write_github_benchmark(const Report& report, const Sink& sink) {
  JsonWriter json(sink);
  json.open('[');
  for (const Results& results : report.benchmarks) {
    const std::vector<report::ExportedCommandName> names = report::exported_command_names(results);
    for (std::size_t c = 0; c < results.commands.size(); ++c)
      for (const MetricResult& row : results.commands[c].rows)
        if (const Json entry = make_github_entry(row, results.session.metrics[row.metric_index],
                                                 names[c].text(), results.commands[c].endings);
            !entry.is_null())
          json.put({}, entry);
  }
  json.close();
}

/// Returns the values of a run by metric.
Json make_values_object(const Recording& session, std::size_t run) {
  Json values = Json::object();
  for (std::size_t m = 0; m < session.metrics.size(); ++m) {
    const Metric& metric = session.metrics[m];
    // A single run has no percentile.
    const auto value = metric.percentile ? std::nullopt : session.runs.value(run, m);
    if (value) values[metric.name] = json_sample(*value, metric.unit);
  }
  return values;
}

/// Returns run number `index` of a benchmark as a JSON object.
Json make_run_object(const Results& results, std::size_t index) {
  const Recording& session = results.session;
  const RunRow run = session.runs.row(index);
  const Command& command = session.commands[run.command];
  Json object = Json::object();

  // Only a suite names its benchmarks, and numbers the runs of all benchmarks in their order.
  const bool is_numbered_in_suite = run.details.number_in_suite != 0;
  if (!results.benchmark.empty()) object["benchmark"] = results.benchmark;
  if (is_numbered_in_suite) object["order"] = run.details.number_in_suite;

  // Numbers in the file begin at 1.
  object["command"] = command.name;
  object["run"] = index + 1;
  object["round"] = run.round + 1;
  object["pass"] = run.pass + 1;
  object["status"] = run.status ? Json(*run.status) : Json(nullptr);
  object["outcome"] = ending_word(run.ending);
  object["metrics"] = make_values_object(session, index);
  if (count_layouts(session, run.command) > 1) object["layout"] = run.layout + 1;
  for (const Parameter& parameter : command.parameters)
    object["parameters"][parameter.name] = parameter.value;
  return object;
}

/// Writes a line with a JSON object for each run in Recording::runs.
void write_runs_jsonl(const Report& report, const Sink& sink) {
  for (const Results& results : report.benchmarks)
    for (std::size_t i = 0; i < results.session.runs.size(); ++i)
      sink(json_text(make_run_object(results, i)) + "\n");
}

struct ExporterRow {
  ExportKind kind;
  report::Exporter write;
};

constexpr auto kExporters = std::to_array<ExporterRow>({
    {ExportKind::Csv, &report::write_summary_csv},
    {ExportKind::Bmf, &write_bmf},
    {ExportKind::GithubBenchmark, &write_github_benchmark},
    {ExportKind::Markdown, &report::write_markdown},
    {ExportKind::AsciiDoc, &report::write_asciidoc},
    {ExportKind::Org, &report::write_orgmode},
    {ExportKind::Runs, &report::write_runs_csv},
    {ExportKind::Jsonl, &write_runs_jsonl},
    {ExportKind::Benchfmt, &report::write_benchfmt},
    {ExportKind::Html, &report::write_html},
    {ExportKind::Folded, &report::write_first_folded},
    {ExportKind::Speedscope, &write_speedscope},
    {ExportKind::Json, &write_json},
});

constexpr bool has_row_of_each_kind() {
  for (std::size_t i = 0; i < kExporters.size(); ++i)
    if (kExporters.at(i).kind != static_cast<ExportKind>(i)) return false;
  return kExporters.size() == kExports.size();
}
static_assert(has_row_of_each_kind(), "kExporters lacks a kind, or has another order");

}  // namespace

report::Exporter exporter_of(ExportKind kind) {
  return kExporters.at(static_cast<std::size_t>(kind)).write;
}

}  // namespace lauka
