#include "os/files.h"
#include "scratch.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {
namespace {

constexpr std::size_t kMebibyte = 1'048'576;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Adds "line N\n", in which N is the number of lines that the log has then.
Result<void> add_numbered_line(SharedLog& log) {
  return log.add([](const std::string& text) -> Result<LogAddition> {
    return LogAddition{text.size(), "line " + std::to_string(lines_of(text).size() + 1) + "\n"};
  });
}

/// Starts `act`, which returns an exit status, in a process of its own.
template <typename Act>
pid_t start(Act act) {
  const pid_t child = fork();
  if (child == 0) _exit(act());
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a shared log takes lines, and keeps them") {
  const Scratch folder;
  const std::string path = folder.file("log");
  for (int opening = 0; opening < 2; ++opening) {
    auto log = SharedLog::open(path, kMebibyte);
    REQUIRE(log);
    CHECK(add_numbered_line(*log));
  }
  CHECK(*SharedLog::read(path, kMebibyte) == "line 1\nline 2\n");
}

TEST_CASE("ten processes that add lines to one log at the same time lose and share none") {
  const Scratch folder;
  const std::string path = folder.file("log");
  constexpr int writers = 10;
  constexpr int lines_of_each = 20;
  std::vector<pid_t> children;
  children.reserve(writers);
  for (int writer = 0; writer < writers; ++writer)
    children.push_back(start([&] {
      auto log = SharedLog::open(path, kMebibyte);
      for (int line = 0; line < lines_of_each; ++line)
        if (!log || !add_numbered_line(*log)) return 1;
      return 0;
    }));
  for (const pid_t child : children) CHECK(status_of(child) == 0);

  const std::vector<std::string> lines = lines_of(*SharedLog::read(path, kMebibyte));
  REQUIRE(lines.size() == writers * lines_of_each);
  for (std::size_t i = 0; i < lines.size(); ++i) CHECK(lines[i] == "line " + std::to_string(i + 1));
}

TEST_CASE("an unfinished last line of a shared log is dropped before lines are added") {
  const Scratch folder;
  const std::string path = folder.file("log");
  std::ofstream(path) << "whole\nunfini";
  auto log = SharedLog::open(path, kMebibyte);
  REQUIRE(log);
  CHECK(log->add([](const std::string& text) -> Result<LogAddition> {
    return LogAddition{text.rfind('\n') + 1, "next\n"};
  }));
  CHECK(*SharedLog::read(path, kMebibyte) == "whole\nnext\n");
}

TEST_CASE("a line that the disk does not take whole leaves no part of it in a shared log") {
  const Scratch folder;
  const std::string path = folder.file("log");
  std::ofstream(path) << "whole\n";
  const pid_t child = start([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit ten_bytes{10, 10};
    setrlimit(RLIMIT_FSIZE, &ten_bytes);
    auto log = SharedLog::open(path, kMebibyte);
    if (!log) return 1;
    return add_numbered_line(*log) ? 2 : 0;
  });
  CHECK(status_of(child) == 0);
  CHECK(*SharedLog::read(path, kMebibyte) == "whole\n");
}

TEST_CASE("an addition that is refused changes nothing in a shared log") {
  const Scratch folder;
  const std::string path = folder.file("log");
  auto log = SharedLog::open(path, kMebibyte);
  REQUIRE(log);
  REQUIRE(add_numbered_line(*log));
  const auto addition = log->add([](const std::string&) -> Result<LogAddition> {
    return Error{"it is another's", ""};
  });
  REQUIRE_FALSE(addition);
  CHECK(addition.error().what == "it is another's");
  CHECK(*SharedLog::read(path, kMebibyte) == "line 1\n");
}

TEST_CASE("a shared log is a regular file with one name, and no link") {
  const Scratch folder;
  const std::string path = folder.file("log");
  std::ofstream(path) << "whole\n";
  std::filesystem::create_symlink(path, folder.file("link"));
  CHECK_FALSE(SharedLog::open(folder.file("link"), kMebibyte));
  CHECK_FALSE(SharedLog::open(folder.path(), kMebibyte));
  CHECK_FALSE(SharedLog::open(folder.file("no/folder"), kMebibyte));
  std::filesystem::create_hard_link(path, folder.file("other"));
  CHECK_FALSE(SharedLog::open(path, kMebibyte));
}

TEST_CASE("a missing shared log reads as empty, and is not made") {
  const Scratch folder;
  CHECK(SharedLog::read(folder.file("log"), kMebibyte)->empty());
  CHECK_FALSE(std::filesystem::exists(folder.file("log")));
}

}  // namespace lauka::os
