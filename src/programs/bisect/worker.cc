#include "programs/bisect/worker.h"

#include "app/deliver.h"
#include "app/measure.h"
#include "app/prepare.h"
#include "bisect/words.h"
#include "core/text.h"
#include "os/files.h"
#include "os/signals.h"
#include "os/users.h"
#include "plan/command_layouts.h"
#include "report/lines.h"
#include "report/style.h"
#include "results/function_changes.h"
#include "run/programs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace lauka::bisect {

namespace {

constexpr std::array<Tree, 3> kTrees{Tree::Good, Tree::Test, Tree::Last};
constexpr std::array<const char*, 3> kTreeNames{"good", "test", "last"};

std::string name_of(Tree tree) {
  return kTreeNames.at(static_cast<std::size_t>(tree));
}

// The first word of an entry of the log about a build; the worktree and the commit follow.
constexpr std::string_view kBuildingEntry = "building";
constexpr std::string_view kBuiltEntry = "built";
constexpr std::string_view kUnbuiltEntry = "unbuilt";

Stop stop_for_signal() {
  return Stop{status_of_signal(os::first_interrupt_signal())};
}

/// Returns the result of a build that succeeded.
OrStop<std::string> no_failure() {
  return std::string();
}

// The end of a search whose reason has been said.
constexpr Stop kStopAsFailed{static_cast<int>(ExitStatus::Failed)};

// With less space, no search begins, and no commit is blamed for a failure.
constexpr std::uintmax_t kMinFreeBytes = std::uintmax_t{1} << 20U;

/// True if the command is to blame for how a run ended, and not the machine.
bool is_fault_of_command(const Outcome& outcome, bool has_shell) {
  const auto* const not_started = std::get_if<NotStarted>(&outcome);
  if (not_started == nullptr) return true;
  switch (not_started->step) {
    case LaunchStep::Execute:
      return !has_shell;
    case LaunchStep::OpenInput:
    case LaunchStep::EnterFolder:
      return true;
    case LaunchStep::OpenOutput:
    case LaunchStep::Fork:
    case LaunchStep::Prepare:
    case LaunchStep::BecomeUser:
    case LaunchStep::ReachLauncher:
      break;
  }
  return false;
}

/// What one of the two commands of a session has done wrong.
struct CommandFailure {
  std::size_t command = 0;  ///< 0: the reference, 1: the candidate
  std::string text{};       ///< goes on after the name of the commit
};

/// Returns the command that did not give what each of its runs must give.
std::optional<CommandFailure> find_missing_value(const SessionResult& measured) {
  if (!measured.command_at_fault) return std::nullopt;
  return CommandFailure{*measured.command_at_fault,
                        "lacks the metric or the output that is expected of it"};
}

/// Returns the command whose hook ended a session.
std::optional<CommandFailure> find_failed_hook(const EarlyEnd& reason) {
  constexpr bool has_shell = true;
  const auto* const failed = std::get_if<HookFailed>(&reason);
  if (failed == nullptr || !is_fault_of_command(failed->outcome, has_shell)) return std::nullopt;
  return CommandFailure{failed->command, "fails: a hook did not succeed"};
}

/// Returns the command whose run ended a session.
std::optional<CommandFailure> find_failed_run(const EarlyEnd& reason, const Plan& plan) {
  const auto* const failed = std::get_if<RunFailed>(&reason);
  if (failed == nullptr || !is_fault_of_command(failed->outcome, plan.shell.has_value()))
    return std::nullopt;
  return CommandFailure{failed->step.command,
                        "fails: the command " + report::outcome_text(failed->outcome)};
}

/// Returns the first obstacle to a verdict; null if there is none.
const gate::Hindrance* find_hindrance(const std::vector<gate::Verdict>& verdicts) {
  for (const gate::Verdict& verdict : verdicts)
    if (verdict.hindrance.obstacle != gate::Obstacle::None) return &verdict.hindrance;
  return nullptr;
}

/// Returns the command (0: the reference, 1: the candidate) that prevents a comparison by what it
/// did; nullopt if the way of measuring prevents it.
std::optional<std::size_t> find_command_at_fault(const gate::Hindrance& hindrance) {
  switch (hindrance.obstacle) {
    case gate::Obstacle::NoSuccess:
    case gate::Obstacle::NoValue:
      // If both give nothing now, the machine has changed.
      if (hindrance.side == gate::Side::Both) return std::nullopt;
      break;
    case gate::Obstacle::FailureRates:
    case gate::Obstacle::NoCommonRound:
    case gate::Obstacle::UpperBounds:
    case gate::Obstacle::NoPercentage:
    case gate::Obstacle::NoFunction:
      break;
    default:
      return std::nullopt;
  }
  return hindrance.side == gate::Side::Reference ? 0 : 1;
}

/// Adds the change by all rounds of the session.
void add_change_of_all_rounds(const Results& results, const std::string& metric,
                              MeasuredCandidate& comparison) {
  const auto searched = std::ranges::find(results.session.metrics, metric, &Metric::name);
  if (searched == results.session.metrics.end()) return;
  comparison.is_counted_separately = searched->kind != RoundKind::Timed;

  const auto place = static_cast<std::size_t>(searched - results.session.metrics.begin());
  const MetricResult& row = results.commands.back().rows[place];
  comparison.change_of_all_rounds = {.rounds = row.runs, .detectable = row.detectable};
  if (row.delta) comparison.change_of_all_rounds.change = *row.delta;
}

/// Adds the functions that certainly differ to `comparison`.
void add_changed_functions(const Results& results, const std::string& metric,
                           MeasuredCandidate& comparison) {
  const std::vector<std::size_t> counted = function_metrics(results);
  const auto searched = std::ranges::find_if(
      counted, [&](std::size_t m) { return results.session.metrics[m].name == metric; });
  if (counted.empty()) return;
  const std::size_t chosen = searched == counted.end() ? counted.front() : *searched;
  comparison.functions_of = results.session.metrics[chosen].name;
  comparison.functions_unit = results.session.metrics[chosen].unit;

  const MetricByFunction* changes = find_changes(results, chosen, 1);
  if (changes == nullptr) return;
  for (const FunctionChange& function : changes->functions)
    if (function.is_certain())
      comparison.functions.push_back(
          {function.name, function.own.reference_mean, function.own.candidate_mean});
}

/// Returns the builds of a commit in the worktree `folder`, one for each layout.
std::vector<Build> make_builds(const Request& request, const Commit& commit,
                               const std::string& folder) {
  // The environment, which lauka takes as one list for each command, is the same for all commits.
  const auto& environments = request.options.commands.environment;
  const bool has_layouts = request.options.run.layouts.has_value();
  const std::uint64_t layouts = request.options.run.layouts.value_or(1);

  std::vector<Build> builds;
  builds.reserve(layouts);
  for (std::uint64_t layout = 1; layout <= layouts; ++layout) {
    Build& build = builds.emplace_back();
    build.name_in_messages = commit.short_id();
    build.line = has_layouts ? fill_in_layout(request.build, layout) : request.build;
    build.folder = folder;
    if (!environments.empty()) build.environment = environments.front();
  }
  return builds;
}

/// Why a call of lauka has measured nothing. Both members are nullopt if it has measured.
struct CallFailure {
  std::optional<int> status{};  ///< of a step that has said why it failed
  std::optional<std::size_t> command_without_program{};
};

/// Measures the session of a call, and returns why that failed.
CallFailure measure_session(Call& call) {
  std::optional<int> status = add_benchmarks(call);
  if (!status) status = prepare(call);
  if (status) return {.status = status};

  const auto command = find_command_without_program(call.benchmarks.front().plan, call.user);
  if (command) return {.command_without_program = command};
  return {.status = measure(call)};
}

}  // namespace

