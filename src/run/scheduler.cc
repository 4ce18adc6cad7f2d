#include "run/scheduler.h"

#include "os/process.h"
#include "plan/command_layouts.h"
#include "plan/rounds.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace lauka {

namespace {

using std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;

constexpr std::uint64_t kNoRoundsLeft = 0;

bool needs_timed_runs(const Plan& plan) {
  const auto is_counted = [&](std::size_t metric) {
    return kind_of(plan.metrics[metric], plan.setting.events) != RoundKind::Timed;
  };
  if (plan.setting.stop.exact_runs || !primary_metric(plan.metrics)) return true;
  if (plan.precision && !is_counted(plan.precision->metric)) return true;
  for (std::size_t m = 0; m < plan.metrics.size(); ++m)
    if (plan.metrics[m].shown == Shown::Always && !is_counted(m)) return true;
  return !std::ranges::all_of(plan.gates,
                              [&](const Gate& gate) { return is_counted(gate.metric); });
}

/// True if a hook must run before or after all runs of a command: setup or cleanup.
bool has_surrounding_hooks(const Plan& plan) {
  return std::ranges::any_of(plan.commands, [](const Command& command) {
    return std::ranges::any_of(kHookKinds, [&](const HookRow& row) {
      return !row.is_of_a_run() && command.hooks[row.kind].has_value();
    });
  });
}

std::uint64_t count_simulated_rounds(const Plan& plan, const GateWatch& gates) {
  if (plan.setting.events.count_passes(RoundKind::Simulated) == 0) return 0;
  return std::max<std::uint64_t>(kMinSimulatedRounds,
                                 gates.rounds_to_decide_constants(RoundKind::Simulated));
}

}  // namespace

Scheduler::Scheduler(const Plan& plan, const Conditions& conditions, const Runs& runs)
    : plan_(plan),
      conditions_(conditions),
      has_surrounding_hooks_(has_surrounding_hooks(plan)),
      is_timed_(needs_timed_runs(plan)),
      gates_(plan, runs),
      precision_(plan, runs, gates_),
      counting_(make_counting_rule(plan, gates_.has_gate_on(RoundKind::Counting))),
      rule_without_gates_(timed_rule(plan.setting.stop, counting_)),
      rule_to_next_look_(rule_without_gates_),
      planned_simulated_rounds_(count_simulated_rounds(plan, gates_)),
      paces_(plan.commands.size()),
      groups_(make_groups(plan)),
      has_left_replay_(!conditions.is_resumed) {
  if (plan.race) race_.emplace(plan, runs);
}

Action Scheduler::next_action() {
  for (;;) {
    if (!requests_.empty()) return issue_request();
    while (!goals_.empty()) {
      if (auto action =
              std::visit([this](auto& goal) { return next_action_for(goal); }, goals_.front()))
        return *std::move(action);
      goals_.pop_front();
    }
    if (stage_ == Stage::End) return End{};
    run_stage();
  }
}

bool Scheduler::accepts(const FinishedRounds& done) const {
  if (requests_.empty()) return false;
  const RoundsRequest& request = requests_.back();
  const Step& next = request.steps[request.steps_done];
  return done.step_count <= request.steps.size() - request.steps_done &&
         done.first.kind == next.kind && done.first.round == next.round &&
         done.first.command == next.command && done.paces.size() == paces_.size();
}

void Scheduler::take(const FinishedRounds& done) {
  RoundsRequest& request = requests_.back();
  if (nanoseconds* const time = find_time_of(request.kind)) *time += done.time;
  paces_ = done.paces;
  note_if_functions_vary(done);
  request.steps_done += done.step_count;
  if (request.steps_done < request.steps.size()) return;
  const RoundsRequest completed = std::move(request);
  requests_.pop_back();
  count_completed_rounds(completed);
}

void Scheduler::end_replay() {
  has_left_replay_ = true;
  must_warm_up_again_ = true;
  repeated_warmup_rounds_ = warmup_rounds_done_by_check();
}

void Scheduler::end_early() {
  has_ended_early_ = true;
  goals_.clear();
  requests_.clear();
  if (stage_ < Stage::Finish) stage_ = Stage::Finish;
}

gate::Findings Scheduler::close() {
  gate::Findings findings = gates_.close();
  findings.precision = precision_.close(has_ended_early_ ? PrecisionEnd::Unfinished : ended_by_);
  if (race_) findings.race = race_->close(groups_.front().timed_spent.rounds);
  return findings;
}

