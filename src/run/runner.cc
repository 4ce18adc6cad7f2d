#include "run/runner.h"

#include "core/text.h"
#include "plan/rounds.h"
#include "run/fingerprints.h"
#include "run/programs.h"
#include "run/progress.h"
#include "run/scheduler.h"
#include "run/steps.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <random>
#include <utility>

namespace lauka {

namespace {

using std::chrono::nanoseconds;

bool is_part_of_suite(const BenchmarkToRun& run) {
  return !run.name.empty();
}

class Runner final : NonCopyable {
 public:
  /// `latest_number_in_suite`: number of the latest run in the suite, which is increased with each
  /// run; null outside suites.
  Runner(const BenchmarkToRun& run, const RunContext& context, Observer& observer,
         std::uint32_t* latest_number_in_suite)
      : run_(run),
        plan_(run.plan),
        context_(context),
        observer_(observer),
        latest_number_in_suite_(latest_number_in_suite),
        steps_(run, context, observer, [this](const Step& step) { report_progress(step); }),
        scheduler_(run.plan, make_conditions(run, context), steps_.runs()),
        differences_(run.plan) {}

  /// Returns the action with which the next turn begins; null if other benchmarks' runs must not
  /// be in its batch.
  const RunSteps* find_action_to_share() {
    if (is_replaying() || context_.pending_interrupt() != 0) return nullptr;
    if (!next_action_) next_action_ = scheduler_.next_action();
    return std::get_if<RunSteps>(&*next_action_);
  }
  StepRunner& steps() { return steps_; }

  /// Carries out actions up to the end of a turn. Returns false if the session is over.
  bool take_turn() {
    if (!began_at_) begin();
    for (;;) {
      const Action action =
          next_action_ ? *std::exchange(next_action_, std::nullopt) : scheduler_.next_action();
      if (std::holds_alternative<YieldTurn>(action)) return true;
      if (std::holds_alternative<End>(action)) break;
      std::visit([this](const auto& what) { carry_out(what); }, action);
      if (steps_.is_cut_short()) scheduler_.end_early();
    }
    finish();
    return false;
  }

  SessionResult close() {
    std::vector<OwnMetric> discovered = steps_.discovered();
    Session session = steps_.close();
    session.ended_by_gates = scheduler_.was_ended_by_gates();
    session.programs =
        fingerprints_.empty()
            ? fingerprints_to_compare(plan_, {context_.user, context_.pending_interrupt})
            : std::move(fingerprints_);
    return {std::move(session), std::move(findings_), std::move(discovered),
            steps_.command_at_fault()};
  }

 private:
  static Scheduler::Conditions make_conditions(const BenchmarkToRun& run,
                                               const RunContext& context) {
    return {.takes_turns = is_part_of_suite(run) && run.plan.setting.order != Order::Sequential,
            .needs_short_batches = run.rounds != nullptr || (context.machine != nullptr &&
                                                             context.machine->watches_throttling()),
            .compares_tuning = context.machine != nullptr && context.machine->compares_tuning(),
            .hashes_programs = run.hashes_all_programs,
            .is_resumed = run.rounds != nullptr && !run.rounds->rounds_to_replay.empty()};
  }

  void begin() {
    began_at_ = context_.clock.now();
    if (const int signal = context_.pending_interrupt(); signal != 0) {
      steps_.cut_short(Interrupted{signal});
      scheduler_.end_early();
    }
  }

  void carry_out(const RunSteps& action) {
    if (is_replaying()) return replay_next_rounds();

    FinishedRounds done = steps_.run(action);
    for (RunRecord& run : done.runs)
      if (latest_number_in_suite_ != nullptr && run.step.kind != RoundKind::Untuned)
        run.details.number_in_suite = ++*latest_number_in_suite_;

    const bool has_log = run_.rounds != nullptr && run_.rounds->append_to_log;
    if (has_log && action.is_kept_for_resume && done.step_count > 0)
      run_.rounds->append_to_log(steps_.make_kept_part(done));

    if (observer_.wants_progress())
      for (const RunRecord& run : done.runs) differences_.add_run(run);
    steps_.add_results(done);
    scheduler_.take(done);
  }
  void carry_out(const SetUp& action) { steps_.set_up(action.commands); }
  void carry_out(const CleanUp& action) { steps_.clean_up(action.commands); }
  void carry_out(const CheckOutput& action) {
    scheduler_.take_number_of_checks(steps_.check_output(action.commands));
  }
  void carry_out(const HashPrograms& action) {
    set_fingerprints(plan_, {context_.user, context_.pending_interrupt}, action.commands,
                     fingerprints_);
  }
  void carry_out(const SwitchTuning& action) { context_.machine->tune(action.on); }
  void carry_out(const YieldTurn& /*action*/) {}
  void carry_out(const End& /*action*/) {}