std::string Worker::path_of(Tree tree) const {
  return work_ + "/" + name_of(tree);
}

void Worker::print(const std::string& text) {
  if (has_lost_output_) return;
  const auto stream = choose_stream_for_tables(request_.options.output);
  const auto written = os::write_to(stream, os::locale_uses_utf8() ? text : report::to_ascii(text));
  if (written) return;
  has_lost_output_ = true;
  print_error(written.error(), ExitStatus::Failed);
}

void Worker::say(const std::string& text) {
  if (request_.options.output.verbosity != Verbosity::Quiet) print(text + "\n");
}

/// Makes a call of lauka that compares the command in two folders. It has the launcher, which the
/// caller must take back.
Call Worker::make_call(std::vector<std::string> folders, std::vector<std::string> names) {
  Call call{request_.options, std::move(launcher_)};
  CommandOptions& commands = call.options.commands;
  commands.command_lines.push_back(commands.command_lines.front());
  commands.names = std::move(names);
  commands.working_folders = std::move(folders);
  commands.build_commands.clear();
  call.options.output.exports.clear();
  call.options.output.takes_labels_from_git = false;
  return call;
}

std::optional<int> Worker::check_options() {
  Call call = make_call({}, {"good", "bad"});
  call.options.gates.conditions = {Condition{.metric = request_.metric()}};

  // Files of the commits are not there yet.
  CommandOptions& commands = call.options.commands;
  commands.inputs.clear();
  commands.outputs.clear();
  commands.expected_outputs.clear();

  std::optional<int> status = add_benchmarks(call);
  if (!status) status = prepare(call);
  launcher_ = std::move(call.launcher);
  return status;
}

