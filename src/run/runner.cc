#include "run/runner.h"

#include "core/text.h"
#include "os/signals.h"
#include "run/programs.h"
#include "run/steps.h"
#include "run/stopping.h"
#include "stats/distributions.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <string_view>
#include <utility>

namespace lauka {

namespace {

using std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;

/// False if all values that are shown, gated or wanted precisely are counted or simulated, and the
/// user gave no number of runs: timed runs would only cost time.
bool needs_timed_runs(const Plan& plan) {
  const auto is_counted = [&](std::size_t metric) {
    return kind_of(plan.metrics[metric], plan.events) != RoundKind::Timed;
  };
  if (plan.stop.exact_runs || !primary_metric(plan.metrics)) return true;
  if (plan.precision && !is_counted(plan.precision->metric)) return true;
  for (std::size_t m = 0; m < plan.metrics.size(); ++m)
    if (plan.metrics[m].shown == Shown::Always && !is_counted(m)) return true;
  return !std::ranges::all_of(plan.gates,
                              [&](const Gate& gate) { return is_counted(gate.metric); });
}

/// Fills in the rest of a session, estimated at `at_start` seconds when the current runs began, and
/// the fraction done; its elapsed time is there.
void enter_remaining(double at_start, std::chrono::nanoseconds under_way, Progress& progress) {
  constexpr double longest = 1e9;  // seconds; more would overflow nanoseconds, and is of no use
  const double elapsed = Seconds(progress.elapsed).count();
  const double left = std::clamp(at_start - Seconds(under_way).count(), 0.0, longest);
  progress.remaining = std::chrono::nanoseconds(static_cast<std::int64_t>(left * 1e9));
  progress.done = elapsed + left > 0.0 ? elapsed / (elapsed + left) : 0.0;
}

/// Watches the differences of wall time for the progress line: the mean of the logarithms'
/// differences within rounds costs little after each run, whereas the final delta uses all pairs.
class DifferenceWatch {
 public:
  explicit DifferenceWatch(const Plan& plan) : plan_(plan), all_(plan.commands.size()) {}

  /// Enters a kept run.
  void add_run(const RunRecord& run) {
    if (run.step.kind != RoundKind::Timed || run.usage.wall_ns == 0 || plan_.reference.baseline)
      return;
    if (run.step.round != round_)
      for (OfCommand& one : all_) one.in_round.reset();
    round_ = run.step.round;
    OfCommand& reference = all_[plan_.reference.command];
    OfCommand& own = all_[run.step.command];
    own.in_round = std::log(static_cast<double>(run.usage.wall_ns));
    for (OfCommand& one : all_) {
      const bool is_new = &one != &reference && (&one == &own || &own == &reference);
      if (!is_new || !one.in_round || !reference.in_round) continue;
      const double difference = *one.in_round - *reference.in_round;
      const double before = difference - one.mean;
      one.mean += before / static_cast<double>(++one.rounds);
      one.squares += before * (difference - one.mean);
    }
  }

  /// Returns the difference of `command`, or of the first candidate if that has none. nullopt
  /// before five rounds, or if the reference is of another session.
  std::optional<DifferenceSoFar> of_command(std::size_t command) const {
    constexpr std::uint64_t fewest = 5;
    const auto has_one = [&](std::size_t place) {
      return plan_.reference.is_candidate(place) && all_[place].rounds >= fewest;
    };
    for (std::size_t place = 0; !has_one(command) && place < all_.size(); ++place)
      if (has_one(place)) command = place;
    if (!has_one(command)) return std::nullopt;
    const OfCommand& one = all_[command];
    const auto rounds = static_cast<double>(one.rounds);
    const double half = stats::student_t_quantile_above(0.025, rounds - 1.0) *
                        std::sqrt(one.squares / (rounds - 1.0) / rounds);
    return DifferenceSoFar{plan_.commands[command].name, std::expm1(one.mean),
                           std::expm1(one.mean - half), std::expm1(one.mean + half)};
  }

 private:
  struct OfCommand {
    std::uint64_t rounds = 0;
    double mean = 0.0;
    double squares = 0.0;  // squared deviations from the mean
    std::optional<double> in_round{};
  };