// A session is a sequence of stages. Each stage has a function, which adds goals, such as a number
// of rounds. If the stage is over then, the function also sets the next stage. next_action() works
// off the goals before it comes back here.
//
// Most stages are about one group of commands, which alternate. In sequential order, each command
// is a group.
void Scheduler::run_stage() {
  switch (stage_) {
    case Stage::Begin:
      return begin();
    case Stage::EnterGroup:
      return enter_group();
    case Stage::DecideSimulated:
      return decide_simulated();
    case Stage::WarmUp:
      return warm_up();
    case Stage::CountAlone:
      return count_alone();
    case Stage::DecideTimed:
      return decide_timed();
    case Stage::CountLastBlock:
      return count_last_block();
    case Stage::LeaveGroup:
      return leave_group();
    case Stage::AddRoundsForPrecision:
      return add_rounds_for_precision();
    case Stage::LookAtGates:
      return look_at_gates();
    case Stage::ExtendToNextLook:
      return extend_to_next_look();
    case Stage::ExtendTimed:
      return extend_timed();
    case Stage::Finish:
      return finish();
    case Stage::RestoreTuning:
      return restore_tuning();
    case Stage::End:
      return;  // next_action() ends the session
  }
}

void Scheduler::begin() {
  if (!has_surrounding_hooks_) add_goal(Once{CheckOutput{all_commands()}});
  stage_ = Stage::EnterGroup;
}

void Scheduler::enter_group() {
  add_goal(Once{SetUp{commands_of_group()}});
  if (conditions_.hashes_programs || has_surrounding_hooks_)
    add_goal(Once{HashPrograms{commands_of_group()}});
  if (has_surrounding_hooks_) add_goal(Once{CheckOutput{commands_of_group()}});
  add_goal(RoundTarget{RoundKind::Simulated, planned_simulated_rounds_});
  stage_ = Stage::DecideSimulated;
}

void Scheduler::decide_simulated() {
  if (groups_.size() == 1 && gates_.has_undecided_gate_on(RoundKind::Simulated)) {
    look_as_planned_at(RoundKind::Simulated, planned_simulated_rounds_,
                       !plan_.setting.stop.exact_runs);
    if (gates_.has_undecided_gate_on(RoundKind::Simulated))
      add_goal(RoundTarget{RoundKind::Simulated,
                           gates_.rounds_at_next_planned_look(RoundKind::Simulated)});
    return;
  }

  // Functions with varying counts can be compared only after more rounds.
  const std::uint64_t passes = plan_.setting.events.count_passes(RoundKind::Simulated);
  if (functions_vary_ && group().simulated_rounds_done < kMinFunctionRounds * passes)
    return add_goal(RoundTarget{RoundKind::Simulated, kMinFunctionRounds});

  group().warmup_rounds_done = warmup_rounds_done_by_check();
  const bool is_only_simulated = !is_timed_ && counting_.passes == 0;
  stage_ = is_only_simulated ? Stage::LeaveGroup : Stage::WarmUp;
}

std::uint64_t Scheduler::warmup_rounds_done_by_check() const {
  // The check has run each command once in each layout, as a warm-up round does.
  const bool is_like_warmup = has_checked_output_ && groups_.size() == 1 &&
                              planned_simulated_rounds_ == 0 && plan_.setting.jobs == 1;
  return is_like_warmup ? plan_.setting.layouts : 0;
}

void Scheduler::warm_up() {
  add_goal(RoundTarget{RoundKind::Warmup, warmup_rounds()});
  stage_ = is_timed_ ? Stage::DecideTimed : Stage::CountAlone;
}

void Scheduler::count_alone() {
  const std::uint64_t done = counting_turns_done(group());
  const bool is_over = satisfies_stop_rule(plan_.setting.stop,
                                           {done, group().counting.time, group().commands.size()});
  was_ended_by_gates_ = !is_over && done > 0 && may_end_by_gates();
  if (is_over || was_ended_by_gates_) {
    stage_ = Stage::LeaveGroup;
    return;
  }
  add_goal(Once{YieldTurn{}});
  add_goal(RoundTarget{RoundKind::Counting, done + 1});
}

// Timed rounds end at the wanted precision, at a limit, at the end of a race, or when all gates are
// decided.
bool Scheduler::decide_if_timed_rounds_are_over() {
  const RoundsAndTime& spent = group().timed_spent;
  const bool has_run = spent.rounds > 0;

  // The precision is checked only from time to time. The limits are those of the user on rounds and
  // time.
  const bool is_precise = has_run && precision_.check_if_due(group().commands, spent.rounds);
  const bool is_at_limit = !is_precise && satisfies_stop_rule(rule_without_gates_, spent);
  if (is_at_limit) note_which_limit_ended_rounds();
  bool is_over = is_precise || is_at_limit;

  // A race compares the commands from time to time, and drops those that cannot win. It compares
  // them once more at the end of the rounds, because this may decide the race.
  if (race_ && has_run) {
    const bool is_last_look = is_over;
    look_at_race(is_last_look);
    is_over = is_over || race_->is_over();
  }

  // Gates are conditions on the results. They end the rounds early if the results so far decide all
  // of them. Gates that are undecided at the end of these rounds get more rounds later.
  if (!is_over && has_run) {
    gates_.look_early_if_due(RoundKind::Timed, spent.rounds, spent.rounds + timed_rounds_left());
    is_over = may_end_by_gates();
    was_ended_by_gates_ = is_over;
  }
  return is_over;
}

