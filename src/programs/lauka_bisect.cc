#include "app/call.h"
#include "app/deliver.h"
#include "app/inquiries.h"
#include "app/measure.h"
#include "app/prepare.h"
#include "app/tuning.h"
#include "bisect/command_line.h"
#include "bisect/git.h"
#include "bisect/journal.h"
#include "bisect/rules.h"
#include "cli/describe.h"
#include "core/numbers.h"
#include "core/text.h"
#include "os/clock.h"
#include "os/export_files.h"
#include "os/signals.h"
#include "os/users.h"
#include "plan/command_layouts.h"
#include "report/lines.h"
#include "report/screen.h"
#include "run/builds.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

// lauka-bisect joins the rules of the search (bisect/rules) with git (bisect/git), the builds, and
// lauka's own sessions.

namespace lauka::bisect {

namespace {

/// The worktrees. Their paths have the same length, because the size of the environment affects
/// times.
enum class Tree : unsigned char { Good, Test, Last };
constexpr std::array<const char*, 3> kTreeNames{"good", "test", "last"};

constexpr std::string_view name_of(Tree tree) {
  return kTreeNames.at(static_cast<std::size_t>(tree));
}

/// Changes below this, as a fraction, may come from the placement of code (docs/layouts.md).
constexpr double kPlacementChange = 0.03;

constexpr const char* kHowToGoOn = "the same command line goes on from here with what is done";

/// One of two commits that are compared, and the worktree in which it is built.
struct Side {
  Tree tree;
  const Commit& commit;
};

/// What a session has shown about the candidate.
struct Comparison {
  std::vector<gate::Verdict> verdicts{};
  std::string failure{};  ///< why the candidate could not be measured; empty if it was measured
  int status = 0;         ///< exit status that lauka has for this failure; 0 without one
};

/// An end of the whole search before its answer: the exit status.
struct Stop {
  int status = 0;
};

template <typename T>
using OrStop = std::variant<T, Stop>;

std::string percent(double fraction) {
  return fmt::format("{:+.2f} %", 100.0 * fraction);
}

std::string bounds_text(const stats::Delta& delta) {
  if (delta.is_exact) return "exactly";
  if (!delta.bounds) return "without an interval";
  return fmt::format("{} to {}", percent(delta.bounds->low), percent(delta.bounds->high));
}

// The first word of each entry of the log.
constexpr std::string_view kBuildingEntry = "building";
constexpr std::string_view kBuiltEntry = "built";
constexpr std::string_view kUnbuiltEntry = "unbuilt";
constexpr std::string_view kEndsEntry = "ends";
constexpr std::string_view kStepEntry = "step";
constexpr std::string_view kReasonEntry = "reason";

constexpr auto kAnswerWords = std::to_array<std::pair<StepAnswer, std::string_view>>({
    {StepAnswer::Before, "before"},
    {StepAnswer::After, "after"},
    {StepAnswer::Undecided, "undecided"},
    {StepAnswer::Untestable, "untestable"},
});
static_assert(
    [] {
      for (std::size_t i = 0; i < kAnswerWords.size(); ++i)
        if (static_cast<std::size_t>(kAnswerWords[i].first) != i) return false;
      return true;
    }(),
    "rows are in the order of StepAnswer");

std::string_view word_of(StepAnswer answer) {
  return kAnswerWords.at(static_cast<std::size_t>(answer)).second;
}

std::string_view meaning_of(StepAnswer answer) {
  if (answer == StepAnswer::Before) return "so the change comes later";
  return answer == StepAnswer::After ? "so the change is here" : "which does not decide";
}

StepAnswer answer_of(gate::Answer answer) {
  if (answer == gate::Answer::Inconclusive) return StepAnswer::Undecided;
  return answer == gate::Answer::Fail ? StepAnswer::After : StepAnswer::Before;
}

std::string describe(const Commit& commit) {
  return fmt::format("{} {}", commit.short_id(), one_line(commit.subject));
}

/// Reads a number that the log has.
double parse_logged(std::string_view text) {
  constexpr Limit low{-1e9};
  constexpr Limit high{1e9};
  const auto number = parse_decimal(text, low, high);
  return number ? *number : 0.0;
}

/// Describes the search in the first line of its log. What changes the builds or the measurement
/// makes another search.
std::string make_head(std::span<const std::string> words, const std::vector<Commit>& commits) {
  return one_line(fmt::format("lauka-bisect {} {} {} {}", cli::version(), commits.front().id,
                              commits.back().id, shell_quoted(words)));
}

class Bisection {
 public:
  Bisection(Request request, std::unique_ptr<os::Launcher> launcher, std::optional<User> user,
            Repository repository, std::vector<Commit> commits, std::string work)
      : request_(std::move(request)),
        launcher_(std::move(launcher)),
        user_(std::move(user)),
        repository_(std::move(repository)),
        commits_(std::move(commits)),
        work_(std::move(work)),
        error_(1.0 - request_.options.gates.confidence.value_or(kDefaultConfidence)) {}

