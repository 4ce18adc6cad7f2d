#pragma once

#include "core/command.h"
#include "core/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::bisect {

inline constexpr std::size_t kShortIdDigits = 12;

struct Commit {
  std::string id{};       ///< all digits of the hash
  std::string date{};     ///< date of the commit, as 2026-11-28
  std::string subject{};  ///< first line of the message, as it is stored

  std::string short_id() const { return id.substr(0, kShortIdDigits); }
};

/// The parents of a merge that a search follows.
enum class Parents : unsigned char { First, All };

/// A git repository, used without its hooks and in worktrees other than the user's. All calls fail
/// if a signal asks lauka to end.
class Repository {
 public:
  /// Opens the repository of `folder` with the rights of `user` (nullopt: lauka's own rights).
  /// Refuses a shallow clone, and a git older than 2.30.
  static Result<Repository> open(const std::string& folder, const std::optional<User>& user);

  /// Returns the absolute path of the folder .git that all worktrees of the repository share.
  const std::string& shared_folder() const { return shared_folder_; }

  /// Returns the commits that lead from `good` to `bad` (revisions as users type them), parents
  /// before their children. The first commit is `good` itself, the last one is `bad`. Refuses a
  /// `good` that is not an ancestor of `bad`, two equal commits, commits with submodules, and
  /// commits with files in LFS if git has no LFS here.
  Result<std::vector<Commit>> list_commits(const std::string& good, const std::string& bad,
                                           Parents parents) const;

  /// Returns why git could check out only a part of the commit `id`, with a remedy. `what` goes on
  /// after the name of the commit: "has submodules, ...". nullopt if git can check out all of it.
  std::optional<Error> find_obstacle(const std::string& id) const;

  /// Returns the first parent of the commit `id`.
  Result<Commit> find_parent(const std::string& id) const;

  /// True if `ancestor` is a commit from which `id` descends.
  bool is_ancestor(const std::string& ancestor, const std::string& id) const;

  /// Returns the ids of the commits that lead from any of `good` to `bad`, in the order in which
  /// git would test them. Returns an error if git fails.
  Result<std::vector<std::string>> rank(const std::vector<std::string>& good,
                                        const std::string& bad) const;

  /// Checks out the commit `id` in the worktree at `path`, which is made if necessary. Files that
  /// builds have left there stay, so that the next build can use them; changes of files that git
  /// knows are undone.
  Result<void> check_out(const std::string& path, const std::string& id) const;

  /// Removes all files that git does not know from the worktree at `path`.
  Result<void> clean(const std::string& path) const;

  /// Removes the worktree at `path`, also if it is half made, with all that is in this folder.
  void remove_worktree(const std::string& path) const;

 private:
  Repository(std::string folder, std::optional<User> user)
      : folder_(std::move(folder)), user_(std::move(user)) {}

  enum class Errors : unsigned char { Dropped, InOutput };
  struct Answer {
    bool succeeded = false;
    std::string output{};
  };
  Answer ask(const std::string& folder, const std::vector<std::string>& words,
             Errors errors = Errors::Dropped) const;
  Answer wait_for(std::vector<std::string> words, const std::string& folder) const;
  Result<Commit> find_commit(const std::string& revision) const;

  /// The first and the last commit of a range.
  struct Ends {
    Commit good;
    Commit bad;
  };
  std::optional<Error> refuse_old_git() const;
  Result<std::string> find_shared_folder() const;
  Result<Ends> find_ends(const std::string& good, const std::string& bad) const;
  Result<std::vector<Commit>> read_log(const Ends& ends, Parents parents) const;

  std::string folder_;
  std::optional<User> user_;
  std::string shared_folder_{};
};

/// True if the answer of `git --version` names version 2.30 or a later one.
bool is_new_enough(std::string_view version_line);

}  // namespace lauka::bisect