  const Plan& plan_;
  std::vector<OfCommand> all_;
  std::uint32_t round_ = 0;
};

class Runner final : NonCopyable {
 public:
  Runner(const Plan& plan, const RunContext& context)
      : plan_(plan),
        context_(context),
        gates_(plan),
        precision_(plan, gates_),
        differences_(plan),
        steps_(plan, context,
               {[this](const RunRecord& run) {
                  gates_.add_run(run);
                  precision_.add_run(run);
                  if (context_.observer.get().wants_progress()) differences_.add_run(run);
                },
                [this](const Step& step) { report_progress(step); }}),
        groups_(make_groups(plan)),
        counting_(make_counting_rule(plan, gates_.asks_for(RoundKind::Counting))),
        timed_(timed_rule(plan.stop, counting_)),
        rule_(timed_) {}

  Result<void> prepare() {
    if (plan_.events.passes_of(RoundKind::Simulated) > 0)
      simulated_rounds_ = std::max<std::uint64_t>(kSimulatedRounds,
                                                  gates_.rounds_of_constants(RoundKind::Simulated));
    auto prepared = steps_.prepare();
    if (prepared && counting_.passes > 0) steps_.pause_counting();
    return prepared;
  }

  SessionResult run() {
    began_ = context_.clock.now();
    if (const int signal = context_.interrupt(); signal != 0) {
      steps_.cut_short(Interrupted{signal});
    } else if (run_groups() && run_for_precision()) {
      look_until_decided();
    }
    if (steps_.is_cut_short()) steps_.take_all_finished();
    if (context_.let_others && groups_.size() == 1 && !steps_.is_cut_short()) {
      group_ = groups_.begin();
      settle();  // the next timed round may be another plan's
    }
    follow_tuning();  // for other plans
    if (counting_.passes > 0) steps_.check_counters();
    context_.observer.get().finished();
    steps_.clean_up(0, static_cast<std::uint32_t>(plan_.commands.size()));
    if (steps_.is_cut_short()) ended_by_ = PrecisionEnd::Unfinished;
    gate::Findings findings = gates_.close();
    findings.precision = precision_.close(ended_by_);
    std::vector<OwnMetric> discovered = steps_.discovered();
    Session session = steps_.close();
    session.programs = needs_programs() ? std::move(programs_) : identify_equal(plan_, reader_);
    return {std::move(session), std::move(findings), std::move(discovered)};
  }

 private:
  /// Every group up to where counting stops without a gate. Simulated runs come first: warm-up runs
  /// then leave the timed ones a machine as in any other session.
  bool run_groups() {
    if (!steps_.hooks_surround_commands() &&
        !steps_.check_output(0, static_cast<std::uint32_t>(plan_.commands.size())))
      return false;
    for (group_ = groups_.begin(); group_ != groups_.end(); ++group_)
      if (!run_group()) return false;
    return true;
  }

  bool run_group() {
    if (!steps_.set_up(group_->first, group_->count)) return false;
    if (needs_programs()) identify(plan_, reader_, group_->first, group_->count, programs_);
    if (steps_.hooks_surround_commands() && !steps_.check_output(group_->first, group_->count))
      return false;
    if (!simulate_up_to(simulated_rounds_)) return false;
    if (groups_.size() == 1 && !decide_simulated()) return false;
    const bool is_only_simulated = !is_timed_ && counting_.passes == 0;
    if (!is_only_simulated && (!warm_up() || !measure())) return false;
    return groups_.size() == 1 || steps_.clean_up(group_->first, group_->count);
  }

  /// True if programs are read before their runs: setups may make other ones of the same file.
  bool needs_programs() const { return context_.identifies || steps_.hooks_surround_commands(); }

  bool simulate_up_to(std::uint64_t rounds) {
    for (; group_->simulated < rounds; ++group_->simulated) {
      const nanoseconds began = context_.clock.now();
      if (!run_rounds(RoundKind::Simulated, group_->simulated, 1, untimed_)) return false;
      simulating_.time += context_.clock.now() - began;
      simulating_.rounds += group_->count;
    }
    return true;
  }

  // Simulated counts need no timed runs: once they decide, timed runs need not continue.
  bool decide_simulated() {
    while (gates_.waits_for(RoundKind::Simulated)) {
      look(RoundKind::Simulated, simulated_rounds_, !plan_.stop.exact_runs);
      if (gates_.waits_for(RoundKind::Simulated) &&
          !simulate_up_to(gates_.next_planned(RoundKind::Simulated)))
        return false;
    }
    return true;
  }

