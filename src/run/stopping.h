#pragma once

#include "core/metric.h"
#include "core/record.h"
#include "gate/schedule.h"
#include "gate/verdict.h"
#include "plan/plan.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace lauka {

/// The duration of one batch: long enough that talking to the launcher costs nothing per run, short
/// enough for interrupts, progress and the stop rule.
inline constexpr std::chrono::nanoseconds kBatchTime = std::chrono::milliseconds(25);

/// The duration of one batch if no stop rule, --tune or log of rounds must see runs sooner.
inline constexpr std::chrono::nanoseconds kLongBatchTime = std::chrono::milliseconds(100);

/// The duration of a turn between other plans' turns: one round, or several very short rounds.
/// Short turns make a drift of the machine affect all plans equally.
inline constexpr std::chrono::nanoseconds kTurnTime = std::chrono::milliseconds(2);

/// The rounds and time that alternating commands have used up.
struct Spent {
  std::uint64_t rounds = 0;  ///< number of complete rounds
  std::chrono::nanoseconds
      time{};                ///< time of their runs, with starting and ending them, and hooks
  std::size_t commands = 1;  ///< number of commands that alternate
};

/// True if enough was measured. Commands that alternate may use the sum of their budgets.
bool is_enough(const StopRule& rule, const Spent& spent);

/// Returns the time of `rounds` rounds that take `round` each, limited to half of what nanoseconds
/// can hold.
std::chrono::nanoseconds time_of_rounds(std::uint64_t rounds, std::chrono::duration<double> round);

/// Estimates the number of rounds left if each takes `round_time`; at least 1, even if is_enough().
std::uint64_t rounds_left(const StopRule& rule, const Spent& spent,
                          std::chrono::nanoseconds round_time);

/// The number of budgets that undecided gates may use.
inline constexpr std::int64_t kBudgetsOfGates = 4;

/// Returns the rule for runs after the runs of `rule`: up to `rounds` rounds or kBudgetsOfGates
/// budgets. An exact or largest number of runs is never exceeded.
StopRule extended_to(const StopRule& rule, std::uint64_t rounds);

/// The number of blocks of counting rounds. Blocks are spread over the session, so that a drift of
/// the machine affects counts and times equally.
inline constexpr std::uint64_t kBlocks = 4;

/// The number of rounds that are dropped between a block and the next timed round: after a counting
/// run, the first run takes 4 to 30% longer, the second 1 to 10%, the third no longer
/// (docs/measuring.md).
inline constexpr std::uint64_t kSettlingRounds = 2;

/// The number of simulated rounds unless a gate or functions need more: the fewest whose agreement
/// decides one gate at 95% (4^-3 is 1.6%; the first of five looks may use 1.7%). More rounds add
/// nothing to counts that repeat almost exactly, and a simulated run takes 20 to 100 times as long
/// as a timed one.
inline constexpr std::uint64_t kSimulatedRounds = 3;

/// The amount of counting in separate runs.
struct CountingRule {
  std::uint64_t passes = 0;  ///< number of passes that rotate; 0: nothing is counted separately
  std::uint64_t fewest = 5;  ///< number of rounds of each pass, at least
  bool exactly = false;      ///< true: exactly `fewest` rounds, even if there is time for more
  double share = 0.2;        ///< largest share of the whole time that counting rounds may take
};

/// Returns a plan's rule for counting. A gate on an event needs as many counts as a gate on times
/// needs times.
CountingRule make_counting_rule(const Plan& plan, bool is_gated);

/// Returns the part of the stop rule for timed rounds, which leaves counting its share of the time.
StopRule timed_rule(const StopRule& rule, const CountingRule& counting);

/// True if another counting round belongs to the blocks up to number `block` (from 0).
/// `timed_time`: estimated time of all timed rounds.
bool belongs_to_block(const CountingRule& rule, const Spent& counted, std::uint64_t block,
                      std::chrono::nanoseconds timed_time);

/// Returns the number of blocks that are due after `done` timed rounds, if `left` rounds follow.
/// All rounds are divided into kBlocks equal parts, each with a block at its end, or before it by
/// the fraction `early` of the part.
std::uint64_t blocks_due(std::uint64_t done, std::uint64_t left, double early = 0.0);

/// Returns the number of timed rounds until the next block is due, at least 1.
std::uint64_t rounds_to_next_block(std::uint64_t done, std::uint64_t left, double early = 0.0);

/// The position of untuned rounds (--tune=compare): in the middle of their part of the timed
/// rounds, so that a drift of the machine affects both equally.
inline constexpr double kUntunedEarly = 0.5;

/// Returns the number of untuned rounds that are due after `done` timed rounds, if `left` rounds
/// follow: one for every three timed rounds.
std::uint64_t untuned_rounds_due(std::uint64_t done, std::uint64_t left);

/// Consecutive commands of a plan.
struct CommandRange {
  std::uint32_t first = 0;  ///< index of the first command
  std::uint32_t count = 0;  ///< number of commands
};

/// Commands that alternate: all commands of a plan, or a single one in sequential order.
struct Group {
  std::uint32_t first = 0;  ///< index of the first command
  std::uint32_t count = 0;  ///< number of commands
  Spent spent{};            ///< timed rounds
  std::uint64_t first_look =
      0;  ///< number of timed rounds after which the runs would end without a gate
  std::uint64_t warmups = 0;    ///< number of warm-up rounds
  std::uint64_t simulated = 0;  ///< number of simulated rounds, of all passes together
  Spent counting{};             ///< counting rounds, of all passes together
  std::uint64_t untuned = 0;    ///< number of untuned rounds
  std::uint64_t settling = 0;   ///< number of rounds dropped after counting and untuned rounds
  bool is_settled =
      true;  ///< true if no counting or untuned round came after the last dropped round
};

