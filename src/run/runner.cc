#include "run/runner.h"

#include "gate/schedule.h"
#include "run/gates.h"
#include "run/hooks.h"
#include "run/precision.h"
#include "run/programs.h"
#include "run/shell_overhead.h"
#include "run/stopping.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
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

/// Mean of what was seen so far.
struct RunningMean {
  std::uint64_t count = 0;
  double mean = 0.0;
  void add(double value) { mean += (value - mean) / static_cast<double>(++count); }
};

bool may_fail_with(const std::optional<IgnoreFailure>& ignore, const Outcome& outcome) {
  if (!ignore) return false;
  const bool ended = std::holds_alternative<Exited>(outcome) ||
                     std::holds_alternative<Signalled>(outcome) ||
                     std::holds_alternative<TimedOut>(outcome);
  if (ignore->any) return ended;
  const auto* exited = std::get_if<Exited>(&outcome);
  return exited != nullptr && std::find(ignore->statuses.begin(), ignore->statuses.end(),
                                        exited->status) != ignore->statuses.end();
}

class Runner {
 public:
  Runner(const Plan& plan, const Means& means)
      : plan_(plan),
        means_(means),
        programs_(plan, means.launcher, means.user, armed_),
        gates_(plan),
        precision_(plan, gates_.interval_confidence()),
        hooks_(plan, means.launcher),
        hook_time_(plan.commands.size()),
        whole_time_(plan.commands.size()),
        wall_time_(plan.commands.size()),
        groups_(groups_of(plan)),
        rule_(plan.stop) {}

  Result<void> prepare() {
    for (std::size_t pass = 0; pass < plan_.events.passes.size(); ++pass) {
      auto armed = means_.engine.arm(pass, means_.launcher);
      if (!armed) return armed.error();
      armed_.push_back(*std::move(armed));
    }
    if (auto programs = programs_.prepare(); !programs) return programs;
    if (auto hooks = hooks_.prepare(means_.user); !hooks) return hooks;
    if (plan_.events.timed_passes() < armed_.size())
      simulated_rounds_ = std::max<std::uint64_t>(kSimulatedRounds, gates_.rounds_of_constants());
    auto overheads = measure_shell(plan_, means_.launcher, means_.user, means_.interrupt);
    if (!overheads) return overheads.error();
    session_.overheads = *std::move(overheads);
    return {};
  }

  Carried run_all() {
    began_ = means_.clock.now();
    if (const int signal = means_.interrupt(); signal != 0) {
      cut_short(Interrupted{signal});
    } else if (run_groups() && run_for_precision()) {
      look_until_decided();
    }
    means_.observer.finished();
    clean_up(0, static_cast<std::uint32_t>(plan_.commands.size()));
    tell_redone();
    for (std::string& note : means_.engine.notes()) session_.notes.push_back(std::move(note));
    if (session_.cut_short) ended_by_ = PrecisionEnd::Unfinished;
    gate::Findings findings{.verdicts = gates_.close(),
                            .interval_confidence = gates_.interval_confidence(),
                            .precision = precision_.close(ended_by_, gates_.interval_confidence())};
    return {std::move(session_), std::move(findings)};
  }

 private:
  /// Every group up to where counting stops without a gate. Simulated runs come first: warm-up runs
  /// then leave the timed ones a machine as in any other session.
  bool run_groups() {
    for (group_ = groups_.begin(); group_ != groups_.end(); ++group_) {
      if (const auto failed = hooks_.set_up(group_->first, group_->count))
        return note_failure(*failed);
      if (!simulate_up_to(simulated_rounds_) || !warm_up() || !count()) return false;
      if (groups_.size() > 1 && !clean_up(group_->first, group_->count)) return false;
    }
    return true;
  }

  bool clean_up(std::uint32_t first, std::uint32_t count) {
    const std::vector<HookFailed> failures = hooks_.clean_up(first, count);
    for (const HookFailed& failed : failures) note_failure(failed);
    return failures.empty();
  }

