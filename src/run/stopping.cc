#include "run/stopping.h"

#include "plan/gates.h"
#include "plan/rounds.h"
#include "session/baseline.h"
#include "session/setting_values.h"
#include "stats/delta.h"
#include "stats/quantiles.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace lauka {

namespace {

/// Returns the time budget of all commands together.
std::chrono::nanoseconds budget_of(const StopRule& rule, const RoundsAndTime& spent) {
  const auto limit = std::chrono::nanoseconds::max() / static_cast<std::int64_t>(spent.commands);
  return std::min(rule.budget_per_command, limit) * static_cast<std::int64_t>(spent.commands);
}

gate::LookTiming schedule_looks(const Plan& plan, RoundKind kind) {
  if (plan.setting.stop.exact_runs) return gate::LookTiming::Once;
  const bool looks_early = kind != RoundKind::Simulated && pair_of(plan, 0).is_within_rounds;
  return looks_early ? gate::LookTiming::Early : gate::LookTiming::Planned;
}

// With fewer rounds, intervals are too often narrow at random.
constexpr std::uint64_t kMinRounds = 10;

// Checks of the precision are about 1% of the rounds apart, because each check reads all rounds.
constexpr std::uint64_t kRoundsPerNewOne = 100;

/// Returns nullopt if one of the half widths is unknown, because the wider one then is, too.
std::optional<double> take_wider(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return std::max(*a, *b);
}

}  // namespace

std::vector<Group> make_groups(const Plan& plan) {
  const std::vector<std::uint32_t> all = list_commands(plan);
  if (plan.setting.order != Order::Sequential) return {Group{all, {0, {}, all.size()}}};
  std::vector<Group> groups;
  groups.reserve(all.size());
  for (const std::uint32_t command : all) groups.push_back({{command}, {}});
  return groups;
}

bool satisfies_stop_rule(const StopRule& rule, const RoundsAndTime& spent) {
  if (rule.exact_runs) return spent.rounds >= *rule.exact_runs;
  if (rule.max_runs && spent.rounds >= *rule.max_runs) return true;
  return spent.rounds >= rule.min_runs && spent.time >= budget_of(rule, spent);
}

std::chrono::nanoseconds time_of_rounds(std::uint64_t rounds, std::chrono::duration<double> round) {
  constexpr std::chrono::nanoseconds longest = std::chrono::nanoseconds::max() / 2;
  const std::chrono::duration<double, std::nano> all = round * static_cast<double>(rounds);
  return all < longest ? std::chrono::duration_cast<std::chrono::nanoseconds>(all) : longest;
}

std::uint64_t rounds_left(const StopRule& rule, const RoundsAndTime& spent,
                          std::chrono::nanoseconds round_time) {
  const auto rounds_until = [&](std::uint64_t wanted) {
    return wanted > spent.rounds ? wanted - spent.rounds : 0;
  };
  if (rule.exact_runs) return std::max<std::uint64_t>(rounds_until(*rule.exact_runs), 1);
  const auto time_left = std::max(budget_of(rule, spent) - spent.time, std::chrono::nanoseconds(0));
  const auto per_round = std::max(round_time, std::chrono::nanoseconds(1));
  const bool has_remainder = time_left % per_round > std::chrono::nanoseconds(0);
  auto left = std::max(static_cast<std::uint64_t>(time_left / per_round) + (has_remainder ? 1 : 0),
                       rounds_until(rule.min_runs));
  if (rule.max_runs) left = std::min(left, rounds_until(*rule.max_runs));
  return std::max<std::uint64_t>(left, 1);
}

StopRule stop_rule_for_open_gates(const StopRule& rule, std::uint64_t rounds) {
  if (rule.exact_runs) return rule;
  const auto longest = std::chrono::nanoseconds::max() / kBudgetFactorForGates;
  return {.exact_runs = {},
          .min_runs = 0,
          .max_runs = std::min(rounds, rule.max_runs.value_or(rounds)),
          .budget_per_command = std::min(rule.budget_per_command, longest) * kBudgetFactorForGates};
}