  bool is_replaying() const {
    return run_.rounds != nullptr && !run_.rounds->rounds_to_replay.empty();
  }

  void replay_next_rounds() {
    const FinishedRounds kept = std::move(run_.rounds->rounds_to_replay.front());
    run_.rounds->rounds_to_replay.pop_front();
    if (!scheduler_.accepts(kept)) {
      run_.rounds->rounds_to_replay.clear();
      return steps_.cut_short(Error{"the rounds that --resume found do not belong to this suite",
                                    "start again without --resume"});
    }
    steps_.continue_after(kept);
    scheduler_.take(kept);
    if (!is_replaying()) scheduler_.end_replay();
  }

  void finish() {
    // Rounds that the scheduler has not taken decide no gate.
    findings_ = scheduler_.close();

    // A session that was cut short still exports the earlier process's rounds.
    for (; is_replaying(); run_.rounds->rounds_to_replay.pop_front())
      steps_.continue_after(run_.rounds->rounds_to_replay.front());
    steps_.note_if_counters_are_in_use();
    observer_.finished();
    steps_.clean_up({0, static_cast<std::uint32_t>(plan_.commands.size())});
  }

  bool takes_samples(const Step& step) const {
    const EventSet& events = plan_.setting.events;
    if (step.kind != RoundKind::Counting || step.pass >= events.passes.size()) return false;
    return std::ranges::any_of(events.passes[step.pass].event_indices, [&](std::size_t event) {
      return events.events[event].role == Role::SampledTime;
    });
  }

  /// Returns the estimated seconds from `now` to the end of the session; nullopt if unknown.
  std::optional<double> estimate_seconds_left(const Step& step, const Scheduler::UnderWay& batch,
                                              nanoseconds now) const {
    const auto seconds_from_begin = scheduler_.seconds_left(batch, steps_.paces());
    if (!seconds_from_begin) return std::nullopt;

    // The scheduler estimates the seconds from the beginning of the batch on. The time since then
    // is subtracted, except during warm-up, settling and untuned runs, which the estimate counts by
    // whole rounds or not at all.
    const bool counts_down = step.kind == RoundKind::Timed || step.gives_counts_only();
    const nanoseconds since_begin = counts_down ? now - steps_.batch_began() : nanoseconds(0);
    return *seconds_from_begin - to_seconds(since_begin);
  }

  // Updates the progress line while a batch of runs is under way. `step` is the run that the line
  // names.
  void report_progress(const Step& step) {
    if (!observer_.wants_progress()) return;

    const nanoseconds now = context_.clock.now();
    Progress progress;
    progress.command = plan_.commands[step.command].name;
    progress.kind = step.kind;
    const nanoseconds began_at = began_at_.value_or(now);  // nullopt before the first turn
    progress.elapsed = now - began_at;

    const Scheduler::UnderWay batch = steps_.under_way(step);
    if (const auto seconds_left = estimate_seconds_left(step, batch, now)) {
      set_remaining_and_elapsed_share(*seconds_left, progress);
      progress.may_end_earlier = scheduler_.may_end_earlier();
    }

    // The race, the number and the difference are nullopt if the session or the run has none.
    progress.race = scheduler_.race_so_far();
    progress.run = scheduler_.number_of_run(batch);
    progress.are_samples_taken = takes_samples(step);
    const RunningMean& wall_time = steps_.paces()[step.command].wall_time_seconds;
    if (wall_time.count > 0) progress.mean_wall_seconds = wall_time.mean;

    progress.difference = differences_.find_shown_difference(step.command);
    observer_.progress(progress);
  }