// Untuned rounds show what --tune changes. They are due in proportion to the timed rounds, so some
// may be due even at the end.
void Scheduler::decide_timed() {
  const RoundsAndTime& spent = group().timed_spent;
  if (decide_if_timed_rounds_are_over()) {
    add_untuned_rounds(untuned_rounds_due(spent.rounds, kNoRoundsLeft));
    stage_ = Stage::CountLastBlock;
    return;
  }

  add_counting_block_if_due();
  add_untuned_rounds(untuned_rounds_due(spent.rounds, timed_rounds_left()));
  add_timed_batch();
}

/// Commands that leave the race leave the group, too, so that the others have the rest of the time.
void Scheduler::look_at_race(bool is_last) {
  const std::uint64_t rounds = group().timed_spent.rounds;
  if (is_last) {
    race_->look_last(rounds, ended_by_ == PrecisionEnd::MaxRuns ? gate::RaceEnd::MaxRuns
                                                                : gate::RaceEnd::Duration);
  } else if (rounds >= race_->rounds_at_next_look()) {
    race_->look(rounds);
  }
  group().commands = race_->left();
}

void Scheduler::count_last_block() {
  if (counting_.passes > 0) add_goal(CountingBlock{kBlocks - 1, group().timed_spent.time});
  stage_ = Stage::LeaveGroup;
}

void Scheduler::leave_group() {
  if (groups_.size() > 1) add_goal(Once{CleanUp{commands_of_group()}});
  ++current_;
  const bool is_last = current_ == groups_.size();
  stage_ = is_last ? Stage::AddRoundsForPrecision : Stage::EnterGroup;
}

/// Only the results of all commands show how precisely each command must be known. So in sequential
/// order, commands may need more rounds now.
void Scheduler::add_rounds_for_precision() {
  if (has_refined_ && satisfies_stop_rule(rule_without_gates_, group().timed_spent))
    note_which_limit_ended_rounds();

  // Each group in turn has a batch, and after the last group, the first one that still needs more.
  auto next =
      groups_.size() == 1 ? std::nullopt : find_group_to_refine(has_refined_ ? current_ + 1 : 0);
  if (!next && has_refined_) next = find_group_to_refine(0);
  if (next && !has_surrounding_hooks_) {
    current_ = *next;
    has_refined_ = true;
    add_timed_batch();
    return;
  }
  if (next) ended_by_ = PrecisionEnd::HooksPreventedRuns;
  for (Group& each : groups_) each.rounds_at_first_look = each.timed_spent.rounds;
  stage_ = Stage::LookAtGates;
}

void Scheduler::look_at_gates() {
  if (gates_.is_decided()) {
    stage_ = Stage::Finish;
  } else if (gates_.planned_looks_taken(RoundKind::Timed) == 0) {
    look_at_gates_of_all_kinds();
  } else {
    current_ = 0;
    stage_ = Stage::ExtendToNextLook;
  }
}

void Scheduler::extend_to_next_look() {
  was_ended_by_gates_ = true;  // from here on, they decide when the session ends

  if (gates_.has_undecided_gate_on(RoundKind::Simulated))
    add_goal(RoundTarget{RoundKind::Simulated,
                         gates_.rounds_at_next_planned_look(RoundKind::Simulated)});
  if (gates_.has_undecided_gate_on(RoundKind::Counting))
    add_goal(CountingTurnTarget{gates_.rounds_at_next_planned_look(RoundKind::Counting)});
  if (gates_.has_undecided_gate_on(RoundKind::Timed)) {
    const std::size_t number = gates_.planned_looks_taken(RoundKind::Timed);
    rule_to_next_look_ = stop_rule_for_open_gates(
        rule_without_gates_, gate::look_rounds(group().rounds_at_first_look)[number]);
  }
  stage_ = Stage::ExtendTimed;
}

void Scheduler::extend_timed() {
  if (gates_.has_undecided_gate_on(RoundKind::Timed) &&
      !satisfies_stop_rule(rule_to_next_look_, group().timed_spent))
    return add_timed_batch();
  if (++current_ < groups_.size()) {
    stage_ = Stage::ExtendToNextLook;
    return;
  }
  current_ = 0;
  look_at_gates_of_all_kinds();
  stage_ = Stage::LookAtGates;
}

void Scheduler::finish() {
  current_ = 0;
  if (conditions_.takes_turns && !has_ended_early_) add_goal(SettlingRounds{});
  stage_ = Stage::RestoreTuning;
}

void Scheduler::restore_tuning() {
  if (!is_tuned_) add_goal(Once{SwitchTuning{true}});
  is_tuned_ = true;
  stage_ = Stage::End;
}

