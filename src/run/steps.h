#pragma once

#include "core/record.h"
#include "core/result.h"
#include "core/runs.h"
#include "core/session.h"
#include "engine/engine.h"
#include "plan/plan.h"
#include "run/kept_rounds.h"
#include "run/output.h"
#include "run/programs.h"
#include "run/runner.h"
#include "run/sampling_cost.h"
#include "run/scheduler.h"
#include "session/function_metrics.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka {

/// Runs steps in batches, with hooks between runs, and collects the results in a Session.
class StepRunner {
 public:
  using BatchCallback = std::function<void(const Step&)>;

  /// `under_way`: called with the first step of a batch when the batch begins and, if `observer`
  /// wants progress, repeatedly during the batch.
  StepRunner(const BenchmarkToRun& benchmark, const RunContext& context, Observer& observer,
             BatchCallback under_way);

  /// Arms every pass, registers commands and hooks, and measures the start of the shell.
  Result<void> prepare();

  /// Runs the steps, and repeats runs if necessary (RedoReason). If the session must end,
  /// FinishedRounds::step_count covers only the rounds that are complete.
  FinishedRounds run(const RunSteps& action);

  /// Returns an estimate of the time of `action`; nullopt if other benchmarks' runs must not be in
  /// its batch. `unknown_run_time`: estimate for the first run of a command.
  std::optional<std::chrono::nanoseconds> estimate_time_if_shareable(
      const RunSteps& action, std::chrono::nanoseconds unknown_run_time) const;

  /// Appends the launches of `action` to a batch that several benchmarks share. Returns false and
  /// leaves `batch` as it is if they cannot be made. run() meets the error again.
  bool append_to(std::vector<os::Launch>& batch, const RunSteps& action);

  /// Sets the results of append_to()'s launches, which the next run() uses instead of launching.
  /// `files`: files of these runs; RunFile::run_index is the index in `ended`. `error_output_end`:
  /// result of Launcher::error_output_end() if the batch's last run is among them; else empty.
  void take_shared(std::vector<os::Ended> ended, std::vector<os::MetricFiles::RunFile> files,
                   std::string error_output_end);

  /// Returns the complete rounds of a result, with the session's state for --resume.
  FinishedRounds make_kept_part(const FinishedRounds& done) const;

  /// Adds the runs of a result to the session. Cuts the session short if
  /// FunctionTableBuilder::find_unknown() returns an error.
  void add_results(const FinishedRounds& done);

  /// Adds rounds that an earlier process finished, and continues from their state.
  void continue_after(const FinishedRounds& kept);

  /// Returns the runs of the session so far, without those that do not count: repeated, warm-up
  /// and untuned runs.
  const Runs& runs() const { return session_.runs; }

  /// Runs the commands that --expect-output needs, and checks their output. Returns the number of
  /// commands that need the check, even if not all were run.
  std::size_t check_output(CommandRange commands);

  void set_up(CommandRange commands);
  void clean_up(CommandRange commands);

  std::span<const Pace> paces() const { return paces_; }
  std::chrono::nanoseconds batch_began() const { return batch_began_; }

  /// Returns the state of the run() that is under way, given the step that runs now.
  Scheduler::UnderWay under_way(const Step& step) const {
    return {step, leading_steps_done_, result_.time};
  }

  /// Adds a note if counting passes cannot use the hardware counters, usually because another
  /// program holds the counters.
  void note_if_counters_are_in_use();

  os::AfterFailure policy_after_failure() const {
    return plan_.ignore_failure && plan_.ignore_failure->ignores_all ? os::AfterFailure::GoOn
                                                                     : os::AfterFailure::Stop;
  }

  void cut_short(EarlyEnd why) { session_.cut_short = std::move(why); }
  bool is_cut_short() const { return session_.cut_short.has_value(); }
  /// Index of the command whose run ended the session, although the run itself succeeded: it lacks
  /// a metric, or its output is not what is expected. nullopt without such a command.
  std::optional<std::size_t> command_at_fault() const { return command_at_fault_; }

  const std::vector<OwnMetric>& discovered() const { return reported_.discovered(); }

  /// Returns the session with its notes. Nothing can be run afterwards.
  Session close();

