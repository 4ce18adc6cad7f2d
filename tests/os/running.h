#pragma once

#include "must.h"
#include "os/process.h"
#include "places.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

// Programs that the tests of os run by a launcher, and children of the test itself.

namespace lauka::os {

/// Limit for what must happen at some time, however slow the machine is.
inline constexpr std::chrono::minutes kPatience{10};

/// Waits until `has_happened`; false if it has not within kPatience.
inline bool comes_true(const std::function<bool()>& has_happened) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!has_happened()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// Calls `is_long_enough` with longer and longer times, from `first` on, until it returns true, and
/// returns that time: what has to happen within a time takes longer on a slow machine.
inline std::chrono::nanoseconds time_that_suffices(
    std::chrono::nanoseconds first,
    const std::function<bool(std::chrono::nanoseconds)>& is_long_enough) {
  while (!is_long_enough(first)) {
    REQUIRE(first < kPatience);
    first *= 2;
  }
  return first;
}

/// Returns a program by its words; a first one without a slash is a fixture.
inline ProgramSpec program(std::vector<std::string> words) {
  if (words.front().find('/') == std::string::npos)
    words.front() = std::string(places::kFixtures) + "/" + words.front();
  return {.words = std::move(words)};
}

inline ProgramSpec shell(const std::string& script) {
  return program({"/bin/sh", "-c", script});
}

/// Runs a program once, with what `launch` has besides it.
inline Ended run_once(Launcher& launcher, const ProgramSpec& spec, Launch launch = {}) {
  launch.program = must(launcher.add_program(spec));
  const auto all = must(launcher.run({&launch, 1}, AfterFailure::Stop, {}));
  REQUIRE(all.size() == 1);
  return all.front();
}

inline Ended run_once(const ProgramSpec& spec, const Launch& launch = {}) {
  return run_once(*must(start_launcher()), spec, launch);
}

/// Does `work` in a child of this process, and returns its result as an exit status; -1 if the
/// child died by a signal, 99 if a test macro failed in it, which must not go on with other cases.
inline int status_of_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(work());
    } catch (...) {
      _exit(99);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Returns the state of a process, and its parent; of one that is gone: 'X'.
inline std::pair<char, pid_t> state_and_parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::pair<char, pid_t> found{'X', 0};
  std::istringstream(text.substr(text.rfind(')') + 1)) >> found.first >> found.second;
  return found;
}

inline bool is_alive(pid_t pid) {
  const char state = state_and_parent_of(pid).first;
  return state != 'Z' && state != 'X';
}

/// A file that goes when the test ends.
class TemporaryFile {
 public:
  TemporaryFile() {
    const int fd = mkstemp(name_.data());
    REQUIRE(fd >= 0);
    close(fd);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(name_.c_str()); }
  const std::string& name() const { return name_; }
  std::string text() const {
    std::stringstream all;
    all << std::ifstream(name_).rdbuf();
    return all.str();
  }

 private:
  std::string name_ = "/tmp/lauka-test-XXXXXX";
};

}  // namespace lauka::os
