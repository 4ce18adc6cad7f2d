#pragma once

#include "core/metric.h"
#include "core/record.h"
#include "core/runs.h"
#include "core/settings.h"
#include "gate/schedule.h"
#include "gate/verdict.h"
#include "plan/gates.h"
#include "plan/plan.h"
#include "session/series.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace lauka {

/// Intended duration of a batch: long enough that messages to the launcher cost little per run, and
/// short enough for interrupts, progress and the stop rule.
inline constexpr std::chrono::nanoseconds kBatchTime = std::chrono::milliseconds(25);

/// Intended duration of a batch if the number of runs is fixed and batches need not be short.
inline constexpr std::chrono::nanoseconds kLongBatchTime = std::chrono::milliseconds(100);

/// Intended duration of a batch if benchmarks take turns: short, so that a drift of the machine
/// affects all benchmarks equally.
inline constexpr std::chrono::nanoseconds kTurnTime = std::chrono::milliseconds(2);

/// Rounds and time that a group of commands has used.
struct RoundsAndTime {
  std::uint64_t rounds = 0;
  std::chrono::nanoseconds time{};  ///< time of runs and of their prepare and conclude hooks
  std::size_t commands = 1;
};

/// True if the stop rule is satisfied. The time budget is the sum of the commands' budgets.
bool satisfies_stop_rule(const StopRule& rule, const RoundsAndTime& spent);

/// Returns the time of `rounds` rounds, at most half of nanoseconds::max(). `round`: time of one
/// round.
std::chrono::nanoseconds time_of_rounds(std::uint64_t rounds, std::chrono::duration<double> round);

/// Estimates the number of rounds until the stop rule is satisfied; at least 1. `round_time`: time
/// of one round.
std::uint64_t rounds_left(const StopRule& rule, const RoundsAndTime& spent,
                          std::chrono::nanoseconds round_time);

/// Multiple of the time budget that rounds may use while gates are undecided.
inline constexpr std::int64_t kBudgetFactorForGates = 4;

/// Returns the rule for timed rounds while gates are undecided: at most `rounds` rounds in all, and
/// kBudgetFactorForGates times the budget. The limit StopRule::max_runs stays. A rule with
/// StopRule::exact_runs is returned unchanged.
StopRule stop_rule_for_open_gates(const StopRule& rule, std::uint64_t rounds);

/// Number of blocks of counting rounds, which are spread over the timed rounds, so that a drift of
/// the machine affects counts and times equally.
inline constexpr std::uint64_t kBlocks = 4;

/// Number of settling rounds at a time. Their results are dropped, because counting rounds slow the
/// next runs (docs/measuring.md).
inline constexpr std::uint64_t kSettlingRounds = 2;

/// Smallest number of simulated rounds: three equal differences can decide one gate at 95%
/// confidence.
inline constexpr std::uint64_t kMinSimulatedRounds = 3;

struct CountingRoundsRule {
  std::uint64_t passes = 0;  ///< number of counting passes; 0: nothing is counted separately
  std::uint64_t min_counting_rounds = 5;
  bool is_exact = false;  ///< true: exactly min_counting_rounds, even if there is time for more
  double share = 0.2;     ///< largest share of the whole time for counting rounds, unless
                          ///< min_counting_rounds take more
};

/// Returns a plan's rule for counting rounds. `is_gated`: true if a gate needs their counts.
CountingRoundsRule make_counting_rule(const Plan& plan, bool is_gated);

/// Returns the stop rule for timed rounds: `rule` without the counting rounds' share of the budget.
StopRule timed_rule(const StopRule& rule, const CountingRoundsRule& counting);

/// True if more counting rounds are due by the end of block number `block` (from 0). `counted`:
/// counting rounds so far. `timed_time`: estimated time of all timed rounds.
bool block_needs_more_counting(const CountingRoundsRule& rule, const RoundsAndTime& counted,
                               std::uint64_t block, std::chrono::nanoseconds timed_time);