/// Returns an error if a folder with the name of a worktree belongs to somebody else.
std::optional<Error> Worker::refuse_foreign_folders() const {
  // A log shows that an earlier search has made the worktrees. Without one, such folders are never
  // removed. A file that is not a log is refused when it is opened.
  std::error_code error;
  const std::uintmax_t log_bytes = std::filesystem::file_size(log_path(), error);
  const bool has_log = !error && log_bytes > 0;
  for (const Tree tree : kTrees)
    if (!has_log && os::is_there(path_of(tree)))
      return Error{fmt::format("{} exists, but does not belong to a search", cited(path_of(tree))),
                   "remove it, or use --work DIR with another folder"};
  return std::nullopt;
}

/// Makes the work folder if necessary. Returns an error if nothing can be written in it.
std::optional<Error> Worker::make_work_folder() const {
  std::error_code error;
  std::filesystem::create_directories(work_, error);
  if (error)
    return Error{fmt::format("the folder {} cannot be made: {}", cited(work_), error.message()),
                 "use --work DIR"};

  auto full = find_full_disk();
  if (full) std::filesystem::remove(work_, error);  // does nothing if the folder is not empty
  return full;
}

// Opens the work folder and the log in it. If the log is about the same search, which `head`
// describes, it tells what an interrupted call has done already.
Result<void> Worker::begin(const std::string& head) {
  const os::ActAs owner(user_);
  if (owner.error()) return *owner.error();
  if (auto foreign = refuse_foreign_folders()) return *std::move(foreign);
  if (auto failed = make_work_folder()) return *std::move(failed);

  auto journal = Journal::open(log_path(), head);
  if (!journal) return journal.error();
  journal_ = *std::move(journal);
  read_entries();
  return {};
}

// Learns from the log which builds earlier calls have done. Keeps the other entries for the caller
// (earlier_entries()).
void Worker::read_entries() {
  if (journal_->has_dropped_search()) remove_builds_of_dropped_search();

  for (const std::string& entry : journal_->earlier_entries()) {
    // An entry about a build has three words: its kind, the worktree and the commit.
    const std::vector<std::string_view> words = split(entry, ' ');
    const std::string_view kind = words.front();
    const bool is_about_build =
        kind == kBuildingEntry || kind == kBuiltEntry || kind == kUnbuiltEntry;
    if (!is_about_build)
      entries_for_caller_.push_back(entry);
    else if (words.size() >= 3)
      read_build_entry(kind, std::string(words[1]), std::string(words[2]));
  }
}

/// Tells the user that the log was about another search, and removes what that search has built.
void Worker::remove_builds_of_dropped_search() {
  say("lauka-bisect drops an earlier, interrupted search, because it had another command line or "
      "other ends");
  for (const Tree tree : kTrees) repository_.remove_worktree(path_of(tree));
}

/// Takes an entry that says that the build of a commit in a worktree began, succeeded or failed.
void Worker::read_build_entry(std::string_view kind, const std::string& tree,
                              const std::string& commit_id) {
  if (kind == kBuildingEntry) {
    built_ids_.erase(tree);
    half_built_.insert(tree);
    return;
  }

  half_built_.erase(tree);
  if (kind == kBuiltEntry)
    built_ids_[tree] = commit_id;
  else if (os::is_there(output_file_of({.id = commit_id})))
    keeps_folder_ = true;
}

void Worker::end() {
  for (const Tree tree : kTrees) repository_.remove_worktree(path_of(tree));
  // A signal may have ended git. With the log, the next call removes the rest.
  if (os::first_interrupt_signal() != 0) return;

  const os::ActAs owner(user_);
  if (owner.error()) return;
  journal_->remove();
  std::error_code ignored;
  if (keeps_folder_)
    say(fmt::format("the output of builds that failed is in {}", cited(work_)));
  else
    std::filesystem::remove(work_, ignored);
}