  /// Takes up an earlier call's work. Returns an error if the work folder cannot be used.
  Result<void> begin(std::span<const std::string> words);

  int run();

 private:
  int search();
  OrStop<std::optional<EndsChange>> compare_ends();
  OrStop<Comparison> measure_step(const Step& step, const EndsChange& ends);
  OrStop<StepResult> do_step(const Step& step, const EndsChange& ends);
  int finish(const Search& search, const EndsChange& ends);
  int name_range(const Search& search);
  int name_commit(const Commit& culprit, const Commit& parent, const EndsChange& ends);
  void print_commit(const Commit& commit) const;

  OrStop<std::string> build(Tree tree, const Commit& commit);
  std::string run_build(Tree tree, const Commit& commit);
  std::optional<Stop> build_needed(Tree tree, const Commit& commit);

  Options session_options(const Side& reference, const Side& candidate) const;
  OrStop<Comparison> compare(const Side& reference, const Side& candidate,
                             std::vector<Condition> gates, double error,
                             std::optional<double> precision = std::nullopt);

  void read_journal();
  void read_step(const std::vector<std::string_view>& fields);
  void end_work();

  std::string path_of(Tree tree) const { return work_ + "/" + std::string(name_of(tree)); }
  void say(const std::string& text) const {
    if (request_.options.output.verbosity != Verbosity::Quiet) show(text + "\n");
  }
  static int stop_for_signal() { return status_of_signal(os::first_interrupt_signal()); }

  Request request_;
  std::unique_ptr<os::Launcher> launcher_;
  std::optional<User> user_;
  Repository repository_;
  std::vector<Commit> commits_;
  std::string work_;
  double error_;
  std::optional<Journal> journal_{};

