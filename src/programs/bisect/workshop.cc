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

constexpr Stop kFailed{static_cast<int>(ExitStatus::Failed)};

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
          {function.name, function.reference_mean, function.candidate_mean});
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
      keeps_folder_ = true;
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

void Workshop::keep_output(const Commit& commit, const std::string& output) {
  const os::ActAs owner(user_);
  auto file = os::ExportFile::open(fmt::format("{}/failed-{}.txt", work_, commit.short_id()));
  if (!file) return;
  (*file)->write(output);
  if ((*file)->commit()) keeps_folder_ = true;
}

/// Returns why the build failed; empty if it succeeded, or was interrupted.
std::string Workshop::run_build(Tree tree, const Commit& commit) {
  if (request_.build.empty()) return "";
  const std::uint64_t layouts = request_.options.run.layouts.value_or(1);
  const auto& environment = request_.options.commands.environment;

  std::vector<Build> builds;
  builds.reserve(layouts);
  for (std::uint64_t layout = 1; layout <= layouts; ++layout) {
    Build& next = builds.emplace_back();
    next.name_in_messages = commit.short_id();
    next.line = request_.options.run.layouts ? with_layout(request_.build, layout) : request_.build;
    next.folder = path_of(tree);
    if (!environment.empty()) next.environment = environment.front();
  }

  const auto failed = run_builds_by(*launcher_, builds, user_);
  if (os::first_interrupt_signal() != 0) return "";
  if (!failed) return "cannot be built: " + failed.error().line();
  if (!*failed) return "";
  keep_output(commit, (*failed)->output_end);
  return "does not build: the build " + report::outcome_text((*failed)->outcome);
}

OrStop<std::string> Workshop::build(Tree tree, const Commit& commit) {
  if (has_lost_output_) return kFailed;
  const std::string name = name_of(tree);
  const auto built = built_ids_.find(name);
  if (built != built_ids_.end() && built->second == commit.id &&
      os::is_regular_file(path_of(tree) + "/.git"))
    return std::string();

  say(fmt::format("building {}", describe(commit)));
  if (has_lost_output_) return kFailed;
  add_entry(fmt::format("{} {} {}", kBuildingEntry, name, commit.id));
  built_ids_.erase(name);
  auto there = repository_.check_out(path_of(tree), commit.id);

  // An interrupted build may have left half a file, which the next build would take for whole.
  if (there && half_built_.contains(name)) there = repository_.clean(path_of(tree));
  half_built_.insert(name);
  if (os::first_interrupt_signal() != 0) return stop_for_signal();
  if (!there) return Stop{refuse(there.error(), ExitStatus::Failed)};

  std::string failure = os::is_there(path_of(tree) + "/.gitmodules")
                            ? "has submodules, which are not checked out"
                            : run_build(tree, commit);
  if (os::first_interrupt_signal() != 0) return stop_for_signal();
  half_built_.erase(name);
  add_entry(
      fmt::format("{} {} {}", failure.empty() ? kBuiltEntry : kUnbuiltEntry, name, commit.id));
  if (failure.empty()) built_ids_[name] = commit.id;
  return failure;
}

std::optional<Stop> Workshop::build_needed(Tree tree, const Commit& commit) {
  const auto made = build(tree, commit);
  if (const auto* stop = std::get_if<Stop>(&made)) return *stop;
  const std::string& failure = std::get<std::string>(made);
  if (failure.empty()) return std::nullopt;
  return Stop{refuse({fmt::format("the commit {} {}", describe(commit), failure),
                      fmt::format("the output of the build is in {}", cited(work_))},
                     ExitStatus::Failed)};
}

/// Says why a session ended early. Returns the candidate's failure, if it is the cause.
OrStop<MeasuredCandidate> Workshop::take_early_end(const Call& call) const {
  const SessionResult& measured = call.benchmarks.front().session_result;
  const EarlyEnd& end = *measured.session.cut_short;
  print_to_standard_error(report::early_end_lines(measured.session, call.options.commands.names,
                                                  report::AdviceToEndRuns::None));

  const auto* const run = std::get_if<RunFailed>(&end);
  const auto* const hook = std::get_if<HookFailed>(&end);
  MeasuredCandidate failed{.status = kFailed.status};
  if (run != nullptr && run->step.command == 1)
    failed.failure = "fails: the command " + report::outcome_text(run->outcome);
  if (hook != nullptr && hook->command == 1) failed.failure = "fails: a hook did not succeed";
  if (measured.command_at_fault == 1)
    failed.failure = "lacks the metric or the output that is expected of it";
  if (failed.failure.empty()) return kFailed;
  return failed;
}

OrStop<MeasuredCandidate> Workshop::compare(const CommitInTree& reference,
                                            const CommitInTree& candidate, Question question) {
  if (has_lost_output_) return kFailed;
  const auto& own_folders = request_.options.commands.working_folders;
  const std::string below = own_folders.empty() ? "" : "/" + own_folders.front();
  Call call =
      make_call({path_of(reference.tree) + below, path_of(candidate.tree) + below},
                {"commit " + reference.commit.short_id(), "commit " + candidate.commit.short_id()});
  call.options.gates.conditions = std::move(question.gates);
  call.options.gates.confidence = 1.0 - question.error;
  call.options.gates.max_half_width = question.precision;
  call.options.gates.precision_metric = request_.metric();
  call.says_hints = !std::exchange(has_measured_, true);

  std::optional<int> status = add_benchmarks(call);
  if (!status) status = prepare(call);
  if (!status) status = measure(call);
  launcher_ = std::move(call.launcher);
  if (os::first_interrupt_signal() != 0) return stop_for_signal();
  if (status) return MeasuredCandidate{.failure = "cannot be measured", .status = *status};

  const SessionResult& measured = call.benchmarks.front().session_result;
  if (measured.session.cut_short) return take_early_end(call);

  // Without comparable values, an undecided gate says nothing about a change.
  MeasuredCandidate comparison{.verdicts = measured.findings.verdicts};
  const bool is_comparable =
      !comparison.verdicts.empty() &&
      std::ranges::all_of(comparison.verdicts, [](const gate::Verdict& verdict) {
        return verdict.hindrance.obstacle == gate::Obstacle::None;
      });
  if (!is_comparable)
    return MeasuredCandidate{.failure = "cannot be compared by " + request_.metric(),
                             .status = kFailed.status};
  if (question.lists_functions) add_functions(analyse_session(call), request_.metric(), comparison);
  return comparison;
}

}  // namespace lauka::bisect
