#include "run/runner.h"

#include "gate/schedule.h"
#include "run/gates.h"
#include "run/precision.h"
#include "run/steps.h"
#include "run/stopping.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

namespace lauka {
namespace {

using std::chrono::nanoseconds;

/// Runs that are launched with one request, so that talking to the launcher costs nothing per run;
/// short enough that interrupts, progress and the stop rule are looked at often.
constexpr nanoseconds kBatchTime = std::chrono::milliseconds(25);

constexpr double kLongestTold = 1e9;  // seconds; more would overflow nanoseconds, and helps nobody

/// Simulated rounds before any gate asks for more: the fewest whose agreement decides one gate at
/// 95% (4^-3 is 1.6%, and 1.7% is left to the first of five looks). Counts that repeat almost
/// exactly gain nothing from more, and a run takes 20 to 100 times as long as a timed one.
constexpr std::uint64_t kSimulatedRounds = 3;

/// What a round is run for.
enum class Phase : unsigned char { Simulation, Warmup, Counting };

/// Commands that take turns: all of them, or one under sequential order.
struct Group {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  Spent spent{};
  std::uint64_t first_look = 0;  // rounds when counting would stop without a gate
  std::uint64_t simulated = 0;   // rounds of simulated runs
};

std::vector<Group> groups_of(const Plan& plan) {
  const auto count = static_cast<std::uint32_t>(plan.commands.size());
  if (plan.order != Order::Sequential) return {Group{0, count, {0, {}, count}}};
  std::vector<Group> groups;
  for (std::uint32_t i = 0; i < count; ++i) groups.push_back({i, 1, {}});
  return groups;
}

class Runner {
 public:
  Runner(const Plan& plan, const Means& means)
      : plan_(plan),
        means_(means),
        gates_(plan),
        precision_(plan, gates_.interval_confidence()),
        steps_(plan, means,
               {[this](const RunRecord& run) { note(run); },
                [this](const Step& step) { tell_progress(step); }}),
        groups_(groups_of(plan)),
        rule_(plan.stop) {}

  Result<void> prepare() {
    if (plan_.events.timed_passes() < plan_.events.passes.size())
      simulated_rounds_ = std::max<std::uint64_t>(kSimulatedRounds, gates_.rounds_of_constants());
    return steps_.prepare();
  }

  Carried run_all() {
    began_ = means_.clock.now();
    if (const int signal = means_.interrupt(); signal != 0) {
      steps_.cut_short(Interrupted{signal});
    } else if (run_groups() && run_for_precision()) {
      look_until_decided();
    }
    means_.observer.finished();
    steps_.clean_up(0, static_cast<std::uint32_t>(plan_.commands.size()));
    if (steps_.is_cut_short()) ended_by_ = PrecisionEnd::Unfinished;
    gate::Findings findings{.verdicts = gates_.close(),
                            .interval_confidence = gates_.interval_confidence(),
                            .precision = precision_.close(ended_by_, gates_.interval_confidence())};
    return {steps_.close(), std::move(findings)};
  }

 private:
  /// Every group up to where counting stops without a gate. Simulated runs come first: warm-up runs
  /// then leave the timed ones a machine as in any other session.
  bool run_groups() {
    for (group_ = groups_.begin(); group_ != groups_.end(); ++group_) {
      if (!steps_.set_up(group_->first, group_->count)) return false;
      if (!simulate_up_to(simulated_rounds_) || !warm_up() || !count()) return false;
      if (groups_.size() > 1 && !steps_.clean_up(group_->first, group_->count)) return false;
    }
    return true;
  }

  void note(const RunRecord& run) {
    gates_.take(run);
    precision_.take(run);
  }

  bool simulate_up_to(std::uint64_t rounds) {
    for (; group_->simulated < rounds; ++group_->simulated) {
      if (!run_rounds(static_cast<std::uint32_t>(group_->simulated), 1, Phase::Simulation))
        return false;
    }
    return true;
  }

  bool warm_up() {
    for (std::uint64_t done = 0; done < plan_.warmup;) {
      const std::uint64_t rounds = std::min(plan_.warmup - done, rounds_at_once());
      if (!run_rounds(static_cast<std::uint32_t>(done), rounds, Phase::Warmup)) return false;
      done += rounds;
    }
    return true;
  }

  bool count() {
    while (!is_enough(plan_.stop, group_->spent)) {
      if (!run_some()) return false;
      if (precision_.is_enough(group_->first, group_->count, group_->spent.rounds)) return true;
    }
    note_limit();
    return true;
  }

  /// What ended the group's rounds, when its precision did not.
  void note_limit() {
    const auto& most = plan_.stop.max_runs;
    ended_by_ =
        most && group_->spent.rounds >= *most ? PrecisionEnd::MaxRuns : PrecisionEnd::Duration;
  }

  /// In sequential order the reference is run before anyone knows how much slower a candidate is,
  /// and with that how much of it is needed: what is missing is run now, as long as its limits let
  /// it.
  bool run_for_precision() {
    const auto is_wanted = [this](const Group& group) {
      return precision_.wants_more_of(group.first) && !is_enough(plan_.stop, group.spent);
    };
    while (groups_.size() > 1 && std::any_of(groups_.begin(), groups_.end(), is_wanted)) {
      if (steps_.hooks_stand_around_commands()) {
        ended_by_ = PrecisionEnd::ReferenceGone;
        break;
      }
      group_ = std::find_if(groups_.begin(), groups_.end(), is_wanted);
      for (; group_ != groups_.end(); group_ = std::find_if(group_ + 1, groups_.end(), is_wanted)) {
        if (!run_some()) return false;
        if (is_enough(plan_.stop, group_->spent)) note_limit();
      }
    }
    for (Group& group : groups_) group.first_look = group.spent.rounds;
    return true;
  }

