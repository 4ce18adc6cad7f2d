// Prints what it was started with, a line each: the signals that are ignored and blocked, its open
// descriptors and what the first three are, its process group and session, its limits.
#include "arguments.h"

#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

#ifdef NSIG
constexpr int kSignalsEnd = NSIG;
#else
constexpr int kSignalsEnd = 65;
#endif

void print_signals() {
  static_cast<void>(std::fputs("ignored_signals", stdout));
  for (int number = 1; number < kSignalsEnd; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      static_cast<void>(std::printf(" %d", number));
    }
  }
  static_cast<void>(std::fputs("\nblocked_signals", stdout));
  sigset_t blocked{};
  sigprocmask(SIG_BLOCK, nullptr, &blocked);
  for (int number = 1; number < kSignalsEnd; ++number) {
    if (sigismember(&blocked, number) == 1) {
      static_cast<void>(std::printf(" %d", number));
    }
  }
  static_cast<void>(std::fputs("\n", stdout));
}

void print_descriptors() {
  static constexpr int kLookedAt = 4096;
  static_cast<void>(std::fputs("descriptors", stdout));
  for (int descriptor = 0; descriptor < kLookedAt; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) {
      static_cast<void>(std::printf(" %d", descriptor));
    }
  }
  static_cast<void>(std::fputs("\n", stdout));
}

const char* kind_of(int descriptor) {
  struct stat status {};
  struct stat null {};
  if (fstat(descriptor, &status) != 0) {
    return "closed";
  }
  if (isatty(descriptor) == 1) {
    return "terminal";
  }
  if (S_ISCHR(status.st_mode)) {
    return stat("/dev/null", &null) == 0 && status.st_rdev == null.st_rdev ? "null" : "device";
  }
  return S_ISFIFO(status.st_mode)   ? "pipe"
         : S_ISSOCK(status.st_mode) ? "socket"
         : S_ISREG(status.st_mode)  ? "file"
                                    : "other";
}

}  // namespace

int main(int argc, char** argv) {
  if (!fixture::arguments_of(argc, argv).empty()) {
    fixture::refuse("report_state");
  }
  print_signals();
  print_descriptors();
  static_cast<void>(std::printf("stdin %s\nstdout %s\nstderr %s\n", kind_of(STDIN_FILENO),
                                kind_of(STDOUT_FILENO), kind_of(STDERR_FILENO)));
  static_cast<void>(std::printf("pid %d\nparent %d\nprocess_group %d\nsession %d\n",
                                static_cast<int>(getpid()), static_cast<int>(getppid()),
                                static_cast<int>(getpgrp()), static_cast<int>(getsid(0))));
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  static_cast<void>(std::printf("nofile_limit %llu %llu\n",
                                static_cast<unsigned long long>(files.rlim_cur),
                                static_cast<unsigned long long>(files.rlim_max)));
  return 0;
}
