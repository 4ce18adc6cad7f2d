#include "contract/program.h"
#include "skip.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <signal.h>
#include <unistd.h>

// Labels from git, which a program of that name replaces; it writes a log when it begins and ends.

namespace lauka::contract {
namespace {

using nlohmann::json;

// What it is asked for, and at its end what it says.
constexpr const char* kBegin =
    "case \"$*\" in *rev-parse*) asked=head;; *status*) asked=status;; esac; ";
constexpr const char* kSays =
    "if [ $asked = head ]; then echo 1a2b; echo refs/heads/trunk; elif [ \"$CHANGED\" ]; then echo "
    "\"$CHANGED\"; fi";

enum class Notes { Hidden, Shown };

/// A folder with that git, and with a program that enters its runs into the same log.
class WithGit {
 public:
  explicit WithGit(const std::string& git) {
    std::filesystem::create_directories(folder_.file("bin"));
    std::filesystem::create_directories(folder_.file("in/side"));
    write("bin/git", git);
    write("bin/it", "echo run >>\"$LOG\"; echo done >>\"$LOG\"");
  }

  Said run(std::vector<std::string> arguments, Notes notes = Notes::Hidden,
           const std::function<bool()>& interrupt_when = {}) const {
    Start start;
    start.folder = folder_.file("in/side");
    start.interrupt_when = interrupt_when;
    start.environment = environment;
    start.environment.emplace_back("LOG", log());
    start.environment.emplace_back("PATH", folder_.file("bin") + ":" + std::getenv("PATH"));
    start.arguments = {"--engine", "none", "--export-json", folder_.file("it.json")};
    if (notes == Notes::Hidden) start.arguments.emplace_back("-q");
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
  std::string repository() const { return folder_.file("in"); }
  void make_repository() const { std::ofstream(repository() + "/.git") << "gitdir: elsewhere\n"; }

  std::vector<std::pair<std::string, std::string>> environment{};

 private:
  void write(const std::string& name, const std::string& script) const {
    std::ofstream(folder_.file(name)) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(folder_.file(name), std::filesystem::perms::all);
  }

  Folder folder_;
};

/// It does `at_head` and `at_status` when it is asked for one of these.
std::string git_script(const std::string& at_head = "", const std::string& at_status = "") {
  return std::string(kBegin) + "echo $asked >>\"$LOG\"; if [ $asked = head ]; then :; " + at_head +
         "\nelse :; " + at_status + "\nfi; sleep 0.05; " + kSays + "; echo end >>\"$LOG\"";
}

const json kTrunk = {{"branch", "trunk"}, {"commit", "1a2b"}, {"dirty", "no"}};
const std::vector<std::string> kAround = {"head", "end",  "run",    "done",
                                          "run",  "done", "status", "end"};

}  // namespace

TEST_CASE("outside a repository git is not started, and with --no-git nowhere") {
  WithGit with(git_script());
  REQUIRE(with.run({"-w0", "-r1", "--", "true"}).status == 0);
  CHECK(with.lines().empty());
  CHECK(with.labels() == json::object());
  with.make_repository();
  REQUIRE(with.run({"--no-git", "-w0", "-r1", "--", "true"}).status == 0);
  CHECK(with.lines().empty());
}

TEST_CASE("a repository that GIT_CEILING_DIRECTORIES keeps git from is none") {
  WithGit with(git_script());
  with.make_repository();
  with.environment = {{"GIT_CEILING_DIRECTORIES", "/elsewhere:" + with.repository()}};
  REQUIRE(with.run({"-w0", "-r1", "--", "true"}).status == 0);
  CHECK(with.lines().empty());
  CHECK(with.labels() == json::object());
}

TEST_CASE("GIT_DIR makes any folder one of a repository") {
  WithGit with(git_script());
  with.environment = {{"GIT_DIR", "/elsewhere"}};
  REQUIRE(with.run({"-w0", "-r1", "--", "true"}).status == 0);
  CHECK(with.lines() == std::vector<std::string>{"head", "end", "status", "end"});
  CHECK(with.labels() == kTrunk);
}

TEST_CASE("commit and branch are read before anything runs, and after it all what is changed") {
  const auto log_of = [&](const std::vector<std::string>& arguments) {
    const WithGit with(git_script());
    with.make_repository();
    REQUIRE(with.run(arguments).status == 0);
    CHECK(with.labels() == kTrunk);
    return with.lines();
  };
  CHECK(log_of({"-w0", "-r2", "--", "it"}) == kAround);
  CHECK(log_of({"-w1", "-r1", "--", "it"}) == kAround);
  CHECK(log_of({"-w0", "-r1", "--setup", "it", "--cleanup", "it", "--", "true"}) == kAround);
  const auto shell =
      log_of({"-w0", "-r1", "--shell", "sh -c 'it; exec sh \"$@\"' sh", "--", "true"});
  REQUIRE(shell.size() > 4);
  CHECK(std::vector<std::string>(shell.begin(), shell.begin() + 3) ==
        std::vector<std::string>{"head", "end", "run"});
  CHECK(std::vector<std::string>(shell.end() - 3, shell.end()) ==
        std::vector<std::string>{"done", "status", "end"});
}

TEST_CASE("a file that is changed makes the session dirty, and a given label wins") {
  WithGit with(git_script());
  with.make_repository();
  with.environment = {{"CHANGED", " M a.cc"}};
  REQUIRE(with.run({"--label", "branch=mine", "-w0", "-r1", "--", "true"}).status == 0);
  CHECK(with.labels() == json{{"branch", "mine"}, {"commit", "1a2b"}, {"dirty", "yes"}});
}

TEST_CASE("a session whose files may be changed is none of that commit") {
  const WithGit with(git_script("", "exit 1"));
  with.make_repository();
  const Said said = with.run({"--label", "os=x", "-w0", "-r1", "--", "true"}, Notes::Shown);
  CHECK(said.status == 0);
  CHECK(has(said.err, "--label"));
  CHECK(with.labels() == json{{"os", "x"}});
}

TEST_CASE("before the first commit there are no labels, and git is asked once") {
  const WithGit with("echo asked >>\"$LOG\"");
  with.make_repository();
  const Said said = with.run({"-w0", "-r1", "--", "true"}, Notes::Shown);
  CHECK(said.status == 0);
  CHECK_FALSE(has(said.err, "git"));
  CHECK(with.labels() == json::object());
  CHECK(with.lines() == std::vector<std::string>{"asked"});
}

TEST_CASE("of a repository that git does not trust, as it is another user's, a note says so") {
  const WithGit with("echo asked >>\"$LOG\"; exit 128");
  with.make_repository();
  const std::vector<std::string> arguments = {"-w0", "-r1", "--", "true"};
  CHECK_FALSE(has(with.run(arguments, Notes::Shown).err, "git"));  // it has another reason
  if (geteuid() != 0) return skip("only root can give a file to another user");
  REQUIRE(chown(with.repository().c_str(), 65534, 65534) == 0);
  const Said said = with.run(arguments, Notes::Shown);
  CHECK(said.status == 0);
  CHECK(has(said.err, "safe.directory"));
  CHECK(with.labels() == json::object());
  CHECK(with.lines() == std::vector<std::string>{"asked", "asked"});
  const Said without = with.run({"--no-git", "-w0", "-r1", "--", "true"}, Notes::Shown);
  CHECK_FALSE(has(without.err, "git"));
}

TEST_CASE("a session that is interrupted while git hangs ends, and git with it") {
  for (const bool at_head : {true, false}) {
    CAPTURE(at_head);
    const std::string hang = "echo hangs $$ >>\"$LOG\"; exec sleep 600";
    const WithGit with(at_head ? git_script(hang) : git_script("", hang));
    with.make_repository();
    const auto hangs = [&] {
      return !with.lines().empty() && with.lines().back().starts_with("hangs ");
    };
    const Said said = with.run({"-w0", "-r1", "--", "true"}, Notes::Hidden, hangs);
    CHECK(said.status == (at_head ? 130 : 0));  // all runs were made
    REQUIRE(hangs());
    CHECK(kill(std::stoi(with.lines().back().substr(6)), 0) != 0);
  }
}

}  // namespace lauka::contract