CountingRoundsRule make_counting_rule(const Plan& plan, bool is_gated) {
  constexpr std::uint64_t min_rounds_for_gate = 10;
  CountingRoundsRule rule{.passes = plan.setting.events.count_passes(RoundKind::Counting)};
  if (is_gated) {
    rule.min_counting_rounds = min_rounds_for_gate;
    rule.share = 0.5;
  }
  const bool takes_samples =
      std::ranges::any_of(plan.setting.events.events,
                          [](const Event& event) { return event.role == Role::SampledTime; });
  if (takes_samples)
    rule.min_counting_rounds =
        std::max<std::uint64_t>(rule.min_counting_rounds, kMinFunctionRounds);
  if (plan.setting.stop.exact_runs && (plan.events_were_asked_for || takes_samples)) {
    rule.min_counting_rounds = *plan.setting.stop.exact_runs;
    rule.is_exact = true;
  }
  return rule;
}

StopRule timed_rule(const StopRule& rule, const CountingRoundsRule& counting) {
  StopRule timed = rule;
  if (counting.passes > 0) {
    const auto budget = std::chrono::duration<double, std::nano>(rule.budget_per_command);
    timed.budget_per_command =
        std::chrono::duration_cast<std::chrono::nanoseconds>(budget * (1.0 - counting.share));
  }
  return timed;
}

bool block_needs_more_counting(const CountingRoundsRule& rule, const RoundsAndTime& counted,
                               std::uint64_t block, std::chrono::nanoseconds timed_time) {
  const std::uint64_t blocks = std::min(block + 1, kBlocks);
  // Each block has its part of the fewest rounds, rounded up.
  if (counted.rounds < rule.passes * ((rule.min_counting_rounds * blocks + kBlocks - 1) / kBlocks))
    return true;
  if (rule.is_exact || counted.rounds == 0) return false;

  // If counting has the share s of all time, it has s / (1 - s) of the time of timed rounds.
  const double allowed = static_cast<double>(timed_time.count()) * rule.share / (1.0 - rule.share) *
                         static_cast<double>(blocks) / static_cast<double>(kBlocks);
  const auto taken = static_cast<double>(counted.time.count());
  const double time_of_round = taken / static_cast<double>(counted.rounds);
  return taken + time_of_round <= allowed;
}

std::uint64_t blocks_due(std::uint64_t done, std::uint64_t left, double early) {
  if (done == 0) return 0;
  const auto all = static_cast<double>(done) + static_cast<double>(left);
  const double blocks_ended = static_cast<double>(done) * static_cast<double>(kBlocks) / all;
  return static_cast<std::uint64_t>(blocks_ended + early);
}

std::uint64_t rounds_to_next_block(std::uint64_t done, std::uint64_t left, double early) {
  const auto all = static_cast<double>(done) + static_cast<double>(left);
  const double blocks_at_next = static_cast<double>(blocks_due(done, left, early) + 1) - early;
  const double rounds_at_next = std::ceil(all * blocks_at_next / static_cast<double>(kBlocks));
  return std::max(static_cast<std::uint64_t>(rounds_at_next), done + 1) - done;
}

std::uint64_t untuned_rounds_due(std::uint64_t done, std::uint64_t left) {
  constexpr double timed_rounds_per_untuned = 3.0;
  const auto all = static_cast<double>(done) + static_cast<double>(left);
  const auto blocks = static_cast<double>(blocks_due(done, left, kUntunedEarly));
  return static_cast<std::uint64_t>(
      std::ceil(all * blocks / (timed_rounds_per_untuned * static_cast<double>(kBlocks))));
}

// A gate is a condition on one metric of one command.
GateWatch::GateWatch(const Plan& plan, const Runs& runs) : plan_(plan), runs_(runs) {
  for (const Gate& gate : plan.gates) watch(gate);

  // Verdicts are shown in this order: those on candidates with the same reference together.
  std::ranges::stable_sort(gates_, {}, [&](const WatchedGate& gate) {
    return plan.reference.group_of(gate.verdict.candidate);
  });

  make_schedules();
}