std::optional<Action> Scheduler::next_action_for(Once& goal) const {
  // An earlier process's turns are not taken again.
  const bool is_void = std::holds_alternative<YieldTurn>(goal.action) &&
                       (!conditions_.takes_turns || !has_left_replay_);
  if (is_void || std::exchange(goal.is_done, true)) return std::nullopt;
  return goal.action;
}

std::optional<Action> Scheduler::next_action_for(const RoundTarget& goal) {
  if (goal.kind == RoundKind::Counting)
    return counting_turns_done(group()) < goal.rounds ? std::optional(request_counting_turn())
                                                      : std::nullopt;
  const std::uint64_t done = rounds_of(goal.kind);
  if (goal.kind == RoundKind::Simulated) {
    const std::uint64_t passes = plan_.setting.events.count_passes(RoundKind::Simulated);
    if (done >= goal.rounds * passes) return std::nullopt;
    wanted_simulated_rounds_ = goal.rounds;
    return request_rounds(goal.kind, done, passes * plan_.setting.layouts);
  }
  if (done >= goal.rounds) return std::nullopt;
  return request_rounds(
      goal.kind, done,
      round_up_to_sweeps(plan_, std::min(goal.rounds - done, max_rounds_at_once())));
}

std::optional<Action> Scheduler::next_action_for(const CountingBlock& goal) {
  if (may_end_by_gates())
    return next_action_for(RoundTarget{RoundKind::Counting, counting_.min_counting_rounds});
  if (!block_needs_more_counting(counting_, group().counting, goal.number,
                                 goal.time_of_all_timed_rounds))
    return std::nullopt;
  return request_counting_turn();
}

std::optional<Action> Scheduler::next_action_for(const CountingTurnTarget& goal) {
  if (counting_turns_done(group()) >= goal.counting_turns || !can_count_more()) return std::nullopt;
  return request_counting_turn();
}

std::optional<Action> Scheduler::next_action_for(const SettlingRounds& /*goal*/) {
  if (std::exchange(group().is_settled, true)) return std::nullopt;
  const std::uint64_t first = group().settling_rounds_done;
  return request_rounds(RoundKind::Settling, first, kSettlingRounds);
}

std::optional<Action> Scheduler::next_action_for(const TuningState& goal) {
  is_goal_tuned_ = goal.on;
  group().is_settled = false;
  return std::nullopt;
}

std::optional<Action> Scheduler::next_action_for(TimedBatch& goal) {
  if (std::exchange(goal.is_done, true)) return std::nullopt;
  return request_rounds(RoundKind::Timed, group().timed_spent.rounds,
                        round_up_to_sweeps(plan_, choose_rounds_of_batch()));
}

/// If a gate waits for counts, the first block comes after the smallest number of timed rounds,
/// because the block may decide all gates.
void Scheduler::add_counting_block_if_due() {
  if (counting_.passes == 0) return;
  const std::uint64_t rounds = group().timed_spent.rounds;
  const std::uint64_t left = timed_rounds_left();
  std::uint64_t due = blocks_due(rounds, left);
  if (due == 0 && rounds >= plan_.setting.stop.min_runs &&
      gates_.has_undecided_gate_on(RoundKind::Counting))
    due = 1;
  if (due == 0) return;
  add_goal(CountingBlock{
      due - 1, group().timed_spent.time + time_of_rounds(left, round_time(group(), paces_))});
}

void Scheduler::add_untuned_rounds(std::uint64_t due) {
  if (!conditions_.compares_tuning || group().untuned_rounds_done >= due) return;
  add_goal(TuningState{false});
  add_goal(SettlingRounds{});
  add_goal(RoundTarget{RoundKind::Untuned, due});
  add_goal(TuningState{true});
}

void Scheduler::add_timed_batch() {
  add_goal(SettlingRounds{});
  add_goal(Once{YieldTurn{}});
  add_goal(TimedBatch{});
}

Action Scheduler::request_counting_turn() {
  group().is_settled = false;
  return request_rounds(RoundKind::Counting, group().counting.rounds,
                        counting_.passes * plan_.setting.layouts);
}

Action Scheduler::request_rounds(RoundKind kind, std::uint64_t first, std::uint64_t rounds,
                                 bool is_kept) {
  RoundsRequest request{.kind = kind, .rounds = rounds, .is_kept_for_resume = is_kept};
  for (std::uint64_t round = first; round < first + rounds; ++round) {
    const auto steps =
        steps_of_round(plan_, kind, static_cast<std::uint32_t>(round), group().commands);
    request.steps.insert(request.steps.end(), steps.begin(), steps.end());
  }
  requests_.push_back(std::move(request));
  return issue_request();
}