/// Returns the path of the file with the output of the build of a commit, if it failed.
std::string Worker::output_file_of(const Commit& commit) const {
  return fmt::format("{}/failed-{}.txt", work_, commit.short_id());
}

/// Writes the output of a build that failed into the work folder, where it stays after the search.
void Worker::keep_output(const Commit& commit, const std::string& output) {
  const os::ActAs owner(user_);
  if (owner.error()) return;
  auto file = os::ExportFile::open(output_file_of(commit));
  if (!file) return;
  (*file)->write(output);
  if ((*file)->commit()) keeps_folder_ = true;
}

/// Returns the reason why nothing can be built in the work folder; nullopt if there is space.
std::optional<Error> Worker::find_full_disk() const {
  std::error_code error;
  const auto space = std::filesystem::space(work_, error);
  if (error || space.available >= kMinFreeBytes) return std::nullopt;
  return Error{fmt::format("there is no space left on the disk of {}", cited(work_)),
               "free some space, or use --work DIR with a folder on another disk"};
}

/// Every build and every run may fail on a full disk, so no commit is to blame.
std::optional<Stop> Worker::stop_if_disk_is_full() const {
  const auto full = find_full_disk();
  if (!full) return std::nullopt;
  return Stop{print_error(*full, ExitStatus::Failed)};
}

/// Returns why the build of a commit failed. Stops the search if the commit is not to blame.
OrStop<std::string> Worker::take_failed_build(const Commit& commit, const BuildFailed& failed) {
  // A shell that does not start, or a full disk, would fail the build of any commit.
  if (std::holds_alternative<NotStarted>(failed.outcome))
    return Stop{print_error(
        {fmt::format("the build of {} {}", commit.short_id(), report::outcome_text(failed.outcome)),
         "try the command of --build in your checkout"},
        ExitStatus::Failed)};
  if (const auto stop = stop_if_disk_is_full()) return *stop;

  keep_output(commit, failed.output_end);
  return "does not build: the build " + report::outcome_text(failed.outcome);
}

/// Runs the command of --build, once for each layout. Returns why the build failed; empty if it
/// succeeded, or was interrupted, as the caller finds out. If the commit is not to blame for the
/// failure, the search stops.
OrStop<std::string> Worker::run_build(Tree tree, const Commit& commit) {
  if (request_.build.empty()) return no_failure();

  const auto run = run_builds_by(*launcher_, make_builds(request_, commit, path_of(tree)), user_);
  if (os::first_interrupt_signal() != 0) return no_failure();
  if (!run) return Stop{print_error(run.error(), ExitStatus::Failed)};
  const std::optional<BuildFailed>& failed = *run;
  return failed ? take_failed_build(commit, *failed) : no_failure();
}

/// Checks out a commit in a worktree where it is to be built. Stops the search after a signal,
/// or if git fails.
std::optional<Stop> Worker::begin_build(Tree tree, const Commit& commit) {
  const std::string tree_name = name_of(tree);
  add_entry(fmt::format("{} {} {}", kBuildingEntry, tree_name, commit.id));
  built_ids_.erase(tree_name);
  auto checked_out = repository_.check_out(path_of(tree), commit.id);

  // An interrupted build may have left half a file, which the next build would take for whole.
  const bool was_interrupted = half_built_.contains(tree_name);
  if (checked_out && was_interrupted) checked_out = repository_.clean(path_of(tree));
  half_built_.insert(tree_name);
  if (os::first_interrupt_signal() != 0) return stop_for_signal();
  if (!checked_out) return Stop{print_error(checked_out.error(), ExitStatus::Failed)};
  return std::nullopt;
}

/// Keeps the result of a build: why it failed; empty if it succeeded.
void Worker::end_build(Tree tree, const Commit& commit, const std::string& failure) {
  const std::string tree_name = name_of(tree);
  half_built_.erase(tree_name);
  const bool has_succeeded = failure.empty();
  add_entry(
      fmt::format("{} {} {}", has_succeeded ? kBuiltEntry : kUnbuiltEntry, tree_name, commit.id));
  if (has_succeeded) built_ids_[tree_name] = commit.id;
}

