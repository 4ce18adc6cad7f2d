#pragma once

#include "core/record.h"
#include "core/result.h"
#include "core/runs.h"
#include "gate/verdict.h"
#include "plan/plan.h"
#include "run/kept_rounds.h"
#include "run/race_watch.h"
#include "run/stopping.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace lauka {

/// Action: run the steps in order. The steps are valid until Scheduler::take() has got all their
/// results or Scheduler::end_early() is called.
struct RunSteps {
  std::span<const Step> steps;
  bool is_kept_for_resume = true;  ///< false: the result must not be kept for --resume
};
struct SetUp {
  CommandRange commands;
};
struct CleanUp {
  CommandRange commands;
};
struct CheckOutput {
  CommandRange commands;
};
struct HashPrograms {
  CommandRange commands;
};
struct SwitchTuning {
  bool on = true;
};
/// Action: let the other benchmarks of the suite have their turns.
struct YieldTurn {};
/// Action: end the session. Cleanups that are due still run.
struct End {};

using Action =
    std::variant<RunSteps, SetUp, CleanUp, CheckOutput, HashPrograms, SwitchTuning, YieldTurn, End>;

/// Decides what a session of one plan does next. Decisions depend only on the plan, the conditions
/// and the results taken, so that a session can go on from an earlier process's results (--resume).
///
/// A session runs simulated rounds, warm-up rounds, then timed rounds with blocks of counting
/// rounds between them. The plan's stop rule, precision, gates or race end the timed rounds. More
/// rounds may follow while gates are undecided. Commands that lose a race have no further rounds.
class Scheduler : NonCopyable {
 public:
  struct Conditions {
    bool takes_turns = false;  ///< true if other benchmarks may run between batches
    bool needs_short_batches = false;
    bool compares_tuning = false;  ///< true if some rounds run on the untuned machine
    bool hashes_programs = false;
    bool is_resumed = false;  ///< true if the first results are an earlier process's
  };

  /// `runs`: the session's runs, to which those of a result are added before it is taken.
  Scheduler(const Plan& plan, const Conditions& conditions, const Runs& runs);

  /// Returns the next action. Steps whose results were not taken are requested again.
  Action next_action();

  /// True if `done` can be the result of the latest RunSteps, or of its first rounds.
  bool accepts(const FinishedRounds& done) const;

  /// Takes the result of the latest RunSteps, or of its first rounds.
  void take(const FinishedRounds& done);

  void take_number_of_checks(std::size_t runs) {
    has_checked_output_ = has_checked_output_ || runs > 0;
  }

  /// Begins the part of a resumed session that this process runs itself.
  void end_replay();

  /// Ends the session early. Only actions that restore the machine's tuning, and End, follow.
  void end_early();

  /// True if the gates were decided before the planned end, which ended the session.
  bool was_ended_by_gates() const { return was_ended_by_gates_; }

  /// Returns the results of gates and of the precision so far.
  gate::Findings close();

  /// The state of the latest RunSteps, whose results were not taken yet.
  struct UnderWay {
    Step step{};                      ///< step that runs now
    std::size_t steps_done = 0;       ///< number of steps that have ended
    std::chrono::nanoseconds time{};  ///< time of the steps that have ended
  };

  /// Estimates the seconds that the session still needs; nullopt if unknown. While gates are
  /// undecided, this is the time until their last possible look (may_end_earlier). `paces`: latest
  /// pace of each command.
  std::optional<double> seconds_left(const UnderWay& now, std::span<const Pace> paces) const;

  /// True if undecided gates may end the session before the time that seconds_left() returns.
  bool may_end_earlier() const;

  /// Returns how many commands are left in the race; nullopt without a race.
  std::optional<RaceSoFar> race_so_far() const;

  /// Returns the place of a simulated, counting or sampled run among the runs of its kind; nullopt
  /// for other runs.
  std::optional<RunNumber> number_of_run(const UnderWay& now) const;

 private:
  enum class Stage : unsigned char {
    Begin,
    EnterGroup,
    DecideSimulated,
    WarmUp,
    CountAlone,
    DecideTimed,
    CountLastBlock,
    LeaveGroup,
    AddRoundsForPrecision,
    LookAtGates,
    ExtendToNextLook,
    ExtendTimed,
    Finish,
    RestoreTuning,
    End,
  };

  struct Once {
    Action action;
    bool is_done = false;
  };
  struct RoundTarget {
    RoundKind kind = RoundKind::Timed;
    /// Number of rounds to reach. For counting and simulated rounds, a turn through all passes
    /// counts as one round.
    std::uint64_t rounds = 0;
  };
  struct CountingBlock {
    std::uint64_t number = 0;
    std::chrono::nanoseconds time_of_all_timed_rounds{};
  };
  struct CountingTurnTarget {
    std::uint64_t counting_turns = 0;
  };
  struct SettlingRounds {};
  struct TuningState {
    bool on = true;
  };
  struct TimedBatch {
    bool is_done = false;
  };
  using Goal = std::variant<Once, RoundTarget, CountingBlock, CountingTurnTarget, SettlingRounds,
                            TuningState, TimedBatch>;

  struct RoundsRequest {
    RoundKind kind = RoundKind::Timed;
    std::uint64_t rounds = 0;
    std::vector<Step> steps{};
    std::size_t steps_done = 0;
    bool is_kept_for_resume = true;
  };

  // Each function returns the next action for a goal; nullopt if nothing is left to do.
  std::optional<Action> next_action_for(Once& goal) const;
  std::optional<Action> next_action_for(const RoundTarget& goal);
  std::optional<Action> next_action_for(const CountingBlock& goal);
  std::optional<Action> next_action_for(const CountingTurnTarget& goal);
  std::optional<Action> next_action_for(const SettlingRounds& goal);
  std::optional<Action> next_action_for(const TuningState& goal);
  std::optional<Action> next_action_for(TimedBatch& goal);

