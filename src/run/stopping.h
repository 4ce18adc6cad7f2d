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

/// The length of one request: long enough that talking to the launcher costs nothing per run, short
/// enough that interrupts, progress and the stop rule are looked at often.
inline constexpr std::chrono::nanoseconds kBatchTime = std::chrono::milliseconds(25);

/// The length of one request if no stop rule, --tune or log of rounds needs to see runs sooner.
inline constexpr std::chrono::nanoseconds kLongBatchTime = std::chrono::milliseconds(100);

/// The length of a turn between other plans' turns, so that a drift of the machine hits all alike:
/// one round, or several very short ones.
inline constexpr std::chrono::nanoseconds kTurnTime = std::chrono::milliseconds(2);

/// Progress of the commands that take turns.
struct Spent {
  std::uint64_t rounds = 0;         ///< complete ones
  std::chrono::nanoseconds time{};  ///< their runs took, with starting and ending them
  std::size_t commands = 1;
};

/// Returns true if enough was measured. Commands that take turns may use the sum of their budgets.
bool is_enough(const StopRule& rule, const Spent& spent);

/// Computes how long `rounds` take, at most half of what nanoseconds hold.
std::chrono::nanoseconds time_of_rounds(std::uint64_t rounds, std::chrono::duration<double> round);

/// Estimates how many rounds are left if one takes `round_time`; at least 1 while it is not enough.
std::uint64_t rounds_left(const StopRule& rule, const Spent& spent,
                          std::chrono::nanoseconds round_time);

/// Budgets that undecided gates may use.
inline constexpr std::int64_t kBudgetsOfGates = 4;

/// Returns the rule for runs after those of `rule`: up to `rounds` or kBudgetsOfGates. An exact
/// number of runs is never exceeded.
StopRule extended_to(const StopRule& rule, std::uint64_t rounds);

/// Blocks of counting rounds, spread over the session, so that a drift of the machine hits counts
/// and times alike.
inline constexpr std::uint64_t kBlocks = 4;

/// Rounds that are thrown away between a block and the next timed round: the first run after a
/// counting run takes 4 to 30% longer, the second 1 to 10%, the third nothing (docs/measuring.md).
inline constexpr std::uint64_t kSettlingRounds = 2;

/// Simulated rounds before any gate asks for more: the fewest whose agreement decides one gate at
/// 95% (4^-3 is 1.6%, and 1.7% is left to the first of five looks). Counts that repeat almost
/// exactly gain nothing from more, and a run takes 20 to 100 times as long as a timed one.
inline constexpr std::uint64_t kSimulatedRounds = 3;

/// The amount of counting besides the timed runs.
struct CountingRule {
  std::uint64_t passes = 0;  ///< passes that take turns; 0: nothing is counted apart
  std::uint64_t fewest = 5;  ///< rounds of each pass
  bool exactly = false;      ///< exactly the fewest, even with time left
  double share = 0.2;        ///< share of the whole time that counting rounds may take
};

/// Returns a plan's rule. A gate on an event needs as many counts as one on times needs times.
CountingRule make_counting_rule(const Plan& plan, bool is_gated);

/// Returns the timed rounds' part of the stop rule, which leaves counting its share of the time.
StopRule timed_rule(const StopRule& rule, const CountingRule& counting);

/// True if one more round belongs to the blocks up to number `block` (from 0). `timed_time`: the
/// estimated time of all timed rounds.
bool belongs_to_block(const CountingRule& rule, const Spent& counted, std::uint64_t block,
                      std::chrono::nanoseconds timed_time);

/// Returns the number of blocks due after `done` timed rounds if `left` follow. Of kBlocks equal
/// parts of all rounds, each has a block at its end, or the fraction `early` of a part before that.
std::uint64_t blocks_due(std::uint64_t done, std::uint64_t left, double early = 0.0);

/// Returns the number of timed rounds until the next block is due; at least 1.
std::uint64_t rounds_to_next_block(std::uint64_t done, std::uint64_t left, double early = 0.0);

/// Blocks of untuned rounds (--tune=compare) come in the middle of their part of the timed rounds,
/// so that a drift of the machine hits both alike.
inline constexpr double kUntunedEarly = 0.5;

/// Returns the number of untuned rounds due after `done` timed rounds if `left` follow: one for
/// three timed ones.
std::uint64_t untuned_rounds_due(std::uint64_t done, std::uint64_t left);

/// Commands of a plan that are next to each other.
struct CommandRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Commands that take turns: all of them, or one under sequential order.
struct Group {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  Spent spent{};
  std::uint64_t first_look = 0;  ///< rounds when counting would stop without a gate
  std::uint64_t warmups = 0;     ///< warm-up rounds
  std::uint64_t simulated = 0;   ///< rounds of simulated runs, of all passes
  Spent counting{};              ///< rounds of all passes
  std::uint64_t untuned = 0;     ///< rounds that were not tuned
  std::uint64_t settling = 0;    ///< rounds thrown away after counting and untuned rounds
  bool is_settled = true;        ///< no such round since the last of these
};

