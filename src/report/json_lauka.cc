#include "core/words.h"
#include "report/format.h"
#include "report/json_machine.h"
#include "report/json_parts.h"
#include "report/warnings.h"

#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

// A metric is named as in the table, numbers are in the units that "metrics" tells, and changes are
// in percent, as in the CSV.

namespace lauka::report {

namespace {

std::string_view name_of(Order order) {
  switch (order) {
    case Order::Interleaved:
      return "interleaved";
    case Order::Sequential:
      return "sequential";
    case Order::Random:
      break;
  }
  return "random";
}

std::string_view name_of(Better better) {
  switch (better) {
    case Better::More:
      return "more";
    case Better::Neither:
      return "neither";
    case Better::Less:
      break;
  }
  return "less";
}

std::string_view name_of(gate::Answer answer) {
  switch (answer) {
    case gate::Answer::Pass:
      return "pass";
    case gate::Answer::Fail:
      return "fail";
    case gate::Answer::Inconclusive:
      break;
  }
  return "inconclusive";
}

Json name_of(gate::DecidedBy part) {
  switch (part) {
    case gate::DecidedBy::Ranks:
      return "ranks";
    case gate::DecidedBy::Mean:
      return "mean";
    case gate::DecidedBy::Both:
      return "both";
    case gate::DecidedBy::Nothing:
      break;
  }
  return nullptr;
}

std::string_view name_of(PrecisionEnd end) {
  switch (end) {
    case PrecisionEnd::MaxRuns:
      return "max_runs";
    case PrecisionEnd::Duration:
      return "duration";
    case PrecisionEnd::ReferenceGone:
      return "reference_gone";
    case PrecisionEnd::Gates:
      return "gates";
    case PrecisionEnd::Unfinished:
      return "cut_short";
    case PrecisionEnd::Reached:
      break;
  }
  return "reached";
}

Json percent(std::optional<double> fraction) {
  return fraction ? Json(100.0 * *fraction) : Json(nullptr);
}

Json delta_of(const stats::Delta& delta) {
  const bool bounded = delta.change && delta.half_width;
  const auto bound = [&](double side) {
    return bounded ? Json(100.0 * (*delta.change + side * *delta.half_width)) : Json(nullptr);
  };
  return {{"percent", percent(delta.change)},
          {"low_percent", bound(-1.0)},
          {"high_percent", bound(1.0)},
          {"significant", delta.significant}};
}

/// One for each counted run of `command`, null where it was not measured.
Json samples_of(const Results& results, std::size_t command, std::size_t metric) {
  Json samples = Json::array();
  for (const RunRow& run : results.runs) {
    if (run.command != command) continue;
    const auto& value = run.values[metric];
    samples.push_back(value ? json_value(*value, results.metrics[metric].unit) : Json(nullptr));
  }
  return samples;
}

Json metric_of(const Results& results, std::size_t command, const MetricResult& row) {
  Json metric;
  metric["unit"] = unit_symbol(results.metrics[row.metric].unit);
  metric["runs"] = row.runs;
  const stats::Summary* summary = row.summary ? &*row.summary : nullptr;
  const auto part = [&](double stats::Summary::*member) {
    return summary != nullptr ? Json(summary->*member) : Json(nullptr);
  };
  metric["mean"] = part(&stats::Summary::mean);
  metric["stddev"] = json_number(summary != nullptr ? summary->stddev : std::nullopt);
  metric["median"] = part(&stats::Summary::median);
  metric["q1"] = part(&stats::Summary::q1);
  metric["q3"] = part(&stats::Summary::q3);
  metric["min"] = part(&stats::Summary::min);
  metric["max"] = part(&stats::Summary::max);
  metric["outliers"] = summary != nullptr ? Json(summary->outliers) : Json(nullptr);
  metric["severe_outliers"] = summary != nullptr ? Json(summary->severe) : Json(nullptr);
  metric["doubtful"] = row.is_doubtful;
  metric["at_most"] = json_number(row.at_most);
  metric["delta"] = row.delta ? delta_of(*row.delta) : Json(nullptr);
  metric["samples"] = samples_of(results, command, row.metric);
  return metric;
}

/// Where each counted run of `command` stood in the session. Another fact about a run is a key
/// here.
Json runs_of(const Results& results, std::size_t command) {
  Json runs = Json::array();
  for (std::size_t i = 0; i < results.runs.size(); ++i) {
    const RunRow& run = results.runs[i];
    if (run.command != command) continue;
    runs.push_back({{"run", i + 1},
                    {"round", run.round + 1},
                    {"pass", run.pass + 1},
                    {"exit_code", run.status},
                    {"coverage", json_number(run.coverage)}});
    if (run.simulated) runs.back()["simulated"] = true;
    for (const NamedCount& own : run.own) runs.back()["own"][own.event] = own.count;
  }
  return runs;
}

/// The runs of `command` that were run again, with all that was measured of them.
Json redone_of(const Results& results, std::size_t command) {
  Json runs = Json::array();
  for (const auto& [run, why] : results.redone) {
    if (run.command != command) continue;
    Json values = Json::object();
    for (std::size_t m = 0; m < results.metrics.size(); ++m) {
      if (run.values[m])
        values[results.metrics[m].name] = json_value(*run.values[m], results.metrics[m].unit);
    }
    runs.push_back({{"round", run.round + 1},
                    {"pass", run.pass + 1},
                    {"exit_code", run.status},
                    {"why", why},
                    {"values", std::move(values)}});
  }
  return runs;
}

Json gate_of(const Results& results, const gate::Verdict& verdict) {
  Json gate;
  gate["verdict"] = name_of(verdict.answer);
  gate["metric"] = verdict.condition.metric;
  gate["percent"] = verdict.condition.limit_percent;
  gate["command"] = verdict.candidate;
  gate["name"] = results.commands[verdict.candidate].name;
  gate["rounds"] = verdict.rounds;
  gate["look"] = verdict.look;
  gate["delta"] = delta_of(verdict.delta);
  gate["p_slower"] = verdict.p_slower;
  gate["p_not_slower"] = verdict.p_not_slower;
  gate["level"] = verdict.level;
  gate["decided_by"] = name_of(verdict.decided_by);
  const gate::Typical* typical = verdict.typical ? &*verdict.typical : nullptr;
  const auto part = [&](double gate::Typical::*member) {
    return typical != nullptr ? Json(100.0 * typical->*member) : Json(nullptr);
  };
  gate["typical_percent"] = part(&gate::Typical::change);
  gate["typical_low"] = part(&gate::Typical::low);
  gate["typical_high"] = part(&gate::Typical::high);
  gate["times_as_many"] = json_number(verdict.times_as_many);
  return gate;
}

Json gates_of(const Results& results) {
  Json gates = Json::array();
  for (const gate::Verdict& verdict : results.verdicts) gates.push_back(gate_of(results, verdict));
  return gates;
}

Json metrics_of(const Results& results) {
  Json metrics = Json::array();
  for (const Metric& metric : results.metrics) {
    metrics.push_back({{"name", metric.name},
                       {"unit", unit_symbol(metric.unit)},
                       {"better", name_of(metric.better)},
                       {"note", metric.note}});
  }
  return metrics;
}

Json events_of(const EventSet& events) {
  Json list = Json::array();
  for (const Event& event : events.events) {
    list.push_back({{"name", event.name}, {"meaning", event.meaning}});
  }
  return list;
}

Json passes_of(const EventSet& events) {
  Json passes = Json::array();
  for (const Pass& pass : events.passes) {
    Json names = Json::array();
    for (const std::size_t event : pass.events) names.push_back(events.events[event].name);
    passes.push_back(std::move(names));
  }
  return passes;
}

Json comparisons_of(const Results& results) {
  Json comparisons = Json::array();
  for (const Ranking& ranking : results.rankings) {
    comparisons.push_back({{"command", ranking.command},
                           {"ratio", ranking.ratio},
                           {"half_width", json_number(ranking.half_width)},
                           {"faster", ranking.faster},
                           {"significant", ranking.significant}});
  }
  return comparisons;
}

Json precision_of(const std::optional<Precision>& precision) {
  if (!precision) return nullptr;
  return {{"wanted_percent", percent(precision->wanted)},
          {"percent", percent(precision->half_width)},
          {"runs", precision->runs},
          {"end", name_of(precision->end)}};
}

Json warnings_of(const Results& results) {
  Json warnings = Json::array();
  for (const WordedWarning& warning : worded_warnings(results)) {
    warnings.push_back({{"kind", warning.kind},
                        {"command", warning.command ? Json(*warning.command) : Json(nullptr)},
                        {"text", warning.text},
                        {"advice", warning.advice}});
  }
  return warnings;
}

Json baseline_of(const std::optional<BaselineReference>& baseline) {
  if (!baseline) return nullptr;
  Json json;
  json["file"] = baseline->file;
  json["tool"] = baseline->by_lauka ? "lauka" : "hyperfine";
  json["version"] = baseline->by_lauka ? Json(baseline->version) : Json(nullptr);
  json["machine"] = baseline->by_lauka ? json_of(baseline->machine) : Json(nullptr);
  json["commands"] = baseline->names;
  return json;
}

/// In seconds, as the times that it was subtracted from.
Json overhead_of(const Results& results, std::size_t command) {
  if (command >= results.overheads.size()) return nullptr;
  const ShellOverhead& overhead = results.overheads[command];
  const auto seconds = [](std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e9;
  };
  return {{"wall_time", seconds(overhead.wall_ns)},
          {"user_time", seconds(overhead.user_ns)},
          {"system_time", seconds(overhead.system_ns)}};
}

}  // namespace

Json lauka_result(const Results& results, std::size_t command) {
  const CommandResult& of_command = results.commands[command];
  Json result;
  result["command_line"] = of_command.text;
  result["shell_overhead"] = overhead_of(results, command);
  result["failed_runs"] = of_command.failed_runs;
  Json metrics = Json::object();
  for (const MetricResult& row : of_command.rows) {
    metrics[results.metrics[row.metric].name] = metric_of(results, command, row);
  }
  result["metrics"] = std::move(metrics);
  result["runs"] = runs_of(results, command);
  if (Json redone = redone_of(results, command); !redone.empty())
    result["redone_runs"] = std::move(redone);
  result["coverage"] = json_number(of_command.coverage);
  return result;
}

Json lauka_session(const Results& results) {
  constexpr int format = 1;  // raised when a key changes its meaning or goes
  Json session;
  session["format"] = format;
  session["version"] = results.circumstances.version;
  session["complete"] = results.complete;
  session["machine"] = json_of(results.circumstances.machine);
  session["order"] = name_of(results.setting.order);
  session["seed"] = results.setting.seed;
  session["shell"] = results.shell.empty() ? Json(nullptr) : Json(quoted(results.shell));
  session["warmup_runs"] = results.setting.warmup;
  session["confidence"] = results.confidence;
  session["paired"] = results.paired;
  session["baseline"] = baseline_of(results.baseline);
  session["metrics"] = metrics_of(results);
  session["events"] = events_of(results.setting.events);
  session["passes"] = passes_of(results.setting.events);
  session["comparisons"] = comparisons_of(results);
  session["gates"] = gates_of(results);
  session["precision"] = precision_of(results.precision);
  session["warnings"] = warnings_of(results);
  session["notes"] = results.notes;
  return session;
}

}  // namespace lauka::report