/// Returns the groups of a plan, in the order in which they run.
std::vector<Group> make_groups(const Plan& plan);

/// Watches the gates of a plan while its runs come in. A gate's metric has values in one kind of
/// round, and each kind has its own schedule (gate::Schedule), which the runner follows. Schedules
/// count rounds even if only some passes or runs have the metric: looks are due at given fractions
/// of the last look's samples, and as passes rotate, a metric's values grow in proportion to the
/// rounds.
class GateWatch {
 public:
  /// `plan` must outlive this object.
  explicit GateWatch(const Plan& plan);

  /// Adds a run that counts.
  void add_run(const RunRecord& run) {
    for (MetricSeries& series : series_) series.add_run(run);
  }

  /// True if there is a gate on a metric of that kind.
  bool asks_for(RoundKind kind) const;
  /// True if a gate on a metric of that kind is undecided.
  bool waits_for(RoundKind kind) const;

  /// True if every gate is decided, or there are no gates.
  bool is_decided() const;

  /// Takes the early look that is due after `rounds` rounds of a kind, if there is one. `planned`:
  /// estimated number of rounds without gates, for the verdict.
  void after_round(RoundKind kind, std::size_t rounds, std::size_t planned = 0);

  /// Returns the number of rounds at the next early look; nullopt if none is left, or no gate
  /// waits.
  std::optional<std::size_t> next_early(RoundKind kind) const;

  /// Takes a planned look: when the rounds would end without gates, at next_planned(), and when
  /// they end. The `last` look decides all open gates.
  void look_as_planned(RoundKind kind, std::size_t rounds, bool last);

  /// Returns the number of planned looks taken.
  std::size_t planned_looks(RoundKind kind) const { return schedules_.at(kind).planned_looks(); }
  /// Returns the number of rounds at the next planned look.
  std::size_t next_planned(RoundKind kind) const { return schedules_.at(kind).next_planned(); }

  /// Returns the fewest rounds that decide about a metric that never varies; 0 without a gate.
  std::size_t rounds_of_constants(RoundKind kind) const;

  /// Returns the tails for an interval of `metric` if the rounds ended now: the plan's, or smaller
  /// ones if a gate on the metric may have chosen the moment.
  stats::IntervalTails tails_of(std::size_t metric) const;

  /// Returns the verdicts (inconclusive for gates that an early end left open), and the interval
  /// tails of gated metrics.
  gate::Findings close();

 private:
  /// A gate applied to one candidate.
  struct Question {
    Condition condition;
    std::size_t candidate = 0;
    std::size_t series = 0;  ///< index into metrics_ and series_
    RoundKind kind = RoundKind::Timed;
    std::optional<gate::Verdict> verdict;
  };

  std::size_t find_series(std::size_t metric);
  void look(RoundKind kind, const gate::Levels& levels, const gate::Look& look, bool early);
  std::optional<gate::Verdict> decide(const Question& question, const gate::Levels& levels,
                                      gate::Look look) const;

  const Plan& plan_;
  std::vector<std::size_t> metrics_;  // gated metrics of the plan, without duplicates
  std::vector<MetricSeries> series_;  // values of each of metrics_
  std::vector<Question> questions_;
  std::map<RoundKind, gate::Schedule> schedules_;  // for the kinds of round that give values
};

/// Watches the width of a metric's intervals, if the plan has a precision.
class PrecisionWatch {
 public:
  /// `plan` and `gates` (which knows the intervals' confidence) must outlive this object.
  PrecisionWatch(const Plan& plan, const GateWatch& gates);

  /// Adds a run that counts.
  void add_run(const RunRecord& run) {
    if (series_) series_->add_run(run);
  }

  /// True if `count` commands from `first` on have run often enough after `rounds` rounds. False
  /// without a precision, before the fewest rounds (at least ten), and between looks. In sequential
  /// order, each side may have half of a delta's variance: while the reference runs, it is unknown
  /// how much slower a candidate is. needs_more_runs() corrects this later.
  bool is_enough(std::size_t first, std::size_t count, std::uint64_t rounds);

  /// True if more runs of `command`, in sequential order, would narrow an interval that is still
  /// too wide; false with a baseline, and without a precision.
  bool needs_more_runs(std::size_t command) const;

  /// Returns the result for the present samples; nullopt if the plan has no precision. `end`:
  /// reason why the runs ended, if the precision is not reached; `Reached` then becomes `Gates`.
  std::optional<Precision> close(PrecisionEnd end) const;

 private:
  bool is_too_wide(std::size_t candidate) const;
  /// True if the contribution of `command` to the half width of `candidate`'s delta is within its
  /// share.
  bool is_within_share(std::size_t command, std::size_t candidate) const;
  std::optional<double> half_width_of_mean(std::size_t command) const;
  std::optional<double> half_width_of_delta(std::size_t candidate) const;
  Comparison samples_of(std::size_t candidate) const;
  /// Returns the number of layouts of `command` that would reach the width, if more runs would not;
  /// else nullopt.
  std::optional<std::size_t> layouts_to_reach(std::size_t command) const;

  const Plan& plan_;
  const GateWatch& gates_;
  std::optional<MetricSeries> series_;
  std::uint64_t looked_at_ = 0;  // number of rounds at the latest look
  std::size_t looked_first_ = 0;
};

}  // namespace lauka