 private:
  Result<void> arm_passes();
  /// Makes `result_` what is known before the first step of `steps` has run.
  void begin_result(std::span<const Step> steps);
  /// Leaves only whole rounds in `result_`.
  void drop_incomplete_round();
  /// Returns false if the session must end.
  bool run_with_repetitions(std::vector<Step> steps);
  void count_finished_step();
  std::size_t cut_short_without_runs(EarlyEnd why) {
    cut_short(std::move(why));
    return 0;
  }
  /// Returns false if the session must end before all steps have run.
  bool run_steps(std::span<const Step> left);
  bool runs_one_by_one() const;
  std::size_t batch_size(std::span<const Step> steps) const;
  /// True if all runs of an action may be in one batch with runs of other benchmarks.
  bool is_shareable(const RunSteps& action) const;
  /// Returns the number of steps that have run. 0 means that the session must end.
  std::size_t launch_and_take_runs(std::span<const Step> steps);
  Result<std::vector<os::Ended>> launch_alone(std::span<const Step> steps);
  Result<std::vector<os::Ended>> launch_batch(std::span<const os::Launch> launches,
                                              const Step& step, os::AfterFailure after_failure);
  /// `index_in_batch`: index of the run.
  Result<os::Launch> make_launch(const Step& step, std::size_t index_in_batch);
  void add_counters(std::size_t pass, os::Launch& launch) const;
  Result<void> add_control_group(os::Launch& launch);
  Result<std::vector<os::Launch>> make_launches(std::span<const Step> steps,
                                                std::size_t first_run_in_batch);
  void keep_functions(const RunRecord& run, engine::CountsOfRun& counted);
  void note_counting(const RunRecord& run, const os::Ended& ended, engine::CountsOfRun counted);
  void request_repetition_if_throttled(const Step& step, engine::CountsOfRun& counted) const;
  /// Returns false if the session must end.
  bool take_ended_run(const Step& step, const os::Ended& ended, std::size_t index_in_batch);
  /// Cuts the session short. Returns false.
  bool end_session(EarlyEnd why);
  /// Sets the values that a run has reported. Returns an error if one is missing and -i does not
  /// ignore it. `index_in_batch`: index of the run.
  std::optional<Error> take_reported_values(RunRecord& run, std::size_t index_in_batch,
                                            const os::Ended& ended, engine::CountsOfRun& counted);
  void subtract_overhead(RunRecord& run) const;
  /// Adds a run to `result_`: to the runs that are kept, or to those that are repeated.
  void add_to_result(RunRecord run, const os::Ended& ended, engine::CountsOfRun counted);
  void keep_run(RunRecord run, const os::Ended& ended, engine::CountsOfRun counted);
  std::optional<EarlyEnd> find_failure(const Step& step, const os::Ended& ended) const;
  std::optional<EarlyEnd> find_failure_of_until(const Step& step, const os::Ended& ended) const;
  std::optional<EarlyEnd> find_reason_to_end(const Step& step, const os::Ended& ended,
                                             const engine::CountsOfRun& counted) const;
  std::size_t launch_check(const Step& step);
  /// Lets the first run of a command, which is usually a warm-up run, tell its process's state.
  void ask_for_end_state(const Step& step, os::Launch& launch);
  void note_end_state(const Step& step, const os::Ended& ended);
  void note_if_program_loses_counts(std::size_t command);
  void note_programs_that_lose_counts();
  /// Calls `launch_steps` between the prepare and conclude hooks of `step`, and returns its result;
  /// 0 if a hook failed, which ends the session.
  std::size_t run_between_hooks(const Step& step, const std::function<std::size_t()>& launch_steps);
  std::optional<Error> take_region(RunRecord& run, const os::Ended& ended,
                                   engine::CountsOfRun& counted);
  void note_failure(const HookFailed& failed);
  void note_once(const Step& step, Note note);
  void note_input(const Step& step, os::InputRead input);
  void add_redone(const RedoneRun& redone);
  void add_notes_about_redone_runs();
  void note_uncounted(const RunRecord& run, Error why);
  std::string list_uncounted_events(const RunRecord& run) const;
  void add_notes_about_uncounted_runs();

  const BenchmarkToRun& benchmark_;
  const Plan& plan_;
  const RunContext& context_;
  Observer& observer_;
  BatchCallback report_under_way_;
  std::vector<std::unique_ptr<engine::ArmedPass>> armed_passes_;
  std::vector<os::CounterSetId> counters_;
  Programs programs_;
  HookRunner hooks_;
  ReportedValues reported_;
  std::optional<AwaitedLine> awaited_;
  OutputCheck output_check_;
  FunctionTableBuilder functions_;
  SamplingCost sampling_cost_;
  std::vector<bool> has_looked_for_counter_loss_;
  std::vector<bool> has_asked_for_end_state_;
  RoundKind latest_kind_ = RoundKind::Warmup;
  std::vector<Pace> paces_;
  std::vector<UncountedRuns> uncounted_;
  Session session_;
  RunRecorder recorder_;
  std::map<std::string, std::size_t> redo_reasons_;  // number of runs repeated for each reason
  bool was_throttled_ = false;
  std::vector<Step> to_repeat_;
  std::uint32_t earlier_attempts_ = 0;
  std::size_t steps_per_round_ = 1;  // number of steps in a round
  std::size_t leading_steps_done_ =
      0;  // number of steps done before the first step that must be repeated
  std::chrono::nanoseconds time_of_whole_rounds_{};
  FinishedRounds result_;
  std::optional<std::size_t> command_at_fault_{};
  std::chrono::nanoseconds batch_began_{};
  std::vector<os::Ended> shared_;  // results of a shared batch that were not taken yet
  std::optional<std::string> shared_error_output_end_;  // nullopt: the latest batch was not shared
};

}  // namespace lauka
