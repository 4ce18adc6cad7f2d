#include "core/numbers.h"
#include "core/text.h"
#include "report/describe.h"
#include "report/format.h"
#include "report/json_machine.h"
#include "report/json_parts.h"
#include "report/lines.h"
#include "report/warnings.h"
#include "results/json_words.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// A metric is named as in the table, numbers are in the units that "metrics" tells, and changes are
// in percent, as in the CSV.

namespace lauka::report {

namespace {

Json percent(std::optional<double> fraction) {
  return fraction ? Json(100.0 * *fraction) : Json(nullptr);
}

Json delta_of(const stats::Delta& delta) {
  const auto bound = [](const stats::Change& change, double stats::ChangeBounds::*side) {
    return change.bounds ? Json(100.0 * (*change.bounds).*side) : Json(nullptr);
  };
  const auto low = &stats::ChangeBounds::low;
  const auto high = &stats::ChangeBounds::high;
  return {{"percent", percent(delta.change)},
          {"low_percent", bound(delta, low)},
          {"high_percent", bound(delta, high)},
          {"half_width_percent", percent(delta.half_width())},
          {"basis", word_in(kBasisWords, delta.basis)},
          {"significant", delta.is_significant()},
          {"mean_percent", percent(delta.mean.change)},
          {"mean_low_percent", bound(delta.mean, low)},
          {"mean_high_percent", bound(delta.mean, high)},
          {"mean_differs", delta.mean_differs}};
}

/// `samples` are one for each kept run, null where it was not measured.
void put_metric(JsonWriter& json, const Results& results, std::size_t command,
                const MetricResult& row) {
  const Unit unit = results.metrics[row.metric].unit;
  json.open(results.metrics[row.metric].name, '{');
  json.put("unit", unit_symbol(unit));
  json.put("runs", row.runs);
  const stats::Summary* summary = row.summary ? &*row.summary : nullptr;
  const auto part = [&](double stats::Summary::*member) {
    return summary != nullptr ? Json(summary->*member) : Json(nullptr);
  };
  json.put("mean", part(&stats::Summary::mean));
  json.put("stddev", json_number(summary != nullptr ? summary->stddev : std::nullopt));
  json.put("median", part(&stats::Summary::median));
  json.put("q1", part(&stats::Summary::q1));
  json.put("q3", part(&stats::Summary::q3));
  json.put("min", part(&stats::Summary::min));
  json.put("max", part(&stats::Summary::max));
  json.put("outliers", summary != nullptr ? Json(summary->outliers) : Json(nullptr));
  json.put("severe_outliers", summary != nullptr ? Json(summary->severe) : Json(nullptr));
  json.put("doubtful", row.is_doubtful);
  json.put("at_most", json_number(row.at_most));
  json.put("delta", row.delta ? delta_of(*row.delta) : Json(nullptr));
  const std::optional<Percentile>& percentile = results.metrics[row.metric].percentile;
  if (percentile) {
    // Its samples are those of the other metric.
    json.put("percentile", {{"of", percentile->of},
                            {"percent", json_number(100.0 * percentile->share)},
                            {"value", row.quantile ? Json(row.quantile->value) : Json(nullptr)},
                            {"low", row.quantile ? Json(row.quantile->low) : Json(nullptr)},
                            {"high", row.quantile ? Json(row.quantile->high) : Json(nullptr)},
                            {"fewest_runs", row.fewest_runs}});
    json.put("samples", Json::array());
    json.close();
    return;
  }
  const auto runs = results.runs->of(command);
  json.list("samples", runs.size(), [&](std::size_t i) {
    return json_sample(results.runs->value(runs[i], row.metric), unit);
  });
  json.close();
}

/// On one line where a run told nothing of its own.
void put_fact(JsonWriter& json, std::span<const std::pair<std::string_view, std::string>> facts,
              std::span<const NamedCount> own) {
  if (own.empty()) {
    std::string line;
    for (const auto& [key, text] : facts) {
      line += line.empty() ? "{" : ", ";
      line += json_string(key) + ": " + text;
    }
    return json.put_text(line + "}");
  }
  json.open('{');
  for (const auto& [key, text] : facts) json.put_text(key, text);
  Json told;
  for (const NamedCount& one : own) told[one.event] = one.count;
  json.put("own", told);
  json.close();
}

/// Where each kept run of `command` stood in the session. Another fact about a run is a key
/// here.
void put_runs(JsonWriter& json, const Results& results, std::size_t command) {
  const auto wall_time = find_metric(results.metrics, Role::WallTime);
  json.open("runs", '[');
  for (const std::size_t index : results.runs->of(command)) {
    const RunRow run = results.runs->row(index);
    std::vector<std::pair<std::string_view, std::string>> facts = {
        {"run", fmt::to_string(index + 1)},
        {"kind", json_string(word_in(kKindWords, run.kind))},
        {"round", fmt::to_string(run.round + 1)},
        {"pass", fmt::to_string(run.pass + 1)},
        {"exit_code", fmt::to_string(run.status)},
        {"coverage", run.coverage ? json_real(*run.coverage) : "null"}};
    const bool has_time = wall_time && results.runs->value(index, *wall_time);
    if (!has_time && run.wall_seconds > 0.0 && run.kind != RoundKind::Simulated)
      facts.emplace_back(metric_name_of(Role::WallTime), json_real(run.wall_seconds));
    if (run.below_overhead) facts.emplace_back("below_overhead", "true");
    if (run.order != 0) facts.emplace_back("order", fmt::to_string(run.order));
    put_fact(json, facts, run.own);
  }
  json.close();
}

/// The runs of `command` that were run again, with all that was measured of them.
void put_redone(JsonWriter& json, const Results& results, std::size_t command) {
  if (results.redone->of(command).empty()) return;
  json.open("redone_runs", '[');
  for (const std::size_t index : results.redone->of(command)) {
    const RunRow run = results.redone->row(index);
    json.open('{');
    json.put("run", index + 1);
    json.put("round", run.round + 1);
    json.put("pass", run.pass + 1);
    json.put("exit_code", run.status);
    json.put("why", run.why);
    json.open("values", '{');
    for (std::size_t m = 0; m < results.metrics.size(); ++m) {
      if (const auto value = results.redone->value(index, m);
          value && !results.metrics[m].percentile)
        json.put_text(results.metrics[m].name, json_sample(value, results.metrics[m].unit));
    }
    json.close();
    json.close();
  }
  json.close();
}

/// The numbers of `delta` to the last digit, which percentages do not keep: no samples may be left
/// to make it of again, as runs go on after a gate has decided.
Json fractions_of(const stats::Delta& delta) {
  Json fractions = Json::array();
  for (const stats::Change* change : {static_cast<const stats::Change*>(&delta), &delta.mean}) {
    fractions.push_back(json_number(change->change));
    fractions.push_back(change->bounds ? Json(change->bounds->low) : Json(nullptr));
    fractions.push_back(change->bounds ? Json(change->bounds->high) : Json(nullptr));
  }
  return fractions;
}

Json gate_of(const Results& results, const gate::Verdict& verdict) {
  Json gate;
  gate["verdict"] = word_in(kAnswerWords, verdict.answer);
  gate["metric"] = results.metrics[verdict.metric].name;
  const Condition& condition = verdict.condition;
  gate["condition"] = condition_text(condition);
  gate["below"] = condition.below;
  gate["percent"] = condition.bound ? Json(nullptr) : Json(condition.limit_percent);
  gate["bound"] = json_number(condition.bound);
  gate["command"] = verdict.candidate;
  gate["name"] = results.commands[verdict.candidate].name;
  gate["rounds"] = verdict.rounds;
  gate["look"] = verdict.look;
  gate["delta"] = delta_of(verdict.delta);
  gate["fractions"] = fractions_of(verdict.delta);
  gate["decision_bounds"] =
      Json::array({json_number(verdict.bounds.ranks), json_number(verdict.bounds.mean)});
  gate["p_fail"] = verdict.p_fail;
  gate["p_pass"] = verdict.p_pass;
  gate["level"] = verdict.level;
  gate["decided_by"] = json_word(word_in(kDecidedByWords, verdict.decided_by));
  gate["times_as_many"] = json_number(verdict.times_as_many);
  gate["planned_rounds"] = verdict.planned_rounds;
  gate["too_small"] = verdict.too_small ? Json(*verdict.too_small) : Json(nullptr);
  return gate;
}

Json gates_of(const Results& results) {
  Json gates = Json::array();
  for (const gate::Verdict& verdict : results.verdicts) gates.push_back(gate_of(results, verdict));
  return gates;
}

Json intervals_of(const Results& results) {
  Json intervals = Json::array();
  for (const gate::GatedInterval& one : results.intervals)
    intervals.push_back({{"metric", results.metrics[one.metric].name},
                         {"tail", one.tails.tail},
                         {"tail_of_mean", one.tails.of_mean}});
  return intervals;
}

Json stop_of(const StopRule& stop) {
  const auto number = [](const std::optional<std::uint64_t>& runs) {
    return runs ? Json(*runs) : Json(nullptr);
  };
  return {{"runs", number(stop.exact_runs)},
          {"min_runs", stop.min_runs},
          {"max_runs", number(stop.max_runs)}};
}

Json timers_of(const Timers& timers) {
  return {{"clock_step_ns", timers.clock_step.count()},
          {"tick_ns", timers.tick ? Json(timers.tick->count()) : Json(nullptr)}};
}

Json comparisons_of(const Results& results) {
  Json comparisons = Json::array();
  for (const Ranking& ranking : results.rankings) {
    const stats::RelativeSpeed& speed = ranking.speed;
    comparisons.push_back({{"command", ranking.command},
                           {"metric", results.metrics[ranking.metric].name},
                           {"ratio", speed.ratio},
                           {"low", speed.bounds ? Json(speed.bounds->low) : Json(nullptr)},
                           {"high", speed.bounds ? Json(speed.bounds->high) : Json(nullptr)},
                           {"faster", speed.faster},
                           {"significant", ranking.significant}});
  }
  return comparisons;
}

Json precision_of(const std::optional<Precision>& precision) {
  if (!precision) return nullptr;
  return {{"metric", precision->metric},
          {"wanted_percent", percent(precision->wanted)},
          {"percent", percent(precision->half_width)},
          {"runs", precision->runs},
          {"end", word_in(kPrecisionEndWords, precision->end)}};
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

/// With the values that deltas were taken from, so that they can be taken again.
void put_baseline(JsonWriter& json, const Results& results) {
  if (!results.reference.baseline) {
    json.put("baseline", nullptr);
    return;
  }
  const Baseline& baseline = *results.reference.baseline;
  const Recording& there = *baseline.session;
  Json names = Json::array();
  Json executables = Json::array();
  Json calls = Json::array();
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    names.push_back(results.reference_of(c));
    executables.push_back(results.program_of_reference(c).executable);
    calls.push_back(results.program_of_reference(c).call);
  }
  json.open("baseline", '{');
  json.put("file", baseline.file);
  json.put("tool", there.by_lauka ? "lauka" : "hyperfine");
  json.put("version", there.by_lauka ? Json(there.circumstances.version) : Json(nullptr));
  json.put("machine", there.by_lauka ? json_of(there.circumstances.machine) : Json(nullptr));
  json.put("commands", names);
  json.put("executable_sha256", executables);
  json.put("call_sha256", calls);
  json.open("samples", '[');
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    json.open('{');
    for (std::size_t m = 0; m < results.metrics.size(); ++m) {
      const std::vector<double> values = results.baseline_values_of(c, m);
      if (values.empty() || results.metrics[m].percentile) continue;
      const Unit unit = results.metrics[m].unit;
      json.open(results.metrics[m].name, '{');
      json.put("unit", unit_symbol(unit));
      json.list("samples", values.size(),
                [&](std::size_t i) { return json_sample(values[i], unit); });
      json.close();
    }
    json.close();
  }
  json.close();
  json.close();
}

Json labels_of(const Circumstances& circumstances) {
  Json labels = Json::object();
  for (const Label& label : circumstances.labels) labels[label.key] = label.value;
  return labels;
}

Json vitals_of(const Vitals& vitals) {
  Json json = Json::object();
  if (vitals.throttles) json["throttles"] = *vitals.throttles;
  if (vitals.celsius) json["celsius"] = *vitals.celsius;
  if (vitals.stolen_ticks) json["stolen_ticks"] = *vitals.stolen_ticks;
  if (vitals.ticks) json["ticks"] = *vitals.ticks;
  return json;
}

Json tuning_of(const Tuning& tuning) {
  Json switched = Json::array();
  for (const TunedSwitch& one : tuning.switched)
    switched.push_back(
        {{"name", one.name}, {"before", one.before}, {"during", one.during}, {"files", one.files}});
  Json not_possible = Json::array();
  for (const UntunedSwitch& one : tuning.not_possible)
    not_possible.push_back({{"name", one.name}, {"why", one.why}});
  return {{"cpus", cpu_list_text(tuning.cpus)},
          {"switched", std::move(switched)},
          {"not_possible", std::move(not_possible)},
          {"before", vitals_of(tuning.before)},
          {"after", vitals_of(tuning.after)}};
}

/// The sessions that this one was joined of, each with so many of its commands.
Json origins_of(const Results& results) {
  Json origins = Json::array();
  for (const Origin& origin : results.origins)
    origins.push_back({{"file", origin.file},
                       {"commands", origin.commands},
                       {"order", word_in(kOrderWords, origin.order)},
                       {"version", json_word(origin.circumstances.version)},
                       {"session_id", origin.circumstances.session_id},
                       {"start_time", rfc3339(origin.circumstances.began)},
                       {"end_time", rfc3339(origin.circumstances.ended)},
                       {"labels", labels_of(origin.circumstances)},
                       {"machine", json_of(origin.circumstances.machine)}});
  return origins;
}

/// In seconds, as the times that it was subtracted from.
Json overhead_of(const Results& results, std::size_t command) {
  if (command >= results.overheads.size()) return nullptr;
  const ShellOverhead& overhead = results.overheads[command];
  const auto seconds = [](std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e9;
  };
  return {{metric_name_of(Role::WallTime), seconds(overhead.wall_ns)},
          {metric_name_of(Role::UserTime), seconds(overhead.user_ns)},
          {metric_name_of(Role::SystemTime), seconds(overhead.system_ns)}};
}

}  // namespace

