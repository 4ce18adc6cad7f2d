#include "programs/bisect/workshop.h"

#include "app/deliver.h"
#include "app/measure.h"
#include "app/prepare.h"
#include "bisect/words.h"
#include "core/text.h"
#include "os/signals.h"
#include "os/users.h"
#include "plan/command_layouts.h"
#include "report/lines.h"
#include "report/style.h"
#include "results/function_changes.h"
#include "run/builds.h"
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
void add_change(const Results& results, const std::string& metric, MeasuredCandidate& comparison) {
  const auto searched = std::ranges::find(results.session.metrics, metric, &Metric::name);
  if (searched == results.session.metrics.end()) return;
  comparison.is_counted_separately = searched->kind != RoundKind::Timed;

  const auto place = static_cast<std::size_t>(searched - results.session.metrics.begin());
  const MetricResult& row = results.commands.back().rows[place];
  comparison.change_of_all_rounds = {.rounds = row.runs, .detectable = row.detectable};
  if (row.delta) comparison.change_of_all_rounds.change = *row.delta;
}

/// Adds the functions that certainly differ to `comparison`.
void add_functions(const Results& results, const std::string& metric,
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
    if (function.is_sure())
      comparison.functions.push_back(
          {function.name, function.own.reference_mean, function.own.candidate_mean});
}

}  // namespace

std::string Workshop::path_of(Tree tree) const {
  return work_ + "/" + name_of(tree);
}

void Workshop::print(const std::string& text) {
  if (has_lost_output_) return;
  const auto stream = shown_on(request_.options.output);
  const auto written = os::write_to(stream, os::locale_uses_utf8() ? text : report::to_ascii(text));
  if (written) return;
  has_lost_output_ = true;
  refuse(written.error(), ExitStatus::Failed);
}

void Workshop::say(const std::string& text) {
  if (request_.options.output.verbosity != Verbosity::Quiet) print(text + "\n");
}

