#pragma once

#include "app/call.h"
#include "bisect/command_line.h"
#include "bisect/git.h"
#include "bisect/journal.h"
#include "bisect/search_record.h"
#include "core/condition.h"
#include "core/metric.h"
#include "gate/verdict.h"
#include "run/builds.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lauka::bisect {

/// The worktrees. Their paths have the same length, because the size of the environment affects
/// times.
enum class Tree : unsigned char { Good, Test, Last };

/// One of two commits that are compared, and the worktree in which it is built.
struct CommitInTree {
  Tree tree;
  const Commit& commit;
};

/// What to compare two commits by.
struct Question {
  std::vector<Condition> gates{};  ///< empty: only the size of the change is wanted
  double error = 0.0;              ///< error rate that the gates share
  /// Half width of the change's interval to reach, as a fraction; nullopt: the gates alone decide.
  std::optional<double> precision{};
  bool lists_functions = false;  ///< true: MeasuredCandidate::functions is wanted
  /// The time of the session, in times of --duration. Gates may take four times as much.
  int times_of_duration = 1;
  /// True if the reference was not measured before, so that its failure is no fault of the machine.
  bool is_reference_untested = false;
};

/// What a session has shown about the candidate.
struct MeasuredCandidate {
  std::vector<gate::Verdict> verdicts{};
  /// What a commit does wrong, so that it cannot be measured; empty if both were measured.
  std::string failure{};
  MeasuredChange change_of_all_rounds{};  ///< not only up to the look at which a gate was decided
  bool is_counted_separately = false;     ///< the metric is not one of timed runs
  std::string functions_of{};             ///< see SearchRecord
  Unit functions_unit = Unit::Count;
  std::vector<FunctionRecord> functions{};
  bool is_failure_of_reference = false;  ///< whose failure it is

  /// Returns the change at the moment at which the first gate was decided.
  MeasuredChange change() const {
    return {.rounds = verdicts.front().rounds, .change = verdicts.front().delta};
  }
};

/// An end of the whole search before its answer: the exit status.
struct Stop {
  int status = 0;
};

template <typename T>
using OrStop = std::variant<T, Stop>;

/// What a Worker works with; the references must outlive it.
struct WorkerSetup {
  const Request& request;
  const Repository& repository;
  std::unique_ptr<os::Launcher> launcher{};
  std::optional<User> user{};
  std::string work{};  ///< the folder of worktrees and log, an absolute path
};

/// Two commits that are compared.
struct ComparedCommits {
  const CommitInTree& reference;
  const CommitInTree& candidate;
  bool lists_functions = false;        ///< Question::lists_functions
  bool is_reference_untested = false;  ///< Question::is_reference_untested
};

/// Builds commits in worktrees, measures them, and keeps what is done in a log.
class Worker {
 public:
  explicit Worker(WorkerSetup setup)
      : request_(setup.request),
        launcher_(std::move(setup.launcher)),
        user_(std::move(setup.user)),
        repository_(setup.repository),
        work_(std::move(setup.work)) {}

  /// Refuses what lauka would refuse before its first run, such as an unknown metric. Returns its
  /// exit status; nullopt if nothing is wrong.
  std::optional<int> check_options();

  /// Takes up an earlier call's work. `head` describes the search: another head begins another
  /// search. Returns an error if the work folder cannot be used.
  Result<void> begin(const std::string& head);

  /// Returns what an earlier call has added to the log, but for builds.
  const std::vector<std::string>& earlier_entries() const { return entries_for_caller_; }
  void add_entry(const std::string& entry) { journal_->add(entry); }

  /// Builds a commit in a worktree, unless that is done. Returns why the commit cannot be built;
  /// empty if it is built. What is no fault of the commit ends the search.
  OrStop<std::string> build(Tree tree, const Commit& commit);

  /// Builds a commit without which the search cannot go on.
  std::optional<Stop> build_or_stop(Tree tree, const Commit& commit);

  /// Compares two commits that are built. What is no fault of the candidate, or of a reference that
  /// was not measured before, ends the search.
  OrStop<MeasuredCandidate> compare(const CommitInTree& reference, const CommitInTree& candidate,
                                    Question question);

  /// Returns the message that a commit without which the search cannot go on has failed.
  Error make_failure_message(const CommitInTree& side, const std::string& failure) const;

  /// Removes the worktrees and the log. Keeps the folder if it has outputs of failed builds.
  void end();

  /// Prints a line of progress, unless --quiet is set.
  void say(const std::string& text);
  /// Prints text.
  void print(const std::string& text);
  /// True if print() failed, as it does without a reader.
  bool has_lost_output() const { return has_lost_output_; }

 private:
  Call make_call(std::vector<std::string> folders, std::vector<std::string> names);
  Call make_comparison_call(const ComparedCommits& compared, Question question);
  bool is_built(Tree tree, const Commit& commit) const;
  OrStop<std::string> run_build(Tree tree, const Commit& commit);
  OrStop<std::string> take_failed_build(const Commit& commit, const BuildFailed& failed);
  std::optional<Stop> begin_build(Tree tree, const Commit& commit);
  void end_build(Tree tree, const Commit& commit, const std::string& failure);
  std::string output_file_of(const Commit& commit) const;
  void keep_output(const Commit& commit, const std::string& output);
  std::optional<Error> find_full_disk() const;
  std::optional<Stop> stop_if_disk_is_full() const;
  OrStop<MeasuredCandidate> take_failure(const ComparedCommits& compared, std::size_t command,
                                         const std::string& failure) const;
  OrStop<MeasuredCandidate> take_early_end(const Call& call, const ComparedCommits& compared) const;
  OrStop<MeasuredCandidate> take_session(Call& call, const ComparedCommits& compared) const;
  std::optional<std::string> find_left_out_file(Tree tree) const;
  OrStop<MeasuredCandidate> take_hindrance(const gate::Hindrance& hindrance,
                                           const ComparedCommits& compared) const;
  std::optional<Error> refuse_foreign_folders() const;
  std::optional<Error> make_work_folder() const;
  std::string log_path() const { return work_ + "/log"; }
  void read_entries();
  void remove_builds_of_dropped_search();
  void read_build_entry(std::string_view kind, const std::string& tree,
                        const std::string& commit_id);
  std::string path_of(Tree tree) const;

  const Request& request_;
  std::unique_ptr<os::Launcher> launcher_;
  std::optional<User> user_;
  const Repository& repository_;
  std::string work_;
  std::optional<Journal> journal_{};
  bool has_lost_output_ = false;
  bool has_measured_ = false;

  // What earlier calls have done.
  std::vector<std::string> entries_for_caller_{};
  std::map<std::string, std::string, std::less<>> built_ids_{};  ///< commit built in each worktree
  std::set<std::string, std::less<>> half_built_{};  ///< worktrees in which a build was interrupted
  bool keeps_folder_ = false;  ///< true if outputs of failed builds are in the folder
};

}  // namespace lauka::bisect