  /// The first reason to end is the one that is told first. Always false.
  bool note_failure(const HookFailed& failed) {
    if (session_.cut_short) {
      session_.also_failed.push_back(failed);
    } else if (std::holds_alternative<Cancelled>(failed.outcome)) {
      cut_short(Interrupted{means_.interrupt()});
    } else {
      cut_short(failed);
    }
    return false;
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
      if (hooks_.stand_around_commands()) {
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
        std::min(rounds_left(rule_, spent, round_time()), rounds_at_once());
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
    if (groups_.size() > 1 && hooks_.stand_around_commands()) return false;
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

  nanoseconds round_time() const {
    double seconds = 0.0;
    for (std::uint32_t i = 0; i < group_->count; ++i)
      seconds += whole_time_[group_->first + i].mean + hook_time_[group_->first + i].mean;
    return nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  }

  std::uint64_t rounds_at_once() const {
    if (whole_time_[group_->first].count == 0) return 1;
    const auto in_time = kBatchTime / std::max(round_time(), nanoseconds(1));
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
    redone_ = 0;
    do {
      again_.clear();
      if (!run_steps(steps)) return false;
      steps = again_;
      ++redone_;
    } while (!steps.empty());
    return true;
  }

  bool run_steps(std::span<const Step> left) {
    while (!left.empty()) {
      const std::span<const Step> batch = left.first(batch_size(left));
      const std::size_t done = run_batch(batch);
      if (done == 0) return false;
      left = left.subspan(done);
    }
    return true;
  }

  bool is_simulated(const Step& step) const { return plan_.events.is_simulated(step.pass); }

  std::size_t batch_size(std::span<const Step> steps) const {
    std::size_t size = std::min(steps.size(), os::Launcher::kMaxBatch);
    if (!armed_.empty()) size = std::min(size, armed_[steps.front().pass]->runs_at_once());
    // What a run wrote to a pipe can be told from what the next one writes only when it has ended.
    const bool one_by_one =
        hooks_.stand_between_runs() ||
        std::any_of(plan_.commands.begin(), plan_.commands.end(),
                    [](const Command& command) { return command.output.kind == OutputKind::Pipe; });
    return one_by_one ? 1 : size;
  }

  /// How many of `steps` were run; 0 when the session is to end. Hooks stand around a single one.
  std::size_t run_batch(std::span<const Step> steps) {
    const Step& step = steps.front();
    if (const auto failed = hooks_.run(HookKind::Prepare, step.command, step)) {
      note_failure(*failed);
      return 0;
    }
    const std::size_t done = launch(steps);
    if (const auto failed = hooks_.run(HookKind::Conclude, step.command, step)) {
      note_failure(*failed);
      return 0;
    }
    if (hooks_.stand_between_runs()) note_hook_time(step);
    return done;
  }

  /// Counts towards the time budget, as hyperfine has it: it is the time that the user waits.
  void note_hook_time(const Step& step) {
    const nanoseconds time = hooks_.take_time();
    if (is_simulated(step)) return;
    hook_time_[step.command].add(std::chrono::duration<double>(time).count());
    if (!step.warmup) group_->spent.time += time;
  }

  std::size_t launch(std::span<const Step> steps) {
    std::vector<os::Launch> launches;
    launches.reserve(steps.size());
    for (const Step& step : steps) {
      const auto program = programs_.of(step);
      if (!program) return cut_short(program.error());
      launches.push_back({.program = *program});
      if (armed_.empty()) continue;
      launches.back().counters = armed_[step.pass]->on_launcher();
      if (auto* watch = armed_[step.pass]->watch(); watch != nullptr)
        launches.back().watches.push_back(watch);
    }
    batch_began_ = means_.clock.now();
    tell_progress(steps.front());
    os::Tick tick;
    if (means_.observer.wants_progress()) tick = [&] { tell_progress(steps.front()); };
    const bool go_on = plan_.ignore_failure && plan_.ignore_failure->any;
    auto all = means_.launcher.run(launches, go_on, tick);
    if (!all) return cut_short(all.error());
    for (std::size_t i = 0; i < all->size(); ++i) {
      if (!take(steps[i], (*all)[i])) return 0;
    }
    if (all->empty()) return cut_short(Error{"the launcher ran nothing", ""});
    if (const int signal = means_.interrupt(); signal != 0) return cut_short(Interrupted{signal});
    return all->size();
  }

  std::size_t cut_short(CutShort why) {
    session_.cut_short = std::move(why);
    return 0;
  }

  /// Enters one run into the session. False when it is the last.
  bool take(const Step& step, os::Ended ended) {
    if (std::holds_alternative<Cancelled>(ended.outcome)) {
      cut_short(Interrupted{means_.interrupt()});
      return false;
    }
    engine::Counted counted;
    if (!armed_.empty()) counted = armed_[step.pass]->finish(ended);
    if (ended.counter_error != 0) {
      const auto why = counted.missing.value_or(Unavailable{"a counter could not be opened", ""});
      cut_short(Error{why.why, why.remedy});
      return false;
    }
    if (!succeeded(ended.outcome) && !may_fail_with(plan_.ignore_failure, ended.outcome)) {
      cut_short(
          RunFailed{step, ended.outcome, means_.launcher.error_output_end(), is_simulated(step)});
      return false;
    }
    const bool is_timed = !is_simulated(step);
    if (is_timed) whole_time_[step.command].add(std::chrono::duration<double>(ended.whole).count());
    if (step.warmup) return true;
    if (is_timed) group_->spent.time += ended.whole;
    const bool below = is_timed && !session_.overheads.empty() &&
                       subtract(session_.overheads[step.command], ended.usage);
    RunRecord run{step,
                  ended.outcome,
                  ended.usage,
                  std::move(counted.counts),
                  counted.coverage,
                  std::move(counted.own),
                  below};
    if (counted.redo && redone_ < counted.redo->at_most) {
      session_.redone.push_back({std::move(run), std::move(counted.redo->why)});
      again_.push_back(step);
      return true;
    }
    if (counted.missing)
      note_once(step, Error{counted.missing->why, counted.missing->remedy}.line());
    if (counted.note) note_once(step, *std::move(counted.note));
    if (is_timed) wall_time_[step.command].add(static_cast<double>(ended.usage.wall_ns) * 1e-9);
    session_.runs.push_back(std::move(run));
    gates_.take(session_.runs.back());
    precision_.take(session_.runs.back());
    return true;
  }

  /// One note for each reason that runs were run again for.
  void tell_redone() {
    std::map<std::string, std::size_t> reasons;
    for (const RedoneRun& redone : session_.redone) ++reasons[redone.why];
    for (const auto& [why, count] : reasons) {
      std::string note = std::to_string(count);
      note += count == 1 ? " run was" : " runs were";
      note += " run again, because ";
      session_.notes.push_back(note += why);
    }
  }

  void note_once(const Step& step, std::string line) {
    // How a command lives decides whether it can be simulated.
    if (is_simulated(step)) line = "'" + plan_.commands[step.command].name + "': " + line;
    auto& notes = session_.notes;
    if (std::find(notes.begin(), notes.end(), line) == notes.end())
      notes.push_back(std::move(line));
  }

  /// Of this group and, as long as this one takes, of those that follow it; with gates up to the
  /// next look, since nobody can say at which they are decided.
  double seconds_left(const Spent& so_far, bool warmup) const {
    const bool counts_on = warmup || !is_enough(rule_, so_far);
    const auto rounds =
        counts_on ? static_cast<double>(rounds_left(rule_, so_far, round_time())) : 0.0;
    const double group_left = rounds * std::chrono::duration<double>(round_time()).count();
    const double group_used = std::chrono::duration<double>(so_far.time).count();
    const std::size_t groups_left =
        plan_.order == Order::Sequential ? plan_.commands.size() - 1 - group_->first : 0;
    return group_left + (group_left + group_used) * static_cast<double>(groups_left);
  }

  void tell_progress(const Step& step) {
    if (!means_.observer.wants_progress()) return;
    const nanoseconds now = means_.clock.now();
    Spent so_far = group_->spent;
    if (!step.warmup && !is_simulated(step)) so_far.time += now - batch_began_;
    Progress progress;
    progress.command = plan_.commands[step.command].name;
    progress.warmup = step.warmup;
    progress.simulated = is_simulated(step);
    progress.elapsed = now - began_;
    if (whole_time_[step.command].count > 0) {
      const double elapsed = std::chrono::duration<double>(progress.elapsed).count();
      const double left = std::min(seconds_left(so_far, step.warmup), kLongestTold);
      progress.remaining = nanoseconds(static_cast<std::int64_t>(left * 1e9));
      progress.done = elapsed + left > 0.0 ? elapsed / (elapsed + left) : 0.0;
    }
    if (wall_time_[step.command].count > 0)
      progress.mean_wall_seconds = wall_time_[step.command].mean;
    means_.observer.progress(progress);
  }

  const Plan& plan_;
  const Means& means_;
  std::vector<std::unique_ptr<engine::Counting>> armed_;  // one per pass
  Programs programs_;
  std::uint64_t simulated_rounds_ = 0;  // before the first look at gates
  GateWatch gates_;
  PrecisionWatch precision_;
  HookRunner hooks_;
  std::vector<RunningMean> hook_time_;   // seconds between two runs, by command
  std::vector<RunningMean> whole_time_;  // seconds, by command, warm-up runs included
  std::vector<RunningMean> wall_time_;
  Session session_;
  std::vector<Group> groups_;
  std::vector<Group>::iterator group_ = groups_.begin();  // whose turn it is
  StopRule rule_;                                         // of the rounds up to the next look
  std::vector<Step> again_;                               // to be run again, of the steps under way
  std::uint32_t redone_ = 0;                              // how often those were run before
  PrecisionEnd ended_by_ = PrecisionEnd::Reached;
  nanoseconds began_{};
  nanoseconds batch_began_{};
};

}  // namespace

Result<Carried> carry_out(const Plan& plan, const Means& means) {
  Runner runner(plan, means);
  if (auto prepared = runner.prepare(); !prepared) return prepared.error();
  return runner.run_all();
}

}  // namespace lauka
