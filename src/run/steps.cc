#include "run/steps.h"

#include "core/text.h"
#include "plan/command_layouts.h"
#include "run/fingerprints.h"
#include "run/program_facts.h"

#include <algorithm>
#include <iterator>
#include <variant>

namespace lauka {

using std::chrono::nanoseconds;

namespace {

/// Leaves out the counts of a run that was repeated in vain.
void leave_out_counts(RunRecord& run, engine::CountsOfRun& counted) {
  std::ranges::fill(run.counts, std::nullopt);
  std::ranges::fill(run.own_process_counts, std::nullopt);
  run.instruction_coverage.reset();
  counted.functions.reset();
  counted.why_missing_counts = counted.redo->why_left_out;
}

/// Returns the indices of the events of a run's pass that the run has no counts of.
std::vector<std::size_t> find_uncounted(const EventSet& events, const RunRecord& run) {
  std::vector<std::size_t> uncounted;
  const std::vector<std::size_t>& of_pass = events.passes.at(run.step.pass).event_indices;
  for (std::size_t i = 0; i < std::min(of_pass.size(), run.counts.size()); ++i)
    if (!run.counts[i]) uncounted.push_back(of_pass[i]);
  return uncounted;
}

}  // namespace

// Makes only what cannot fail. prepare() does the rest. Vectors with the size of the plan's
// commands have an element for each command.
StepRunner::StepRunner(const BenchmarkToRun& benchmark, const RunContext& context,
                       Observer& observer, BatchCallback under_way)
    : benchmark_(benchmark),
      plan_(benchmark.plan),
      context_(context),
      observer_(observer),
      report_under_way_(std::move(under_way)),
      programs_({.plan = plan_,
                 .launcher = context.launcher,
                 .user = context.user,
                 .armed = armed_passes_,  // still empty; prepare() adds the passes
                 .has_metric_files = context.metric_files != nullptr}),
      hooks_(plan_, context.launcher),
      reported_(plan_, context.launcher, context.metric_files, context.clock),
      output_check_(plan_, context),
      functions_(plan_),
      sampling_cost_(plan_),
      has_looked_for_counter_loss_(plan_.commands.size()),
      has_asked_for_end_state_(plan_.commands.size()),
      paces_(plan_.commands.size()),
      session_{.runs = Runs(plan_.metrics),
               .runs_without_tuning = Runs(plan_.metrics),
               .discarded_runs = Runs(plan_.metrics)},
      recorder_(plan_.metrics, plan_.setting.events, plan_.ignore_failure,
                plan_.reported_metrics.size()) {
  session_.counter_loss_files.resize(plan_.commands.size());
  session_.program_settings.resize(plan_.commands.size());
}

// In each pass, runs count a part of the events, because a processor has few counters. A pass that
// needs none, such as one in a simulator, keeps kNoCounters.
Result<void> StepRunner::arm_passes() {
  for (std::size_t pass = 0; pass < plan_.setting.events.passes.size(); ++pass) {
    auto armed_pass = benchmark_.engine.arm(pass);
    if (!armed_pass) return armed_pass.error();
    armed_passes_.push_back(*std::move(armed_pass));
    counters_.push_back(os::kNoCounters);

    if (const auto requests = armed_passes_.back()->requests(); !requests.empty()) {
      const auto added = context_.launcher.add_counters(requests);
      if (!added) return added.error();
      counters_.back() = *added;
    }
  }
  return {};
}

// Passes come first, because a pass in a simulator changes how the commands are started.
Result<void> StepRunner::prepare() {
  if (auto armed = arm_passes(); !armed) return armed;

  // With --until, a run ends when it writes a line that matches a pattern.
  if (plan_.compiled_end_pattern) awaited_.emplace(*plan_.compiled_end_pattern, context_.clock);

  if (auto registered = programs_.prepare(); !registered) return registered;
  note_programs_that_lose_counts();
  if (auto registered = hooks_.register_hooks(context_.user); !registered) return registered;

  // The start of the shell is subtracted from each run later.
  auto shell_overheads =
      measure_shell(plan_, context_.launcher, context_.user, context_.pending_interrupt);
  if (!shell_overheads) return shell_overheads.error();
  session_.overheads = *std::move(shell_overheads);

  // Counting slows runs, so it is off until the first counting round.
  if (plan_.setting.events.count_passes(RoundKind::Counting) > 0) benchmark_.engine.pause();
  return {};
}

void StepRunner::begin_result(std::span<const Step> steps) {
  result_ = {.first = steps.front(), .step_count = steps.size(), .paces = paces_};
  leading_steps_done_ = 0;
  time_of_whole_rounds_ = {};

  // All rounds of an action have as many steps as the first one.
  steps_per_round_ =
      static_cast<std::size_t>(std::ranges::count(steps, result_.first.round, &Step::round));
}

// Repeated runs may belong to the incomplete round, so they go to the session at once, and not into
// the result that may be kept for --resume.
void StepRunner::drop_incomplete_round() {
  result_.step_count = leading_steps_done_ - leading_steps_done_ % steps_per_round_;
  result_.time = time_of_whole_rounds_;
  for (const RedoneRun& redone : result_.redone) add_redone(redone);
  result_.redone.clear();
}

// A step is one run of one command, and a round has one or more steps. Each run that ends adds its
// record to `result_`, and its time to the paces, which are the mean times of each command's runs.
FinishedRounds StepRunner::run(const RunSteps& action) {
  const std::span<const Step> steps = action.steps;
  const std::vector<Pace> paces_before = paces_;
  begin_result(steps);

  // Counting slows the runs that follow, so settling rounds, which come between, switch it off.
  const RoundKind kind = result_.first.kind;
  if (kind == RoundKind::Settling) benchmark_.engine.pause();

  // Another program may have taken the counters since the latest counting rounds.
  const bool begins_to_count = kind == RoundKind::Counting && latest_kind_ != kind;
  if (begins_to_count) note_if_counters_are_in_use();
  latest_kind_ = kind;

  const bool are_all_done = run_with_repetitions({steps.begin(), steps.end()});
  if (are_all_done)
    result_.paces = paces_;
  else
    drop_incomplete_round();

  // A later --resume does not know of rounds that are not kept. They leave the paces as they were,
  // so that the later call decides alike.
  if (!action.is_kept_for_resume) {
    paces_ = paces_before;
    result_.paces = paces_before;
  }
  return std::move(result_);
}

void StepRunner::count_finished_step() {
  if (++leading_steps_done_ % steps_per_round_ != 0) return;
  result_.paces = paces_;
  time_of_whole_rounds_ = result_.time;
}

bool StepRunner::run_with_repetitions(std::vector<Step> steps) {
  leading_steps_done_ = 0;
  for (earlier_attempts_ = 0; !steps.empty(); ++earlier_attempts_) {
    to_repeat_.clear();
    if (!run_steps(steps) || (is_cut_short() && !to_repeat_.empty())) return false;
    steps = to_repeat_;
  }
  return true;
}

void StepRunner::set_up(CommandRange commands) {
  if (const auto failed = hooks_.set_up(commands.first, commands.count))
    return note_failure(*failed);
  if (!benchmark_.reads_program_settings) return;

  // The programs exist now, and no run is disturbed.
  const ReadContext reader{context_.user, context_.pending_interrupt};
  KnownPrograms known;
  for (std::size_t c = commands.first; c < commands.first + commands.count; ++c)
    session_.program_settings[c].add(look_at_program(plan_, c, reader, known));
}

void StepRunner::clean_up(CommandRange commands) {
  for (const HookFailed& failed : hooks_.clean_up(commands.first, commands.count))
    note_failure(failed);
}

Session StepRunner::close() {
  add_notes_about_redone_runs();
  add_notes_about_uncounted_runs();
  for (Note& note : benchmark_.engine.notes()) session_.notes.push_back(std::move(note));
  if (auto note = sampling_cost_.note()) session_.notes.push_back(*std::move(note));
  if (auto note = functions_.note_left_out_paths()) session_.notes.push_back(*std::move(note));
  session_.functions = functions_.close();
  return std::move(session_);
}

bool StepRunner::run_steps(std::span<const Step> left) {
  while (!left.empty()) {
    const std::span<const Step> batch = left.first(batch_size(left));
    const std::size_t done =
        run_between_hooks(batch.front(), [&] { return launch_and_take_runs(batch); });
    if (done == 0) return false;
    left = left.subspan(done);
    if (is_cut_short() && !left.empty()) return false;
  }
  return true;
}

void StepRunner::ask_for_end_state(const Step& step, os::Launch& launch) {
  if (!benchmark_.reads_program_settings) return;

  // Simulators have limits of their own.
  if (step.kind == RoundKind::Simulated || has_asked_for_end_state_[step.command]) return;
  has_asked_for_end_state_[step.command] = true;
  launch.reads_end_state = true;
}

void StepRunner::note_end_state(const Step& step, const os::Ended& ended) {
  if (ended.end_state)
    session_.program_settings[step.command].add(settings_of_process(*ended.end_state));
}

void StepRunner::note_if_program_loses_counts(std::size_t command) {
  if (has_looked_for_counter_loss_[command]) return;
  has_looked_for_counter_loss_[command] = true;
  auto found = benchmark_.engine.find_counter_loss_file(
      command, make_program(plan_, *command_in_layout(plan_, command, 0), context_.user));
  if (found) observer_.counts_lost(plan_.commands[command], *found);
  session_.counter_loss_files[command] = std::move(found);
}

// The kernel stops counting some programs, such as those that change the user. A setup or prepare
// hook may make or replace the program, so it is examined only later.
void StepRunner::note_programs_that_lose_counts() {
  for (std::size_t command = 0; command < plan_.commands.size(); ++command) {
    const Hooks& hooks = plan_.commands[command].hooks;
    const bool may_be_made_later = hooks[HookKind::Setup] || hooks[HookKind::Prepare];
    if (!may_be_made_later) note_if_program_loses_counts(command);
  }
}

bool StepRunner::runs_one_by_one() const {
  return hooks_.has_hooks_between_runs() || has_scraped_metrics(plan_) || plan_.setting.until ||
         benchmark_.groups != nullptr ||
         std::ranges::any_of(plan_.commands, [](const Command& command) {
           return command.output.kind == OutputKind::Pipe;
         });
}

std::size_t StepRunner::batch_size(std::span<const Step> steps) const {
  if (runs_one_by_one()) return 1;
  const std::size_t size = std::min(steps.size(), os::Launcher::kMaxBatch);
  return armed_passes_.empty()
             ? size
             : std::min(size, armed_passes_[steps.front().pass]->max_batch_size());
}

// The runs of a suite are numbered in the order in which they ran. A turn with counting, repeated
// or untuned runs would have these after the shared batch, but they would get their numbers before
// the runs of the other benchmarks in the batch.
bool StepRunner::is_shareable(const RunSteps& action) const {
  if (action.steps.front().kind != RoundKind::Timed) return false;
  const bool fits_into_batch = !runs_one_by_one() && action.steps.size() <= os::Launcher::kMaxBatch;
  if (!fits_into_batch) return false;

  const bool has_counting_runs = !armed_passes_.empty();
  const bool may_have_repeated_or_untuned_runs =
      context_.machine != nullptr &&
      (context_.machine->watches_throttling() || context_.machine->compares_tuning());
  return !has_counting_runs && !may_have_repeated_or_untuned_runs;
}

// Benchmarks of a suite take turns, and several of them may have their next runs in one batch of
// the launcher. Returns nullopt if the runs of this action must not be in such a batch.
// `unknown_run_time` is assumed for commands that have not run yet.
std::optional<nanoseconds> StepRunner::estimate_time_if_shareable(
    const RunSteps& action, nanoseconds unknown_run_time) const {
  if (!is_shareable(action)) return std::nullopt;

  std::chrono::duration<double> time{};
  bool are_run_times_known = true;
  for (const Step& step : action.steps) {
    const RunningMean& run_seconds = paces_[step.command].run_seconds;
    if (run_seconds.count > 0) {
      time += std::chrono::duration<double>(run_seconds.mean);
    } else {
      time += unknown_run_time;
      are_run_times_known = false;
    }
  }

  // In a long batch, the progress line would name a command that is not running.
  const bool may_be_long = !are_run_times_known || time > kBatchTime;
  if (observer_.wants_progress() && may_be_long) return std::nullopt;
  return std::chrono::duration_cast<nanoseconds>(time);
}

bool StepRunner::append_to(std::vector<os::Launch>& batch, const RunSteps& action) {
  auto launches = make_launches(action.steps, batch.size());
  if (!launches) return false;
  std::ranges::move(*launches, std::back_inserter(batch));
  batch_began_ = context_.clock.now();
  report_under_way_(action.steps.front());
  return true;
}

void StepRunner::take_shared(std::vector<os::Ended> ended,
                             std::vector<os::MetricFiles::RunFile> files,
                             std::string error_output_end) {
  shared_ = std::move(ended);
  shared_error_output_end_ = std::move(error_output_end);
  reported_.take_files(std::move(files));
}

std::size_t StepRunner::run_between_hooks(const Step& step,
                                          const std::function<std::size_t()>& launch_steps) {
  if (const auto failed = hooks_.run(Moment::BeforeRun, step.command, step)) {
    note_failure(*failed);
    return 0;
  }
  const std::size_t done = launch_steps();
  if (const auto failed = hooks_.run(Moment::AfterRun, step.command, step)) {
    if (leading_steps_done_ > 0)
      --leading_steps_done_;  // a step is incomplete without its conclude hook
    note_failure(*failed);
    return 0;
  }
  if (!hooks_.has_hooks_between_runs()) return done;
  const nanoseconds time = hooks_.take_time();
  result_.time += time;
  if (!step.gives_counts_only()) paces_[step.command].hook_seconds.add(to_seconds(time));
  return done;
}

void StepRunner::add_counters(std::size_t pass, os::Launch& launch) const {
  const auto& armed = armed_passes_[pass];
  launch.counters = counters_[pass];
  launch.counts_calling_threads = armed->counts_calling_threads();
  launch.run_observers = armed->prepare_run();
  launch.sample_listener = armed->samples();
}

// A control group measures the peak memory of all processes of a run together.
Result<void> StepRunner::add_control_group(os::Launch& launch) {
  if (benchmark_.groups == nullptr) return {};
  return assign_or_error(benchmark_.groups->begin(), launch.control_group_file);
}

Result<os::Launch> StepRunner::make_launch(const Step& step, std::size_t index_in_batch) {
  // The kernel does not count all programs. One that a hook has made just now was not examined yet.
  note_if_program_loses_counts(step.command);

  const auto program = programs_.program_of_run(step, reported_.uses_metric_files());
  if (!program) return program.error();

  // The variable tells the run the path of the file to which it may write its metrics.
  os::Launch launch{.program = *program};
  launch.launch_variable_value = reported_.metric_file_path(index_in_batch);
  ask_for_end_state(step, launch);

  if (auto added = add_control_group(launch); !added) return added.error();

  // With --until, the listener ends the run at a certain line of its output.
  if (awaited_) {
    awaited_->begin();
    launch.listener = &*awaited_;
  }

  const bool counts_events = !armed_passes_.empty();
  if (counts_events) add_counters(step.pass, launch);
  return launch;
}

// `first_run_in_batch`: index that the first of these runs has in its batch, which may contain runs
// of other benchmarks before them.
Result<std::vector<os::Launch>> StepRunner::make_launches(std::span<const Step> steps,
                                                          std::size_t first_run_in_batch) {
  std::vector<os::Launch> launches;
  launches.reserve(steps.size());
  for (const Step& step : steps) {
    auto launch = make_launch(step, first_run_in_batch + launches.size());
    if (!launch) return launch.error();
    launches.push_back(*std::move(launch));
  }
  return launches;
}

Result<std::vector<os::Ended>> StepRunner::launch_batch(std::span<const os::Launch> launches,
                                                        const Step& step,
                                                        os::AfterFailure after_failure) {
  batch_began_ = context_.clock.now();
  shared_error_output_end_.reset();
  report_under_way_(step);
  os::ProgressCallback tick;
  if (observer_.wants_progress()) tick = [&] { report_under_way_(step); };
  return context_.launcher.run(launches, after_failure, tick);
}

Result<std::vector<os::Ended>> StepRunner::launch_alone(std::span<const Step> steps) {
  const auto launches = make_launches(steps, 0);
  if (!launches) return launches.error();
  auto all = launch_batch(*launches, steps.front(), policy_after_failure());
  const auto tree_peak = benchmark_.groups != nullptr ? benchmark_.groups->end() : std::nullopt;
  if (!all) return all;
  if (tree_peak) all->front().usage.tree_peak_bytes = *tree_peak;
  reported_.collect();
  was_throttled_ = context_.machine != nullptr && context_.machine->was_throttled();
  return all;
}

std::size_t StepRunner::launch_and_take_runs(std::span<const Step> steps) {
  const auto all = shared_.empty() ? launch_alone(steps) : std::exchange(shared_, {});
  if (!all) return cut_short_without_runs(all.error());
  for (std::size_t i = 0; i < all->size(); ++i)
    if (!take_ended_run(steps[i], (*all)[i], i)) return 0;
  if (const int signal = context_.pending_interrupt(); signal != 0) cut_short(Interrupted{signal});
  return all->size();
}

std::size_t StepRunner::check_output(CommandRange commands) {
  const std::vector<std::uint32_t> due =
      output_check_.list_commands_to_run(commands.first, commands.count);
  for (const std::uint32_t command : due) {
    for (std::uint32_t layout = 0; layout < plan_.setting.layouts && !is_cut_short(); ++layout) {
      const Step step{command, 0, 0, RoundKind::Warmup, layout};
      run_between_hooks(step, [&] { return launch_check(step); });
    }
  }
  return due.size();
}

std::size_t StepRunner::launch_check(const Step& step) {
  auto launch = output_check_.make_launch(step.command, step.layout);
  if (!launch) return cut_short_without_runs(launch.error());
  ask_for_end_state(step, *launch);
  const auto all = launch_batch({&*launch, 1}, step, os::AfterFailure::GoOn);
  if (!all) return cut_short_without_runs(all.error());
  if (auto why = find_failure(step, all->front())) return cut_short_without_runs(*std::move(why));
  if (auto wrong = output_check_.check_and_keep_output()) {
    command_at_fault_ = step.command;
    return cut_short_without_runs(*std::move(wrong));
  }
  note_end_state(step, all->front());
  if (const int signal = context_.pending_interrupt(); signal != 0)
    return cut_short_without_runs(Interrupted{signal});
  paces_[step.command].run_seconds.add(to_seconds(all->front().time_with_preparation));
  return 1;
}

std::optional<EarlyEnd> StepRunner::find_failure(const Step& step, const os::Ended& ended) const {
  if (std::holds_alternative<Cancelled>(ended.outcome))
    return Interrupted{context_.pending_interrupt()};
  const bool may_fail = policy_after_failure() == os::AfterFailure::GoOn
                            ? can_be_ignored(ended.outcome)
                            : is_listed_status(ended.outcome, plan_.ignore_failure);
  if (succeeded(ended.outcome) || may_fail) return std::nullopt;
  return RunFailed{
      step, ended.outcome,
      shared_error_output_end_ ? *shared_error_output_end_ : context_.launcher.error_output_end()};
}

/// A run that ended before the line of --until has no wall time, so the run fails even with -i.
std::optional<EarlyEnd> StepRunner::find_failure_of_until(const Step& step,
                                                          const os::Ended& ended) const {
  if (!awaited_ || std::holds_alternative<NotStarted>(ended.outcome)) return std::nullopt;
  if (const auto& error = awaited_->error())
    return Error{"--until " + cited(*plan_.setting.until) + " " + error->what, error->remedy};
  if (ended.ended_by_listener) return std::nullopt;
  return RunFailed{step, ended.outcome, awaited_->output_end(), *plan_.setting.until};
}

std::optional<EarlyEnd> StepRunner::find_reason_to_end(const Step& step, const os::Ended& ended,
                                                       const engine::CountsOfRun& counted) const {
  if (ended.counter_error != 0)
    return counted.why_missing_counts.value_or(Error{"a counter could not be opened", ""});
  if (counted.session_error) return *counted.session_error;
  if (auto why = find_failure_of_until(step, ended)) return why;
  return find_failure(step, ended);
}

void StepRunner::request_repetition_if_throttled(const Step& step,
                                                 engine::CountsOfRun& counted) const {
  constexpr std::uint32_t max_throttled_redos = 3;

  // The time of a throttled run says more about the machine than about the command.
  if (was_throttled_ && !step.gives_counts_only() && !counted.redo)
    counted.redo = engine::RepeatRequest{RedoReason::Throttled, "the processor was throttled",
                                         max_throttled_redos};
}

bool StepRunner::end_session(EarlyEnd why) {
  cut_short(std::move(why));
  return false;
}

// Adds a run that has ended to the result, with its counts and the values that it has reported.
// Returns false if the session must end.
bool StepRunner::take_ended_run(const Step& step, const os::Ended& ended,
                                std::size_t index_in_batch) {
  if (std::holds_alternative<Cancelled>(ended.outcome))
    return end_session(Interrupted{context_.pending_interrupt()});

  engine::CountsOfRun counted;
  if (!armed_passes_.empty()) counted = armed_passes_[step.pass]->finish(ended, step.command);
  if (auto why = find_reason_to_end(step, ended, counted)) return end_session(*std::move(why));

  note_end_state(step, ended);
  if (!step.gives_counts_only())
    paces_[step.command].run_seconds.add(to_seconds(ended.time_with_preparation));
  result_.time += ended.time_with_preparation;

  RunRecord run{.step = step, .outcome = ended.outcome, .usage = ended.usage, .counts = {}};
  run.details.outlived = static_cast<std::uint32_t>(ended.outlived);  // number of processes
  if (auto why = take_reported_values(run, index_in_batch, ended, counted))
    return end_session(*std::move(why));

  // A warm-up run, for example, only had to end.
  if (step.is_thrown_away())
    count_finished_step();
  else
    add_to_result(std::move(run), ended, std::move(counted));
  return true;
}

std::optional<Error> StepRunner::take_reported_values(RunRecord& run, std::size_t index_in_batch,
                                                      const os::Ended& ended,
                                                      engine::CountsOfRun& counted) {
  const Step& step = run.step;
  for (const auto& missing : {reported_.read_values(step, index_in_batch, run.reported),
                              take_region(run, ended, counted)}) {
    if (!missing || plan_.ignore_failure) continue;
    command_at_fault_ = step.command;
    return missing->prefixed(cited(plan_.commands[step.command].name));
  }
  return std::nullopt;
}

// The shell's overhead was measured without a simulator, so it does not fit simulated runs.
void StepRunner::subtract_overhead(RunRecord& run) const {
  const bool has_shell = !session_.overheads.empty() && run.step.kind != RoundKind::Simulated;
  if (!has_shell) return;
  const bool is_below = subtract(session_.overheads[run.step.command], run.usage);
  run.details.below_overhead = is_below && !run.step.gives_counts_only();
}

void StepRunner::add_to_result(RunRecord run, const os::Ended& ended, engine::CountsOfRun counted) {
  subtract_overhead(run);
  run.counts = std::move(counted.counts);
  run.instruction_coverage = counted.instruction_coverage;
  run.own_process_counts = std::move(counted.own_process_counts);

  if (run.step.kind == RoundKind::Untuned) {
    result_.runs.push_back(std::move(run));
    return count_finished_step();
  }

  request_repetition_if_throttled(run.step, counted);
  if (counted.redo && earlier_attempts_ < counted.redo->max_repetitions) {
    to_repeat_.push_back(run.step);
    result_.redone.push_back({std::move(run), counted.redo->reason, std::move(counted.redo->why)});
    return;
  }
  keep_run(std::move(run), ended, std::move(counted));
}

void StepRunner::keep_run(RunRecord run, const os::Ended& ended, engine::CountsOfRun counted) {
  if (counted.redo && counted.redo->why_left_out) leave_out_counts(run, counted);
  keep_functions(run, counted);
  note_counting(run, ended, std::move(counted));

  if (!run.step.gives_counts_only()) {
    note_input(run.step, ended.input);
    paces_[run.step.command].wall_time_seconds.add(static_cast<double>(run.usage.wall_ns) * 1e-9);
  }

  result_.runs.push_back(std::move(run));

  // Steps after one that is to be repeated are not among the leading ones that are done.
  if (to_repeat_.empty() && earlier_attempts_ == 0) count_finished_step();
}

/// Keeps the functions of a run, unless it timed out: such a run has no value of the metric, and so
/// no round in the table of functions.
void StepRunner::keep_functions(const RunRecord& run, engine::CountsOfRun& counted) {
  if (!counted.functions || std::holds_alternative<TimedOut>(run.outcome)) return;
  result_.functions.push_back({run.step, *std::move(counted.functions), std::move(counted.paths),
                               find_uncounted(plan_.setting.events, run)});
}

void StepRunner::note_counting(const RunRecord& run, const os::Ended& ended,
                               engine::CountsOfRun counted) {
  if (counted.redo && counted.redo->reason == RedoReason::Throttled)
    note_once(run.step,
              {"throttled",
               "the processor was throttled each time that runs were repeated; let it cool down"});
  if (ended.unawaited_processes > 0 && !run.counts.empty())
    note_once(run.step, {"orphans", cited(plan_.commands[run.step.command].name) +
                                        " starts processes that it does not wait for, so events "
                                        "include them, but cpu_time and peak_rss do not"});
  if (counted.why_missing_counts) note_uncounted(run, *std::move(counted.why_missing_counts));
  if (counted.note) note_once(run.step, *std::move(counted.note));
}

std::optional<Error> StepRunner::take_region(RunRecord& run, const os::Ended& ended,
                                             engine::CountsOfRun& counted) {
  if (!plan_.setting.measures_region) return std::nullopt;
  if (auto why = why_region_is_invalid(ended)) {
    std::ranges::fill(counted.counts, std::nullopt);
    counted.functions.reset();
    counted.paths.clear();
    counted.redo.reset();
    counted.why_missing_counts = why->prefixed(cited(plan_.commands[run.step.command].name));
    return why;
  }
  if (run.step.kind == RoundKind::Timed) add_region(plan_, *ended.region, run.reported);
  return std::nullopt;
}

void StepRunner::note_if_counters_are_in_use() {
  if (plan_.setting.events.count_passes(RoundKind::Counting) == 0) return;
  if (const auto held = benchmark_.engine.held_by_others())
    note_once({}, {"counters_in_use", held->line()});
}

void StepRunner::add_redone(const RedoneRun& redone) {
  recorder_.add(redone, session_.discarded_runs);
  ++redo_reasons_[redone.why];
}

void StepRunner::add_notes_about_redone_runs() {
  for (const auto& [why, count] : redo_reasons_)
    session_.notes.push_back(
        {"runs_repeated",
         plural(count, "run") + (count == 1 ? " was" : " were") + " repeated because " + why});
}

void StepRunner::note_uncounted(const RunRecord& run, Error why) {
  const std::string subject = run.step.kind == RoundKind::Simulated
                                  ? cited(plan_.commands[run.step.command].name) + ": "
                                  : std::string();
  const std::string events = list_uncounted_events(run);
  const auto known = std::ranges::find_if(uncounted_, [&](const UncountedRuns& uncounted) {
    return uncounted.subject == subject && uncounted.why == why && uncounted.events == events;
  });
  if (known == uncounted_.end())
    uncounted_.push_back({subject, std::move(why), 1, events});
  else
    ++known->runs;
}

/// Returns the events of the run's pass that it has no count of, as messages list them.
std::string StepRunner::list_uncounted_events(const RunRecord& run) const {
  const EventSet& events = plan_.setting.events;
  if (run.step.pass >= events.passes.size()) return "";
  const std::vector<std::size_t>& indices = events.passes[run.step.pass].event_indices;
  std::vector<std::string> names;
  for (std::size_t place = 0; place < indices.size(); ++place)
    if (place >= run.counts.size() || !run.counts[place])
      names.push_back(events.events[indices[place]].name);
  return listed(names);
}

void StepRunner::add_notes_about_uncounted_runs() {
  for (const UncountedRuns& uncounted : uncounted_) {
    const std::string runs = plural(uncounted.runs, "run");
    std::string what = uncounted.subject + uncounted.why.what + "; ";
    what += uncounted.events.empty()
                ? runs + (uncounted.runs == 1 ? " was" : " were") + " not counted"
                : "what lauka shows for " + uncounted.events + " leaves out " + runs;
    session_.notes.push_back(
        {"runs_uncounted", Error{std::move(what), uncounted.why.remedy}.line()});
  }
}

void StepRunner::note_once(const Step& step, Note note) {
  if (step.kind == RoundKind::Simulated)
    note.text.insert(0, cited(plan_.commands[step.command].name) + ": ");
  auto& notes = session_.notes;
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

void StepRunner::note_input(const Step& step, os::InputRead input) {
  const Command& command = plan_.commands[step.command];
  const bool has_read_nothing = input == os::InputRead::Nothing;
  if (command.output.kind != OutputKind::Null ||
      (!has_read_nothing && input != os::InputRead::Part))
    return;
  note_once(step,
            {"input_unread",
             cited(command.name) +
                 (has_read_nothing
                      ? " seems not to have read its input file; check that it reads standard input"
                      : " did not read its input file to the end; if it stops early because its "
                        "output is /dev/null, use --output pipe")});
}

void StepRunner::note_failure(const HookFailed& failed) {
  if (session_.cut_short) {
    session_.later_failed_hooks.push_back(failed);
  } else if (std::holds_alternative<Cancelled>(failed.outcome)) {
    cut_short(Interrupted{context_.pending_interrupt()});
  } else {
    cut_short(failed);
  }
}

FinishedRounds StepRunner::make_kept_part(const FinishedRounds& done) const {
  FinishedRounds kept = done;
  const std::size_t runs = done.first.is_thrown_away() ? 0 : done.step_count;
  kept.runs.resize(runs);
  const std::uint64_t end = done.first.round + done.step_count / steps_per_round_;
  std::erase_if(kept.functions, [end](const FunctionsOfRun& run) { return run.step.round >= end; });
  kept.notes = session_.notes;
  kept.overheads = session_.overheads;
  kept.uncounted = uncounted_;
  kept.discovered = reported_.discovered();
  return kept;
}

void StepRunner::add_results(const FinishedRounds& done) {
  for (const RunRecord& run : done.runs) {
    sampling_cost_.add(run);
    const bool is_untuned = run.step.kind == RoundKind::Untuned;
    recorder_.add(run, is_untuned ? session_.runs_without_tuning : session_.runs);
  }
  for (const RedoneRun& redone : done.redone) add_redone(redone);
  for (const FunctionsOfRun& run : done.functions) {
    functions_.add(run.step, run.functions, run.uncounted_events);
    functions_.add_paths(run.step, run.paths);
  }

  if (auto unknown = functions_.find_unknown(); unknown && !is_cut_short())
    cut_short(*std::move(unknown));
}

void StepRunner::continue_after(const FinishedRounds& kept) {
  paces_ = kept.paces;
  session_.notes = kept.notes;
  session_.overheads = kept.overheads;
  uncounted_ = kept.uncounted;
  reported_.continue_after(kept.discovered);
  add_results(kept);
}

}  // namespace lauka