  bool warm_up() {
    // If timed runs follow at once, the comparison of outputs is the first warm-up run.
    const bool is_begun = steps_.has_checked_output() && groups_.size() == 1 &&
                          simulated_rounds_ == 0 && plan_.jobs == 1;
    std::uint64_t done = is_begun ? 1 : 0;
    return run_up_to(plan_.warmup, RoundKind::Warmup, done);
  }

  /// The machine of a continued session is cold. Not kept: the next --resume does it again.
  bool warm_up_again() {
    const bool is_cold = steps_.has_just_read();
    steps_.keep_rounds(!is_cold);
    const bool goes_on = !is_cold || warm_up();
    steps_.keep_rounds(true);
    return goes_on;
  }

  /// Runs the timed rounds, with the blocks of counting rounds between and after them.
  bool measure() {
    if (!is_timed_) return count_alone();
    if (!run_timed() || !run_untuned(untuned_rounds_due(group_->spent.rounds, 0))) return false;
    return is_answered() ? count_at_least() : count_up_to_block(kBlocks - 1, group_->spent.time);
  }

  /// Untuned rounds up to number `due`, of --tune=compare.
  bool run_untuned(std::uint64_t due) {
    if (!context_.tune || group_->untuned >= due) return true;
    wants_tuned_ = false;
    group_->is_settled = false;
    const bool goes_on = settle() && run_up_to(due, RoundKind::Untuned, group_->untuned);
    wants_tuned_ = true;
    group_->is_settled = false;
    return goes_on;
  }

  /// Has the machine as the next runs want it.
  void follow_tuning() {
    if (context_.tune && std::exchange(is_tuned_, wants_tuned_) != wants_tuned_)
      context_.tune(wants_tuned_);
  }

  /// Counting rounds have the whole time of the stop rule if nothing is timed.
  bool count_alone() {
    steps_.check_counters();
    while (!is_enough(plan_.stop, {turns(*group_), group_->counting.time, group_->count})) {
      if (context_.let_others && !steps_.is_reading()) context_.let_others();
      if (!count_a_turn()) return false;
      if (is_answered()) return true;
    }
    return true;
  }

  bool run_timed() {
    while (!is_enough(timed_, group_->spent)) {
      if (!run_due_counting() ||
          !run_untuned(untuned_rounds_due(group_->spent.rounds, timed_rounds_left())) ||
          !run_some())
        return false;
      const std::uint64_t rounds = group_->spent.rounds;
      if (precision_.is_enough(group_->first, group_->count, rounds)) return true;
      if (is_enough(timed_, group_->spent)) break;
      gates_.after_round(RoundKind::Timed, rounds, rounds + timed_rounds_left());
      if (is_answered()) return true;
    }
    note_limit();
    return true;
  }

  /// True if the gates are decided, and no precision is wanted.
  bool is_answered() const {
    return !plan_.gates.empty() && gates_.is_decided() && !plan_.precision && groups_.size() == 1 &&
           (is_timed_ ? group_->spent.rounds : turns(*group_)) >= plan_.stop.min_runs &&
           !plan_.stop.exact_runs;
  }

  /// Records what ended the group's rounds, if its precision did not.
  void note_limit() {
    const auto& most = plan_.stop.max_runs;
    ended_by_ =
        most && group_->spent.rounds >= *most ? PrecisionEnd::MaxRuns : PrecisionEnd::Duration;
  }

  std::uint64_t timed_rounds_left() const {
    const Spent& spent = group_->spent;
    return is_enough(timed_, spent) ? 0 : rounds_left(timed_, spent, round_time(*group_));
  }

  /// Runs blocks that are due before the next timed round. If a gate waits for counts, the first
  /// one comes after the fewest timed rounds: it may decide everything.
  bool run_due_counting() {
    if (counting_.passes == 0) return true;
    const std::uint64_t rounds = group_->spent.rounds;
    std::uint64_t due = blocks_due(rounds, timed_rounds_left());
    if (due == 0 && rounds >= plan_.stop.min_runs && gates_.waits_for(RoundKind::Counting)) due = 1;
    if (due == 0) return true;
    const nanoseconds timed_time =
        group_->spent.time + time_of_rounds(timed_rounds_left(), round_time(*group_));
    return count_up_to_block(due - 1, timed_time);
  }