/// Returns the number of blocks that are due after `done` timed rounds, if `left` rounds follow. A
/// block is due after each of kBlocks equal parts of all rounds, or earlier by the fraction `early`
/// of a part.
std::uint64_t blocks_due(std::uint64_t done, std::uint64_t left, double early = 0.0);

/// Returns the number of timed rounds until the next block is due (blocks_due); at least 1.
std::uint64_t rounds_to_next_block(std::uint64_t done, std::uint64_t left, double early = 0.0);

/// Argument `early` of blocks_due for untuned rounds (--tune=compare): untuned rounds come in the
/// middle of each part, so that a drift of the machine affects tuned and untuned rounds equally.
inline constexpr double kUntunedEarly = 0.5;

/// Returns the number of untuned rounds that are due after `done` timed rounds, if `left` rounds
/// follow. There is one untuned round for every three timed rounds.
std::uint64_t untuned_rounds_due(std::uint64_t done, std::uint64_t left);

struct CommandRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Commands that alternate, with their rounds so far: all commands of a plan or, in sequential
/// order, one command. Commands may leave the group (--race).
struct Group {
  std::vector<std::uint32_t> commands{};  ///< ascending; never empty
  RoundsAndTime timed_spent{};
  std::uint64_t rounds_at_first_look = 0;  ///< number of timed rounds at the first planned look
  std::uint64_t warmup_rounds_done = 0;
  std::uint64_t simulated_rounds_done = 0;  ///< number of rounds of all simulated passes
  RoundsAndTime counting{};                 ///< rounds and time of all counting passes
  std::uint64_t untuned_rounds_done = 0;
  std::uint64_t settling_rounds_done = 0;
  bool is_settled = true;  ///< true if a timed round may follow without settling rounds
};

std::vector<Group> make_groups(const Plan& plan);

/// Decides the gates of a plan during the runs. Each kind of round has its own schedule of looks
/// (gate::Schedule), because a metric has values in one kind of round only.
class GateWatch {
 public:
  /// `runs`: the session's runs so far, to which others add.
  GateWatch(const Plan& plan, const Runs& runs);

  /// True if there is a gate, not hopeless, on a metric that has values in rounds of `kind`.
  bool has_gate_on(RoundKind kind) const;
  /// True if there is an undecided gate on a metric that has values in rounds of `kind`.
  bool has_undecided_gate_on(RoundKind kind) const;

  /// True if every gate is decided or hopeless, or there are no gates.
  bool is_decided() const;

  /// True if there is a gate that some number of rounds may decide. A hopeless gate, whose sides
  /// are measured with other settings, changes neither the rounds nor their end.
  bool has_decidable_gate() const;

  /// Takes an early look if one is due after `rounds` rounds. `planned`: estimated number of rounds
  /// in the session; 0: unknown.
  void look_early_if_due(RoundKind kind, std::size_t rounds, std::size_t planned = 0);

  /// Returns the number of rounds at the next early look; nullopt if no early look follows.
  std::optional<std::size_t> rounds_at_next_early_look(RoundKind kind) const;

  /// Takes a planned look after `rounds` rounds. At the `last` look, undecided gates become
  /// inconclusive.
  void look_as_planned(RoundKind kind, std::size_t rounds, bool last);

  std::size_t planned_looks_taken(RoundKind kind) const {
    return schedules_.at({kind, ConditionPurpose::Fail}).count_planned_looks_taken();
  }
  /// Returns the number of rounds at the next planned look. Must be called after a planned look.
  std::size_t rounds_at_next_planned_look(RoundKind kind) const {
    return schedules_.at({kind, ConditionPurpose::Fail}).rounds_at_next_planned_look();
  }

  /// Returns the fewest rounds that decide a gate on a metric that never varies; 0 if has_gate_on()
  /// is false.
  std::size_t rounds_to_decide_constants(RoundKind kind) const;

  /// Returns the tails that the intervals of `metric` have if the rounds end now.
  stats::IntervalTails tail_probabilities_of(std::size_t metric) const;

  /// Returns the verdicts (undecided gates are inconclusive) and the interval tails of gated
  /// metrics. Nothing can be decided afterwards.
  gate::Findings close();

