#pragma once

#include "os/launcher_shared.h"
#include "os/linux_calls.h"
#include "os/run_files.h"

#include <csignal>
#include <cstdint>
#include <ctime>
#include <limits>

#include <sys/types.h>

// The launcher process: forked as the first thing main does, while lauka is still small, because
// the kernel never shows a child's peak memory below that of the process it was started from. It
// allocates nothing. Internal to os/.

namespace lauka::os {

/// Signal dispositions and mask as lauka was started with: what every command gets.
struct StartedWith {
  sigset_t mask;
  bool ignored_child;
};

/// Everything the launcher process is given when it is forked.
struct LauncherSetup {
  SharedState* state = nullptr;
  const LinuxCalls* counters = nullptr;  ///< null: this system has none
  StartedWith started_with{};
  pid_t parent = 0;
  int socket = -1;  ///< a byte in: run the batch; a byte out: it is done
  CommonFiles files{};
};

inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// CLOCK_MONOTONIC.
inline std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

/// Makes lauka's launcher look at SharedState::cancel; it also comes when lauka dies.
inline constexpr int kPokeSignal = SIGUSR1;

/// Whether the run that goes on is to be killed: lauka has asked for it, or is no more.
bool nobody_wants_it(const LauncherSetup& setup);

/// Runs batches until the socket ends. All signals are blocked when it is called.
[[noreturn]] void serve_as_launcher(const LauncherSetup& setup);

}  // namespace lauka::os
