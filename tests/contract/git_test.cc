#include "contract/program.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <signal.h>

// Labels from git, which a program of that name replaces; it writes a log when it begins and ends.

namespace lauka::contract {
namespace {

using nlohmann::json;

constexpr const char* kStatus = "echo '# branch.oid 1a2b'; echo '# branch.head trunk'";

/// A folder with that git, and with a program that enters its runs into the same log.
class WithGit {
 public:
  explicit WithGit(const std::string& git) {
    std::filesystem::create_directories(folder_.file("bin"));
    std::filesystem::create_directories(folder_.file("in/side"));
    write("bin/git", git);
    write("bin/it", "echo run >>\"$LOG\"; echo done >>\"$LOG\"");
  }

  Said run(std::vector<std::string> arguments, int interrupt_after_ms = 0) const {
    Start start;
    start.folder = folder_.file("in/side");
    start.interrupt_after_ms = interrupt_after_ms;
    start.environment = environment;
    start.environment.emplace_back("LOG", log());
    start.environment.emplace_back("PATH", folder_.file("bin") + ":" + std::getenv("PATH"));
    start.arguments = {"-q", "--engine", "none", "--export-json", folder_.file("it.json")};
    start.arguments.insert(start.arguments.end(), arguments.begin(), arguments.end());
    return lauka(start);
  }

  std::string log() const { return folder_.file("log"); }
  std::vector<std::string> lines() const {
    return exists(log()) ? lines_of(text_of(log())) : std::vector<std::string>{};
  }
  json labels() const {
    return json::parse(text_of(folder_.file("it.json"))).at("lauka").at("labels");
  }
  void make_repository() const { std::ofstream(folder_.file("in/.git")) << "gitdir: elsewhere\n"; }

  std::vector<std::pair<std::string, std::string>> environment{};

 private:
  void write(const std::string& name, const std::string& script) const {
    std::ofstream(folder_.file(name)) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(folder_.file(name), std::filesystem::perms::all);
  }

  Folder folder_;
};

std::string plain_git() {
  return std::string("echo begin >>\"$LOG\"; sleep 0.05; ") + kStatus + "; echo end >>\"$LOG\"";
}

const json kTrunk = {{"branch", "trunk"}, {"commit", "1a2b"}, {"dirty", "no"}};

}  // namespace

TEST_CASE("outside a repository git is not started, and with --no-git nowhere") {
  WithGit with(plain_git());
  REQUIRE(with.run({"-w0", "-r1", "--", "true"}).status == 0);
  CHECK(with.lines().empty());
  CHECK(with.labels() == json::object());
  with.make_repository();
  REQUIRE(with.run({"--no-git", "-w0", "-r1", "--", "true"}).status == 0);
  CHECK(with.lines().empty());
}

TEST_CASE("GIT_DIR makes any folder one of a repository") {
  WithGit with(plain_git());
  with.environment = {{"GIT_DIR", "/elsewhere"}};
  REQUIRE(with.run({"-w0", "-r1", "--", "true"}).status == 0);
  CHECK(with.lines() == std::vector<std::string>{"begin", "end"});
  CHECK(with.labels() == kTrunk);
}

TEST_CASE("git goes on during warm-up runs, once, and during no counted one") {
  // It waits until the first run has ended: ten seconds, if lauka waits for it.
  const WithGit with(
      "echo begin >>\"$LOG\"; i=0; until grep -q done \"$LOG\" || [ $i = 200 ]; do sleep 0.05; "
      "i=$((i + 1)); done; sleep 0.05; " +
      std::string(kStatus) + "; echo end >>\"$LOG\"");
  with.make_repository();
  REQUIRE(with.run({"-w1", "-r3", "--", "it"}).status == 0);
  std::vector<std::string> lines = with.lines();
  CHECK(std::erase(lines, "begin") == 1);  // before or after "run": the two begin at once
  CHECK(lines == std::vector<std::string>{"run", "done", "end", "run", "done", "run", "done", "run",
                                          "done"});
  CHECK(with.labels() == kTrunk);
}

TEST_CASE("without warm-up runs, and before hooks and a shell's start-up, git is waited for") {
  const std::vector<std::string> first = {"begin", "end"};
  const auto log_of = [&](const std::vector<std::string>& arguments) {
    const WithGit with(plain_git());
    with.make_repository();
    REQUIRE(with.run(arguments).status == 0);
    CHECK(with.labels() == kTrunk);
    return with.lines();
  };
  CHECK(log_of({"-w0", "-r1", "--", "it"}) ==
        std::vector<std::string>{"begin", "end", "run", "done"});
  CHECK(log_of({"-w1", "-r1", "--setup", "it", "--", "true"}) ==
        std::vector<std::string>{"begin", "end", "run", "done"});
  const auto shell =
      log_of({"-w0", "-r1", "--shell", "sh -c 'it; exec sh \"$@\"' sh", "--", "true"});
  REQUIRE(shell.size() > 2);
  CHECK(std::vector<std::string>(shell.begin(), shell.begin() + 2) == first);
}

TEST_CASE("a session that is interrupted while git hangs ends, and git with it") {
  const WithGit with("echo $$ >>\"$LOG\"; exec sleep 100");
  with.make_repository();
  CHECK(with.run({"-w0", "-r1", "--", "true"}, 500).status == 130);
  REQUIRE(with.lines().size() == 1);
  CHECK(kill(std::stoi(with.lines().front()), 0) != 0);
}

}  // namespace lauka::contract