  bool count_up_to_block(std::uint64_t block, nanoseconds timed_time) {
    const auto has_more = [&] {
      return belongs_to_block(counting_, group_->counting, block, timed_time);
    };
    if (counting_.passes == 0 || !has_more()) return true;
    steps_.check_counters();
    while (has_more()) {
      if (!count_a_turn()) return false;
      if (is_answered()) return count_at_least();
    }
    return true;
  }

  bool count_at_least() {
    while (group_->counting.rounds < counting_.passes * counting_.fewest) {
      if (!count_a_turn()) return false;
    }
    return true;
  }

  /// Runs one round of each pass.
  bool count_a_turn() {
    Spent& counting = group_->counting;
    group_->is_settled = false;
    if (!run_rounds(RoundKind::Counting, counting.rounds, counting_.passes, counting.time))
      return false;
    counting.rounds += counting_.passes;
    if (groups_.size() == 1) gates_.after_round(RoundKind::Counting, turns(*group_));
    return true;
  }

  std::uint64_t turns(const Group& group) const {
    return counting_.passes == 0 ? 0 : group.counting.rounds / counting_.passes;
  }

  bool settle() {
    if (group_->is_settled) return true;
    group_->is_settled = true;
    steps_.pause_counting();
    const std::uint64_t first = std::exchange(group_->settling, group_->settling + kSettlingRounds);
    return run_rounds(RoundKind::Settling, first, kSettlingRounds, group_->spent.time);
  }

  /// In sequential order the reference is run before it is known how much slower a candidate is,
  /// and so how precisely it must be known: its missing rounds are run now, within its limits.
  bool run_for_precision() {
    const auto is_wanted = [this](const Group& group) {
      return precision_.needs_more_runs(group.first) && !is_enough(timed_, group.spent);
    };
    while (groups_.size() > 1 && std::ranges::any_of(groups_, is_wanted)) {
      if (steps_.hooks_surround_commands()) {
        ended_by_ = PrecisionEnd::ReferenceGone;
        break;
      }
      group_ = std::ranges::find_if(groups_, is_wanted);
      for (; group_ != groups_.end(); group_ = std::find_if(group_ + 1, groups_.end(), is_wanted)) {
        if (!run_some()) return false;
        if (is_enough(timed_, group_->spent)) note_limit();
      }
    }
    for (Group& group : groups_) group.first_look = group.spent.rounds;
    return true;
  }

  /// Runs as many rounds as fit one request; never more than the rule leaves, nor beyond the next
  /// early look of a gate or the next block of counting rounds.
  bool run_some() {
    if (!settle()) return false;
    if (context_.let_others && !steps_.is_reading()) context_.let_others();
    Spent& spent = group_->spent;
    std::uint64_t rounds =
        std::min(rounds_left(rule_, spent, round_time(*group_)), rounds_at_once());
    if (const auto look = gates_.next_early(RoundKind::Timed); look && *look > spent.rounds)
      rounds = std::min(rounds, *look - spent.rounds);
    if (counting_.passes > 0)
      rounds = std::min(rounds, rounds_to_next_block(spent.rounds, timed_rounds_left()));
    if (context_.tune)
      rounds =
          std::min(rounds, rounds_to_next_block(spent.rounds, timed_rounds_left(), kUntunedEarly));
    if (!run_rounds(RoundKind::Timed, spent.rounds, rounds, spent.time)) return false;
    spent.rounds += rounds;
    return true;
  }

  /// Looks at the gates that are still open, and continues to the next look as long as one is.
  void look_until_decided() {
    while (!gates_.is_decided()) {
      if (gates_.planned_looks(RoundKind::Timed) > 0 && !go_on_to_next_look()) return;
      const bool can_go_on = !plan_.stop.exact_runs && !is_bound_to_turns();
      const Group& first = groups_.front();
      look(RoundKind::Timed, first.first_look, can_time_more());
      look(RoundKind::Counting, turns(first), can_go_on && can_count_more());
      if (gates_.waits_for(RoundKind::Simulated))
        look(RoundKind::Simulated, simulated_rounds_, can_go_on);
    }
  }