  const BenchmarkToRun& run_;
  const Plan& plan_;
  const RunContext& context_;
  Observer& observer_;
  std::uint32_t* latest_number_in_suite_;
  StepRunner steps_;
  Scheduler scheduler_;
  DifferenceWatch differences_;
  std::vector<Fingerprint> fingerprints_;
  gate::Findings findings_;              // set at the end of the session
  std::optional<Action> next_action_;    // given by the scheduler, but not carried out yet
  std::optional<nanoseconds> began_at_;  // nullopt before the first turn
};

using Runners = std::vector<std::unique_ptr<Runner>>;

/// Returns the runner of a turn to come: `turn` 0 is the last element of `lap`.
Runner& runner_of(const Runners& runners, std::span<const std::size_t> lap, std::size_t turn) {
  return *runners[lap[lap.size() - 1 - turn]];
}

/// Returns the number of turns to come that can begin in one batch. `unknown_run_time`: estimate
/// for the first run of a command.
std::size_t count_turns_to_share(const Runners& runners, std::span<const std::size_t> lap,
                                 nanoseconds unknown_run_time) {
  const os::AfterFailure policy = runner_of(runners, lap, 0).steps().policy_after_failure();
  std::size_t turns = 0;
  std::size_t launches = 0;
  for (nanoseconds whole{}; turns < lap.size() && whole < kBatchTime; ++turns) {
    Runner& runner = runner_of(runners, lap, turns);
    const RunSteps* next = runner.find_action_to_share();
    if (next == nullptr || runner.steps().policy_after_failure() != policy) break;
    const auto time = runner.steps().estimate_time_if_shareable(*next, unknown_run_time);
    launches += next->steps.size();
    if (!time || launches > os::Launcher::kMaxBatch) break;
    whole += *time;
  }
  return turns;
}

/// Moves the files of the runs from `begin` to `end` out of `all`, and counts their runs from 0.
std::vector<os::MetricFiles::RunFile> take_files_between(std::vector<os::MetricFiles::RunFile>& all,
                                                         std::size_t begin, std::size_t end) {
  std::vector<os::MetricFiles::RunFile> own;
  for (os::MetricFiles::RunFile& file : all)
    if (file.run_index >= begin && file.run_index < end)
      own.push_back({file.run_index - begin, std::move(file.text), file.is_whole});
  return own;
}

/// Launches of several turns, in the order of the turns.
struct SharedBatch {
  std::vector<os::Launch> launches{};
  std::vector<std::size_t> turn_ends{};  // for each turn, the end of its launches
};

/// Puts the first runs of the next `turns` turns into one batch; of fewer turns if a later one
/// cannot take part.
SharedBatch make_shared_batch(const Runners& runners, std::span<const std::size_t> lap,
                              std::size_t turns) {
  SharedBatch batch;
  while (batch.turn_ends.size() < turns) {
    Runner& runner = runner_of(runners, lap, batch.turn_ends.size());
    const RunSteps* next = runner.find_action_to_share();
    if (next == nullptr || !runner.steps().append_to(batch.launches, *next)) break;
    batch.turn_ends.push_back(batch.launches.size());
  }
  return batch;
}

/// Gives the runners the results of their turns in a shared batch. Returns the number of turns that
/// have results. Later turns have none if the launcher returned fewer results than launches, for
/// example after a failed run. `lap`: the benchmarks that wait for their turns; the last one is
/// next.
std::size_t hand_out_results(std::vector<os::Ended>& results, const SharedBatch& batch,
                             const Runners& runners, std::span<const std::size_t> lap,
                             const RunContext& context) {
  std::vector<os::MetricFiles::RunFile> files;
  if (context.metric_files != nullptr) files = context.metric_files->collect();

  std::size_t turn = 0;
  std::size_t begin = 0;
  while (begin < results.size()) {
    const std::size_t end = std::min(batch.turn_ends[turn], results.size());
    const auto results_of_turn = std::span(results).subspan(begin, end - begin);
    std::vector<os::Ended> moved_results(std::make_move_iterator(results_of_turn.begin()),
                                         std::make_move_iterator(results_of_turn.end()));

    // The launcher knows the error output of its latest run only.
    const bool has_latest_run = end == results.size();
    std::string error_output_end = has_latest_run ? context.launcher.error_output_end() : "";

    runner_of(runners, lap, turn)
        .steps()
        .take_shared(std::move(moved_results), take_files_between(files, begin, end),
                     std::move(error_output_end));
    begin = end;
    ++turn;
  }
  return turn;
}

/// Returns the mean time of runs, of which there must be one.
nanoseconds mean_time_of(std::span<const os::Ended> runs) {
  nanoseconds sum{};
  for (const os::Ended& ended : runs) sum += ended.time_with_preparation;
  return sum / static_cast<nanoseconds::rep>(runs.size());
}

/// Lets several benchmarks of a suite have the first runs of their next turns in one batch, because
/// a request to the launcher costs about as much as a short run. Returns the number of turns that
/// have got results. If it is 0, the next turn must launch its runs by itself.
/// `lap`: the benchmarks that wait for their turns; the last one is next.
/// `mean_run_time`: mean time of a run in the latest shared batch; is set to that of this batch.
std::size_t run_shared_batch(const Runners& runners, std::span<const std::size_t> lap,
                             const RunContext& context, nanoseconds& mean_run_time) {
  // A single turn has nothing to share its batch with.
  const std::size_t max_turns = count_turns_to_share(runners, lap, mean_run_time);
  if (max_turns < 2) return 0;

  SharedBatch batch = make_shared_batch(runners, lap, max_turns);
  if (batch.turn_ends.size() < 2) return 0;

  // If runs take longer than expected, those of later turns do not start in this batch any more.
  // The first turn keeps all its runs, as it would by itself.
  const std::size_t end_of_first_turn = batch.turn_ends.front();
  for (os::Launch& launch : std::span(batch.launches).subspan(end_of_first_turn))
    launch.latest_start = kBatchTime;

  // All turns that share a batch have the same policy (count_turns_to_share()). If the launcher
  // fails, a turn by itself meets the error again, and reports it.
  const os::AfterFailure policy = runner_of(runners, lap, 0).steps().policy_after_failure();
  auto results = context.launcher.run(batch.launches, policy, {});
  if (!results) return 0;

  if (!results->empty()) mean_run_time = mean_time_of(*results);
  return hand_out_results(*results, batch, runners, lap, context);
}

/// Returns the highest number that an earlier process gave to a run; 0 without such a run.
std::uint32_t find_latest_number_in_suite(std::span<const BenchmarkToRun> runs) {
  std::uint32_t latest = 0;
  for (const BenchmarkToRun& run : runs) {
    if (run.rounds == nullptr) continue;
    for (const FinishedRounds& rounds : run.rounds->rounds_to_replay)
      for (const RunRecord& record : rounds.runs)
        latest = std::max(latest, record.details.number_in_suite);
  }
  return latest;
}

void take_turns(const Runners& runners, const RunContext& context, std::uint64_t seed) {
  std::vector<bool> is_over(runners.size());
  const auto take_turn = [&](std::size_t part) { is_over[part] = !runners[part]->take_turn(); };
  for (std::size_t part = 0; part < runners.size(); ++part) take_turn(part);
  std::mt19937_64 random(seed);
  nanoseconds mean_run_time = kTurnTime;
  for (;;) {
    std::vector<std::size_t> lap;
    for (std::size_t part = 0; part < runners.size(); ++part)
      if (!is_over[part]) lap.push_back(part);
    if (lap.empty()) return;
    shuffle(lap, random);
    while (!lap.empty()) {
      std::size_t turns =
          std::max<std::size_t>(run_shared_batch(runners, lap, context, mean_run_time), 1);
      for (; turns > 0; --turns, lap.pop_back()) take_turn(lap.back());
    }
  }
}

/// Prepares a benchmark's runner. The error names the benchmark if it is part of a suite.
Result<void> prepare(Runner& runner, const BenchmarkToRun& run) {
  auto prepared = runner.steps().prepare();
  if (prepared || !is_part_of_suite(run)) return prepared;
  return prepared.error().prefixed("benchmark " + cited(run.name));
}

std::vector<SessionResult> close_all(const Runners& runners) {
  std::vector<SessionResult> results;
  results.reserve(runners.size());
  for (const auto& runner : runners) results.push_back(runner->close());
  return results;
}

}  // namespace

// Prepares a session for each benchmark, then lets the sessions take turns until all have ended.
// With one benchmark, its session has all turns.
Result<std::vector<SessionResult>> run_benchmarks(std::span<const BenchmarkToRun> runs,
                                                  const RunContext& context, std::uint64_t seed) {
  // The runners share these objects, and end before them.
  SuiteProgress suite_progress(context.observer, context.clock, runs.size());
  std::uint32_t latest_number_in_suite = find_latest_number_in_suite(runs);
  std::vector<std::unique_ptr<PartObserver>> observers;
  Runners runners;

  for (const BenchmarkToRun& run : runs) {
    if (is_part_of_suite(run)) {
      // Each benchmark of a suite reports its progress to an observer that adds up the progress of
      // all. Runs are numbered through all benchmarks.
      const std::size_t benchmark_index = observers.size();
      observers.push_back(
          std::make_unique<PartObserver>(suite_progress, benchmark_index, run.name));
      runners.push_back(
          std::make_unique<Runner>(run, context, *observers.back(), &latest_number_in_suite));
    } else {
      runners.push_back(std::make_unique<Runner>(run, context, context.observer, nullptr));
    }
    if (auto prepared = prepare(*runners.back(), run); !prepared) return prepared.error();
  }

  take_turns(runners, context, seed);
  return close_all(runners);
}

}  // namespace lauka
