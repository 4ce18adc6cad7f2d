#include "run/steps.h"

#include "core/text.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <variant>

namespace lauka {

namespace {

constexpr std::uint32_t kMostThrottledRedos = 3;

using std::chrono::nanoseconds;

bool may_fail_with(const std::optional<IgnoreFailure>& ignore, const Outcome& outcome) {
  if (!ignore) return false;
  return ignore->any ? can_be_ignored(outcome) : is_named(outcome, ignore);
}

}  // namespace

StepRunner::StepRunner(const Plan& plan, const RunContext& context, Callbacks callbacks)
    : plan_(plan),
      context_(context),
      callbacks_(std::move(callbacks)),
      programs_(plan, context.launcher, context.user, armed_, context.metric_files != nullptr),
      hooks_(plan, context.launcher),
      reported_(plan, context.launcher, context.metric_files),
      check_(plan, context),
      is_looked_up_(plan.commands.size()),
      paces_(plan.commands.size()) {
  session_.uncounted.resize(plan.commands.size());
}

Result<void> StepRunner::prepare() {
  for (std::size_t pass = 0; pass < plan_.events.passes.size(); ++pass) {
    auto armed = context_.engine.arm(pass);
    if (!armed) return armed.error();
    armed_.push_back(*std::move(armed));
    counters_.push_back(os::kNoCounters);
    if (const auto requests = armed_.back()->requests(); !requests.empty()) {
      const auto added = context_.launcher.add_counters(requests);
      if (!added) return added.error();
      counters_.back() = *added;
    }
  }
  if (auto reported = reported_.prepare(); !reported) return reported;
  if (plan_.until) {
    auto pattern = Pattern::compile(*plan_.until, Pattern::Groups::Idle);
    if (!pattern) return pattern.error();
    awaited_.emplace(*std::move(pattern));
  }
  if (auto programs = programs_.prepare(); !programs) return programs;
  for (std::size_t c = 0; c < plan_.commands.size(); ++c) {
    const Hooks& hooks = plan_.commands[c].hooks;
    // These may make the program, or another one.
    if (!hooks[HookKind::Setup] && !hooks[HookKind::Prepare]) look_up(c);
  }
  if (auto hooks = hooks_.prepare(context_.user); !hooks) return hooks;
  auto overheads = measure_shell(plan_, context_.launcher, context_.user, context_.interrupt);
  if (!overheads) return overheads.error();
  session_.overheads = *std::move(overheads);
  return {};
}

bool StepRunner::run_live(std::vector<Step>& steps, nanoseconds& time) {
  time_ = &time;
  redone_ = 0;
  taken_ = 0;
  do {
    again_.clear();
    if (!run_steps(steps)) return false;
    if (is_cut_short() && !again_.empty()) return false;
    steps = again_;
    ++redone_;
  } while (!steps.empty());
  return true;
}

bool StepRunner::set_up(std::uint32_t first, std::uint32_t count) {
  const auto failed = hooks_.set_up(first, count);
  return !failed || note_failure(*failed);
}

bool StepRunner::clean_up(std::uint32_t first, std::uint32_t count) {
  const std::vector<HookFailed> failures = hooks_.clean_up(first, count);
  for (const HookFailed& failed : failures) note_failure(failed);
  return failures.empty();
}

Session StepRunner::close() {
  note_all_redone();
  note_all_uncounted();
  for (Note& note : context_.engine.notes()) session_.notes.push_back(std::move(note));
  return std::move(session_);
}

bool StepRunner::run_steps(std::span<const Step> left) {
  while (!left.empty()) {
    const std::span<const Step> batch = left.first(batch_size(left));
    const std::size_t done = between_hooks(batch.front(), [&] { return launch(batch); });
    if (done == 0) return false;
    left = left.subspan(done);
    if (is_cut_short() && !left.empty()) return false;
  }
  return true;
}

/// Finds out whether the command's runs will have counts, once and before its first run.
void StepRunner::look_up(std::size_t command) {
  if (is_looked_up_[command]) return;
  is_looked_up_[command] = true;
  auto found = context_.engine.find_uncounted(
      command, make_program(plan_, plan_.commands[command], context_.user));
  if (found && context_.counts_lost) context_.counts_lost(command, *found);
  session_.uncounted[command] = std::move(found);
}

std::size_t StepRunner::batch_size(std::span<const Step> steps) const {
  std::size_t size = std::min(steps.size(), os::Launcher::kMaxBatch);
  if (!armed_.empty()) size = std::min(size, armed_[steps.front().pass]->runs_at_once());
  // The output of successive runs to one pipe can be separated only if each has ended.
  const bool one_by_one = hooks_.run_between_runs() || scrapes(plan_) || plan_.until ||
                          context_.groups != nullptr ||
                          std::ranges::any_of(plan_.commands, [](const Command& command) {
                            return command.output.kind == OutputKind::Pipe;
                          });
  return one_by_one ? 1 : size;
}

/// Returns how many steps were run; 0 when the session must end. Hooks surround a single one.
std::size_t StepRunner::between_hooks(const Step& step,
                                      const std::function<std::size_t()>& launch_them) {
  if (const auto failed = hooks_.run(Moment::BeforeRun, step.command, step)) {
    note_failure(*failed);
    return 0;
  }
  const std::size_t done = launch_them();
  if (const auto failed = hooks_.run(Moment::AfterRun, step.command, step)) {
    if (taken_ > 0) --taken_;  // it is not whole without its hook
    note_failure(*failed);
    return 0;
  }
  if (!hooks_.run_between_runs()) return done;
  // Hooks count towards the time budget, as in hyperfine: the user waits for them.
  const nanoseconds time = hooks_.take_time();
  *time_ += time;
  if (!step.gives_counts_only())
    paces_[step.command].between.add(std::chrono::duration<double>(time).count());
  return done;
}

Result<std::vector<os::Launch>> StepRunner::make_launches(std::span<const Step> steps) {
  std::vector<os::Launch> launches;
  launches.reserve(steps.size());
  for (const Step& step : steps) {
    look_up(step.command);
    const auto program = programs_.program(step, reported_.by_file());
    if (!program) return program.error();
    launches.push_back({.program = *program});
    launches.back().value = reported_.file_of(launches.size() - 1);
    if (context_.groups != nullptr) {
      auto group = context_.groups->begin();
      if (!group) return group.error();
      launches.back().group = *std::move(group);
    }
    if (awaited_) {
      awaited_->begin();
      launches.back().listener = &*awaited_;
    }
    if (armed_.empty()) continue;
    launches.back().counters = counters_[step.pass];
    launches.back().counts_calling_threads = armed_[step.pass]->counts_calling_threads();
    launches.back().watches = armed_[step.pass]->watches();
  }
  return launches;
}

/// Has the launcher run them, and reports the progress of `step`.
Result<std::vector<os::Ended>> StepRunner::ask(std::span<const os::Launch> launches,
                                               const Step& step, bool go_on_after_failure) {
  batch_began_ = context_.clock.now();
  callbacks_.under_way(step);
  os::Tick tick;
  if (context_.observer.get().wants_progress()) tick = [&] { callbacks_.under_way(step); };
  return context_.launcher.run(launches, go_on_after_failure, tick);
}

std::size_t StepRunner::launch(std::span<const Step> steps) {
  const auto launches = make_launches(steps);
  if (!launches) return ended(launches.error());
  auto all = ask(*launches, steps.front(), plan_.ignore_failure && plan_.ignore_failure->any);
  const auto tree_peak = context_.groups != nullptr ? context_.groups->end() : std::nullopt;
  if (!all) return ended(all.error());
  if (tree_peak) all->front().usage.tree_peak_bytes = *tree_peak;
  reported_.collect();
  was_throttled_ = context_.was_throttled && context_.was_throttled();
  for (std::size_t i = 0; i < all->size(); ++i) {
    if (!keep_run(steps[i], (*all)[i], i)) return 0;
  }
  // These runs are whole: rounds that they complete are kept.
  if (const int signal = context_.interrupt(); signal != 0) cut_short(Interrupted{signal});
  return all->size();
}

bool StepRunner::check_output(std::uint32_t first, std::uint32_t count) {
  nanoseconds untimed{};
  time_ = &untimed;
  for (const std::uint32_t command : check_.due(first, count)) {
    has_checked_output_ = true;
    const Step step{command, 0, 0, RoundKind::Warmup};
    if (between_hooks(step, [&] { return launch_check(step); }) == 0) return false;
  }
  return true;
}

std::size_t StepRunner::launch_check(const Step& step) {
  const auto launch = check_.make_launch(step.command);
  if (!launch) return ended(launch.error());
  const auto all = ask({&*launch, 1}, step, true);
  if (!all) return ended(all.error());
  if (!may_go_on(step, all->front())) return 0;
  if (auto wrong = check_.verdict()) return ended(*std::move(wrong));
  if (const int signal = context_.interrupt(); signal != 0) return ended(Interrupted{signal});
  paces_[step.command].whole.add(std::chrono::duration<double>(all->front().whole).count());
  return 1;
}

/// True if the session may go on after the run's ending.
bool StepRunner::may_go_on(const Step& step, const os::Ended& ended) {
  if (std::holds_alternative<Cancelled>(ended.outcome)) {
    cut_short(Interrupted{context_.interrupt()});
    return false;
  }
  if (succeeded(ended.outcome) || may_fail_with(plan_.ignore_failure, ended.outcome)) return true;
  cut_short(RunFailed{step, ended.outcome, context_.launcher.error_output_end()});
  return false;
}

/// A run that ended before its line fails even under -i: it has no time.
bool StepRunner::until_matched(const Step& step, const os::Ended& ended) {
  if (!awaited_ || std::holds_alternative<NotStarted>(ended.outcome)) return true;
  if (const auto& error = awaited_->error()) {
    cut_short(Error{"--until " + cited(*plan_.until) + " " + error->what, error->remedy});
    return false;
  }
  if (ended.was_enough) return true;
  cut_short(RunFailed{step, ended.outcome, awaited_->output_end(), *plan_.until});
  return false;
}

/// Ends the session and returns false if a counter failed.
bool StepRunner::was_counted(const os::Ended& ended, const engine::Counted& counted) {
  if (ended.counter_error != 0)
    cut_short(counted.missing.value_or(Error{"a counter could not be opened", ""}));
  else if (counted.failure)
    cut_short(*counted.failure);
  else
    return true;
  return false;
}

/// Enters one run into the session. False when it is the last.
bool StepRunner::keep_run(const Step& step, const os::Ended& ended, std::size_t place) {
  if (std::holds_alternative<Cancelled>(ended.outcome)) {
    cut_short(Interrupted{context_.interrupt()});
    return false;
  }
  engine::Counted counted;
  if (!armed_.empty()) counted = armed_[step.pass]->finish(ended, step.command);
  if (!was_counted(ended, counted)) return false;
  if (!until_matched(step, ended) || !may_go_on(step, ended)) return false;
  const bool is_timed = !step.gives_counts_only();
  if (is_timed) paces_[step.command].whole.add(std::chrono::duration<double>(ended.whole).count());
  *time_ += ended.whole;
  RunRecord run{step, ended.outcome, ended.usage, {}};
  run.outlived = static_cast<std::uint32_t>(ended.outlived);
  if (!take_reported(run, place) || !take_region(run, ended, counted)) return false;
  if (step.is_thrown_away()) {
    ++taken_;
    return true;
  }
  const bool has_shell = !session_.overheads.empty() && step.kind != RoundKind::Simulated;
  const bool below = has_shell && subtract(session_.overheads[step.command], run.usage) && is_timed;
  run.counts = std::move(counted.counts);
  run.coverage = counted.coverage;
  run.own = std::move(counted.own);
  run.below_overhead = below;
  if (step.kind == RoundKind::Untuned) {
    session_.untuned.push_back(run);
    ++taken_;
    return true;
  }
  if (was_throttled_ && is_timed && !counted.redo)
    counted.redo =
        engine::Redo{RedoReason::Throttled, "the processor was throttled", kMostThrottledRedos};
  if (is_made_again(run, counted.redo)) return true;
  note_counting(run, ended, std::move(counted));
  if (is_timed) {
    note_input(step, ended.input);
    paces_[step.command].wall.add(static_cast<double>(run.usage.wall_ns) * 1e-9);
  }
  add(std::move(run));
  if (again_.empty() && redone_ == 0) ++taken_;
  return true;
}

/// Keeps a run apart that has to be made again, as long as that may help.
bool StepRunner::is_made_again(RunRecord& run, std::optional<engine::Redo>& redo) {
  if (!redo) return false;
  if (redone_ < redo->at_most) {
    again_.push_back(run.step);
    session_.redone.push_back({std::move(run), redo->reason, std::move(redo->why)});
    return true;
  }
  if (redo->reason == RedoReason::Throttled)
    note_once(run.step, {NoteKind::Throttled,
                         "the processor was throttled each time that runs were repeated; let it "
                         "cool down"});
  return false;
}

void StepRunner::note_counting(const RunRecord& run, const os::Ended& ended,
                               engine::Counted counted) {
  if (ended.orphans > 0 && !run.counts.empty())
    note_once(run.step, {NoteKind::Orphans,
                         cited(plan_.commands[run.step.command].name) +
                             " starts processes that it does not wait for: what they did is in the "
                             "events, but not in cpu_time or peak_rss"});
  if (counted.missing) note_uncounted(run.step, *std::move(counted.missing));
  if (counted.note) note_once(run.step, *std::move(counted.note));
}

void StepRunner::add(RunRecord run) {
  if (context_.order != nullptr && run.order == 0) run.order = ++*context_.order;  // else kept
  session_.runs.push_back(run);
  callbacks_.taken(run);
}

/// Adds the run's own values. False when the session must end: they are missing or cannot be read,
/// and failures are not ignored.
bool StepRunner::take_reported(RunRecord& run, std::size_t place) {
  auto reported = reported_.read_values(run.step, place);
  if (!reported) return may_lack(run.step, reported.error());
  run.reported = *std::move(reported);
  return true;
}

/// Adds the run's notes about its region; without them, its counts are void.
bool StepRunner::take_region(RunRecord& run, const os::Ended& ended, engine::Counted& counted) {
  if (!plan_.region) return true;
  if (auto why = why_no_region(ended)) {
    std::ranges::fill(counted.counts, std::nullopt);
    counted.redo.reset();
    counted.missing = why->prefixed(cited(plan_.commands[run.step.command].name));
    return may_lack(run.step, *why);
  }
  if (run.step.kind == RoundKind::Timed) add_region(plan_, *ended.region, run.reported);
  return true;
}

/// Ends the session because of a run's missing values, unless failures are ignored.
bool StepRunner::may_lack(const Step& step, const Error& why) {
  if (!plan_.ignore_failure) cut_short(why.prefixed(cited(plan_.commands[step.command].name)));
  return plan_.ignore_failure.has_value();
}

void StepRunner::check_counters() {
  if (const auto held = context_.engine.held_by_others())
    note_once({}, {NoteKind::CountersInUse, held->line()});
}

/// Adds one note for each reason of repeated runs.
void StepRunner::note_all_redone() {
  std::map<std::string, std::size_t> reasons;
  for (const RedoneRun& redone : session_.redone) ++reasons[redone.why];
  for (const auto& [why, count] : reasons) {
    session_.notes.push_back(
        {NoteKind::RunsRepeated,
         plural(count, "run") + (count == 1 ? " was" : " were") + " repeated because " + why});
  }
}

/// Some commands cannot be simulated because of how they live; then they are named.
void StepRunner::note_uncounted(const Step& step, Error why) {
  const std::string subject = step.kind == RoundKind::Simulated
                                  ? cited(plan_.commands[step.command].name) + ": "
                                  : std::string();
  const auto known = std::ranges::find_if(
      uncounted_, [&](const Uncounted& one) { return one.subject == subject && one.why == why; });
  if (known == uncounted_.end())
    uncounted_.push_back({subject, std::move(why), 1});
  else
    ++known->runs;
}

/// Adds one note for each reason of uncounted runs.
void StepRunner::note_all_uncounted() {
  for (const Uncounted& one : uncounted_) {
    std::string what = one.subject + one.why.what + "; " + plural(one.runs, "run") +
                       (one.runs == 1 ? " was" : " were") + " not counted";
    session_.notes.push_back(
        {NoteKind::RunsUncounted, Error{std::move(what), one.why.remedy}.line()});
  }
}

void StepRunner::note_once(const Step& step, Note note) {
  // How a command lives decides whether it can be simulated.
  if (step.kind == RoundKind::Simulated)
    note.text.insert(0, cited(plan_.commands[step.command].name) + ": ");
  auto& notes = session_.notes;
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

/// GNU grep, for one, stops at its first match if its output is thrown away.
void StepRunner::note_input(const Step& step, os::InputRead input) {
  const Command& command = plan_.commands[step.command];
  if (command.output.kind != OutputKind::Null) return;
  if (input == os::InputRead::Nothing) {
    note_once(step,
              {NoteKind::InputUnread,
               cited(command.name) +
                   " seems not to have read its input file; check that it reads standard input"});
  } else if (input == os::InputRead::Part) {
    note_once(step,
              {NoteKind::InputUnread,
               cited(command.name) +
                   " did not read its input file to the end; programs may stop early when their "
                   "output is /dev/null: --output pipe has them do all of their work"});
  }
}

/// Records a failure; the first one is reported as the reason for the end. Always false.
bool StepRunner::note_failure(const HookFailed& failed) {
  if (session_.cut_short) {
    session_.also_failed.push_back(failed);
  } else if (std::holds_alternative<Cancelled>(failed.outcome)) {
    cut_short(Interrupted{context_.interrupt()});
  } else {
    cut_short(failed);
  }
  return false;
}

// How finished rounds are kept, and taken again by a later --resume.

bool StepRunner::run(std::vector<Step> steps, std::chrono::nanoseconds& time) {
  if (steps.empty()) return true;
  KeptRounds rounds{.first = steps.front(), .steps = steps.size()};
  const auto width =
      static_cast<std::size_t>(std::ranges::count(steps, rounds.first.round, &Step::round));
  const std::size_t runs = runs_of(rounds.first).size();
  const std::size_t redone = session_.redone.size();
  const auto before = time;
  const bool is_whole = run_live(steps, time);
  // The session's end may have left some of the rounds complete.
  if (!is_whole) rounds.steps = taken_ - taken_ % width;
  rounds.time = time - before;
  if (keeps_ && rounds.steps > 0 && context_.rounds != nullptr && context_.rounds->keep)
    keep(std::move(rounds), runs, is_whole ? redone : session_.redone.size());
  return !is_cut_short();
}

/// Everything that decides the next steps is in the plan and in the log, except where one request
/// ended: it may have been interrupted, so its rest is another request.
bool StepRunner::take_finished(std::vector<Step>& steps, std::chrono::nanoseconds& time) {
  while (is_reading() && !steps.empty()) {
    KeptRounds rounds = std::move(context_.rounds->finished.front());
    context_.rounds->finished.pop_front();
    has_read_ = true;
    const Step& first = steps.front();
    const bool is_same = rounds.steps <= steps.size() && rounds.first.kind == first.kind &&
                         rounds.first.round == first.round &&
                         rounds.first.command == first.command &&
                         rounds.paces.size() == paces_.size();
    if (!is_same) {
      context_.rounds->finished.clear();
      cut_short(Error{"the rounds that --resume found are not this suite's",
                      "begin again without --resume"});
      return false;
    }
    time += rounds.time;
    steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(rounds.steps));
    enter(std::move(rounds));
  }
  return true;
}

void StepRunner::take_all_finished() {
  for (; is_reading(); context_.rounds->finished.pop_front())
    enter(std::move(context_.rounds->finished.front()));
}

void StepRunner::enter(KeptRounds rounds) {
  for (RunRecord& run : rounds.runs) {
    if (run.step.kind == RoundKind::Untuned)
      session_.untuned.push_back(run);
    else
      add(std::move(run));
  }
  std::move(rounds.redone.begin(), rounds.redone.end(), std::back_inserter(session_.redone));
  paces_ = std::move(rounds.paces);
  session_.notes = std::move(rounds.notes);
  session_.overheads = std::move(rounds.overheads);
  uncounted_ = std::move(rounds.uncounted);
  reported_.go_on_with(std::move(rounds.discovered));
}

/// Keeps the runs of the rounds, which begin at `runs` in the session, and the repeated ones from
/// `redone` on.
void StepRunner::keep(KeptRounds rounds, std::size_t runs, std::size_t redone) {
  const std::size_t end = runs + (rounds.first.is_thrown_away() ? 0 : rounds.steps);
  for (std::size_t i = runs; i < end; ++i) rounds.runs.push_back(runs_of(rounds.first)[i]);
  rounds.redone.assign(session_.redone.begin() + static_cast<std::ptrdiff_t>(redone),
                       session_.redone.end());
  rounds.paces = paces_;
  rounds.notes = session_.notes;
  rounds.overheads = session_.overheads;
  rounds.uncounted = uncounted_;
  rounds.discovered = reported_.discovered();
  context_.rounds->keep(rounds);
}

}  // namespace lauka
