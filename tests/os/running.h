#pragma once

#include "must.h"
#include "os/process.h"
#include "places.h"

#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

// Programs that the tests of os run by a launcher, and children of the test itself.

namespace lauka::os {

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
  const auto all = must(launcher.run({&launch, 1}, false, {}));
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
