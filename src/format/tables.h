#pragma once

#include "core/choices.h"
#include "core/command.h"
#include "core/condition.h"
#include "core/decision.h"
#include "core/event.h"
#include "core/fields.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/numbers.h"
#include "core/record.h"
#include "core/recording.h"
#include "core/session_setting.h"
#include "core/settings.h"
#include "core/text.h"
#include "gate/verdict.h"
#include "report/warning_lines.h"
#include "results/analyse.h"
#include "results/function_changes.h"
#include "results/results.h"
#include "results/statistics.h"
#include "stats/delta.h"
#include "stats/layouts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// The fields (core/fields.h) of each struct that lauka's JSON stores, but for the runs and their
// values, which are written one by one. Tests compare the fields with docs/schema.json.

namespace lauka {

inline std::optional<double> in_percent(std::optional<double> fraction) {
  return fraction ? std::optional(100.0 * *fraction) : std::nullopt;
}

/// Returns a percentage as a fraction. If possible, 100 times the fraction is exactly the
/// percentage.
double fraction_of_percent(double percent);

inline std::optional<double> low_of(const std::optional<stats::IntervalEnds>& bounds) {
  return bounds ? std::optional(bounds->low) : std::nullopt;
}
inline std::optional<double> high_of(const std::optional<stats::IntervalEnds>& bounds) {
  return bounds ? std::optional(bounds->high) : std::nullopt;
}

/// Names a field whose value is an index, and is stored as a number from 1.
template <typename Visitor, typename Index>
void describe_number(Visitor& visit, std::string_view key, Index& index) {
  visit.as(
      key, [&] { return index + 1; }, [&](Index number) { index = number - 1; });
}

/// Names a field whose text is stored as null if it is empty.
template <typename Visitor>
void describe_text_or_null(Visitor& visit, std::string_view key, std::string& text) {
  visit.as(
      key, [&] { return text.empty() ? std::nullopt : std::optional(text); },
      [&](std::optional<std::string> stored) { text = std::move(stored).value_or(""); });
}

/// Names the number of layouts, which is stored if there are several.
template <typename Visitor>
void describe_layouts(Visitor& visit, std::uint32_t& layouts) {
  visit.as_if_set(
      "layouts", [&] { return layouts > 1 ? std::optional(layouts) : std::nullopt; },
      [&](std::optional<std::uint32_t> stored) {
        constexpr auto most = static_cast<std::uint32_t>(kMaxLayouts);
        if (stored) layouts = std::clamp(*stored, 1U, most);
      });
}

/// Names a list of CPU numbers, which is stored as text: "0-3,8".
template <typename Visitor>
void describe_cpus(Visitor& visit, std::vector<std::uint32_t>& cpus) {
  visit.as(
      "cpus", [&] { return cpu_list_text(cpus); },
      [&](const std::string& text) {
        if (auto read = parse_cpu_list(text)) cpus = *std::move(read);
      });
}

// The machine, and how the session was run on it.

template <typename Visitor>
void describe_fields(Visitor& visit, Allowance& of) {
  describe_cpus(visit, of.cpus);
  visit("cpu_quota", of.cpu_quota);
  visit("memory_limit", of.memory_limit);
}

template <typename Visitor>
void describe_fields(Visitor& visit, Machine& of) {
  visit("name", of.name);
  visit("system", of.system);
  visit("os", of.os);
  visit("kernel", of.kernel);
  visit("architecture", of.architecture);
  visit("cpu_model", of.cpu_model);
  visit("cpus", of.cpus);
  visit("governor", of.governor);
  visit("hypervisor", of.hypervisor);
  visit.written("class", [&] { return class_of(of); });
  visit.if_set("cpu_identity", of.cpu_identity);
  visit.if_set("cpu_features", of.cpu_features);
  visit.if_set("microcode", of.microcode);
  visit.if_set("tuning", of.tuning);
  visit.if_set("allowance", of.allowance);
}

template <typename Visitor>
void describe_fields(Visitor& visit, QuotaWait& of) {
  visit("periods", of.periods);
  visit("throttled", of.throttled);
  visit("waited_ns", of.waited_ns);
}

template <typename Visitor>
void describe_fields(Visitor& visit, Priority& of) {
  visit("nice", of.nice);
  describe_text_or_null(visit, "scheduling_policy", of.scheduling_policy);
}

template <typename Visitor>
void describe_fields(Visitor& visit, Vitals& of) {
  visit.if_set("throttles", of.throttles);
  visit.if_set("celsius", of.celsius);
  visit.if_set("stolen_ticks", of.stolen_ticks);
  visit.if_set("ticks", of.ticks);
}

template <typename Visitor>
void describe_fields(Visitor& visit, TunedSwitch& of) {
  visit("name", of.name);
  visit("before", of.before);
  visit("during", of.during);
  visit("files", of.files);
}

template <typename Visitor>
void describe_fields(Visitor& visit, UntunedSwitch& of) {
  visit("name", of.name);
  visit("why", of.why);
}

template <typename Visitor>
void describe_fields(Visitor& visit, TunedChange& of) {
  visit("change", of.change);
  visit("low", of.low);
  visit("high", of.high);
}

template <typename Visitor>
void describe_fields(Visitor& visit, TunedComparison& of) {
  visit("command", of.command);
  visit("tuned_runs", of.tuned_runs);
  visit("untuned_runs", of.untuned_runs);
  visit("stddev", of.stddev);
  visit("interval_width", of.interval_width);
  visit("mean", of.mean);
  visit.if_set("benchmark", of.benchmark);
}

template <typename Visitor>
void describe_fields(Visitor& visit, Tuning& of) {
  describe_cpus(visit, of.cpus);
  visit("switched", of.switched);
  visit("not_possible", of.not_possible);
  visit("before", of.before);
  visit("after", of.after);
  visit.if_set("compare", of.compare);
}

template <typename Visitor>
void describe_fields(Visitor& visit, TimerResolutions& of) {
  visit("clock_step_ns", of.clock_step);
  visit("tick_ns", of.kernel_tick);
}

/// What "lauka" has once, also for a suite.
struct StoredSession {
  int format = 0;
  Circumstances circumstances{};
  bool complete = true;
  TimerResolutions timers{};
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredSession& of) {
  Circumstances& at = of.circumstances;
  visit("format", of.format);
  visit("version", at.version);
  visit("session_id", at.session_id);
  visit("end_time", at.ended);
  visit("labels", at.labels);
  visit("complete", of.complete);
  visit("machine", at.machine);
  visit.if_set("tuning", at.tuning);
  visit.if_set("throttling", at.throttling);
  visit.if_set("priority", at.priority);
  visit("timers", of.timers);
}

template <typename Visitor>
void describe_fields(Visitor& visit, OriginSession& of) {
  Circumstances& at = of.circumstances;
  visit("file", of.file);
  visit("commands", of.command_count);
  visit("order", of.order);
  describe_text_or_null(visit, "version", at.version);
  visit("session_id", at.session_id);
  visit("start_time", at.began);
  visit("end_time", at.ended);
  visit("labels", at.labels);
  visit("machine", at.machine);
  describe_layouts(visit, of.layouts);
  visit.if_set("throttling", at.throttling);
  visit.if_set("priority", at.priority);
  visit.if_set("metric_settings", of.metric_settings);
}

// What a session did. A suite has this for each benchmark.

template <typename Visitor>
void describe_fields(Visitor& visit, StopRule& of) {
  visit("runs", of.exact_runs);
  visit("min_runs", of.min_runs);
  visit("max_runs", of.max_runs);
}

template <typename Visitor>
void describe_fields(Visitor& visit, SeriesPlace& of) {
  visit("file", of.file);
  visit("number", of.number);
  visit("level", of.level);
  visit("decision", of.decision);
  visit("other_reference", of.has_other_reference);
  visit("kept", of.kept);
}

/// What a session's JSON has before its baseline.
struct StoredPlan {
  std::vector<OriginSession> sessions{};
  Setting setting{.warmup_runs = 0};
  std::vector<std::string> shell{};
  double confidence = 0.0;
  bool paired = true;
  std::optional<std::size_t> reference{};
  std::optional<SeriesPlace> series{};
};

/// The words of the shell's command line are stored as one quoted text; null without a shell.
template <typename Visitor>
void describe_shell(Visitor& visit, std::vector<std::string>& shell) {
  visit.as(
      "shell", [&] { return shell.empty() ? std::nullopt : std::optional(shell_quoted(shell)); },
      [&](const std::optional<std::string>& text) {
        if (auto words = split_words(text.value_or(""))) shell = *std::move(words);
      });
}

template <typename Visitor>
void describe_fields(Visitor& visit, StoredPlan& of) {
  // core/fields.h explains the calls of `visit`, which writes, reads or checks the fields.
  constexpr std::uint32_t default_jobs = 1;
  Setting& setting = of.setting;
  visit.if_set("sessions", of.sessions);
  visit("order", setting.order);
  visit("order_for_hooks", setting.order_for_hooks);
  visit("seed", setting.seed);
  describe_shell(visit, of.shell);

  visit("warmup_runs", setting.warmup_runs);
  visit.if_set("until", setting.until);
  visit.if_set("jobs", setting.jobs, default_jobs);
  describe_layouts(visit, setting.layouts);
  visit.if_set("region", setting.measures_region);
  visit("stop", setting.stop);
  visit("min_share", setting.min_share);

  visit("confidence", of.confidence);
  visit("paired", of.paired);
  visit("reference", of.reference);
  visit.if_set("series", of.series);
}

template <typename Visitor>
void describe_fields(Visitor& visit, SampledClock& of) {
  visit("clock", of.clock);
  visit("period_ns", of.period);
}

/// A metric of a baseline: only how it was measured is stored.
struct BaselineMetric {
  Metric metric{};
};

template <typename Visitor>
void describe_fields(Visitor& visit, BaselineMetric& of) {
  Metric& metric = of.metric;
  visit("name", metric.name);
  visit("kind", metric.kind);
  visit("levels", metric.counted_privilege_levels);
  visit("region", metric.of_region);
  visit.if_set("engine", metric.method.engine);
  visit.if_set("sampled", metric.method.sampled);
}

/// A baseline without its samples and functions. The lists are parallel, but for `metrics`.
struct StoredBaseline {
  std::string file{};
  std::string tool{};
  std::uint32_t layouts = 1;
  std::optional<std::string> version{};
  std::optional<Machine> machine{};
  std::optional<Priority> priority{};
  std::vector<std::string> commands{};
  std::vector<SettingValues> settings{};
  std::vector<BaselineMetric> metrics{};
  std::vector<std::string> executable_sha256{};
  std::vector<std::string> call_sha256{};
  std::vector<std::string> argument_files_sha256{};
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredBaseline& of) {
  visit("file", of.file);
  visit("tool", of.tool);
  describe_layouts(visit, of.layouts);
  visit("version", of.version);
  visit("machine", of.machine);
  visit.if_set("priority", of.priority);
  visit("commands", of.commands);
  visit("settings", of.settings);
  visit("metrics", of.metrics);
  visit("executable_sha256", of.executable_sha256);
  visit("call_sha256", of.call_sha256);
  visit("argument_files_sha256", of.argument_files_sha256);
}

/// A percentile is stored under two keys. The first makes it when it is read, and the second adds
/// the metric that it summarizes. Both are null for other metrics.
template <typename Visitor>
void describe_percentile(Visitor& visit, Metric& of) {
  visit.as(
      "percentile", [&] { return of.percentile_share(); },
      [&](std::optional<double> share) {
        const bool is_valid = share && *share > 0.0 && *share < 1.0;
        if (is_valid) of.percentile = Percentile{.summarized_metric = "", .share = *share};
      });
  visit.as(
      "percentile_of",
      [&] {
        return of.percentile ? std::optional(of.percentile->summarized_metric) : std::nullopt;
      },
      [&](std::optional<std::string> metric) {
        if (of.percentile) of.percentile->summarized_metric = std::move(metric).value_or("");
      });
}

/// Tables show a metric always or only with --verbose, and in a unit that the user may have chosen.
template <typename Visitor>
void describe_display(Visitor& visit, Metric& of) {
  visit.as(
      "shown", [&] { return of.shown == Shown::Always; },
      [&](bool always) { of.shown = always ? Shown::Always : Shown::Verbose; });
  visit.as(
      "shown_in",
      [&] {
        return of.shown_in != nullptr ? std::optional(std::string(of.shown_in->name))
                                      : std::nullopt;
      },
      [&](const std::optional<std::string>& unit) {
        of.shown_in = find_display_unit(unit.value_or(""));
      });
}

template <typename Visitor>
void describe_fields(Visitor& visit, Metric& of) {
  // core/fields.h explains the calls of `visit`, which writes, reads or checks the fields.
  visit("name", of.name);
  visit("unit", of.unit);
  visit("better", of.better);
  visit("note", of.metric_suffix);
  visit("levels", of.counted_privilege_levels);
  visit("region", of.of_region);
  visit("role", of.role);
  visit("kind", of.kind);
  visit("event", of.event);
  visit("part", of.is_part);

  describe_percentile(visit, of);
  describe_display(visit, of);

  // The method by which the metric was measured is left out if it is unknown.
  visit.if_set("engine", of.method.engine);
  visit.if_set("sampled", of.method.sampled);
}

template <typename Visitor>
void describe_fields(Visitor& visit, Event& of) {
  visit("name", of.name);
  visit("meaning", of.meaning);
  visit("zero_is_doubtful", of.zero_is_doubtful);
}

// What was found.

template <typename Visitor>
void describe_fields(Visitor& visit, stats::Delta& of) {
  stats::Change& mean = of.change_of_mean;
  visit.written("percent", [&] { return in_percent(of.change); });
  visit.written("low_percent", [&] { return in_percent(low_of(of.bounds)); });
  visit.written("high_percent", [&] { return in_percent(high_of(of.bounds)); });
  visit.written("half_width_percent", [&] { return in_percent(of.half_width()); });
  visit("basis", of.basis);
  visit.written("significant", [&] { return of.is_significant(); });
  visit.written("mean_percent", [&] { return in_percent(mean.change); });
  visit.written("mean_low_percent", [&] { return in_percent(low_of(mean.bounds)); });
  visit.written("mean_high_percent", [&] { return in_percent(high_of(mean.bounds)); });
  visit("mean_differs", of.mean_and_typical_differ);
  visit("widening", of.widening);
}

/// A setting whose value differs between two sides, by its key.
struct StoredDifference {
  std::string setting{};
  std::string reference{};
  std::string candidate{};
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredDifference& of) {
  visit("setting", of.setting);
  visit("reference", of.reference);
  visit("candidate", of.candidate);
}

std::vector<StoredDifference> stored_differences(const std::vector<SettingDifference>& all);
/// Leaves out settings with unknown keys.
std::vector<SettingDifference> differences_of(const std::vector<StoredDifference>& stored);

/// Returns a delta's changes as fractions, because percentages would lose digits: change, low and
/// high, then those of the mean.
std::vector<std::optional<double>> fractions_of(const stats::Delta& delta);
void set_fractions(stats::Delta& delta, const std::vector<std::optional<double>>& fractions);

/// Names a gate's limit: its number under the key of its kind, and null under the others' keys.
template <typename Visitor>
void describe_limit(Visitor& visit, GateLimit& limit, std::string_view LimitKindRow::*key,
                    std::string_view text_key) {
  for (const LimitKindRow& row : kLimitKinds)
    visit.as(
        row.*key,
        [&] { return limit.kind == row.kind ? std::optional(limit.number) : std::nullopt; },
        [&](std::optional<double> number) {
          if (!number) return;
          limit.kind = row.kind;
          limit.number = *number;
        });
  describe_text_or_null(visit, text_key, limit.text);
}

/// An acceptance, with what the verdict says about it.
struct StoredAcceptance {
  Acceptance acceptance{};
  gate::AcceptanceUse use = gate::AcceptanceUse::None;
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredAcceptance& of) {
  Acceptance& acceptance = of.acceptance;
  describe_limit(visit, acceptance.own_limit, &LimitKindRow::own_key, "own_bound_text");
  visit("reason", acceptance.reason);
  visit("until", acceptance.last_day);
  visit("entry", acceptance.entry);
  visit("expired", acceptance.has_expired);
  visit("use", of.use);
}

/// A verdict with the names and texts that stand for its indices in JSON.
struct StoredVerdict {
  gate::Verdict verdict{};
  std::string metric{};
  std::string condition{};
  std::string name{};  ///< name of the candidate
  std::optional<stats::Delta> risen_wall_time{};
  std::optional<StoredAcceptance> accepted{};
};

/// The condition that was judged: fail, or keep the candidate, if the metric is beyond a limit.
template <typename Visitor>
void describe_condition(Visitor& visit, StoredVerdict& of) {
  Condition& condition = of.verdict.condition;
  visit("condition", of.condition);
  visit.as_if_set(
      "keeps", [&] { return condition.is_for_keeping(); },
      [&](bool keeps) {
        condition.purpose = keeps ? ConditionPurpose::Keep : ConditionPurpose::Fail;
      });
  visit("below", condition.fails_below_limit);
  describe_limit(visit, condition.limit, &LimitKindRow::key, "bound_text");
  visit.if_set("accepted", of.accepted);
}

/// The change of the metric. Other readers get percentages, which lose digits, so lauka reads the
/// change and its bounds from the fractions.
template <typename Visitor>
void describe_delta(Visitor& visit, gate::Verdict& verdict) {
  visit("delta", verdict.delta);
  visit.as(
      "fractions", [&] { return fractions_of(verdict.delta); },
      [&](const auto& fractions) { set_fractions(verdict.delta, fractions); });
}

/// How far the limit could be moved towards the estimate before a test's answer would change. The
/// list has this bound of the rank test, and then that of the test of the mean.
template <typename Visitor>
void describe_decision_bounds(Visitor& visit, gate::DecisionBounds& of) {
  visit.as(
      "decision_bounds",
      [&] {
        return std::vector{of.ranks, of.mean};
      },
      [&](const auto& bounds) {
        if (bounds.size() == 2) of = {.ranks = bounds[0], .mean = bounds[1]};
      });
}

/// The evidence: p-values, the error that this look could spend, the test that decided, and what a
/// new session would need to decide.
template <typename Visitor>
void describe_evidence(Visitor& visit, gate::Verdict& verdict) {
  describe_decision_bounds(visit, verdict.bounds);
  visit("p_fail", verdict.p_value_of_fail);
  visit("p_pass", verdict.p_value_of_pass);
  visit("level", verdict.spendable_error);
  visit("decided_by", verdict.decided_by);
  visit("times_as_many", verdict.rounds_factor);
  visit.if_set("given_up", verdict.is_given_up);
  visit.if_set("layouts_to_decide", verdict.layouts_to_decide);
  visit("planned_rounds", verdict.estimated_rounds_without_gates);
}

/// Why the gate could not be judged, if it could not.
template <typename Visitor>
void describe_hindrance(Visitor& visit, gate::Hindrance& hindrance) {
  visit("obstacle", hindrance.obstacle);
  visit("obstacle_side", hindrance.side);
  visit.as_if_set(
      "differences", [&] { return stored_differences(hindrance.differences); },
      [&](const auto& stored) { hindrance.differences = differences_of(stored); });
}

template <typename Visitor>
void describe_fields(Visitor& visit, StoredVerdict& of) {
  // core/fields.h explains the calls of `visit`, which writes, reads or checks the fields.
  gate::Verdict& verdict = of.verdict;
  visit.as(
      "verdict", [&] { return verdict.decision(); },
      [&](gate::Decision decision) { verdict.answer = gate::answer_of(decision); });
  visit("metric", of.metric);
  describe_condition(visit, of);

  // A gate may be judged at several looks while the session is measured. `look` is the number of
  // the look that gave the answer.
  visit("command", verdict.candidate);
  visit("name", of.name);
  visit("rounds", verdict.rounds);
  visit("look", verdict.look);

  describe_delta(visit, verdict);
  describe_evidence(visit, verdict);
  visit.if_set("risen_wall_time", of.risen_wall_time);
  describe_hindrance(visit, verdict.hindrance);
}

/// The tails of a gated metric's intervals, with the metric's name.
struct StoredTails {
  std::string metric{};
  stats::IntervalTails tails{};
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredTails& of) {
  visit("metric", of.metric);
  visit("tail", of.tails.tail_of_delta);
  visit("tail_of_mean", of.tails.tail_of_mean_change);
}

template <typename Visitor>
void describe_fields(Visitor& visit, Precision& of) {
  visit("metric", of.metric);
  visit.as(
      "wanted_percent", [&] { return 100.0 * of.wanted_half_width; },
      [&](double percent) { of.wanted_half_width = fraction_of_percent(percent); });
  visit.as(
      "percent", [&] { return in_percent(of.half_width); },
      [&](std::optional<double> percent) {
        if (percent) of.half_width = fraction_of_percent(*percent);
      });
  visit("runs", of.fewest_values_of_command);
  visit("end", of.end);
  visit.if_set("layouts_to_reach", of.layouts_to_reach);
}

template <typename Visitor>
void describe_fields(Visitor& visit, gate::RaceExit& of) {
  visit("command", of.command);
  visit("rounds", of.rounds);
  visit("better_command", of.better_command);
}

template <typename Visitor>
void describe_fields(Visitor& visit, gate::RaceResult& of) {
  visit("metric", of.metric);
  visit.as(
      "limit_percent", [&] { return 100.0 * of.limit; },
      [&](double percent) { of.limit = fraction_of_percent(percent); });
  visit("races", of.races);
  visit("rounds", of.rounds);
  visit.written("runs", [&] { return of.count_runs(); });
  visit.written("runs_without_exits", [&] { return of.count_runs_without_exits(); });
  visit("end", of.end);
  visit("left", of.left);
  visit("exits", of.exits);
}

/// A headline comparison with its metric's name.
struct StoredComparison {
  HeadlineComparison comparison{};
  std::string metric{};
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredComparison& of) {
  stats::RelativeSpeed& speed = of.comparison.speed;
  visit("command", of.comparison.command);
  visit("metric", of.metric);
  visit("ratio", speed.speed_factor);
  visit.written("low", [&] { return low_of(speed.bounds); });
  visit.written("high", [&] { return high_of(speed.bounds); });
  visit("faster", speed.faster);
  visit("significant", of.comparison.is_significant);
}

template <typename Visitor>
void describe_fields(Visitor& visit, report::WarningText& of) {
  visit("kind", of.kind);
  visit("command", of.command_index);
  visit("text", of.text);
  visit("advice", of.advice);
}

/// The run that ended the session, with its command's name.
struct StoredFailedRun {
  RunRow run{};
  std::string name{};
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredFailedRun& of) {
  visit("command", of.run.command);
  visit("name", of.name);
  visit("kind", of.run.kind);
  describe_number(visit, "round", of.run.round);
  describe_number(visit, "pass", of.run.pass);
  visit("exit_code", of.run.status);
  visit("outcome", of.run.ending);
}

/// What a session's JSON has after its baseline.
struct StoredFindings {
  std::vector<Metric> metrics{};
  std::vector<Event> events{};
  std::vector<std::vector<std::string>> passes{};  ///< for each, the names of its events
  std::vector<RoundKind> pass_kinds{};
  std::vector<StoredComparison> comparisons{};
  std::vector<StoredVerdict> gates{};
  bool ended_by_gates = false;
  std::vector<StoredTails> intervals{};
  std::optional<Precision> precision{};
  std::optional<gate::RaceResult> race{};
  std::optional<StoredFailedRun> failed_run{};
  std::vector<report::WarningText> warnings{};
  std::vector<std::string> notes{};
  std::vector<std::optional<std::string>> note_kinds{};  ///< nullopt: the kind has no name
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredFindings& of) {
  visit("metrics", of.metrics);
  visit("events", of.events);
  visit("passes", of.passes);
  visit("pass_kinds", of.pass_kinds);
  visit("comparisons", of.comparisons);
  visit("gates", of.gates);
  visit("ended_by_gates", of.ended_by_gates);
  visit("intervals", of.intervals);
  visit("precision", of.precision);
  visit.if_set("race", of.race);
  visit("failed_run", of.failed_run);
  visit("warnings", of.warnings);
  visit("notes", of.notes);
  visit("note_kinds", of.note_kinds);
}

template <typename Visitor>
void describe_fields(Visitor& visit, Geomean& of) {
  visit("candidate", of.candidate_place);
  describe_text_or_null(visit, "name", of.candidate);
  visit("metric", of.metric);
  visit("benchmarks", of.benchmark_count);
  visit.written("percent", [&] { return in_percent(of.change.change); });
  visit.written("low_percent", [&] { return in_percent(low_of(of.change.bounds)); });
  visit.written("high_percent", [&] { return in_percent(high_of(of.change.bounds)); });
}

// A command and its results.

template <typename Visitor>
void describe_fields(Visitor& visit, Parameter& of) {
  visit("name", of.name);
  visit("value", of.value);
}

template <typename Visitor>
void describe_fields(Visitor& visit, CounterLossFile& of) {
  visit("why", of.loss);
  visit("file", of.file);
  visit("counted_as_root", of.counted_as_root);
}

/// Names a time in nanoseconds, which is stored in seconds under the name of a metric.
template <typename Visitor>
void describe_seconds(Visitor& visit, Role metric, std::uint64_t& nanoseconds) {
  visit.as(
      metric_name_of(metric), [&] { return to_seconds(nanoseconds); },
      [&](double seconds) {
        constexpr double longest = 1e9;
        nanoseconds =
            static_cast<std::uint64_t>(std::llround(std::clamp(seconds, 0.0, longest) * 1e9));
      });
}

template <typename Visitor>
void describe_fields(Visitor& visit, ShellOverhead& of) {
  describe_seconds(visit, Role::WallTime, of.wall_ns);
  describe_seconds(visit, Role::UserTime, of.user_ns);
  describe_seconds(visit, Role::SystemTime, of.system_ns);
}

template <typename Visitor>
void describe_fields(Visitor& visit, FailureGroup& of) {
  visit("outcome", of.ending);
  visit("exit_code", of.status);
  visit("kind", of.kind);
  visit("runs", of.runs);
}

template <typename Visitor>
void describe_fields(Visitor& visit, Endings& of) {
  visit.written("failed_runs", [&] { return of.failed_runs(); });
  visit("runs_in_all", of.runs_with_ending);
  visit.if_set("failures", of.failed_run_groups);
}

/// What a command's results have before its metrics.
struct StoredCommand {
  Command command{};
  std::string benchmark{};  ///< empty outside suites
  std::string role{};       ///< role in a suite; else empty
  std::optional<std::size_t> reference{};
  std::optional<ShellOverhead> shell_overhead{};
  Endings endings{};
};

/// The hashes identify the program and its arguments. They are missing if the program was not read.
template <typename Visitor>
void describe_fingerprint(Visitor& visit, Fingerprint& of) {
  visit.if_known(of.is_known(), [&] {
    visit("executable_sha256", of.executable_sha256);
    visit("call_sha256", of.call_sha256);
    visit("argument_files_sha256", of.argument_files_sha256);
    visit("program", of.program);
  });
}

/// The expectation of --expect-output is stored as the user typed it.
template <typename Visitor>
void describe_expected_output(Visitor& visit, Command& command) {
  visit.as_if_set(
      "expected_output",
      [&] { return command.expected ? std::optional(text_of(*command.expected)) : std::nullopt; },
      [&](const std::optional<std::string>& text) {
        command.expected = parse_expected_output(text.value_or(""));
      });
}

template <typename Visitor>
void describe_fields(Visitor& visit, StoredCommand& of) {
  // core/fields.h explains the calls of `visit`, which writes, reads or checks the fields.
  Command& command = of.command;
  visit.if_set("benchmark", of.benchmark);
  visit.if_set("role", of.role);
  visit("command_line", command.text);
  visit("typed", command.typed_command_index);
  visit("pattern", command.unfilled_name);
  visit("reference", of.reference);
  visit.if_set("cwd", command.folder);

  describe_fingerprint(visit, command.fingerprint);

  visit("settings", command.settings);
  describe_expected_output(visit, command);
  visit.if_set("lost_counts", command.lost_counts);
  visit.if_set("parameters", command.parameters);
  visit("shell_overhead", of.shell_overhead);

  // The endings of the runs have no object of their own. They are members of the command.
  describe_fields(visit, of.endings);
}

template <typename Visitor>
void describe_fields(Visitor& visit, stats::LogRatio& of) {
  visit("value", of.value);
  visit("error", of.error);
}

template <typename Visitor>
void describe_fields(Visitor& visit, stats::LayoutMean& of) {
  describe_number(visit, "layout", of.layout);
  visit("runs", of.runs);
  visit("value", of.value);
}

template <typename Visitor>
void describe_fields(Visitor& visit, stats::LayoutEstimate& of) {
  const auto bounds = of.scatter ? of.scatter->bounds : std::nullopt;
  visit("value", of.value);
  visit.written("standard_error", [&] { return std::sqrt(of.squared_standard_error); });
  visit("degrees_of_freedom", of.degrees);
  visit("layouts", of.layout_count);
  visit.written("scatter_percent",
                [&] { return of.scatter ? in_percent(of.scatter->deviation) : std::nullopt; });
  visit.written("scatter_low_percent", [&] { return in_percent(low_of(bounds)); });
  visit.written("scatter_high_percent", [&] { return in_percent(high_of(bounds)); });
  visit.written("scatter_is_clear", [&] { return of.scatter && of.scatter->is_clear; });
  visit("each", of.layout_means);
}

struct StoredLayouts {
  LayoutResult over{};
  bool misleads_alone = false;
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredLayouts& of) {
  visit("mean", of.over.mean);
  visit("log_ratio", of.over.mean_log_ratio);
  visit("first_alone", of.over.delta_of_first_layout);
  visit("misleads_alone", of.misleads_alone);
}

/// The estimate of a percentile; without value and interval if there are too few runs.
struct StoredPercentile {
  std::string of{};  ///< name of the metric that it summarizes
  double percent = 0.0;
  std::optional<double> value{};
  std::optional<double> low{};
  std::optional<double> high{};
  std::size_t fewest_runs = 0;
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredPercentile& of) {
  visit("of", of.of);
  visit("percent", of.percent);
  visit("value", of.value);
  visit("low", of.low);
  visit("high", of.high);
  visit("fewest_runs", of.fewest_runs);
}

/// The part of a command's stored metric that precedes its samples.
struct StoredMetric {
  MetricResult row{};
  Unit unit = Unit::Count;
  std::optional<StoredLayouts> layouts{};
  std::optional<StoredPercentile> percentile{};
};

/// The statistics of a metric's values. Their values are missing if there is no summary.
template <typename Visitor>
void describe_statistics(Visitor& visit, const std::optional<stats::Summary>& summary) {
  for (const Statistic& statistic : kStatistics) {
    // Each statistic is a member of the summary, or a member function, and has a type of its own.
    const auto show_statistic = [&](auto member) {
      using Value = decltype(std::optional(std::invoke(member, *summary)));
      visit.written(statistic.key,
                    [&] { return summary ? Value(std::invoke(member, *summary)) : std::nullopt; });
    };
    std::visit(show_statistic, statistic.value);
  }
}

template <typename Visitor>
void describe_fields(Visitor& visit, StoredMetric& of) {
  // core/fields.h explains the calls of `visit`, which writes, reads or checks the fields.
  MetricResult& row = of.row;
  visit("unit", of.unit);
  visit("runs", row.runs);
  visit.written("mean", [&] { return row.mean(); });
  describe_statistics(visit, row.summary);

  visit("doubtful", row.is_probably_uncounted);
  visit("at_most", row.largest_bound_of_runs);
  visit("delta", row.delta);
  visit.written("detectable", [&] { return row.detectable; });
  visit.if_set("layouts", of.layouts);
  visit.if_set("percentile", of.percentile);
}

template <typename Visitor>
void describe_fields(Visitor& visit, WallFactor& of) {
  const auto ratio = [](std::optional<double> change) {
    return change ? std::optional(1.0 + *change) : std::nullopt;
  };
  visit("part", of.factor_kind);
  visit.written("ratio", [&] { return 1.0 + of.change.change.value_or(0.0); });
  visit.written("low", [&] { return ratio(low_of(of.change.bounds)); });
  visit.written("high", [&] { return ratio(high_of(of.change.bounds)); });
  visit.written("of_wall_time", [&] { return std::exp(of.log_contribution()); });
  visit.written("significant", [&] { return of.change.is_significant(); });
  visit("reference", of.reference_median);
  visit("candidate", of.candidate_median);
}

struct StoredWhy {
  std::string text{};
  std::vector<WallFactor> factors{};
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredWhy& of) {
  visit("text", of.text);
  visit("factors", of.factors);
}

/// A function whose mean differs for certain from the reference's, by one metric.
struct StoredFunctionChange {
  std::string metric{};  ///< "total_time" for sampled time with what the function called
  std::string name{};
  MeanChange means{};
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredFunctionChange& of) {
  MeanChange& means = of.means;
  const auto bound = [&](double sign) {
    return means.half_width ? std::optional(means.difference() + sign * *means.half_width)
                            : std::nullopt;
  };
  visit("metric", of.metric);
  visit("name", of.name);
  visit("reference", means.reference_mean);
  visit("candidate", means.candidate_mean);
  visit.written("difference", [&] { return means.difference(); });
  visit.written("low", [&] { return bound(-1.0); });
  visit.written("high", [&] { return bound(1.0); });
  visit.written("exact", [&] { return means.certainty == Certainty::Exact; });
}

/// What a command's results have after its runs.
struct StoredCommandEnd {
  /// The largest difference of each metric first; nullopt if no functions were compared.
  std::optional<std::vector<StoredFunctionChange>> function_changes{};
  std::optional<StoredWhy> why{};
  std::optional<double> coverage{};
  std::optional<double> counting_slowdown{};
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredCommandEnd& of) {
  visit.if_set("function_changes", of.function_changes);
  visit("why", of.why);
  visit("coverage", of.coverage);
  visit("counting_slowdown", of.counting_slowdown);
}

}  // namespace lauka
