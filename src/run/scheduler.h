#pragma once

#include "core/record.h"
#include "core/result.h"
#include "gate/verdict.h"
#include "plan/plan.h"
#include "run/kept_rounds.h"
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

/// Action: run these steps in order. The steps exist until FinishedRounds for all of them were
/// taken.
struct RunSteps {
  std::span<const Step> steps;
  bool is_kept = true;  ///< true: the result is kept for --resume
};
/// Action: run the setups of these commands.
struct SetUp {
  CommandRange commands;
};
/// Action: run the cleanups of these commands.
struct CleanUp {
  CommandRange commands;
};
/// Action: run these commands once, and compare their output with the expected output
/// (--expect-output).
struct CheckOutput {
  CommandRange commands;
};
/// Action: hash the programs of these commands.
struct Identify {
  CommandRange commands;
};
/// Action: tune the machine, or restore it (--tune=compare).
struct Tune {
  bool on = true;  ///< true: tune; false: restore
};
/// Action: let the other benchmarks of the suite have their turns.
struct LetOthers {};
/// Action: end the session; only cleanups that are due remain.
struct End {};

/// An action that a session takes next.
using Action = std::variant<RunSteps, SetUp, CleanUp, CheckOutput, Identify, Tune, LetOthers, End>;

/// Decides what a session of one plan does next. It calls nothing and reads no clock: its decisions
/// depend on the plan and on the results it is given, so that equal results give equal sessions,
/// even if an earlier process made some of the results (--resume).
///
/// A session runs simulated rounds, warm-up rounds, then timed rounds with blocks of counting
/// rounds between them, until the plan's stop rule is satisfied, its precision is reached or its
/// gates are decided. Then open gates are looked at. Unless the number of runs is exact, rounds go
/// on to each of gate::look_rounds, until every gate is decided or four times the budget is used.
/// In sequential order, each look continues with the reference, then with the other commands,
/// without new warm-up runs. It cannot continue if there are setups or cleanups, which surround all
/// runs of a command.
///
/// With --layouts, the rounds of each kind come in sweeps, which have a round for each layout;
/// nothing is decided within a sweep.
class Scheduler : NonCopyable {
 public:
  /// Conditions, besides the plan, on which decisions depend.
  struct Conditions {
    bool takes_turns =
        false;  ///< true if other benchmarks run between this plan's batches of timed rounds
    bool is_watched =
        false;  ///< true if runs must be looked at soon, for --tune or a log of rounds
    bool compares_tuning =
        false;  ///< true if some rounds run on the untuned machine (--tune=compare)
    bool identifies =
        false;  ///< true if the programs of all commands are hashed, even without setups
    bool is_resumed =
        false;  ///< true if the first results are an earlier process's, until go_live()
  };

  /// `plan` must outlive this object.
  Scheduler(const Plan& plan, const Conditions& conditions);

  /// Returns the next action. After RunSteps, must be called only when all its results were taken.
  Action next();

  /// True if `done` can be the result of the latest RunSteps.
  bool accepts(const FinishedRounds& done) const;

  /// Takes the result of the latest RunSteps, or of its first rounds.
  void take(const FinishedRounds& done);

  /// Takes the number of commands that the latest CheckOutput checked.
  void take_checked(std::size_t runs) { has_checked_output_ = has_checked_output_ || runs > 0; }

  /// Ends the part of a resumed session that an earlier process ran.
  void go_live();

  /// Ends the session early: only actions that restore the machine follow.
  void end_early();

  /// Returns the results of gates and of the precision so far.
  gate::Findings close();

  /// Estimates the remaining seconds from the start of `step` on; nullopt if unknown. `paces` has
  /// the latest pace of each command. If there are gates, estimates up to the next look, because it
  /// is unknown which look decides.
  std::optional<double> seconds_left(const Step& step, std::span<const Pace> paces) const;

 private:
  enum class Stage : unsigned char {
    Begin,
    Enter,            // set up a group
    DecideSimulated,  // look at gates on simulated counts
    WarmUp,
    CountAlone,  // count, if no run is timed
    Time,
    LastBlock,
    Leave,  // clean up a group
    Refine,
    Look,
    Extend,       // count until the next look
    ExtendTimed,  // time until the next look
    Finish,
    Restore,
    End,
  };

  // Goals: what must be done before the stage goes on.
  struct Once {
    Action action;
    bool is_done = false;
  };
  struct UpTo {  // number of rounds of a kind; of counting and simulated rounds, number of turns
                 // through all passes
    RoundKind kind = RoundKind::Timed;
    std::uint64_t rounds = 0;
  };
  struct Block {  // all counting rounds that belong to blocks up to this one
    std::uint64_t number = 0;
    std::chrono::nanoseconds timed_time{};
  };
  struct TurnsToLook {  // number of turns, while counting's share of the budgets lasts
    std::uint64_t turns = 0;
  };
  struct Settle {};
  struct WantTuned {
    bool on = true;
  };
  struct TimedBatch {
    bool is_done = false;
  };
  using Goal = std::variant<Once, UpTo, Block, TurnsToLook, Settle, WantTuned, TimedBatch>;