// Logs the build when it begins and when it ends, so that a later call knows which worktrees it can
// use as they are. Returns why the commit cannot be built; empty if it is built.
OrStop<std::string> Worker::build(Tree tree, const Commit& commit) {
  if (has_lost_output_) return kStopAsFailed;
  if (is_built(tree, commit)) return no_failure();

  say(fmt::format("building {}", describe(commit)));
  if (has_lost_output_) return kStopAsFailed;
  if (const auto stop = begin_build(tree, commit)) return *stop;

  // A worktree lacks some files of a commit, such as those of submodules.
  const auto obstacle = repository_.find_obstacle(commit.id);
  auto failure_or_stop = obstacle ? OrStop<std::string>(obstacle->what) : run_build(tree, commit);
  if (os::first_interrupt_signal() != 0) return stop_for_signal();
  if (const auto* failure = std::get_if<std::string>(&failure_or_stop))
    end_build(tree, commit, *failure);
  return failure_or_stop;
}

/// True if the latest build in a worktree was that of `commit`, and the worktree is still there.
/// Its file .git is what makes a folder a worktree.
bool Worker::is_built(Tree tree, const Commit& commit) const {
  const auto built_id = built_ids_.find(name_of(tree));
  return built_id != built_ids_.end() && built_id->second == commit.id &&
         os::is_regular_file(path_of(tree) + "/.git");
}

std::optional<Stop> Worker::build_or_stop(Tree tree, const Commit& commit) {
  const auto made = build(tree, commit);
  if (const auto* stop = std::get_if<Stop>(&made)) return *stop;
  const std::string& failure = std::get<std::string>(made);
  if (failure.empty()) return std::nullopt;
  return Stop{print_error({fmt::format("the commit {} {}", describe(commit), failure),
                           fmt::format("the output of the build is in {}", cited(work_))},
                          ExitStatus::Failed)};
}

/// Returns a word of the command that names a file in the user's folder, but not in the worktree.
std::optional<std::string> Worker::find_left_out_file(Tree tree) const {
  const auto words = split_words(request_.options.commands.command_lines.front());
  if (!words) return std::nullopt;
  for (const std::string& path : *words) {
    if (path.empty() || path.starts_with('/') || path.starts_with('-')) continue;
    if (os::is_there(path) && !os::is_there(path_of(tree) + "/" + path)) return path;
  }
  return std::nullopt;
}

Error Worker::make_failure_message(const CommitInTree& side, const std::string& failure) const {
  const auto left_out = find_left_out_file(side.tree);
  return {fmt::format("the commit {} {}", describe(side.commit), failure),
          left_out ? fmt::format("{} is not in the commit's worktree, so give its absolute path",
                                 cited(*left_out))
                   : "files that git does not know are not in the worktree, so give their "
                     "absolute paths"};
}

/// Returns the `failure` of a `command` (0: the reference) as what the comparison has shown. Ends
/// the search if no commit is to blame.
OrStop<MeasuredCandidate> Worker::take_failure(const ComparedCommits& compared, std::size_t command,
                                               const std::string& failure) const {
  const bool is_of_reference = command == 0;
  if (is_of_reference && !compared.is_reference_untested)
    return Stop{print_error(make_failure_message(compared.reference, failure), ExitStatus::Failed)};
  if (const auto stop = stop_if_disk_is_full()) return *stop;
  return MeasuredCandidate{.failure = failure, .is_failure_of_reference = is_of_reference};
}

/// Says why a session, which compares two commits, ended early. Returns the failure of a commit if
/// that is the cause. Otherwise the cause lies with the machine or with how lauka was called, so
/// the search stops.
OrStop<MeasuredCandidate> Worker::take_early_end(const Call& call,
                                                 const ComparedCommits& compared) const {
  const Benchmark& benchmark = call.benchmarks.front();  // the only one
  const SessionResult& measured = benchmark.session_result;
  print_to_standard_error(report::early_end_lines(measured.session, call.options.commands.names,
                                                  report::AdviceToEndRuns::None));

  // Command 0 is the reference, and command 1 the candidate. If a metric, an output or a hook of
  // a reference fails that ran in an earlier session, the lines above say all that is to say.
  const std::size_t first_to_blame = compared.is_reference_untested ? 0 : 1;
  const EarlyEnd& reason = *measured.session.cut_short;
  for (const auto& failure : {find_missing_value(measured), find_failed_hook(reason)})
    if (failure && failure->command >= first_to_blame)
      return take_failure(compared, failure->command, failure->text);

  if (const auto failure = find_failed_run(reason, benchmark.plan))
    return take_failure(compared, failure->command, failure->text);
  return kStopAsFailed;
}