/// A resumed session repeats the warm-up. The log leaves out the repeated warm-up, so that a later
/// --resume makes the same decisions.
Action Scheduler::issue_request() {
  if (must_warm_up_again_ && requests_.back().kind == RoundKind::Timed) {
    if (repeated_warmup_rounds_ < warmup_rounds()) {
      const std::uint64_t first = repeated_warmup_rounds_;
      const std::uint64_t rounds =
          round_up_to_sweeps(plan_, std::min(warmup_rounds() - first, max_rounds_at_once()));
      repeated_warmup_rounds_ += rounds;
      return request_rounds(RoundKind::Warmup, first, rounds, false);
    }
    must_warm_up_again_ = false;
  }
  if (has_left_replay_ && conditions_.compares_tuning && is_tuned_ != is_goal_tuned_) {
    is_tuned_ = is_goal_tuned_;
    return SwitchTuning{is_goal_tuned_};
  }
  const RoundsRequest& request = requests_.back();
  return RunSteps{std::span(request.steps).subspan(request.steps_done), request.is_kept_for_resume};
}

/// Returns where the time of a kind of round is added up; null for rounds whose time counts for no
/// limit.
nanoseconds* Scheduler::find_time_of(RoundKind kind) {
  switch (kind) {
    case RoundKind::Timed:
    case RoundKind::Settling:
      return &group().timed_spent.time;
    case RoundKind::Counting:
      return &group().counting.time;
    case RoundKind::Simulated:
      return &simulated_runs_and_time_.time;
    case RoundKind::Warmup:
    case RoundKind::Untuned:
      break;
  }
  return nullptr;
}

/// Returns the number of finished rounds of a kind, which the caller may increase.
std::uint64_t& Scheduler::rounds_of(RoundKind kind) {
  switch (kind) {
    case RoundKind::Warmup:
      return group().warmup_rounds_done;
    case RoundKind::Timed:
      break;
    case RoundKind::Counting:
      return group().counting.rounds;
    case RoundKind::Simulated:
      return group().simulated_rounds_done;
    case RoundKind::Settling:
      return group().settling_rounds_done;
    case RoundKind::Untuned:
      return group().untuned_rounds_done;
  }
  return group().timed_spent.rounds;
}

void Scheduler::count_completed_rounds(const RoundsRequest& request) {
  if (!request.is_kept_for_resume) return;
  rounds_of(request.kind) += request.rounds;
  if (request.kind == RoundKind::Simulated)
    simulated_runs_and_time_.rounds += group().commands.size() * request.rounds;
  if (request.kind == RoundKind::Counting && groups_.size() == 1)
    gates_.look_early_if_due(RoundKind::Counting, counting_turns_done(group()));
}

/// True if the gates are decided, the fewest runs are done, and nothing but the gates needs more.
bool Scheduler::may_end_by_gates() const {
  return gates_.has_decidable_gate() && gates_.is_decided() && !plan_.precision &&
         groups_.size() == 1 &&
         (is_timed_ ? group().timed_spent.rounds : counting_turns_done(group())) >=
             plan_.setting.stop.min_runs &&
         !plan_.setting.stop.exact_runs;
}

void Scheduler::note_which_limit_ended_rounds() {
  const auto& max_runs = plan_.setting.stop.max_runs;
  ended_by_ = max_runs && group().timed_spent.rounds >= *max_runs ? PrecisionEnd::MaxRuns
                                                                  : PrecisionEnd::Duration;
}

std::uint64_t Scheduler::timed_rounds_left() const {
  const RoundsAndTime& spent = group().timed_spent;
  return satisfies_stop_rule(rule_without_gates_, spent)
             ? 0
             : rounds_left(rule_without_gates_, spent, round_time(group(), paces_));
}

/// Returns the number of rounds after which something must be decided or done: a look, a block of
/// counting or untuned rounds, or the end.
std::uint64_t Scheduler::choose_rounds_of_batch() const {
  const RoundsAndTime& spent = group().timed_spent;
  std::uint64_t rounds = std::min(
      rounds_left(rule_to_next_look_, spent, round_time(group(), paces_)), max_rounds_at_once());
  if (const auto look = gates_.rounds_at_next_early_look(RoundKind::Timed);
      look && *look > spent.rounds)
    rounds = std::min(rounds, *look - spent.rounds);
  if (race_) rounds = std::min(rounds, race_->rounds_at_next_look() - spent.rounds);
  if (counting_.passes > 0)
    rounds = std::min(rounds, rounds_to_next_block(spent.rounds, timed_rounds_left()));
  if (conditions_.compares_tuning)
    rounds =
        std::min(rounds, rounds_to_next_block(spent.rounds, timed_rounds_left(), kUntunedEarly));
  return rounds;
}