void GateWatch::watch(const Gate& gate) {
  const bool is_new_metric = std::ranges::find(gated_metrics_, gate.metric) == gated_metrics_.end();
  if (is_new_metric) gated_metrics_.push_back(gate.metric);

  const RoundKind kind = kind_of(plan_.metrics[gate.metric], plan_.setting.events);
  for (std::size_t command = 0; command < plan_.commands.size(); ++command) {
    if (!is_gated(gate.condition, plan_.reference, command, plan_.commands.size())) continue;
    gates_.push_back(
        {{.condition = gate.condition, .candidate = command, .metric = gate.metric}, kind});

    // If the command and its reference are measured with different settings, no number of rounds
    // can decide the gate.
    if (gate.condition.limit.needs_reference())
      gates_.back().other_settings = find_obstacles(plan_, gate.metric, command);
  }
}

/// All conditions that may fail a command share one error rate, with those of the other benchmarks
/// of a suite. A condition on which a command is kept has its own error rate.
std::size_t GateWatch::count_gates_sharing_error_rate() const {
  const auto can_fail_command = [](const WatchedGate& gate) {
    return !gate.verdict.condition.is_for_keeping();
  };
  const auto own_gates = static_cast<std::size_t>(std::ranges::count_if(gates_, can_fail_command));
  return std::max<std::size_t>({own_gates, plan_.decisions_sharing_error_rate, 1});
}

/// Plans at which numbers of rounds the gates look at the results, and how large an error each look
/// may have, so that the error of the whole session is limited.
void GateWatch::make_schedules() {
  const std::size_t sharing_gates = count_gates_sharing_error_rate();
  const double error_of_keeping = plan_.error_of_keeping.value_or(1.0 - plan_.confidence);
  const std::size_t min_runs = plan_.setting.stop.min_runs;

  // A metric has values in one kind of round only.
  for (const RoundKind kind : {RoundKind::Timed, RoundKind::Counting, RoundKind::Simulated}) {
    const gate::LookTiming looks = schedule_looks(plan_, kind);
    schedules_.try_emplace({kind, ConditionPurpose::Fail}, plan_.confidence, sharing_gates,
                           min_runs, looks);
    schedules_.try_emplace(
        {kind, ConditionPurpose::Keep},
        gate::Schedule::for_keeping(plan_.confidence, error_of_keeping, min_runs, looks));
  }
}

const gate::Schedule& GateWatch::schedule_of(const WatchedGate& gate) const {
  return schedules_.at({gate.kind, gate.verdict.condition.purpose});
}

bool GateWatch::has_gate_on(RoundKind kind) const {
  return std::ranges::any_of(
      gates_, [kind](const WatchedGate& gate) { return gate.kind == kind && !gate.is_hopeless(); });
}

bool GateWatch::has_undecided_gate_on(RoundKind kind) const {
  return std::ranges::any_of(
      gates_, [kind](const WatchedGate& gate) { return gate.kind == kind && gate.is_open(); });
}

bool GateWatch::is_decided() const {
  return std::ranges::none_of(gates_, &WatchedGate::is_open);
}

bool GateWatch::has_decidable_gate() const {
  return !std::ranges::all_of(gates_, &WatchedGate::is_hopeless);
}

void GateWatch::look_early_if_due(RoundKind kind, std::size_t rounds, std::size_t planned) {
  for (const ConditionPurpose purpose : {ConditionPurpose::Fail, ConditionPurpose::Keep}) {
    gate::Schedule& schedule = schedules_.at({kind, purpose});
    if (const auto levels = schedule.look_early(rounds))
      look({kind, purpose}, {*levels,
                             {.number = schedule.looks_taken(),
                              .last = false,
                              .estimated_rounds_without_gates = planned,
                              .rounds_at_last_look = rounds_at_last_look(planned)},
                             true});
  }
}

std::optional<std::size_t> GateWatch::rounds_at_next_early_look(RoundKind kind) const {
  return has_undecided_gate_on(kind)
             ? schedules_.at({kind, ConditionPurpose::Fail}).rounds_at_next_early_look()
             : std::nullopt;
}

void GateWatch::look_as_planned(RoundKind kind, std::size_t rounds, bool last) {
  for (const ConditionPurpose purpose : {ConditionPurpose::Fail, ConditionPurpose::Keep}) {
    gate::Schedule& schedule = schedules_.at({kind, purpose});
    const gate::LookErrors levels = schedule.look_as_planned(rounds, last);
    look({kind, purpose},
         {levels,
          {.number = schedule.looks_taken(),
           .last = last,
           .rounds_at_last_look = rounds_at_last_look(schedule.rounds_at_first_planned_look())}});
  }
}