/// Makes a call of lauka that compares the command in two folders. It has the launcher, which the
/// caller must take back.
Call Workshop::make_call(std::vector<std::string> folders, std::vector<std::string> names) {
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

std::optional<int> Workshop::check_options() {
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

Result<void> Workshop::begin(const std::string& head) {
  const os::ActAs owner(user_);
  if (owner.error()) return *owner.error();

  // Journal::open refuses a file with this name that is not the log of a search.
  std::error_code no_log;
  const bool is_used = std::filesystem::file_size(work_ + "/log", no_log) > 0 && !no_log;

  // Folders of others are never removed.
  for (const Tree tree : kTrees)
    if (!is_used && os::is_there(path_of(tree)))
      return Error{fmt::format("{} exists, but does not belong to a search", cited(path_of(tree))),
                   "remove it, or use --work DIR with another folder"};

  std::error_code error;
  std::filesystem::create_directories(work_, error);
  if (error)
    return Error{fmt::format("the folder {} cannot be made: {}", cited(work_), error.message()),
                 "use --work DIR"};
  if (auto full = find_full_disk()) {
    std::filesystem::remove(work_, error);  // only if it is empty
    return *std::move(full);
  }

  auto journal = Journal::open(work_ + "/log", head);
  if (!journal) return journal.error();
  journal_ = *std::move(journal);
  read_entries();
  return {};
}

void Workshop::read_entries() {
  // Another search may have left its builds in the worktrees.
  if (journal_->has_dropped_search()) {
    say("lauka-bisect drops an earlier, interrupted search, because it had another command line or "
        "other ends");
    for (const Tree tree : kTrees) repository_.remove_worktree(path_of(tree));
  }

  for (const std::string& entry : journal_->earlier_entries()) {
    const std::vector<std::string_view> words = split(entry, ' ');
    const bool is_of_build =
        words[0] == kBuildingEntry || words[0] == kBuiltEntry || words[0] == kUnbuiltEntry;
    if (!is_of_build) {
      entries_.push_back(entry);
      continue;
    }

    if (words.size() < 3) continue;
    const std::string tree(words[1]);
    if (words[0] == kBuildingEntry) {
      built_ids_.erase(tree);
      half_built_.insert(tree);
    } else if (words[0] == kBuiltEntry) {
      half_built_.erase(tree);
      built_ids_[tree] = words[2];
    } else {
      half_built_.erase(tree);
      if (std::filesystem::exists(output_file_of({.id = std::string(words[2])}))) keeps_folder_ = true;
    }
  }
}

void Workshop::end() {
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
std::string Workshop::output_file_of(const Commit& commit) const {
  return fmt::format("{}/failed-{}.txt", work_, commit.short_id());
}

/// Writes the output of a build that failed into the work folder, where it stays after the search.
void Workshop::keep_output(const Commit& commit, const std::string& output) {
  const os::ActAs owner(user_);
  if (owner.error()) return;
  auto file = os::ExportFile::open(output_file_of(commit));
  if (!file) return;
  (*file)->write(output);
  if ((*file)->commit()) keeps_folder_ = true;
}

/// Returns the reason why nothing can be built in the work folder; nullopt if there is space.
std::optional<Error> Workshop::find_full_disk() const {
  std::error_code error;
  const auto space = std::filesystem::space(work_, error);
  if (error || space.available >= kMinFreeBytes) return std::nullopt;
  return Error{fmt::format("there is no space left on the disk of {}", cited(work_)),
               "free some space, or use --work DIR with a folder on another disk"};
}

/// Every build and every run may fail on a full disk, so no commit is to blame.
std::optional<Stop> Workshop::stop_if_disk_is_full() const {
  const auto full = find_full_disk();
  if (!full) return std::nullopt;
  return Stop{refuse(*full, ExitStatus::Failed)};
}

/// Returns why the build failed; empty if it succeeded, or was interrupted.
OrStop<std::string> Workshop::run_build(Tree tree, const Commit& commit) {
  if (request_.build.empty()) return std::string();
  const std::uint64_t layouts = request_.options.run.layouts.value_or(1);
  const auto& environment = request_.options.commands.environment;

  std::vector<Build> builds;
  builds.reserve(layouts);
  for (std::uint64_t layout = 1; layout <= layouts; ++layout) {
    Build& next = builds.emplace_back();
    next.name_in_messages = commit.short_id();
    next.line =
        request_.options.run.layouts ? fill_in_layout(request_.build, layout) : request_.build;
    next.folder = path_of(tree);
    if (!environment.empty()) next.environment = environment.front();
  }

  const auto failed = run_builds_by(*launcher_, builds, user_);
  if (os::first_interrupt_signal() != 0) return std::string();
  if (!failed) return Stop{refuse(failed.error(), ExitStatus::Failed)};
  if (!*failed) return std::string();
  if (std::holds_alternative<NotStarted>((*failed)->outcome))
    return Stop{refuse({fmt::format("the build of {} {}", commit.short_id(),
                                    report::outcome_text((*failed)->outcome)),
                        "try the command of --build in your checkout"},
                       ExitStatus::Failed)};
  if (const auto stop = stop_if_disk_is_full()) return *stop;
  keep_output(commit, (*failed)->output_end);
  return "does not build: the build " + report::outcome_text((*failed)->outcome);
}

OrStop<std::string> Workshop::build(Tree tree, const Commit& commit) {
  if (has_lost_output_) return kStopAsFailed;
  const std::string name = name_of(tree);
  const auto built = built_ids_.find(name);
  if (built != built_ids_.end() && built->second == commit.id &&
      os::is_regular_file(path_of(tree) + "/.git"))
    return std::string();

  say(fmt::format("building {}", describe(commit)));
  if (has_lost_output_) return kStopAsFailed;
  add_entry(fmt::format("{} {} {}", kBuildingEntry, name, commit.id));
  built_ids_.erase(name);
  auto checked_out = repository_.check_out(path_of(tree), commit.id);

  // An interrupted build may have left half a file, which the next build would take for whole.
  if (checked_out && half_built_.contains(name)) checked_out = repository_.clean(path_of(tree));
  half_built_.insert(name);
  if (os::first_interrupt_signal() != 0) return stop_for_signal();
  if (!checked_out) return Stop{refuse(checked_out.error(), ExitStatus::Failed)};

  const auto obstacle = repository_.find_obstacle(commit.id);
  auto made = obstacle ? OrStop<std::string>(obstacle->what) : run_build(tree, commit);
  if (os::first_interrupt_signal() != 0) return stop_for_signal();
  if (const auto* stop = std::get_if<Stop>(&made)) return *stop;
  std::string failure = std::get<std::string>(std::move(made));
  half_built_.erase(name);
  add_entry(
      fmt::format("{} {} {}", failure.empty() ? kBuiltEntry : kUnbuiltEntry, name, commit.id));
  if (failure.empty()) built_ids_[name] = commit.id;
  return failure;
}

std::optional<Stop> Workshop::build_or_stop(Tree tree, const Commit& commit) {
  const auto made = build(tree, commit);
  if (const auto* stop = std::get_if<Stop>(&made)) return *stop;
  const std::string& failure = std::get<std::string>(made);
  if (failure.empty()) return std::nullopt;
  return Stop{refuse({fmt::format("the commit {} {}", describe(commit), failure),
                      fmt::format("the output of the build is in {}", cited(work_))},
                     ExitStatus::Failed)};
}

/// Returns a word of the command that names a file in the user's folder, but not in the worktree.
std::optional<std::string> Workshop::find_left_out_file(Tree tree) const {
  const auto words = split_words(request_.options.commands.command_lines.front());
  if (!words) return std::nullopt;
  for (const std::string& path : *words) {
    if (path.empty() || path.starts_with('/') || path.starts_with('-')) continue;
    if (os::is_there(path) && !os::is_there(path_of(tree) + "/" + path)) return path;
  }
  return std::nullopt;
}

Error Workshop::make_failure_message(const CommitInTree& side, const std::string& failure) const {
  const auto left_out = find_left_out_file(side.tree);
  return {fmt::format("the commit {} {}", describe(side.commit), failure),
          left_out ? fmt::format("{} is not in the commit's worktree, so give its absolute path",
                                 cited(*left_out))
                   : "files that git does not know are not in the worktree, so give their "
                     "absolute paths"};
}

/// Returns the `failure` of a `command` (0: the reference) as what the comparison has shown. Ends
/// the search if no commit is to blame.
OrStop<MeasuredCandidate> Workshop::take_failure(const ComparedCommits& compared,
                                                 std::size_t command,
                                                 const std::string& failure) const {
  const bool is_of_reference = command == 0;
  if (is_of_reference && !compared.is_reference_untested)
    return Stop{refuse(make_failure_message(compared.reference, failure), ExitStatus::Failed)};
  if (const auto stop = stop_if_disk_is_full()) return *stop;
  return MeasuredCandidate{.failure = failure, .is_failure_of_reference = is_of_reference};
}

/// Says why a session ended early. Returns a commit's failure, if it is the cause.
OrStop<MeasuredCandidate> Workshop::take_early_end(const Call& call,
                                                   const ComparedCommits& compared) const {
  const SessionResult& measured = call.benchmarks.front().session_result;
  const EarlyEnd& end = *measured.session.cut_short;
  print_to_standard_error(report::early_end_lines(measured.session, call.options.commands.names,
                                                  report::AdviceToEndRuns::None));

  const auto* const run = std::get_if<RunFailed>(&end);
  const auto* const hook = std::get_if<HookFailed>(&end);
  // The message about another reference is complete already.
  const std::size_t first_to_blame = compared.is_reference_untested ? 0 : 1;
  const bool has_shell = call.benchmarks.front().plan.shell.has_value();
  if (measured.command_at_fault && *measured.command_at_fault >= first_to_blame)
    return take_failure(compared, *measured.command_at_fault,
                        "lacks the metric or the output that is expected of it");
  if (hook != nullptr && hook->command >= first_to_blame &&
      is_fault_of_command(hook->outcome, true))
    return take_failure(compared, hook->command, "fails: a hook did not succeed");
  if (run != nullptr && is_fault_of_command(run->outcome, has_shell))
    return take_failure(compared, run->step.command,
                        "fails: the command " + report::outcome_text(run->outcome));
  return kStopAsFailed;
}

/// Returns a commit's failure if it is the reason why the commits cannot be compared. Ends the
/// search if something else is.
OrStop<MeasuredCandidate> Workshop::take_hindrance(const gate::Hindrance& hindrance,
                                                   const ComparedCommits& compared) const {
  const std::string failure = "cannot be compared by " + request_.metric();
  const auto command = find_command_at_fault(hindrance);
  if (command == 1U) return MeasuredCandidate{.failure = failure};
  if (command == 0U && compared.is_reference_untested)
    return MeasuredCandidate{.failure = failure, .is_failure_of_reference = true};

  const bool has_few_layouts = hindrance.obstacle == gate::Obstacle::FewLayouts;
  return Stop{refuse(
      {fmt::format("{} and {} cannot be compared by {}", compared.reference.commit.short_id(),
                   compared.candidate.commit.short_id(), request_.metric()),
       has_few_layouts ? "give --layouts a larger value"
                       : "to see why, build both commits and compare them with lauka"},
      ExitStatus::Failed)};
}

OrStop<MeasuredCandidate> Workshop::compare(const CommitInTree& reference,
                                            const CommitInTree& candidate, Question question) {
  if (has_lost_output_) return kStopAsFailed;
  const auto& own_folders = request_.options.commands.working_folders;
  const std::string subfolder = own_folders.empty() ? "" : "/" + own_folders.front();
  Call call =
      make_call({path_of(reference.tree) + subfolder, path_of(candidate.tree) + subfolder},
                {"commit " + reference.commit.short_id(), "commit " + candidate.commit.short_id()});
  call.options.gates.conditions = std::move(question.gates);
  call.options.gates.confidence = 1.0 - question.error;
  call.options.gates.max_half_width = question.precision;
  call.options.run.time_per_command *= question.times_of_duration;
  call.options.gates.precision_metric = request_.metric();
  call.says_hints = !std::exchange(has_measured_, true);

  std::optional<int> status = add_benchmarks(call);
  if (!status) status = prepare(call);

  std::optional<std::size_t> missing;
  if (!status) missing = find_command_without_program(call.benchmarks.front().plan, call.user);
  if (!status && !missing) status = measure(call);
  launcher_ = std::move(call.launcher);
  if (os::first_interrupt_signal() != 0) return stop_for_signal();
  const ComparedCommits compared{reference, candidate, question.is_reference_untested};
  if (missing)
    return take_failure(compared, *missing, "does not make the program that is to be run");
  // The reason has been said. It lies with the command line or the machine, and not with a commit.
  if (status) return kStopAsFailed;

  SessionResult& measured = call.benchmarks.front().session_result;
  if (measured.session.cut_short) return take_early_end(call, compared);

  // Without comparable values, an undecided gate says nothing about a change.
  MeasuredCandidate comparison{.verdicts = measured.findings.verdicts};
  for (const gate::Verdict& verdict : comparison.verdicts)
    if (verdict.hindrance.obstacle != gate::Obstacle::None)
      return take_hindrance(verdict.hindrance, compared);

  // An undecided gate has waited for its last look. The number of rounds is then that of any such
  // session, and says nothing about their noise.
  if (std::ranges::find(comparison.verdicts, gate::Answer::Inconclusive, &gate::Verdict::answer) !=
      comparison.verdicts.end())
    measured.session.ended_by_gates = false;

  const Results results = analyse_session(call);
  add_change(results, request_.metric(), comparison);
  if (question.lists_functions) add_functions(results, request_.metric(), comparison);
  return comparison;
}

}  // namespace lauka::bisect