/// Returns a commit's failure if it is the reason why the commits cannot be compared. Ends the
/// search if something else is.
OrStop<MeasuredCandidate> Worker::take_hindrance(const gate::Hindrance& hindrance,
                                                 const ComparedCommits& compared) const {
  const std::string failure = "cannot be compared by " + request_.metric();
  const auto command = find_command_at_fault(hindrance);
  if (command == 1U) return MeasuredCandidate{.failure = failure};
  if (command == 0U && compared.is_reference_untested)
    return MeasuredCandidate{.failure = failure, .is_failure_of_reference = true};

  const bool has_few_layouts = hindrance.obstacle == gate::Obstacle::FewLayouts;
  return Stop{print_error(
      {fmt::format("{} and {} cannot be compared by {}", compared.reference.commit.short_id(),
                   compared.candidate.commit.short_id(), request_.metric()),
       has_few_layouts ? "give --layouts a larger value"
                       : "to see why, build both commits and compare them with lauka"},
      ExitStatus::Failed)};
}

/// Makes the call of lauka that answers a question about two commits.
Call Worker::make_comparison_call(const ComparedCommits& compared, Question question) {
  const CommitInTree& reference = compared.reference;
  const CommitInTree& candidate = compared.candidate;
  const auto& folders = request_.options.commands.working_folders;
  const std::string subfolder = folders.empty() ? "" : "/" + folders.front();
  Call call =
      make_call({path_of(reference.tree) + subfolder, path_of(candidate.tree) + subfolder},
                {"commit " + reference.commit.short_id(), "commit " + candidate.commit.short_id()});
  call.options.gates.conditions = std::move(question.gates);
  call.options.gates.confidence = 1.0 - question.error;
  call.options.gates.max_half_width = question.precision;
  call.options.gates.precision_metric = request_.metric();
  call.options.run.time_per_command *= question.times_of_duration;

  // Hints are the same for each comparison of a search, so only the first one shows them.
  call.says_hints = !has_measured_;
  has_measured_ = true;
  return call;
}

/// Returns what a session that was measured has shown. Stops the search if the commits could not be
/// compared, and neither of them is to blame.
OrStop<MeasuredCandidate> Worker::take_session(Call& call, const ComparedCommits& compared) const {
  SessionResult& measured = call.benchmarks.front().session_result;
  if (measured.session.cut_short) return take_early_end(call, compared);

  // If the values could not be compared, the gates say nothing about a change.
  MeasuredCandidate result{.verdicts = measured.findings.verdicts};
  if (const gate::Hindrance* hindrance = find_hindrance(result.verdicts))
    return take_hindrance(*hindrance, compared);

  // An undecided gate has waited for its last look at the results, so the noise did not decide when
  // the session ended. Only then does analyse_session() tell which change could be detected.
  const bool is_any_gate_undecided =
      std::ranges::find(result.verdicts, gate::Answer::Inconclusive, &gate::Verdict::answer) !=
      result.verdicts.end();
  if (is_any_gate_undecided) measured.session.ended_by_gates = false;

  const Results results = analyse_session(call);
  add_change_of_all_rounds(results, request_.metric(), result);
  if (compared.lists_functions) add_changed_functions(results, request_.metric(), result);
  return result;
}

// Measures both commits in a session of lauka, whose gates answer the question. If a commit fails,
// that is a result, too. Anything else that prevents the comparison stops the search.
OrStop<MeasuredCandidate> Worker::compare(const CommitInTree& reference,
                                          const CommitInTree& candidate, Question question) {
  if (has_lost_output_) return kStopAsFailed;
  const ComparedCommits compared{.reference = reference,
                                 .candidate = candidate,
                                 .lists_functions = question.lists_functions,
                                 .is_reference_untested = question.is_reference_untested};

  // The call has the launcher, which starts processes, until it has measured.
  Call call = make_comparison_call(compared, std::move(question));
  const CallFailure failure = measure_session(call);
  launcher_ = std::move(call.launcher);

  if (os::first_interrupt_signal() != 0) return stop_for_signal();
  if (failure.command_without_program)
    return take_failure(compared, *failure.command_without_program,
                        "does not make the program that is to be run");

  // Any other failure is that of the command line or the machine, and not of a commit.
  if (failure.status) return kStopAsFailed;
  return take_session(call, compared);
}

}  // namespace lauka::bisect