std::size_t GateWatch::rounds_at_last_look(std::size_t first) const {
  if (first == 0) return 0;
  const std::size_t last = gate::look_rounds(first).back();
  return std::min<std::size_t>(last, plan_.setting.stop.max_runs.value_or(last));
}

void GateWatch::look(const ScheduleKey& gates, const LookAtGates& at) {
  SeriesByMetric all_series(plan_, runs_);
  for (WatchedGate& gate : gates_) {
    const ScheduleKey own{gate.kind, gate.verdict.condition.purpose};
    if (own != gates || !gate.is_open()) continue;
    gate.is_decided = decide(gate, at, all_series);
    if (!gate.is_decided) continue;

    const double p = gate.verdict.p_value_of_fail;
    gate.verdict.p_over_all_looks = at.is_early ? gate::Schedule::p_over_looks_of_early_look(p)
                                                : schedule_of(gate).p_over_looks_of_planned_look(p);
  }
}

std::size_t GateWatch::rounds_to_decide_constants(RoundKind kind) const {
  std::size_t rounds = 0;
  for (const WatchedGate& gate : gates_)
    if (gate.kind == kind)
      rounds = std::max(rounds, schedule_of(gate).rounds_to_decide_constants());
  return rounds;
}

stats::IntervalTails GateWatch::tail_probabilities_of(std::size_t metric) const {
  const auto gated = std::ranges::find_if(
      gates_, [&](const WatchedGate& gate) { return gate.verdict.metric == metric; });
  return gated == gates_.end() ? stats::tails_of(plan_.confidence) : schedule_of(*gated).tails();
}

gate::Findings GateWatch::close() {
  gate::Findings findings;
  SeriesByMetric all_series(plan_, runs_);
  for (WatchedGate& gate : gates_) {
    if (!gate.is_decided) {
      const gate::Schedule& schedule = schedule_of(gate);
      decide(gate, {schedule.planned_levels(), {schedule.looks_taken() + 1, true}}, all_series);
      gate::make_inconclusive(gate.verdict, find_hindrance_without_answer(gate));
    }
    findings.verdicts.push_back(std::move(gate.verdict));
  }
  for (const std::size_t metric : gated_metrics_)
    findings.gated_metric_tails.push_back({metric, tail_probabilities_of(metric)});
  return findings;
}

gate::Hindrance GateWatch::find_hindrance_without_answer(const WatchedGate& gate) {
  if (gate.is_hopeless())
    return {.obstacle = gate::Obstacle::OtherSettings, .differences = gate.other_settings};

  // Other gates are open only if the session has ended early. Its runs may yet show why it could
  // not have decided.
  const gate::Hindrance& found = gate.verdict.hindrance;
  const bool has_own_reason =
      found.obstacle != gate::Obstacle::None && found.obstacle != gate::Obstacle::NoCommonRound;
  return has_own_reason ? found : gate::Hindrance{gate::Obstacle::CutShort};
}

bool GateWatch::decide(WatchedGate& gate, const LookAtGates& at, SeriesByMetric& all_series) const {
  gate::Verdict& verdict = gate.verdict;
  const std::vector<Series>& series = all_series.of(verdict.metric);
  const Pair pair = pair_of(plan_, verdict.candidate);
  const Comparison samples = collect_gate_samples(verdict.condition, pair, series);

  // A command whose first few runs failed may yet succeed.
  gate::Hindrance lasting = find_hindrance(verdict, pair, series);
  if (at.is_early && lasting.obstacle != gate::Obstacle::UpperBounds) lasting = {};
  return gate::decide_at_look(verdict,
                              {.samples = samples,
                               .gated_quantile = plan_.metrics[verdict.metric].percentile_share(),
                               .lasting = lasting},
                              at.levels, at.look);
}

PrecisionWatch::PrecisionWatch(const Plan& plan, const Runs& runs, const GateWatch& gates)
    : plan_(plan), runs_(runs), gates_(gates) {}

std::vector<Series> PrecisionWatch::make_series() const {
  return make_all_series(plan_, runs_, plan_.precision->metric);
}