  void look(RoundKind kind, std::uint64_t rounds, bool can_go_on) {
    const bool last = !can_go_on || gates_.planned_looks(kind) + 1 == gate::kLooks;
    gates_.look_as_planned(kind, rounds, last);
  }

  /// Commands that have had their cleanup cannot continue.
  bool is_bound_to_turns() const { return groups_.size() > 1 && steps_.hooks_surround_commands(); }

  bool can_time_more() const {
    if (is_bound_to_turns()) return false;
    const StopRule rule = extended_to(timed_, std::numeric_limits<std::uint64_t>::max());
    return std::ranges::any_of(groups_,
                               [&](const Group& group) { return !is_enough(rule, group.spent); });
  }

  /// True if their share of four budgets leaves time for more counting rounds.
  bool can_count_more() const {
    return std::ranges::any_of(groups_, [&](const Group& group) {
      const auto allowed = Seconds(plan_.stop.budget_per_command) *
                           (counting_.share * kBudgetsOfGates * group.count);
      return group.counting.time < allowed;
    });
  }

  bool count_to_next_look() {
    if (!gates_.waits_for(RoundKind::Counting)) return true;
    steps_.check_counters();
    while (turns(*group_) < gates_.next_planned(RoundKind::Counting) && can_count_more()) {
      if (!count_a_turn()) return false;
    }
    return true;
  }

  bool go_on_to_next_look() {
    const std::size_t number = gates_.planned_looks(RoundKind::Timed);
    for (group_ = groups_.begin(); group_ != groups_.end(); ++group_) {
      if (gates_.waits_for(RoundKind::Simulated) &&
          !simulate_up_to(gates_.next_planned(RoundKind::Simulated)))
        return false;
      if (!count_to_next_look()) return false;
      if (!gates_.waits_for(RoundKind::Timed)) continue;
      rule_ = extended_to(timed_, gate::look_rounds(group_->first_look)[number]);
      while (!is_enough(rule_, group_->spent)) {
        if (!run_some()) return false;
      }
    }
    return true;
  }

  nanoseconds round_time(const Group& group) const {
    double seconds = 0.0;
    for (std::uint32_t i = 0; i < group.count; ++i) {
      const Pace& pace = steps_.pace(group.first + i);
      seconds += pace.whole.mean + pace.between.mean;
    }
    return time_of_rounds(1, Seconds(seconds));
  }

  std::uint64_t rounds_at_once() const {
    if (steps_.pace(group_->first).whole.count == 0) return 1;
    const bool is_watched =
        !plan_.stop.exact_runs || context_.was_throttled || context_.rounds != nullptr;
    const nanoseconds most = context_.let_others ? kTurnTime
                             : is_watched        ? kBatchTime
                                                 : kLongBatchTime;
    const auto in_time = most / std::max(round_time(*group_), nanoseconds(1));
    return std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(in_time), 1,
        std::max<std::uint64_t>(os::Launcher::kMaxBatch / group_->count, 1));
  }

  /// Runs `count` rounds from number `first` on; their time is added to `time`.
  bool run_rounds(RoundKind kind, std::uint64_t first, std::uint64_t count, nanoseconds& time) {
    std::vector<Step> steps;
    for (std::uint64_t round = first; round < first + count; ++round) {
      for (const Step& step : steps_of_round(plan_, kind, static_cast<std::uint32_t>(round))) {
        if (step.command >= group_->first && step.command < group_->first + group_->count)
          steps.push_back(step);
      }
    }
    if (!steps_.take_finished(steps, time)) return false;
    // Which rounds these are is decided before, from facts that a later --resume can read too.
    if (kind == RoundKind::Timed && !steps.empty() && !warm_up_again()) return false;
    if (!steps.empty()) follow_tuning();
    return steps_.run(std::move(steps), time);
  }

  /// Runs untimed rounds until `wanted` are `done`.
  bool run_up_to(std::uint64_t wanted, RoundKind kind, std::uint64_t& done) {
    while (done < wanted) {
      const std::uint64_t rounds = std::min(wanted - done, rounds_at_once());
      if (!run_rounds(kind, done, rounds, untimed_)) return false;
      done += rounds;
    }
    return true;
  }