void put_lauka_result(JsonWriter& json, const Results& results, std::size_t command) {
  const CommandResult& of_command = results.commands[command];
  json.put("command_line", of_command.text);
  json.put("typed", of_command.typed);
  json.put("pattern", of_command.pattern);
  if (!of_command.folder.empty()) json.put("cwd", of_command.folder);
  if (of_command.program.is_known()) {
    json.put("executable_sha256", of_command.program.executable);
    json.put("call_sha256", of_command.program.call);
  }
  if (of_command.expected) json.put("expected_output", text_of(*of_command.expected));
  if (!of_command.parameters.empty()) {
    Json parameters = Json::array();
    for (const Parameter& one : of_command.parameters)
      parameters.push_back({{"name", one.name}, {"value", one.value}});
    json.put("parameters", parameters);
  }
  json.put("shell_overhead", overhead_of(results, command));
  json.put("failed_runs", of_command.failed_runs);
  json.open("metrics", '{');
  for (const MetricResult& row : of_command.rows) put_metric(json, results, command, row);
  json.close();
  put_runs(json, results, command);
  put_redone(json, results, command);
  json.put("why", why_of(results, command));
  json.put("coverage", json_number(of_command.coverage));
  json.put("counting_slowdown", json_number(of_command.slowdown));
}