/// Returns the number of rounds that fit into the intended time of a batch. The first round of a
/// command runs by itself, because its time is not known.
std::uint64_t Scheduler::max_rounds_at_once() const {
  if (paces_[group().commands.front()].run_seconds.count == 0) return 1;
  const bool is_looked_at = !plan_.setting.stop.exact_runs || conditions_.needs_short_batches;
  const nanoseconds intended_time = conditions_.takes_turns ? kTurnTime
                                    : is_looked_at          ? kBatchTime
                                                            : kLongBatchTime;
  const auto rounds_in_time = intended_time / std::max(round_time(group(), paces_), nanoseconds(1));
  const auto max_rounds =
      std::max<std::uint64_t>(os::Launcher::kMaxBatch / group().commands.size(), 1);
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(rounds_in_time), 1, max_rounds);
}

std::uint64_t Scheduler::counting_turns_done(const Group& group) const {
  return counting_.passes == 0 ? 0 : group.counting.rounds / counting_.passes;
}

nanoseconds Scheduler::round_time(const Group& group, std::span<const Pace> paces) const {
  double seconds = 0.0;
  for (const std::uint32_t command : group.commands)
    seconds += paces[command].run_seconds.mean + paces[command].hook_seconds.mean;
  return time_of_rounds(1, Seconds(seconds));
}

/// Returns the first group, from number `first` on, that may have more rounds and needs them for
/// --precision; nullopt if there is none.
std::optional<std::size_t> Scheduler::find_group_to_refine(std::size_t first) const {
  for (std::size_t i = first; i < groups_.size(); ++i)
    if (precision_.needs_more_runs(groups_[i].commands.front()) &&
        !satisfies_stop_rule(rule_without_gates_, groups_[i].timed_spent))
      return i;
  return std::nullopt;
}

void Scheduler::look_at_gates_of_all_kinds() {
  const bool can_go_on = !plan_.setting.stop.exact_runs && !hooks_prevent_more_rounds();
  const Group& first = groups_.front();
  look_as_planned_at(RoundKind::Timed, first.rounds_at_first_look, can_time_more());
  look_as_planned_at(RoundKind::Counting, counting_turns_done(first),
                     can_go_on && can_count_more());
  if (gates_.has_undecided_gate_on(RoundKind::Simulated))
    look_as_planned_at(RoundKind::Simulated, planned_simulated_rounds_, can_go_on);
}

void Scheduler::look_as_planned_at(RoundKind kind, std::uint64_t rounds, bool can_go_on) {
  const bool is_last = !can_go_on || gates_.planned_looks_taken(kind) + 1 == gate::kMaxPlannedLooks;
  gates_.look_as_planned(kind, rounds, is_last);
}

void Scheduler::note_if_functions_vary(const FinishedRounds& done) {
  if (done.functions.empty() || plan_.setting.stop.exact_runs) return;
  for (const RunRecord& run : done.runs) {
    const auto [first, is_new] =
        first_counts_.try_emplace({run.step.command, run.step.pass}, run.counts);
    functions_vary_ = functions_vary_ || (!is_new && first->second != run.counts);
  }
  // Equal totals may hide counts that move from one function to another.
  for (const FunctionsOfRun& run : done.functions) {
    const auto [first, is_new] =
        first_functions_.try_emplace({run.step.command, run.step.pass}, run.functions);
    functions_vary_ = functions_vary_ || (!is_new && first->second != run.functions);
  }
}

/// Groups run one after another, each between its setup and cleanup hooks, so that a group that is
/// over gets no more rounds.
bool Scheduler::hooks_prevent_more_rounds() const {
  return groups_.size() > 1 && has_surrounding_hooks_;
}

bool Scheduler::can_time_more() const {
  if (hooks_prevent_more_rounds()) return false;
  const StopRule rule =
      stop_rule_for_open_gates(rule_without_gates_, std::numeric_limits<std::uint64_t>::max());
  return std::ranges::any_of(
      groups_, [&](const Group& each) { return !satisfies_stop_rule(rule, each.timed_spent); });
}

bool Scheduler::can_count_more() const {
  return std::ranges::any_of(groups_, [&](const Group& each) {
    const auto allowed =
        Seconds(plan_.setting.stop.budget_per_command) *
        (counting_.share * kBudgetFactorForGates * static_cast<double>(each.commands.size()));
    return each.counting.time < allowed;
  });
}

std::optional<RaceSoFar> Scheduler::race_so_far() const {
  if (!race_) return std::nullopt;
  return RaceSoFar{race_->count_left(), plan_.commands.size()};
}

bool Scheduler::may_end_earlier() const {
  if (race_) return !race_->is_over();
  return !plan_.setting.stop.exact_runs && !gates_.is_decided() &&
         (gates_.has_undecided_gate_on(RoundKind::Timed) ||
          gates_.has_undecided_gate_on(RoundKind::Counting));
}