bool PrecisionWatch::check_if_due(std::span<const std::uint32_t> group, std::uint64_t rounds) {
  if (!plan_.precision || rounds < std::max(plan_.setting.stop.min_runs, kMinRounds)) return false;

  // A check reads all rounds, so the next one waits until there are 1% more.
  const std::size_t first_command = group.front();
  const bool is_next_group = first_command != first_command_at_latest_check_;
  const std::uint64_t rounds_at_next_check =
      rounds_at_latest_check_ + rounds_at_latest_check_ / kRoundsPerNewOne;
  if (!is_next_group && rounds < rounds_at_next_check) return false;

  rounds_at_latest_check_ = rounds;
  first_command_at_latest_check_ = first_command;
  return is_precise_enough(group);
}

/// A reference that runs by itself, before its candidates, stops when its own mean is precise
/// enough. The difference of two equally precise means is wider than each by the square root of 2.
bool PrecisionWatch::is_reference_precise_enough(const Series& reference) const {
  const double share = plan_.commands.size() == 1 ? 1.0 : 1.0 / std::numbers::sqrt2;
  const auto half_width = half_width_of_mean(reference);
  return half_width && *half_width <= share * plan_.precision->relative_half_width;
}

/// True if more runs of this group, which are either alternating commands or one command, are not
/// needed for --precision.
bool PrecisionWatch::is_precise_enough(std::span<const std::uint32_t> group) const {
  const std::vector<Series> series = make_series();
  const std::uint32_t first = group.front();
  const bool runs_by_itself = group.size() == 1;
  const bool is_reference = !plan_.reference.is_candidate(first);
  if (runs_by_itself && is_reference) return is_reference_precise_enough(series[first]);

  // A candidate that runs by itself stops when its own mean is precise enough, too. If the
  // difference is still too wide, only more runs of the reference would help. A reference in a
  // baseline has no more runs, so its candidates go on.
  const bool can_leave_rest_to_reference =
      runs_by_itself && plan_.reference.index_in_session(first).has_value();
  return std::ranges::none_of(group, [&](std::uint32_t command) {
    if (!plan_.reference.is_candidate(command) || !is_too_wide(series, command)) return false;
    return !can_leave_rest_to_reference || !is_within_share(series, command, command);
  });
}

bool PrecisionWatch::needs_more_runs(std::size_t command) const {
  if (!plan_.precision || !plan_.reference.index_in_session(command)) return false;
  const std::vector<Series> series = make_series();
  const bool is_candidate = plan_.reference.is_candidate(command);
  for (std::size_t c = 0; c < plan_.commands.size(); ++c) {
    const std::size_t reference = plan_.reference.index_for(c);
    const bool is_of_command = is_candidate ? c == command : reference == command;
    if (!plan_.reference.is_candidate(c) || !is_of_command || !is_too_wide(series, c)) continue;
    if (!is_within_share(series, command, c) ||
        is_within_share(series, is_candidate ? reference : c, c))
      return true;
  }
  return false;
}

bool PrecisionWatch::is_within_share(std::span<const Series> series, std::size_t command,
                                     std::size_t candidate) const {
  const auto own = half_width_of_mean(series[command]);
  const std::vector<double>& reference = series[plan_.reference.index_for(candidate)].values;
  const std::vector<double>& values = series[candidate].values;
  if (!own || values.empty() || reference.empty()) return false;

  // The half width of a ratio is relative to the reference, that of a mean to the mean itself. The
  // difference of two means is wider than each by the square root of 2.
  const double ratio = stats::moments(values).mean / stats::moments(reference).mean;
  return *own * ratio <= plan_.precision->relative_half_width / std::numbers::sqrt2;
}

bool PrecisionWatch::is_too_wide(std::span<const Series> series, std::size_t candidate) const {
  const auto half_width = half_width_of_delta(series, candidate);
  return !half_width || *half_width > plan_.precision->relative_half_width;
}

bool PrecisionWatch::compares_commands() const {
  return plan_.commands.size() > 1 || plan_.reference.is_candidate(0);
}

// Intervals are those of differences from a reference. A command that is compared with nothing has
// the interval of its mean.
std::optional<double> PrecisionWatch::half_width_of_widest_interval(
    std::span<const Series> series) const {
  if (!compares_commands()) return half_width_of_mean(series.front());

  std::optional<double> widest = 0.0;
  for (std::size_t command = 0; command < plan_.commands.size(); ++command)
    if (plan_.reference.is_candidate(command))
      widest = take_wider(widest, half_width_of_delta(series, command));
  return widest;
}