/// Returns the groups of a plan, in the order in which they are run.
std::vector<Group> make_groups(const Plan& plan);

/// Watches the gates of a plan while its runs come in. A gate's metric has values in one kind of
/// rounds, and each kind has a schedule of its own (gate::Schedule), which the runner follows.
///
/// The schedule goes by rounds, even if only some passes or runs have the metric. The boundary asks
/// for looks at given fractions of the last look's samples; as passes take turns, a metric's values
/// grow in proportion to the rounds.
class GateWatch {
 public:
  /// `plan` must outlive it.
  explicit GateWatch(const Plan& plan);

  /// Enters a counted run.
  void add_run(const RunRecord& run) {
    for (MetricSeries& series : series_) series.add_run(run);
  }

  /// True if there is a gate on a metric of that kind.
  bool asks_for(RoundKind kind) const;
  /// True if one of these is still open.
  bool waits_for(RoundKind kind) const;

  /// True if every gate has its answer, or there are no gates.
  bool is_decided() const;

  /// Takes the early look after `rounds` of a kind, if there is one. `planned`: about how many
  /// rounds there would be without gates, for the verdict.
  void after_round(RoundKind kind, std::size_t rounds, std::size_t planned = 0);

  /// Returns the rounds of the next early look; nullopt if there are no more.
  std::optional<std::size_t> next_early(RoundKind kind) const;

  /// Takes a planned look, when counting would stop without gates, at next_planned, or when the
  /// rounds end; the `last` one answers all open gates.
  void look_as_planned(RoundKind kind, std::size_t rounds, bool last);

  /// Returns the planned looks taken, and the rounds of the next one.
  std::size_t planned_looks(RoundKind kind) const { return schedules_.at(kind).planned_looks(); }
  std::size_t next_planned(RoundKind kind) const { return schedules_.at(kind).next_planned(); }

  /// Returns the fewest rounds that decide a metric that never varies; 0 without a gate.
  std::size_t rounds_of_constants(RoundKind kind) const;

  /// Returns the tails of an interval of `metric` if the rounds end now: the plan's, or smaller if
  /// a gate on it may have chosen the moment.
  stats::IntervalTails tails_of(std::size_t metric) const;

  /// Returns the answers (inconclusive if an early end left a gate open), and the intervals of the
  /// gated metrics.
  gate::Findings close();

 private:
  /// One gate about one candidate.
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
  std::vector<std::size_t> metrics_;  // the gated ones of the plan, each once
  std::vector<MetricSeries> series_;  // of these
  std::vector<Question> questions_;
  std::map<RoundKind, gate::Schedule> schedules_;  // of the kinds that give values
};

/// Watches the width of a metric's intervals, if the plan wants a precision.
class PrecisionWatch {
 public:
  /// `plan` and `gates`, which know the intervals' confidence, must outlive it.
  PrecisionWatch(const Plan& plan, const GateWatch& gates);

  /// Enters a kept run.
  void add_run(const RunRecord& run) {
    if (series_) series_->add_run(run);
  }

  /// True if `count` commands from `first` on have run often enough after `rounds`. In sequential
  /// order each has half of a delta's variance: while the reference runs, it is unknown how much
  /// slower a candidate is. needs_more_runs knows that later.
  bool is_enough(std::size_t first, std::size_t count, std::uint64_t rounds);

  /// True if more runs of `command`, in sequential order, would narrow an interval that is still
  /// too wide.
  bool needs_more_runs(std::size_t command) const;

  /// Returns the result by the present samples. `end`: what ended the runs, if the precision is not
  /// reached. nullopt if none is wanted.
  std::optional<Precision> close(PrecisionEnd end) const;

 private:
  bool is_too_wide(std::size_t candidate) const;
  /// True if the part of `command` in the half width of `candidate`'s delta is no more than its
  /// share.
  bool has_its_share(std::size_t command, std::size_t candidate) const;
  std::optional<double> half_width_of_mean(std::size_t command) const;
  std::optional<double> half_width_of_delta(std::size_t candidate) const;
  Comparison samples_of(std::size_t candidate) const;
  /// Returns the layouts of `command` that would give the width where more runs would not.
  std::optional<std::size_t> layouts_to_reach(std::size_t command) const;

  const Plan& plan_;
  const GateWatch& gates_;
  std::optional<MetricSeries> series_;
  std::uint64_t looked_at_ = 0;  // rounds
  std::size_t looked_first_ = 0;
};

}  // namespace lauka