 private:
  struct WatchedGate {
    gate::Verdict verdict;
    RoundKind kind = RoundKind::Timed;
    bool is_decided = false;
    /// The settings because of which the two sides cannot be compared.
    std::vector<SettingDifference> other_settings{};

    bool is_hopeless() const { return !other_settings.empty(); }
    bool is_open() const { return !is_decided && !is_hopeless(); }
  };

  /// The looks at conditions of one purpose in one kind of round.
  using ScheduleKey = std::pair<RoundKind, ConditionPurpose>;

  struct LookAtGates {
    gate::LookErrors levels;
    gate::Look look;
    bool is_early = false;
  };

  /// Adds a gate for each command to which it applies.
  void watch(const Gate& gate);
  std::size_t count_gates_sharing_error_rate() const;
  void make_schedules();
  const gate::Schedule& schedule_of(const WatchedGate& gate) const;
  /// Returns the number of rounds at the last planned look if the first one is after `first`
  /// rounds; 0 for 0.
  std::size_t rounds_at_last_look(std::size_t first) const;
  void look(const ScheduleKey& gates, const LookAtGates& at);
  bool decide(WatchedGate& gate, const LookAtGates& at, SeriesByMetric& all_series) const;
  static gate::Hindrance find_hindrance_without_answer(const WatchedGate& gate);

  const Plan& plan_;
  const Runs& runs_;
  std::vector<std::size_t> gated_metrics_;
  std::vector<WatchedGate> gates_;
  /// Schedules of both purposes for each kind of round. They look after the same rounds.
  std::map<ScheduleKey, gate::Schedule> schedules_;
};

/// Decides if a plan's precision is reached.
class PrecisionWatch {
 public:
  /// `runs`: the session's runs so far, to which others add.
  PrecisionWatch(const Plan& plan, const Runs& runs, const GateWatch& gates);

  /// True if the commands of a group have enough runs for the precision after `rounds` rounds.
  /// Checks only after some rounds; returns false after others.
  bool check_if_due(std::span<const std::uint32_t> group, std::uint64_t rounds);

  /// For sequential order: true if `command` needs more runs to reach the precision. False with a
  /// baseline.
  bool needs_more_runs(std::size_t command) const;

  /// Returns the precision of the runs so far; nullopt if the plan has no precision.
  std::optional<Precision> close(PrecisionEnd why_rounds_ended) const;

 private:
  const Metric& metric() const { return plan_.metrics[plan_.precision->metric]; }
  /// Returns the series of the precision's metric, for each command.
  std::vector<Series> make_series() const;
  bool is_precise_enough(std::span<const std::uint32_t> group) const;
  bool is_reference_precise_enough(const Series& reference) const;
  bool is_too_wide(std::span<const Series> series, std::size_t candidate) const;
  /// True if the mean of `command`, which is the candidate or its reference, is so precise that it
  /// allows the wanted precision of their difference.
  bool is_within_share(std::span<const Series> series, std::size_t command,
                       std::size_t candidate) const;
  std::optional<double> half_width_of_mean(const Series& series) const;
  std::optional<double> half_width_of_delta(std::span<const Series> series,
                                            std::size_t candidate) const;
  /// True if commands are compared, with each other or with a baseline.
  bool compares_commands() const;
  /// Returns the half width of the widest interval that --precision is about; nullopt if one of
  /// them is unknown.
  std::optional<double> half_width_of_widest_interval(std::span<const Series> series) const;
  /// Returns the largest number of layouts that a command needs to reach the precision; nullopt if
  /// more layouts would help no command.
  std::optional<std::size_t> layouts_to_reach_for_all(std::span<const Series> series) const;
  std::optional<std::size_t> layouts_to_reach(std::span<const Series> series,
                                              std::size_t command) const;

  const Plan& plan_;
  const Runs& runs_;
  const GateWatch& gates_;
  std::uint64_t rounds_at_latest_check_ = 0;
  std::size_t first_command_at_latest_check_ = 0;
};

}  // namespace lauka