  double seconds_of_timed(const Group& group) const {
    const nanoseconds round = round_time(group);
    return static_cast<double>(rounds_left(rule_, group.spent, round)) * Seconds(round).count();
  }

  /// Estimates the rest from the warm-up or timed run of `step` on: of the groups that follow, as
  /// of this one. With gates up to the next look, since it is unknown at which one they are
  /// decided.
  double seconds_left(const Step& step) const {
    const bool is_warmup = step.kind == RoundKind::Warmup;
    const double timed =
        is_warmup || !is_enough(rule_, group_->spent) ? seconds_of_timed(*group_) : 0.0;
    const double timed_so_far = Seconds(group_->spent.time).count();
    const double counted = Seconds(group_->counting.time).count();
    double left = timed;
    if (counting_.passes > 0) {
      const double part = counting_.share / (1.0 - counting_.share);
      left += std::max((timed + timed_so_far) * part - counted, 0.0);
    }
    const double whole = left + timed_so_far + counted;
    for (const Group& group : std::span(group_ + 1, groups_.end())) {
      if (group.spent.rounds == 0)
        left += whole;
      else if (!is_enough(rule_, group.spent))
        left += seconds_of_timed(group);
    }
    if (is_warmup && step.round < plan_.warmup)
      left += static_cast<double>(plan_.warmup - step.round) * Seconds(round_time(*group_)).count();
    return left;
  }

  /// Estimates the rest after the runs under way; nullopt if unknown.
  std::optional<double> seconds_left_from(const Step& step) const {
    if (steps_.pace(step.command).whole.count > 0) return seconds_left(step);
    if (step.kind != RoundKind::Simulated || plan_.stop.exact_runs || simulating_.rounds == 0)
      return std::nullopt;
    // Nothing was timed yet: what is left is the simulated rounds and the time for the timed runs.
    const auto commands = static_cast<double>(plan_.commands.size());
    const auto runs = static_cast<double>(simulating_.rounds);
    const double left = std::max(static_cast<double>(simulated_rounds_) * commands - runs, 0.0);
    return left * Seconds(simulating_.time).count() / runs +
           commands * Seconds(plan_.stop.budget_per_command).count();
  }

  void report_progress(const Step& step) {
    if (!context_.observer.get().wants_progress()) return;
    const nanoseconds now = context_.clock.now();
    Progress progress;
    progress.command = plan_.commands[step.command].name;
    progress.kind = step.kind;
    progress.elapsed = now - began_;
    const Pace& pace = steps_.pace(step.command);
    if (const auto at_start = seconds_left_from(step)) {
      // The runs under way have their part in it: that it shrinks during a long one as well.
      const bool counts = step.kind == RoundKind::Timed || step.kind == RoundKind::Simulated;
      enter_remaining(*at_start, counts ? now - steps_.batch_began() : nanoseconds(0), progress);
    }
    if (pace.wall.count > 0) progress.mean_wall_seconds = pace.wall.mean;
    progress.difference = differences_.of_command(step.command);
    context_.observer.get().progress(progress);
  }

  const Plan& plan_;
  const RunContext& context_;
  const ProgramReader reader_{context_.user, context_.interrupt};
  bool is_timed_ = needs_timed_runs(plan_);
  std::uint64_t simulated_rounds_ = 0;  // before the first look at gates
  Spent simulating_;                    // its `rounds` are single runs
  GateWatch gates_;
  PrecisionWatch precision_;
  DifferenceWatch differences_;
  StepRunner steps_;
  std::vector<Group> groups_;
  std::vector<Group>::iterator group_ = groups_.begin();  // whose turn it is
  CountingRule counting_;
  StopRule timed_;         // of the timed rounds without gates
  StopRule rule_;          // of the rounds up to the next look
  nanoseconds untimed_{};  // outside of every budget
  bool wants_tuned_ = true;
  bool is_tuned_ = true;  // by the latest call of context_.tune
  std::vector<Fingerprint> programs_;
  PrecisionEnd ended_by_ = PrecisionEnd::Reached;
  nanoseconds began_{};
};

/// The progress of a suite, of which each benchmark knows only its own part.
struct SuiteProgress {
  Observer& shown;
  const os::Clock& clock;
  nanoseconds began;
  std::vector<std::optional<nanoseconds>> left;  // of each benchmark
  std::size_t open;