  // What earlier calls have done.
  std::map<std::string, std::string, std::less<>> built_ids_{};  ///< commit built in each worktree
  std::set<std::string, std::less<>> half_built_{};  ///< worktrees in which a build was interrupted
  std::optional<EndsChange> known_ends_{};
  std::vector<StepResult> known_steps_{};
  std::map<std::size_t, std::string> reasons_{};  ///< why commits could not be tested
  bool keeps_folder_ = false;                     ///< true if outputs of failed builds are in it
};

Result<void> Bisection::begin(std::span<const std::string> words) {
  const os::ActAs owner(user_);
  if (!owner.error().empty()) return Error{owner.error(), "use --as-root to keep root"};

  // Folders of others are never removed.
  // Journal::open refuses a file with this name that is not the log of a search.
  std::error_code no_log;
  const bool is_used = std::filesystem::file_size(work_ + "/log", no_log) > 0 && !no_log;
  for (const Tree tree : {Tree::Good, Tree::Test, Tree::Last})
    if (!is_used && os::is_there(path_of(tree)))
      return Error{
          fmt::format("{} is there, but does not belong to a search", cited(path_of(tree))),
          "remove it, or use --work DIR with another folder"};

  std::error_code error;
  std::filesystem::create_directories(work_, error);
  if (error)
    return Error{fmt::format("the folder {} cannot be made: {}", cited(work_), error.message()),
                 "use --work DIR"};

  auto journal = Journal::open(work_ + "/log", make_head(words, commits_));
  if (!journal) return journal.error();
  journal_ = *std::move(journal);
  return {};
}

int Bisection::run() {
  // Another search may have left its builds in the worktrees.
  if (journal_->has_dropped_search()) {
    say("an interrupted search with another command line or other ends is dropped");
    for (const Tree tree : {Tree::Good, Tree::Test, Tree::Last})
      repository_.remove_worktree(path_of(tree));
  }
  read_journal();

  const int status = search();
  if (os::first_interrupt_signal() != 0) {
    print_to_standard_error(report::note_lines({kHowToGoOn}));
    return stop_for_signal();
  }
  if (status == static_cast<int>(ExitStatus::Failed) && known_ends_) {
    print_to_standard_error(report::note_lines({kHowToGoOn}));
    return status;
  }
  end_work();
  return status;
}

void Bisection::read_step(const std::vector<std::string_view>& fields) {
  const auto commit = std::ranges::find(commits_, fields[1], &Commit::id);
  const auto* const answer =
      std::ranges::find(kAnswerWords, fields[2], [](const auto& row) { return row.second; });
  if (commit == commits_.end() || answer == kAnswerWords.end()) return;

  StepResult& result = known_steps_.emplace_back();
  result.commit = static_cast<std::size_t>(commit - commits_.begin());
  result.answer = answer->first;
  if (result.answer == StepAnswer::Undecided) reasons_[result.commit] = "undecided";
  if (fields.size() < 6) return;
  result.level = Level{parse_logged(fields[3]), parse_logged(fields[4]), parse_logged(fields[5])};
}

void Bisection::read_journal() {
  for (const std::string& entry : journal_->earlier_entries()) {
    const std::vector<std::string_view> fields = split(entry, ' ');
    if (fields.size() < 3) continue;

    const std::string tree(fields[1]);
    if (fields[0] == kBuildingEntry) {
      built_ids_.erase(tree);
      half_built_.insert(tree);
    } else if (fields[0] == kBuiltEntry) {
      half_built_.erase(tree);
      built_ids_[tree] = fields[2];
    } else if (fields[0] == kUnbuiltEntry) {
      half_built_.erase(tree);
      keeps_folder_ = true;
    } else if (fields[0] == kEndsEntry) {
      known_ends_ =
          EndsChange{.change = parse_logged(fields[1]), .near_end = parse_logged(fields[2])};
    } else if (fields[0] == kStepEntry) {
      read_step(fields);
    } else if (fields[0] == kReasonEntry) {
      // It belongs to the step in the entry before.
      if (!known_steps_.empty())
        reasons_[known_steps_.back().commit] = entry.substr(fields[0].size() + 1);
    }
  }
}

/// Removes the worktrees and the log. Keeps the folder if it has outputs of failed builds.
void Bisection::end_work() {
  for (const Tree tree : {Tree::Good, Tree::Test, Tree::Last})
    repository_.remove_worktree(path_of(tree));
  // A signal may have ended git. With the log, the next call removes the rest.
  if (os::first_interrupt_signal() != 0) return;

  const os::ActAs owner(user_);
  if (!owner.error().empty()) return;
  journal_->remove();
  std::error_code ignored;
  if (keeps_folder_)
    say(fmt::format("the output of builds that failed is in {}", cited(work_)));
  else
    std::filesystem::remove(work_, ignored);
}

/// Returns why the build failed; empty if it succeeded, or was interrupted.
std::string Bisection::run_build(Tree tree, const Commit& commit) {
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

  const os::MonotonicClock clock;
  const auto failed = run_builds(builds, {.user = user_, .clock = clock});
  if (!failed || os::first_interrupt_signal() != 0) return "";

  const std::string file = fmt::format("{}/failed-{}.txt", work_, commit.short_id());
  const os::ActAs owner(user_);
  auto output = os::ExportFile::open(file);
  if (output) {
    (*output)->write(failed->output_end);
    if ((*output)->commit()) keeps_folder_ = true;
  }
  return "does not build: the build " + report::outcome_text(failed->outcome);
}

/// Builds a commit in a worktree, unless an earlier call has done so. Returns why the commit cannot
/// be built; empty if it is built.
OrStop<std::string> Bisection::build(Tree tree, const Commit& commit) {
  const std::string name(name_of(tree));
  const auto built = built_ids_.find(name);
  if (built != built_ids_.end() && built->second == commit.id &&
      os::is_regular_file(path_of(tree) + "/.git"))
    return std::string();

  say(fmt::format("building {}", describe(commit)));
  journal_->add(fmt::format("{} {} {}", kBuildingEntry, name, commit.id));
  built_ids_.erase(name);
  auto there = repository_.check_out(path_of(tree), commit.id);

  // An interrupted build may have left half a file, which the next build would take for whole.
  if (there && half_built_.contains(name)) there = repository_.clean(path_of(tree));
  half_built_.insert(name);
  if (os::first_interrupt_signal() != 0) return Stop{stop_for_signal()};
  if (!there) return Stop{refuse(there.error(), ExitStatus::Failed)};

  std::string failure = run_build(tree, commit);
  if (os::first_interrupt_signal() != 0) return Stop{stop_for_signal()};
  half_built_.erase(name);
  journal_->add(
      fmt::format("{} {} {}", failure.empty() ? kBuiltEntry : kUnbuiltEntry, name, commit.id));
  if (failure.empty()) built_ids_[name] = commit.id;
  return failure;
}

/// Builds a commit without which the search cannot go on.
std::optional<Stop> Bisection::build_needed(Tree tree, const Commit& commit) {
  const auto made = build(tree, commit);
  if (const auto* stop = std::get_if<Stop>(&made)) return *stop;
  const std::string& failure = std::get<std::string>(made);
  if (failure.empty()) return std::nullopt;
  return Stop{refuse({fmt::format("the commit {} {}", describe(commit), failure),
                      fmt::format("the output of the build is in {}", cited(work_))},
                     ExitStatus::Failed)};
}

Options Bisection::session_options(const Side& reference, const Side& candidate) const {
  Options options = request_.options;
  CommandOptions& commands = options.commands;
  commands.command_lines.push_back(commands.command_lines.front());
  commands.names = {"commit " + reference.commit.short_id(),
                    "commit " + candidate.commit.short_id()};
  const std::string below =
      commands.working_folders.empty() ? "" : "/" + commands.working_folders.front();
  commands.working_folders = {path_of(reference.tree) + below, path_of(candidate.tree) + below};
  commands.build_commands.clear();
  options.output.takes_labels_from_git = false;
  return options;
}

/// Compares two commits, by `gates` that share `error`.
OrStop<Comparison> Bisection::compare(const Side& reference, const Side& candidate,
                                      std::vector<Condition> gates, double error,
                                      std::optional<double> precision) {
  Call call{session_options(reference, candidate), std::move(launcher_)};
  call.options.gates.conditions = std::move(gates);
  call.options.gates.confidence = 1.0 - error;
  call.options.gates.max_half_width = precision;
  call.options.gates.precision_metric = request_.metric();

  std::optional<int> status = add_benchmarks(call);
  if (!status) status = prepare(call);
  if (!status) status = measure(call);
  launcher_ = std::move(call.launcher);
  if (os::first_interrupt_signal() != 0) return Stop{stop_for_signal()};
  if (status) return Comparison{.failure = "cannot be measured", .status = *status};

  const SessionResult& measured = call.benchmarks.front().session_result;
  if (measured.session.cut_short) {
    const EarlyEnd& end = *measured.session.cut_short;
    print_to_standard_error(report::early_end_lines(measured.session, call.options.commands.names,
                                                    report::AdviceToEndRuns::None));
    const auto* const run = std::get_if<RunFailed>(&end);
    const auto* const hook = std::get_if<HookFailed>(&end);
    const bool is_of_candidate =
        (run != nullptr && run->step.command == 1) || (hook != nullptr && hook->command == 1);
    if (!is_of_candidate) return Stop{static_cast<int>(ExitStatus::Failed)};
    return Comparison{.failure = run != nullptr
                                     ? "fails: the command " + report::outcome_text(run->outcome)
                                     : "fails: a hook did not succeed",
                      .status = static_cast<int>(ExitStatus::Failed)};
  }

  // Without comparable values, an undecided gate says nothing about a change.
  const std::vector<gate::Verdict>& verdicts = measured.findings.verdicts;
  const bool is_comparable =
      !verdicts.empty() && std::ranges::all_of(verdicts, [](const gate::Verdict& verdict) {
        return verdict.hindrance.obstacle == gate::Obstacle::None;
      });
  if (!is_comparable)
    return Comparison{.failure = "cannot be compared by " + request_.metric(),
                      .status = static_cast<int>(ExitStatus::Failed)};
  return Comparison{.verdicts = verdicts};
}

/// Returns nullopt if the ends do not differ significantly.
OrStop<std::optional<EndsChange>> Bisection::compare_ends() {
  if (known_ends_) return known_ends_;
  const Commit& good = commits_.front();
  const Commit& bad = commits_.back();
  if (const auto stop = build_needed(Tree::Good, good)) return *stop;
  if (const auto stop = build_needed(Tree::Test, bad)) return *stop;

  say(fmt::format("comparing both ends, {} and {}", good.short_id(), bad.short_id()));
  const Condition rise{.metric = request_.metric()};
  const Condition fall{.metric = request_.metric(), .fails_below_limit = true};

  // A quarter of the error is for the question whether the ends differ, and a quarter for the size
  // of the change. The steps share the other half.
  const double error = error_ / 4.0;
  const auto failed = [&](const Comparison& comparison) {
    // What is wrong with the command line has been said, and no commit is at fault.
    if (comparison.status == static_cast<int>(ExitStatus::Usage))
      return Stop{static_cast<int>(ExitStatus::Failed)};
    refuse({fmt::format("the commit {} {}", describe(bad), comparison.failure),
            "files that git does not know are not in the worktree, so name them by absolute paths"},
           ExitStatus::Failed);
    return Stop{comparison.status};
  };

  auto compared = compare({Tree::Good, good}, {Tree::Test, bad}, {rise, fall}, error);
  if (const auto* stop = std::get_if<Stop>(&compared)) return *stop;
  const Comparison first = std::get<Comparison>(std::move(compared));
  if (!first.failure.empty()) return failed(first);

  const auto found = std::ranges::find(first.verdicts, gate::Answer::Fail, &gate::Verdict::answer);
  if (found == first.verdicts.end()) {
    const stats::Delta& delta = first.verdicts.front().delta;
    const bool could_tell = delta.is_exact ? delta.change == 0.0 : delta.bounds.has_value();
    if (!could_tell)
      return Stop{
          refuse({fmt::format("{} cannot tell whether {} differs between both ends",
                              plural(first.verdicts.front().rounds, "round"), request_.metric()),
                  "give --runs, --duration or --layouts a larger value, or use a lower "
                  "--confidence"},
                 ExitStatus::Failed)};

    show(fmt::format("{} does not differ significantly between {} and {} ({})\n", request_.metric(),
                     good.short_id(), bad.short_id(), bounds_text(delta)));
    return std::optional<EndsChange>();
  }

  if (!found->delta.change)
    return Stop{
        refuse({fmt::format("{} differs, but a change in percent is not defined, because it "
                            "is 0 at {}",
                            request_.metric(), good.short_id()),
                "search for a metric that is not 0 there"},
               ExitStatus::Failed)};

  EndsChange ends{.change = found->delta.change.value_or(0.0),
                  .near_end = near_end_of(found->delta).value_or(0.0)};

  // The first session ends as soon as there is a difference, which says little about its size.
  if (!ends.is_precise()) {
    say(fmt::format("measuring the change of both ends ({}) more precisely", percent(ends.change)));
    constexpr double share_of_change = 1.0 / 3.0;
    auto again = compare({Tree::Good, good}, {Tree::Test, bad}, {found->condition}, error,
                         std::abs(ends.change) * share_of_change);
    if (const auto* stop = std::get_if<Stop>(&again)) return *stop;
    const Comparison second = std::get<Comparison>(std::move(again));
    if (!second.failure.empty()) return failed(second);
    const stats::Delta& delta = second.verdicts.front().delta;
    ends = {.change = delta.change.value_or(0.0), .near_end = near_end_of(delta).value_or(0.0)};
  }

  journal_->add(fmt::format("{} {:.12f} {:.12f}", kEndsEntry, ends.change, ends.near_end));
  known_ends_ = ends;
  return known_ends_;
}

/// Builds and measures a commit. The result has no answer if the commit cannot be tested, but a
/// failure.
OrStop<Comparison> Bisection::measure_step(const Step& step, const EndsChange& ends) {
  const Commit& commit = commits_[step.commit];
  const auto made = build(Tree::Test, commit);
  if (const auto* stop = std::get_if<Stop>(&made)) return *stop;
  if (const std::string& failure = std::get<std::string>(made); !failure.empty())
    return Comparison{.failure = failure};

  if (const auto stop = build_needed(Tree::Good, commits_.front())) return *stop;
  const double limit = limit_percent(ends, step.middle);
  return compare(
      {Tree::Good, commits_.front()}, {Tree::Test, commit},
      {Condition{
          .metric = request_.metric(), .limit_percent = limit, .fails_below_limit = limit < 0.0}},
      step.error);
}

OrStop<StepResult> Bisection::do_step(const Step& step, const EndsChange& ends) {
  auto measured = measure_step(step, ends);
  if (const auto* stop = std::get_if<Stop>(&measured)) return *stop;
  const Comparison comparison = std::get<Comparison>(std::move(measured));
  const Commit& commit = commits_[step.commit];

  if (!comparison.failure.empty()) {
    const std::string reason = one_line(comparison.failure);
    journal_->add(fmt::format("{} {} {}", kStepEntry, commit.id, word_of(StepAnswer::Untestable)));
    journal_->add(fmt::format("{} {}", kReasonEntry, reason));
    reasons_[step.commit] = reason;
    say(fmt::format("{} {}, so a neighbour is tried", commit.short_id(), reason));
    return StepResult{.commit = step.commit, .answer = StepAnswer::Untestable};
  }

  const gate::Verdict& verdict = comparison.verdicts.front();
  const StepResult result{.commit = step.commit,
                          .answer = answer_of(verdict.answer),
                          .level = find_level(ends, verdict.delta)};
  std::string entry = fmt::format("{} {} {}", kStepEntry, commit.id, word_of(result.answer));
  if (const auto& level = result.level)
    entry += fmt::format(" {:.12f} {:.12f} {:.12f}", level->low, level->estimate, level->high);
  journal_->add(entry);
  if (result.answer == StepAnswer::Undecided) reasons_[step.commit] = "undecided";
  say(fmt::format("{}: {} ({}) after {}, {}", commit.short_id(),
                  percent(verdict.delta.change.value_or(0.0)), bounds_text(verdict.delta),
                  plural(verdict.rounds, "round"), meaning_of(result.answer)));
  return result;
}

int Bisection::search() {
  auto compared = compare_ends();
  if (const auto* stop = std::get_if<Stop>(&compared)) return stop->status;
  const auto ends = std::get<std::optional<EndsChange>>(compared);
  if (!ends) return static_cast<int>(ExitStatus::Done);

  Search search(commits_.size() - 1, error_ / 2.0);
  say(fmt::format("{} changes by {} between both ends; the search takes about {}",
                  request_.metric(), percent(ends->change), plural(search.steps_left(), "step")));

  // The near end has the other sign, or is 0, if the second session did not confirm the change.
  if (ends->near_end * ends->change <= 0.0) return name_range(search);

  for (const StepResult& known : known_steps_)
    if (search.next()) search.take(known);
  if (!known_steps_.empty())
    say(fmt::format("going on after {} of an earlier call", plural(known_steps_.size(), "step")));

  std::size_t number = known_steps_.size();
  while (const auto step = search.next()) {
    say(fmt::format("step {}, {} left", ++number, plural(search.steps_left(), "step")));
    auto done = do_step(*step, *ends);
    if (const auto* stop = std::get_if<Stop>(&done)) return stop->status;
    search.take(std::get<StepResult>(done));
  }
  return finish(search, *ends);
}

int Bisection::finish(const Search& search, const EndsChange& ends) {
  if (!search.is_found()) return name_range(search);
  return name_commit(commits_[search.first_after()], commits_[search.last_before()], ends);
}

int Bisection::name_range(const Search& search) {
  std::string text = fmt::format("the change is in one of {}:\n",
                                 plural(search.first_after() - search.last_before(), "commit"));
  for (std::size_t i = search.last_before() + 1; i <= search.first_after(); ++i) {
    const auto reason = reasons_.find(i);
    text += fmt::format("  {} {}{}\n", commits_[i].date, describe(commits_[i]),
                        reason == reasons_.end() ? "" : " (" + reason->second + ")");
  }
  show(text);
  return static_cast<int>(ExitStatus::GateInconclusive);
}

void Bisection::print_commit(const Commit& commit) const {
  show(fmt::format("commit:  {}\ndate:    {}\nsubject: {}\n", commit.id, commit.date,
                   one_line(commit.subject)));
}

/// Compares the named commit with its parent, afresh and at the confidence that was asked for.
int Bisection::name_commit(const Commit& culprit, const Commit& parent, const EndsChange& ends) {
  // The culprit is built in a worktree that has nothing of other commits, because a build that
  // makes nothing would leave theirs to be measured.
  const bool parent_is_good = parent.id == commits_.front().id;
  const Side before{parent_is_good ? Tree::Good : Tree::Test, parent};
  const Side after{Tree::Last, culprit};

  for (const Side& side : {before, after}) {
    const auto made = build(side.tree, side.commit);
    if (const auto* stop = std::get_if<Stop>(&made)) return stop->status;
    const std::string& failure = std::get<std::string>(made);
    if (failure.empty()) continue;
    show(
        fmt::format("the steps lead to this commit, but it was not compared with its parent, "
                    "because {} {}:\n",
                    side.commit.short_id(), failure));
    print_commit(culprit);
    return static_cast<int>(ExitStatus::GateInconclusive);
  }

  say(fmt::format("comparing {} with its parent {}", culprit.short_id(), parent.short_id()));
  auto compared = compare(
      before, after,
      {Condition{.metric = request_.metric(), .fails_below_limit = ends.change < 0.0}}, error_);
  if (const auto* stop = std::get_if<Stop>(&compared)) return stop->status;
  const Comparison comparison = std::get<Comparison>(std::move(compared));
  const bool is_confirmed =
      comparison.failure.empty() && comparison.verdicts.front().answer == gate::Answer::Fail;

  if (!is_confirmed) {
    show(
        fmt::format("the steps lead to this commit, but a comparison with its parent does not "
                    "confirm it{}:\n",
                    comparison.failure.empty() ? "" : " (it " + comparison.failure + ")"));
    print_commit(culprit);
    return static_cast<int>(ExitStatus::GateInconclusive);
  }

  const stats::Delta& delta = comparison.verdicts.front().delta;
  const double change = delta.change.value_or(0.0);
  show("the commit that made the change:\n");
  print_commit(culprit);
  show(fmt::format("change:  {} {} ({}) from its parent {}\n", request_.metric(), percent(change),
                   bounds_text(delta), parent.short_id()));
  if (!explains_most(change, ends.change))
    show(
        fmt::format("Both ends differ by {}, so other commits have a part in it. Search again "
                    "from {} on, and up to {}.\n",
                    percent(ends.change), culprit.short_id(), parent.short_id()));
  if (std::abs(change) < kPlacementChange && !request_.options.run.layouts &&
      !row_of(request_.options.counting.engine).runs_in_valgrind)
    show(
        "A change this small may come from the placement of the code in these builds. Confirm it "
        "with --layouts ({layout} in --build) or with --engine cachegrind.\n");
  return static_cast<int>(ExitStatus::GateFailed);
}

int run(int argc, const char* const* argv) {
  auto launcher = os::start_launcher(restore_after_lauka);  // first, while this process is small
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  auto request = parse(words);
  if (!request) return refuse(request.error(), ExitStatus::Usage);
  if (request->answer) return show(*request->answer);
  if (!launcher) return refuse(launcher.error(), ExitStatus::Failed);

  os::watch_for_interrupts();
  auto user = os::user_behind_sudo(request->options.run.as_root);
  if (!user) return refuse(user.error(), ExitStatus::Usage);
  auto repository = Repository::open("", *user);
  if (!repository) return refuse(repository.error(), ExitStatus::Usage);
  auto commits = repository->list_commits(request->good, request->bad);
  if (os::first_interrupt_signal() != 0) return status_of_signal(os::first_interrupt_signal());
  if (!commits) return refuse(commits.error(), ExitStatus::Usage);

  const std::string work = request->work_folder.empty()
                               ? repository->shared_folder() + "/lauka-bisect"
                               : std::filesystem::absolute(request->work_folder).string();
  Bisection bisection(*std::move(request), *std::move(launcher), *std::move(user),
                      *std::move(repository), *std::move(commits), work);
  if (auto begun = bisection.begin(words); !begun) return refuse(begun.error(), ExitStatus::Usage);
  return bisection.run();
}

}  // namespace
}  // namespace lauka::bisect

int main(int argc, char** argv) {
  try {
    return lauka::bisect::run(argc, argv);
  } catch (const std::exception& error) {
    const std::string what = std::string("internal error: ") + error.what();
    return lauka::refuse({what, "please report this"}, lauka::ExitStatus::Failed);
  }
}
