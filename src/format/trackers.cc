#include "format/exports.h"
#include "format/text.h"
#include "report/format.h"
#include "stats/distributions.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// JSON for programs that keep results from commit to commit, and runs as lines of JSON.

namespace lauka {

namespace {

/// The value of a row, null if it has none, with its interval if that is known.
Json bmf_measure(const MetricResult& row, double confidence) {
  if (row.quantile)
    return {{"value", row.quantile->value},
            {"lower_value", row.quantile->low},
            {"upper_value", row.quantile->high}};
  if (!row.summary) return nullptr;
  const stats::Summary& summary = *row.summary;
  Json measure = {{"value", summary.mean}};
  if (!summary.stddev) return measure;
  const auto count = static_cast<double>(summary.count);
  const double reach = stats::student_t_quantile_above((1.0 - confidence) / 2.0, count - 1.0) *
                       *summary.stddev / std::sqrt(count);
  measure["lower_value"] = summary.mean - reach;
  measure["upper_value"] = summary.mean + reach;
  return measure;
}

/// Null if the metric is not for github-action-benchmark, or has no value.
Json github_entry(const MetricResult& row, const Metric& metric, const std::string& command) {
  const bool is_wanted = metric.shown == Shown::Always && metric.better == Better::Less;
  if (!is_wanted || (!row.summary && !row.quantile)) return nullptr;
  Json entry = {{"name", command + " " + metric.name},
                {"unit", unit_symbol(metric.unit)},
                {"value", row.quantile ? row.quantile->value : row.summary->mean}};
  if (row.summary && row.summary->stddev)
    entry["range"] = fmt::format("± {:.3g}", *row.summary->stddev);
  entry["extra"] = fmt::format("{} runs", row.runs);
  return entry;
}

void write_lines(const Results& results, const Sink& sink) {
  for (std::size_t i = 0; i < results.runs->size(); ++i) {
    const RunRow run = results.runs->row(i);
    Json line = Json::object();
    if (!results.benchmark.empty()) line["benchmark"] = results.benchmark;
    if (run.order != 0) line["order"] = run.order;
    line.update({{"command", results.commands[run.command].name},
                 {"run", i + 1},
                 {"round", run.round + 1},
                 {"pass", run.pass + 1},
                 {"status", run.status},
                 {"metrics", Json::object()}});
    for (std::size_t m = 0; m < results.metrics.size(); ++m) {
      const Metric& metric = results.metrics[m];
      const auto value = metric.percentile ? std::nullopt : results.runs->value(i, m);
      if (value) line["metrics"][metric.name] = Json::parse(json_sample(value, metric.unit));
    }
    sink(dumped(line) + "\n");
  }
}

}  // namespace

void write_bmf(const Report& report, const Sink& sink) {
  JsonWriter json(sink);
  json.open('{');
  for (const Results& one : report.benchmarks) {
    const std::vector<report::ToolName> names = report::tool_names(one);
    for (std::size_t c = 0; c < one.commands.size(); ++c) {
      json.open(names[c].text(), '{');
      for (const MetricResult& row : one.commands[c].rows)
        if (const Json measure = bmf_measure(row, one.confidence); !measure.is_null())
          json.put(one.metrics[row.metric].name, measure);
      json.close();
    }
  }
  json.close();
}

void write_github_benchmark(const Report& report, const Sink& sink) {
  JsonWriter json(sink);
  json.open('[');
  for (const Results& one : report.benchmarks) {
    const std::vector<report::ToolName> names = report::tool_names(one);
    for (std::size_t c = 0; c < one.commands.size(); ++c)
      for (const MetricResult& row : one.commands[c].rows)
        if (const Json entry = github_entry(row, one.metrics[row.metric], names[c].text());
            !entry.is_null())
          json.put({}, entry);
  }
  json.close();
}

void write_runs_jsonl(const Report& report, const Sink& sink) {
  for (const Results& one : report.benchmarks) write_lines(one, sink);
}

}  // namespace lauka