  /// A benchmark without progress takes as long as the others do.
  std::optional<nanoseconds> remaining() const {
    nanoseconds known{};
    std::int64_t known_parts = 0;
    for (const auto& one : left) {
      known += one.value_or(nanoseconds(0));
      known_parts += one ? 1 : 0;
    }
    if (known_parts == 0) return std::nullopt;
    return known + known / known_parts * (static_cast<std::int64_t>(left.size()) - known_parts);
  }
};

class PartObserver final : public Observer {
 public:
  PartObserver(SuiteProgress& all, std::size_t part, std::string name)
      : all_(all), part_(part), name_(std::move(name)) {}

  bool wants_progress() const override { return all_.shown.wants_progress(); }
  void progress(const Progress& own) override {
    all_.left[part_] = own.remaining;
    Progress all = own;
    shown_ = name_ + ": " + std::string(own.difference ? own.difference->candidate : own.command);
    all.command = shown_;
    if (all.difference) all.difference->candidate = shown_;
    all.elapsed = all_.clock.now() - all_.began;
    all.remaining.reset();
    all.done = 0.0;
    if (const auto left = all_.remaining())
      enter_remaining(Seconds(*left).count(), nanoseconds(0), all);
    all_.shown.progress(all);
  }
  void finished() override {
    all_.left[part_] = nanoseconds(0);
    if (--all_.open == 0) all_.shown.finished();
  }

 private:
  SuiteProgress& all_;
  std::size_t part_;
  std::string name_;
  std::string shown_{};
};

/// Returns the number of the latest run among those that --resume found; 0 without any.
std::uint32_t latest_kept(std::span<const BenchmarkRun> runs) {
  std::uint32_t latest = 0;
  for (const BenchmarkRun& run : runs) {
    if (run.context.rounds == nullptr) continue;
    for (const KeptRounds& rounds : run.context.rounds->finished)
      for (const RunRecord& one : rounds.runs) latest = std::max(latest, one.order);
  }
  return latest;
}

/// Runs all of them, one at a time, in laps of one turn each.
void take_turns(std::span<BenchmarkRun> runs, const std::vector<std::unique_ptr<Runner>>& ready,
                std::uint64_t seed, std::vector<SessionResult>& results) {
  std::vector<std::function<void(const os::Yield&)>> activities;
  for (std::size_t i = 0; i < runs.size(); ++i)
    activities.emplace_back([&, i](const os::Yield& yield) {
      if (runs[i].plan.order != Order::Sequential) runs[i].context.let_others = yield;
      results[i] = ready[i]->run();
    });
  std::mt19937_64 random(seed);
  std::vector<std::size_t> lap;  // those whose turn is still to come, the last one first
  os::take_turns(activities, [&](std::span<const std::size_t> waiting) {
    for (;;) {
      if (lap.empty()) {
        lap.assign(waiting.begin(), waiting.end());
        shuffle(lap, random);
      }
      const std::size_t part = lap.back();
      lap.pop_back();
      if (std::ranges::binary_search(waiting, part)) return part;  // else it has ended meanwhile
    }
  });
}

}  // namespace

Result<std::vector<SessionResult>> carry_out(std::span<BenchmarkRun> runs, std::uint64_t seed) {
  const RunContext& any = runs.front().context;
  SuiteProgress progress{any.observer, any.clock, any.clock.now(),
                         std::vector<std::optional<nanoseconds>>(runs.size()), runs.size()};
  std::uint32_t order = latest_kept(runs);
  std::vector<std::unique_ptr<PartObserver>> observers;
  std::vector<std::unique_ptr<Runner>> ready;
  for (BenchmarkRun& run : runs) {
    if (!run.name.empty()) {
      run.context.order = &order;
      observers.push_back(std::make_unique<PartObserver>(progress, observers.size(), run.name));
      run.context.observer = *observers.back();
    }
    ready.push_back(std::make_unique<Runner>(run.plan, run.context));
    if (auto made = ready.back()->prepare(); !made)
      return run.name.empty() ? made.error()
                              : made.error().prefixed("benchmark " + cited(run.name));
  }
  std::vector<SessionResult> results(runs.size());
  if (runs.size() == 1)
    results.front() = ready.front()->run();
  else
    take_turns(runs, ready, seed, results);
  return results;
}

}  // namespace lauka