std::optional<std::size_t> PrecisionWatch::layouts_to_reach_for_all(
    std::span<const Series> series) const {
  std::optional<std::size_t> most;
  for (std::size_t command = 0; command < plan_.commands.size(); ++command)
    if (!compares_commands() || plan_.reference.is_candidate(command))
      most = std::max(most, layouts_to_reach(series, command));
  return most;
}

// Reports whether the session reached --precision: by the half width of the widest interval.
std::optional<Precision> PrecisionWatch::close(PrecisionEnd why_rounds_ended) const {
  if (!plan_.precision) return std::nullopt;

  // Only the plan's own commands count, because the runs of a baseline were not made for the
  // precision.
  const std::vector<Series> series = make_series();
  std::size_t fewest_values = std::numeric_limits<std::size_t>::max();
  for (std::size_t command = 0; command < plan_.commands.size(); ++command)
    fewest_values = std::min(fewest_values, series[command].values.size());

  const double wanted_half_width = plan_.precision->relative_half_width;
  Precision result{.wanted_half_width = wanted_half_width,
                   .half_width = half_width_of_widest_interval(series),
                   .fewest_values_of_command = fewest_values,
                   .end = why_rounds_ended,
                   .metric = metric().name};

  const bool is_reached = result.half_width && *result.half_width <= wanted_half_width;
  if (is_reached) {
    result.end = PrecisionEnd::Reached;
    return result;
  }

  // The rounds ended because the precision was reached, but it is not reached now. So later rounds,
  // made for gates, have widened the interval again.
  if (why_rounds_ended == PrecisionEnd::Reached) result.end = PrecisionEnd::LostInGateRounds;

  // With --layouts, which measures several variants of a program, the user may need more layouts
  // rather than more runs.
  const bool has_layouts = plan_.setting.layouts > 1;
  if (has_layouts) result.layouts_to_reach = layouts_to_reach_for_all(series);
  return result;
}

std::optional<double> PrecisionWatch::half_width_of_mean(const Series& series) const {
  const std::vector<double>& values = series.values;
  if (values.empty()) return std::nullopt;
  const double tail = gates_.tail_probabilities_of(plan_.precision->metric).tail_of_delta;
  if (const auto share = metric().percentile_share()) {
    const auto found = stats::quantile_estimate(stats::sorted(values), *share, tail);
    if (!found || found->value <= 0.0) return std::nullopt;
    return std::max(found->value - found->low, found->high - found->value) / found->value;
  }
  if (plan_.setting.layouts > 1) {
    const auto over = mean_over_layouts(series);
    if (!over || over->value <= 0.0) return std::nullopt;
    return over->interval_half_width(tail) / over->value;
  }
  const double mean = stats::moments(values).mean;
  const auto half_width = stats::mean_half_width(values, 1.0 - 2.0 * tail);
  if (!half_width || mean <= 0.0) return std::nullopt;
  return *half_width / mean;
}

std::optional<double> PrecisionWatch::half_width_of_delta(std::span<const Series> series,
                                                          std::size_t candidate) const {
  const Comparison samples = collect_samples(pair_of(plan_, candidate), series);
  if (samples.is_empty()) return std::nullopt;
  return estimate_delta(samples, gates_.tail_probabilities_of(plan_.precision->metric),
                        metric().percentile_share())
      .half_width();
}

std::optional<std::size_t> PrecisionWatch::layouts_to_reach(std::span<const Series> series,
                                                            std::size_t command) const {
  const double tail = gates_.tail_probabilities_of(plan_.precision->metric).tail_of_delta;
  if (!plan_.reference.is_candidate(command)) {
    const auto over = mean_over_layouts(series[command]);
    if (!over) return std::nullopt;
    return over->layouts_instead_of_runs(plan_.precision->relative_half_width * over->value, tail);
  }
  const auto over = log_ratio_over_layouts(collect_samples(pair_of(plan_, command), series),
                                           metric().percentile_share());
  if (!over) return std::nullopt;
  return over->layouts_instead_of_runs(plan_.precision->relative_half_width / std::exp(over->value),
                                       tail);
}

}  // namespace lauka
