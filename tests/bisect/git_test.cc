#include "bisect/git.h"

#include "../must.h"
#include "../scratch.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace lauka::bisect {
namespace {

/// A repository made by shell commands, with a hook that leaves a mark if it runs.
class TestRepository {
 public:
  TestRepository() {
    run("git init -q -b main . && git config user.name N && git config user.email e@example.org");
    run("printf '#!/bin/sh\\ntouch \"" + mark() + "\"\\n' > .git/hooks/post-checkout");
    run("chmod +x .git/hooks/post-checkout");
  }

  std::string path() const { return scratch_.file("work"); }
  std::string mark() const { return scratch_.file("hook-ran"); }
  std::string worktree() const { return scratch_.file("tree"); }

  void run(const std::string& line) const {
    const std::string whole =
        "mkdir -p '" + path() + "' && cd '" + path() + "' && ( " + line + " ) >/dev/null 2>&1";
    REQUIRE_MESSAGE(std::system(whole.c_str()) == 0, line);
  }

  void commit(const std::string& content) const {
    run("echo '" + content + "' > file && git add file && git commit -qm 'set " + content + "'");
  }

  std::string output_of(const std::string& line) const {
    run("( " + line + " ) > ../output");
    return text_of(scratch_.file("output"));
  }

  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Repository open() const { return must(Repository::open(path(), std::nullopt)); }