void put_lauka_session(JsonWriter& json, const Results& results) {
  put_lauka_identity(json, results, results.complete);
  put_lauka_measured(json, results);
}

void put_lauka_identity(JsonWriter& json, const Results& results, bool complete) {
  constexpr int format = 2;  // raised when a key changes its meaning or goes
  json.put("format", format);
  json.put("version", results.circumstances.version);
  json.put("session_id", results.circumstances.session_id);
  json.put("end_time", rfc3339(results.circumstances.ended));
  json.put("labels", labels_of(results.circumstances));
  json.put("complete", complete);
  json.put("machine", json_of(results.circumstances.machine));
  if (const auto& tuning = results.circumstances.tuning) json.put("tuning", tuning_of(*tuning));
  json.put("timers", timers_of(results.timers));
}

void put_lauka_measured(JsonWriter& json, const Results& results) {
  const Setting& setting = results.setting;
  if (!results.origins.empty()) json.put("sessions", origins_of(results));
  json.put("order", word_in(kOrderWords, setting.order));
  json.put("order_for_hooks", setting.order_is_for_hooks);
  json.put("seed", setting.seed);
  json.put("shell", results.shell.empty() ? Json(nullptr) : Json(shell_quoted(results.shell)));
  json.put("warmup_runs", setting.warmup);
  if (setting.until) json.put("until", *setting.until);
  if (setting.jobs > 1) json.put("jobs", setting.jobs);
  if (setting.region) json.put("region", true);
  json.put("stop", stop_of(setting.stop));
  json.put("min_share", json_number(setting.min_share));
  json.put("confidence", results.confidence);
  json.put("paired", results.paired);
  json.put("reference",
           results.reference.baseline ? Json(nullptr) : Json(results.reference.command));
  put_baseline(json, results);
  json.put("metrics", metrics_of(results));
  json.put("events", events_of(setting.events));
  json.put("passes", passes_of(setting.events));
  json.put("pass_kinds", pass_kinds_of(setting.events));
  json.put("comparisons", comparisons_of(results));
  json.put("gates", gates_of(results));
  json.put("intervals", intervals_of(results));
  json.put("precision", precision_of(results.precision));
  json.put("warnings", warnings_of(results));
  json.put("notes", results.notes);
}

}  // namespace lauka::report
