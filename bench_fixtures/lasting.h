#pragma once

#include <cstdio>

#include <unistd.h>

namespace fixture {

/// Prints `name` and this process's id as a line on standard output, at once: a test reads there
/// which processes it has to look for.
inline void print_pid(const char* name) {
  static_cast<void>(std::printf("%s %d\n", name, static_cast<int>(getpid())));
  static_cast<void>(std::fflush(stdout));
}

/// Sleeps until a signal ends it. SIGALRM does so after ten minutes, so that what a broken test
/// leaves behind goes away by itself.
[[noreturn]] inline void sleep_for_ever() {
  alarm(600);
  for (;;) {
    pause();
  }
}

}  // namespace fixture