  /// Rounds that are being run.
  struct Request {
    RoundKind kind = RoundKind::Timed;
    std::uint64_t rounds = 0;
    std::vector<Step> steps{};
    std::size_t done = 0;  ///< number of steps whose results were taken
    bool is_kept = true;
  };

  // Each returns an action towards the goal; nullopt once the goal is reached.
  std::optional<Action> approach(Once& goal) const;
  std::optional<Action> approach(const UpTo& goal);
  std::optional<Action> approach(const Block& goal);
  std::optional<Action> approach(const TurnsToLook& goal);
  std::optional<Action> approach(const Settle& goal);
  std::optional<Action> approach(const WantTuned& goal);
  std::optional<Action> approach(TimedBatch& goal);

  // Each adds the next goals of its stage, or moves to another stage.
  void go_on();
  void begin();
  void enter_group();
  void decide_simulated();
  void count_alone();
  void time();
  void count_last_block();
  void leave_group();
  void refine();
  void look_at_gates();
  void extend();
  void extend_timed();
  void finish();
  void restore();

  void add(Goal goal) { goals_.push_back(std::move(goal)); }
  void add_due_counting();
  void add_untuned(std::uint64_t due);
  void add_batch();
  void look_everywhere();
  Action count_a_turn();
  Group& group() { return groups_[current_]; }
  const Group& group() const { return groups_[current_]; }
  CommandRange range() const { return {group().first, group().count}; }
  CommandRange everything() const { return {0, static_cast<std::uint32_t>(plan_.commands.size())}; }
  Action request(RoundKind kind, std::uint64_t first, std::uint64_t rounds, bool is_kept = true);
  Action issue();
  std::chrono::nanoseconds* time_of(RoundKind kind);
  void complete(const Request& request);
  std::uint64_t& rounds_of(RoundKind kind);
  std::uint64_t first_warmup() const;
  /// Returns the number of warm-up rounds: each layout of a command is warmed up.
  std::uint64_t warmup_rounds() const { return plan_.setting.warmup * plan_.setting.layouts; }
  bool is_answered() const;
  void note_limit();
  std::uint64_t timed_rounds_left() const;
  std::uint64_t rounds_of_batch() const;
  std::uint64_t rounds_at_once() const;
  std::uint64_t turns(const Group& group) const;
  std::chrono::nanoseconds round_time(const Group& group, std::span<const Pace> paces) const;
  std::optional<std::size_t> next_to_refine(std::size_t from) const;
  void look(RoundKind kind, std::uint64_t rounds, bool can_go_on);
  void note_variation(const FinishedRounds& done);
  bool is_bound_to_turns() const;
  bool can_time_more() const;
  bool can_count_more() const;
  double seconds_of_timed(const Group& group, std::span<const Pace> paces) const;
  double seconds_of_rounds(const Step& step, std::span<const Pace> paces) const;

  const Plan& plan_;
  Conditions conditions_;
  bool has_surrounding_hooks_;  // setups or cleanups, after which a command cannot be continued
                                // later
  bool is_timed_;
  GateWatch gates_;
  PrecisionWatch precision_;
  CountingRule counting_;
  StopRule timed_;                      // rule for timed rounds without gates
  StopRule rule_;                       // rule for rounds until the next look
  std::uint64_t simulated_rounds_ = 0;  // number of simulated rounds before the first look at gates
  Spent simulating_;                    // its `rounds` counts single runs
  /// Counts of the first simulated run, by command and pass.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::optional<std::uint64_t>>>
      first_counts_;
  bool functions_vary_ = false;  // so that more simulated rounds may help
  std::vector<Pace> paces_;      // by command
  std::vector<Group> groups_;
  std::size_t current_ = 0;  // index of the current group
  bool has_refined_ = false;
  Stage stage_ = Stage::Begin;
  std::deque<Goal> goals_;
  std::vector<Request> requests_;  // the last one is being run; at most two
  bool has_checked_output_ = false;
  bool has_ended_early_ = false;
  bool is_live_;          // true if results are made now, false if they are an earlier process's
  bool is_cold_ = false;  // the warm-up must be repeated before the next timed round
  std::uint64_t warmed_again_ = 0;  // warm-up rounds of that repetition
  bool is_goal_tuned_ = true;
  bool is_tuned_ = true;  // according to the latest Tune
  PrecisionEnd ended_by_ = PrecisionEnd::Reached;
};

}  // namespace lauka