  void run_stage();
  void begin();
  void enter_group();
  void warm_up();
  void decide_simulated();
  void count_alone();
  /// Looks at the results so far. Returns true if the timed rounds of the group are over.
  bool decide_if_timed_rounds_are_over();
  void decide_timed();
  void count_last_block();
  void leave_group();
  void add_rounds_for_precision();
  void look_at_gates();
  void extend_to_next_look();
  void extend_timed();
  void finish();
  void restore_tuning();

  void add_goal(Goal goal) { goals_.push_back(std::move(goal)); }
  void add_counting_block_if_due();
  void add_untuned_rounds(std::uint64_t due);
  void add_timed_batch();
  void look_at_gates_of_all_kinds();
  Action request_counting_turn();
  Group& group() { return groups_[current_]; }
  const Group& group() const { return groups_[current_]; }
  CommandRange commands_of_group() const {
    return {group().commands.front(), static_cast<std::uint32_t>(group().commands.size())};
  }
  CommandRange all_commands() const {
    return {0, static_cast<std::uint32_t>(plan_.commands.size())};
  }
  Action request_rounds(RoundKind kind, std::uint64_t first, std::uint64_t rounds,
                        bool is_kept = true);
  Action issue_request();
  std::chrono::nanoseconds* find_time_of(RoundKind kind);
  void count_completed_rounds(const RoundsRequest& request);
  std::uint64_t& rounds_of(RoundKind kind);
  std::uint64_t warmup_rounds_done_by_check() const;
  std::uint64_t warmup_rounds() const { return plan_.setting.warmup_runs * plan_.setting.layouts; }
  bool may_end_by_gates() const;
  void note_which_limit_ended_rounds();
  void look_at_race(bool is_last);
  std::uint64_t timed_rounds_left() const;
  std::uint64_t choose_rounds_of_batch() const;
  std::uint64_t max_rounds_at_once() const;
  std::uint64_t counting_turns_done(const Group& group) const;
  std::chrono::nanoseconds round_time(const Group& group, std::span<const Pace> paces) const;
  std::optional<std::size_t> find_group_to_refine(std::size_t first) const;
  void look_as_planned_at(RoundKind kind, std::uint64_t rounds, bool can_go_on);
  void note_if_functions_vary(const FinishedRounds& done);
  bool hooks_prevent_more_rounds() const;
  bool can_time_more() const;
  bool can_count_more() const;
  /// True if undecided gates on values from rounds of `kind` may add more of them.
  bool may_add_rounds_for_gates(RoundKind kind) const;
  StopRule rule_to_last_look(const Group& group, std::chrono::nanoseconds time_of_round) const;
  double timed_seconds_left(const Group& group, std::span<const Pace> paces) const;
  /// Returns 0 if the number of counting rounds is exact. `counting_seconds`: time of all counting
  /// rounds so far.
  double counting_seconds_left_by_share(double timed_seconds, double counting_seconds) const;
  /// Returns the seconds up to the smallest number of counting rounds; 0 if they are unknown.
  double counting_seconds_left_by_number(double seconds_under_way) const;
  double counting_seconds_left(const UnderWay& now, double timed_seconds) const;
  std::optional<double> seconds_left_of_counting_alone(const UnderWay& now) const;
  double seconds_left_by_paces(const UnderWay& now, std::span<const Pace> paces) const;
  /// Returns the seconds that timed and counting rounds are likely to need if none of them has run
  /// yet.
  double seconds_of_budget() const;
  /// Returns the seconds that timed and counting rounds need; nullopt if unknown.
  std::optional<double> seconds_left_after_simulation(const UnderWay& now,
                                                      std::span<const Pace> paces) const;
  std::optional<double> simulated_seconds_left(const UnderWay& now) const;
  std::uint64_t count_simulated_runs() const;

  const Plan& plan_;
  Conditions conditions_;
  bool has_surrounding_hooks_;
  bool is_timed_;
  GateWatch gates_;
  PrecisionWatch precision_;
  std::optional<RaceWatch> race_;
  CountingRoundsRule counting_;
  StopRule rule_without_gates_;
  StopRule rule_to_next_look_;
  std::uint64_t planned_simulated_rounds_ = 0;
  std::uint64_t wanted_simulated_rounds_ = 0;  // of the present group, with rounds added later
  RoundsAndTime simulated_runs_and_time_;      // `rounds` is a number of runs
  /// Counts of the first run that had counts by function, for each command and pass.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::optional<std::uint64_t>>>
      first_counts_;
  /// Counts by function of the first such run, for each command and pass.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<FunctionCounts>> first_functions_;
  bool functions_vary_ = false;
  std::vector<Pace> paces_;
  std::vector<Group> groups_;
  std::size_t current_ = 0;  // index of the present group
  bool has_refined_ = false;
  Stage stage_ = Stage::Begin;
  std::deque<Goal> goals_;
  std::vector<RoundsRequest> requests_;  // the last request is being run; at most two
  bool has_checked_output_ = false;
  bool has_ended_early_ = false;
  bool was_ended_by_gates_ = false;
  bool has_left_replay_;             // false: the results are an earlier process's
  bool must_warm_up_again_ = false;  // true: a resumed session has not repeated the warm-up
  std::uint64_t repeated_warmup_rounds_ = 0;
  bool is_goal_tuned_ = true;  // whether the next rounds need the tuned machine
  bool is_tuned_ = true;
  PrecisionEnd ended_by_ = PrecisionEnd::Reached;
};

}  // namespace lauka
