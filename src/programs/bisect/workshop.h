#pragma once

#include "app/call.h"
#include "bisect/command_line.h"
#include "bisect/git.h"
#include "bisect/journal.h"
#include "bisect/search_record.h"
#include "core/condition.h"
#include "core/metric.h"
#include "gate/verdict.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
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
struct Side {
  Tree tree;
  const Commit& commit;
};

/// What to compare two commits by.
struct Question {
  std::vector<Condition> gates{};
  double error = 0.0;  ///< error rate that the gates share
  /// Half width of the change's interval to reach, as a fraction; nullopt: the gates alone decide.
  std::optional<double> precision{};
  bool lists_functions = false;  ///< true: Comparison::functions is wanted
};

/// What a session has shown about the candidate.
struct Comparison {
  std::vector<gate::Verdict> verdicts{};
  std::string failure{};  ///< why the candidate could not be measured; empty if it was measured
  int status = 0;         ///< lauka's exit status for this failure; 0 if the commit is at fault
  std::string functions_of{};  ///< see SearchRecord
  Unit functions_unit = Unit::Count;
  std::vector<FunctionRecord> functions{};

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

/// Builds commits in worktrees, measures them, and keeps what is done in a log.
class Workshop {
 public:
  /// `work`: the folder of worktrees and log, an absolute path.
  Workshop(const Request& request, std::unique_ptr<os::Launcher> launcher, std::optional<User> user,
           const Repository& repository, std::string work)
      : request_(request),
        launcher_(std::move(launcher)),
        user_(std::move(user)),
        repository_(repository),
        work_(std::move(work)) {}

  /// Refuses what lauka would refuse before its first run, such as an unknown metric. Returns its
  /// exit status; nullopt if nothing is wrong.
  std::optional<int> check_options();

  /// Takes up an earlier call's work. `head` describes the search: another head begins another
  /// search. Returns an error if the work folder cannot be used.
  Result<void> begin(const std::string& head);

  /// Returns what an earlier call has added to the log, but for builds.
  const std::vector<std::string>& earlier_entries() const { return entries_; }
  void add_entry(const std::string& entry) { journal_->add(entry); }

  /// Builds a commit in a worktree, unless that is done. Returns why the commit cannot be built;
  /// empty if it is built.
  OrStop<std::string> build(Tree tree, const Commit& commit);

  /// Builds a commit without which the search cannot go on.
  std::optional<Stop> build_needed(Tree tree, const Commit& commit);

  /// Compares two commits that are built.
  OrStop<Comparison> compare(const Side& reference, const Side& candidate, Question question);

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
  std::string run_build(Tree tree, const Commit& commit);
  void keep_output(const Commit& commit, const std::string& output);
  OrStop<Comparison> take_early_end(const Call& call) const;
  void read_entries();
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
  std::vector<std::string> entries_{};
  std::map<std::string, std::string, std::less<>> built_ids_{};  ///< commit built in each worktree
  std::set<std::string, std::less<>> half_built_{};  ///< worktrees in which a build was interrupted
  bool keeps_folder_ = false;  ///< true if outputs of failed builds are in the folder
};

}  // namespace lauka::bisect