/// Returns the rule that ends the rounds of a group at its last look at gates. The first look comes
/// at the end of the planned rounds. Before that, their number is estimated.
StopRule Scheduler::rule_to_last_look(const Group& group, nanoseconds time_of_round) const {
  const RoundsAndTime& spent = group.timed_spent;
  const bool has_looked = group.rounds_at_first_look > 0;
  const std::uint64_t rounds_at_first_look =
      has_looked ? group.rounds_at_first_look
                 : spent.rounds + rounds_left(rule_without_gates_, spent, time_of_round);
  const std::uint64_t rounds_at_last_look = gate::look_rounds(rounds_at_first_look).back();
  return stop_rule_for_open_gates(rule_without_gates_, rounds_at_last_look);
}

/// Returns the seconds that the timed rounds of a group still need. Gates (conditions on the
/// results) are decided at looks, which come after certain numbers of rounds. Until a gate is
/// decided, it may add rounds up to its last look. The estimate includes all of them, because it
/// would otherwise grow each time that a look decides nothing.
double Scheduler::timed_seconds_left(const Group& group, std::span<const Pace> paces) const {
  const RoundsAndTime& spent = group.timed_spent;
  const nanoseconds time_of_round = round_time(group, paces);
  const auto estimate_seconds_until = [&](const StopRule& rule) {
    if (satisfies_stop_rule(rule, spent)) return 0.0;
    return static_cast<double>(rounds_left(rule, spent, time_of_round)) *
           Seconds(time_of_round).count();
  };

  const double planned = estimate_seconds_until(rule_to_next_look_);
  if (!may_add_rounds_for_gates(RoundKind::Timed)) return planned;
  return std::max(planned, estimate_seconds_until(rule_to_last_look(group, time_of_round)));
}

bool Scheduler::may_add_rounds_for_gates(RoundKind kind) const {
  return !plan_.setting.stop.exact_runs && !hooks_prevent_more_rounds() &&
         gates_.has_undecided_gate_on(kind);
}

double Scheduler::counting_seconds_left_by_share(double timed_seconds,
                                                 double counting_seconds) const {
  if (counting_.is_exact) return 0.0;

  // Undecided gates on counts may extend the share.
  const double factor = may_add_rounds_for_gates(RoundKind::Counting)
                            ? static_cast<double>(kBudgetFactorForGates)
                            : 1.0;
  // The share is that of the whole time, so it is counted from the time of the timed rounds.
  return timed_seconds * factor * counting_.share / (1.0 - counting_.share) - counting_seconds;
}

// A turn is one round of each counting pass. Before the first turn has ended, its time is unknown.
double Scheduler::counting_seconds_left_by_number(double seconds_under_way) const {
  const std::uint64_t turns = counting_turns_done(group());
  if (turns == 0 || turns >= counting_.min_counting_rounds) return 0.0;

  const double seconds_of_turn =
      Seconds(group().counting.time).count() / static_cast<double>(turns);
  const auto turns_left = static_cast<double>(counting_.min_counting_rounds - turns);
  return seconds_of_turn * turns_left - seconds_under_way;
}

/// Returns the seconds that the counting rounds still need. They get a share of the whole time, but
/// a smallest number of them runs in any case. `timed_seconds`: time of all timed rounds.
double Scheduler::counting_seconds_left(const UnderWay& now, double timed_seconds) const {
  const bool counts_separately = counting_.passes > 0;
  if (!counts_separately) return 0.0;

  const double finished_seconds = Seconds(group().counting.time).count();
  const bool is_counting = now.step.kind == RoundKind::Counting;
  const double seconds_under_way = is_counting ? Seconds(now.time).count() : 0.0;
  return std::max(
      {counting_seconds_left_by_share(timed_seconds, finished_seconds + seconds_under_way),
       counting_seconds_left_by_number(seconds_under_way), 0.0});
}

double Scheduler::seconds_left_by_paces(const UnderWay& now, std::span<const Pace> paces) const {
  const Group& own = group();
  const bool is_warmup = now.step.kind == RoundKind::Warmup;
  const double timed_so_far = Seconds(own.timed_spent.time).count();
  const double timed = is_timed_ ? timed_seconds_left(own, paces) : 0.0;
  double seconds = timed;
  if (now.step.kind == RoundKind::Timed) seconds -= Seconds(now.time).count();
  seconds += counting_seconds_left(now, timed + timed_so_far);

  // A group that has not begun is likely to take as long as this one does as a whole.
  const double seconds_of_group = seconds + timed_so_far + Seconds(own.counting.time).count();
  for (const Group& later : std::span(groups_).subspan(std::min(current_ + 1, groups_.size())))
    seconds += later.timed_spent.rounds == 0 ? seconds_of_group : timed_seconds_left(later, paces);
  if (is_warmup && now.step.round < warmup_rounds())
    seconds += static_cast<double>(warmup_rounds() - now.step.round) *
               Seconds(round_time(own, paces)).count();
  return seconds;
}