  /// As many rounds as one request is good for; never more than the rule leaves.
  bool run_some() {
    Spent& spent = group_->spent;
    const std::uint64_t rounds =
        std::min(rounds_left(rule_, spent, round_time(*group_)), rounds_at_once());
    if (!run_rounds(static_cast<std::uint32_t>(spent.rounds), rounds, Phase::Counting))
      return false;
    spent.rounds += rounds;
    return true;
  }

  /// Looks at the gates, and goes on to the next look as long as one is open.
  void look_until_decided() {
    for (std::size_t number = 1;; ++number) {
      const bool last = number == gate::kLooks || !can_go_on();
      gates_.look({number, last});
      if (gates_.is_decided()) return;  // as it is after the last look
      if (!go_on_to_look(number + 1)) return;
    }
  }

  bool can_go_on() const {
    if (groups_.size() > 1 && steps_.hooks_stand_around_commands()) return false;
    if (gates_.waits_for_simulated() && !plan_.stop.exact_runs) return true;
    const StopRule rule = extended_to(plan_.stop, std::numeric_limits<std::uint64_t>::max());
    return std::any_of(groups_.begin(), groups_.end(),
                       [&](const Group& group) { return !is_enough(rule, group.spent); });
  }

  bool go_on_to_look(std::size_t number) {
    for (group_ = groups_.begin(); group_ != groups_.end(); ++group_) {
      if (gates_.waits_for_simulated() &&
          !simulate_up_to(gate::look_rounds(simulated_rounds_)[number - 1])) {
        return false;
      }
      if (!gates_.waits_for_timed()) continue;
      rule_ = extended_to(plan_.stop, gate::look_rounds(group_->first_look)[number - 1]);
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
    return nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  }

  std::uint64_t rounds_at_once() const {
    if (steps_.pace(group_->first).whole.count == 0) return 1;
    const auto in_time = kBatchTime / std::max(round_time(*group_), nanoseconds(1));
    return std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(in_time), 1,
        std::max<std::uint64_t>(os::Launcher::kMaxBatch / group_->count, 1));
  }

  std::vector<Step> steps_of(std::uint32_t round, Phase phase) const {
    return phase == Phase::Simulation ? steps_of_simulated_round(plan_, round)
                                      : steps_of_round(plan_, round, phase == Phase::Warmup);
  }

  bool run_rounds(std::uint32_t first, std::uint64_t count, Phase phase) {
    std::vector<Step> steps;
    for (std::uint32_t round = first; round < first + count; ++round) {
      for (const Step& step : steps_of(round, phase)) {
        if (step.command >= group_->first && step.command < group_->first + group_->count)
          steps.push_back(step);
      }
    }
    return steps_.run(std::move(steps), group_->spent.time);
  }

  double seconds_left_of(const Group& group, const Spent& so_far, bool warmup) const {
    if (!warmup && is_enough(rule_, so_far)) return 0.0;
    const nanoseconds round = round_time(group);
    return static_cast<double>(rounds_left(rule_, so_far, round)) *
           std::chrono::duration<double>(round).count();
  }

  /// Of this group and those that follow it: as long as this one takes, where they have not begun.
  /// With gates up to the next look, since nobody can say at which they are decided.
  double seconds_left(const Spent& so_far, bool warmup) const {
    const double left = seconds_left_of(*group_, so_far, warmup);
    const double whole = left + std::chrono::duration<double>(so_far.time).count();
    double all = left;
    for (auto next = std::next(group_); next != groups_.end(); ++next)
      all += next->spent.rounds == 0 ? whole : seconds_left_of(*next, next->spent, false);
    return all;
  }

  void tell_progress(const Step& step) {
    if (!means_.observer.wants_progress()) return;
    const nanoseconds now = means_.clock.now();
    Spent so_far = group_->spent;
    if (!step.warmup && !steps_.is_simulated(step)) so_far.time += now - steps_.batch_began();
    Progress progress;
    progress.command = plan_.commands[step.command].name;
    progress.warmup = step.warmup;
    progress.simulated = steps_.is_simulated(step);
    progress.elapsed = now - began_;
    const Pace& pace = steps_.pace(step.command);
    if (pace.whole.count > 0) {
      const double elapsed = std::chrono::duration<double>(progress.elapsed).count();
      const double left = std::min(seconds_left(so_far, step.warmup), kLongestTold);
      progress.remaining = nanoseconds(static_cast<std::int64_t>(left * 1e9));
      progress.done = elapsed + left > 0.0 ? elapsed / (elapsed + left) : 0.0;
    }
    if (pace.wall.count > 0) progress.mean_wall_seconds = pace.wall.mean;
    means_.observer.progress(progress);
  }

  const Plan& plan_;
  const Means& means_;
  std::uint64_t simulated_rounds_ = 0;  // before the first look at gates
  GateWatch gates_;
  PrecisionWatch precision_;
  StepRunner steps_;
  std::vector<Group> groups_;
  std::vector<Group>::iterator group_ = groups_.begin();  // whose turn it is
  StopRule rule_;                                         // of the rounds up to the next look
  PrecisionEnd ended_by_ = PrecisionEnd::Reached;
  nanoseconds began_{};
};

}  // namespace

Result<Carried> carry_out(const Plan& plan, const Means& means) {
  Runner runner(plan, means);
  if (auto prepared = runner.prepare(); !prepared) return prepared.error();
  return runner.run_all();
}

}  // namespace lauka