 private:
  Scratch scratch_;
};

std::vector<std::string> subjects(const std::vector<Commit>& commits) {
  std::vector<std::string> all;
  all.reserve(commits.size());
  for (const Commit& commit : commits) all.push_back(commit.subject);
  return all;
}

void merge_a_side_branch(const TestRepository& there) {
  there.commit("one");
  there.run("git checkout -qb side && echo s > side && git add side && git commit -qm side");
  there.run("git checkout -q main");
  there.commit("two");
  there.run("git merge -q --no-ff -m merge side");
}

TEST_CASE("the commits from good to bad come in order, with date and subject") {
  const TestRepository there;
  for (const char* content : {"one", "two", "three"}) there.commit(content);
  const auto commits = must(there.open().list_commits("HEAD~2", "main", Parents::First));
  CHECK(subjects(commits) == std::vector<std::string>{"set one", "set two", "set three"});
  CHECK(commits[0].id.size() >= 40);
  CHECK(commits[0].date.size() == 10);
}

TEST_CASE("the commits of a merged branch are passed by") {
  const TestRepository there;
  merge_a_side_branch(there);
  CHECK(subjects(must(there.open().list_commits("HEAD~2", "HEAD", Parents::First))) ==
        std::vector<std::string>{"set one", "set two", "merge"});
  CHECK(there.open().list_commits("side", "HEAD", Parents::First).error().what ==
        "'side' is on a branch that was merged, and not on the line of first parents of 'HEAD'");
}

TEST_CASE("with all parents, the commits of a merged branch are listed, parents before children") {
  const TestRepository there;
  merge_a_side_branch(there);

  const Repository repository = there.open();
  const auto commits = must(repository.list_commits("HEAD~2", "HEAD", Parents::All));
  REQUIRE(commits.size() == 4);
  CHECK(commits.front().subject == "set one");
  CHECK(commits.back().subject == "merge");
  CHECK(must(repository.find_parent(commits.back().id)).subject == "set two");

  // Git tests a commit in the middle first, and never the one that is known to have the change.
  const auto ranked = must(repository.rank({commits.front().id}, commits.back().id));
  CHECK(ranked.size() == 2);
  CHECK(std::ranges::find(ranked, commits.back().id) == ranked.end());
  CHECK(must(repository.rank({commits[1].id, commits[2].id}, commits.back().id)).empty());
  CHECK_FALSE(repository.rank({"nosuch"}, "HEAD"));
}

TEST_CASE("ends that are no line of commits are refused") {
  const TestRepository there;
  there.commit("one");
  there.commit("two");
  const Repository repository = there.open();
  CHECK(repository.list_commits("HEAD", "HEAD~1", Parents::First).error().what ==
        "'HEAD' is not an ancestor of 'HEAD~1'");
  CHECK(repository.list_commits("HEAD", "main", Parents::First).error().what ==
        "'HEAD' and 'main' are the same commit");
  CHECK(repository.list_commits("nosuch", "main", Parents::First).error().what ==
        "'nosuch' is not a commit of this repository");
}

TEST_CASE("a commit with submodules is refused") {
  const TestRepository there;
  there.commit("one");
  there.run("touch .gitmodules && git add .gitmodules && git commit -qm sub");
  CHECK_FALSE(there.open().list_commits("HEAD~1", "HEAD", Parents::First));
}

TEST_CASE("files in LFS need git's filter for them") {
  const TestRepository there;
  there.commit("one");
  there.run("mkdir data && echo '*.bin filter=lfs diff=lfs' > data/.gitattributes");
  there.run("git add data && git commit -qm lfs");
  there.run(
      "git config --unset-all filter.lfs.smudge; git config --unset-all filter.lfs.process; :");
  const Repository repository = there.open();
  const bool has_own_filter =
      std::system("git config --get-regexp '^filter[.]lfs[.](smudge|process)$' >/dev/null") == 0;
  CHECK(repository.list_commits("HEAD~1", "HEAD", Parents::First).has_value() == has_own_filter);
  CHECK(repository.find_obstacle("HEAD").has_value() == !has_own_filter);
  CHECK_FALSE(repository.find_obstacle("HEAD~1"));
  there.run("mkdir other");
  const Repository in_subfolder = must(Repository::open(there.path() + "/other", std::nullopt));
  CHECK(in_subfolder.find_obstacle("HEAD").has_value() == !has_own_filter);

  there.run("git config filter.lfs.smudge cat");
  CHECK(repository.list_commits("HEAD~1", "HEAD", Parents::First));
  CHECK_FALSE(repository.find_obstacle("HEAD"));
}

TEST_CASE("a folder without repository and a shallow clone are refused") {
  const Scratch empty;
  CHECK_FALSE(Repository::open(empty.path(), std::nullopt));

  const TestRepository there;
  there.commit("one");
  there.commit("two");
  there.run("git clone -q --depth 1 file://\"$PWD\" ../shallow");
  const auto shallow = Repository::open(there.path() + "/../shallow", std::nullopt);
  REQUIRE_FALSE(shallow);
  CHECK(shallow.error().remedy == "run git fetch --unshallow");
}

TEST_CASE("git 2.30 is new enough, and 2.29 is not") {
  CHECK(is_new_enough("git version 2.30.0"));
  CHECK(is_new_enough("git version 2.39.5 (Apple Git-154)"));
  CHECK(is_new_enough("git version 3.0"));
  CHECK_FALSE(is_new_enough("git version 2.29.3"));
  CHECK_FALSE(is_new_enough("git version 1.40"));
  CHECK_FALSE(is_new_enough("nonsense"));
}

TEST_CASE("a worktree goes from commit to commit, and keeps what builds have left") {
  const TestRepository there;
  there.commit("one");
  there.commit("two");
  const Repository repository = there.open();
  const auto commits = must(repository.list_commits("HEAD~1", "HEAD", Parents::First));

  CHECK(repository.check_out(there.worktree(), commits[0].id));
  CHECK(TestRepository::text_of(there.worktree() + "/file") == "one\n");

  std::ofstream(there.worktree() + "/object") << "built";
  std::ofstream(there.worktree() + "/file") << "changed by a build";
  CHECK(repository.check_out(there.worktree(), commits[1].id));
  CHECK(TestRepository::text_of(there.worktree() + "/file") == "two\n");
  CHECK(TestRepository::text_of(there.worktree() + "/object") == "built");

  CHECK(repository.clean(there.worktree()));
  CHECK(TestRepository::text_of(there.worktree() + "/object").empty());
}

TEST_CASE("a worktree that a killed git has left is made again") {
  const TestRepository there;
  there.commit("one");
  there.commit("two");
  const Repository repository = there.open();
  const auto commits = must(repository.list_commits("HEAD~1", "HEAD", Parents::First));
  CHECK(repository.check_out(there.worktree(), commits[0].id));
  there.run("touch .git/worktrees/tree/index.lock");
  CHECK(repository.check_out(there.worktree(), commits[1].id));
  CHECK(TestRepository::text_of(there.worktree() + "/file") == "two\n");

  there.run("rm -rf ../tree && mkdir ../tree");
  CHECK(repository.check_out(there.worktree(), commits[0].id));
  CHECK(TestRepository::text_of(there.worktree() + "/file") == "one\n");
}

TEST_CASE("checkout, index, stashes and reflog of the user stay, and no hook runs") {
  const TestRepository there;
  there.commit("one");
  there.commit("two");
  there.run("echo stashed > file && git stash -q && echo staged > file && git add file");
  there.run("rm -f ../hook-ran");
  const std::string ask =
      "git status --porcelain; git stash list; git reflog; cat file; git worktree list";
  const std::string before = there.output_of(ask);

  const Repository repository = there.open();
  const auto commits = must(repository.list_commits("HEAD~1", "HEAD", Parents::First));
  for (const Commit& commit : commits) CHECK(repository.check_out(there.worktree(), commit.id));
  repository.remove_worktree(there.worktree());

  CHECK(there.output_of(ask) == before);
  CHECK(TestRepository::text_of(there.mark()).empty());
  CHECK(std::system(("test ! -e '" + there.mark() + "'").c_str()) == 0);
}

}  // namespace
}  // namespace lauka::bisect