/// Returns the number of simulated runs of all commands, as far as they are planned.
std::uint64_t Scheduler::count_simulated_runs() const {
  const std::uint64_t passes = plan_.setting.events.count_passes(RoundKind::Simulated);
  // A request of simulated rounds has each pass in each layout.
  const std::uint64_t at_once = passes * plan_.setting.layouts;
  if (at_once == 0) return 0;
  const auto round_up_to_requests = [&](std::uint64_t turns) {
    return (turns * passes + at_once - 1) / at_once * at_once;
  };
  std::uint64_t runs = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const bool is_present = i == current_;
    const std::uint64_t turns = is_present
                                    ? std::max(planned_simulated_rounds_, wanted_simulated_rounds_)
                                    : planned_simulated_rounds_;
    runs += groups_[i].commands.size() *
            std::max(round_up_to_requests(turns), groups_[i].simulated_rounds_done);
  }
  return runs;
}

std::optional<double> Scheduler::simulated_seconds_left(const UnderWay& now) const {
  const bool is_simulating = now.step.kind == RoundKind::Simulated;
  const std::uint64_t done = simulated_runs_and_time_.rounds + (is_simulating ? now.steps_done : 0);
  const std::uint64_t all = count_simulated_runs();
  if (done >= all) return 0.0;
  if (done == 0) return std::nullopt;
  const double seconds = Seconds(simulated_runs_and_time_.time).count() +
                         (is_simulating ? Seconds(now.time).count() : 0.0);
  return seconds / static_cast<double>(done) * static_cast<double>(all - done);
}

/// Returns the seconds that a session without timed rounds still needs for counting rounds, which
/// have the whole time budget; nullopt before the first turn through all passes has ended.
std::optional<double> Scheduler::seconds_left_of_counting_alone(const UnderWay& now) const {
  const Group& own = group();
  const std::uint64_t turns = counting_turns_done(own);
  if (turns == 0) return std::nullopt;

  const nanoseconds time_of_turn = own.counting.time / static_cast<std::int64_t>(turns);
  const RoundsAndTime spent{turns, own.counting.time, own.commands.size()};
  const auto turns_left = static_cast<double>(rounds_left(plan_.setting.stop, spent, time_of_turn));
  const double left = turns_left * Seconds(time_of_turn).count() - Seconds(now.time).count();
  return std::max(left, 0.0);
}

// Each estimate needs other facts: the paces, the time of counting rounds, or only the budget.
std::optional<double> Scheduler::seconds_left_after_simulation(const UnderWay& now,
                                                               std::span<const Pace> paces) const {
  // A pace is the mean time of a command's runs, without simulated and counting runs.
  const bool is_pace_known = paces[now.step.command].run_seconds.count > 0;
  if (is_pace_known) return seconds_left_by_paces(now, paces);

  const bool counts_alone = now.step.kind == RoundKind::Counting && !is_timed_;
  if (counts_alone) return seconds_left_of_counting_alone(now);

  // The simulated rounds are over, but no run has shown yet how long the others take.
  const bool is_simulating = now.step.kind == RoundKind::Simulated;
  return is_simulating ? std::optional(seconds_of_budget()) : std::nullopt;
}

// Timed and counting runs are likely to use up their budget.
double Scheduler::seconds_of_budget() const {
  // Simulated runs take much longer than others. A fixed number of timed runs adds little to them.
  const bool is_only_simulated = !is_timed_ && counting_.passes == 0;
  if (is_only_simulated || plan_.setting.stop.exact_runs) return 0.0;

  const auto commands = static_cast<double>(plan_.commands.size());
  return commands * Seconds(plan_.setting.stop.budget_per_command).count();
}

std::optional<double> Scheduler::seconds_left(const UnderWay& now,
                                              std::span<const Pace> paces) const {
  const auto simulated = simulated_seconds_left(now);
  if (!simulated) return std::nullopt;
  const auto others = seconds_left_after_simulation(now, paces);
  if (!others) return std::nullopt;
  return *simulated + *others;
}

std::optional<RunNumber> Scheduler::number_of_run(const UnderWay& now) const {
  const RoundKind kind = now.step.kind;
  if (requests_.empty() || requests_.back().kind != kind) return std::nullopt;
  const RoundsRequest& request = requests_.back();
  if (kind == RoundKind::Simulated)
    return RunNumber{simulated_runs_and_time_.rounds + request.steps_done + now.steps_done + 1,
                     count_simulated_runs()};
  if (kind != RoundKind::Counting) return std::nullopt;

  // Each pass counts other events, or takes samples, so that its runs are numbered separately.
  const Group& own = group();
  const std::uint64_t earlier = own.commands.size() * counting_turns_done(own);
  const std::size_t done = std::min(request.steps_done + now.steps_done, request.steps.size());
  const auto same_pass =
      std::ranges::count(std::span(request.steps).first(done), now.step.pass, &Step::pass);
  RunNumber number{earlier + static_cast<std::uint64_t>(same_pass) + 1};
  if (counting_.is_exact) number.count = own.commands.size() * counting_.min_counting_rounds;
  return number;
}

}  // namespace lauka
