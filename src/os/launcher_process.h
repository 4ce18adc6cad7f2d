#pragma once

#include "os/launcher_shared.h"
#include "os/linux_calls.h"

#include <csignal>

#include <sys/types.h>

// The launcher process: forked as the first thing main does, while lauka is still small, because
// the kernel never shows a child's peak memory below that of the process it was started from. It
// allocates nothing. Internal to os/.

namespace lauka::os {

/// Signal dispositions and mask as lauka was started with: what every command gets.
struct StartedWith {
  sigset_t mask;
  bool ignored_child;
  bool ignored_poke;
  bool ignored_alarm;
};

/// Everything the launcher process is given when it is forked.
struct LauncherSetup {
  SharedState* state = nullptr;
  const LinuxCalls* counters = nullptr;  ///< null: this system has none
  StartedWith started_with{};
  pid_t parent = 0;
  int socket = -1;  ///< a byte in: run the batch; a byte out: it is done
  int null_input = -1;
  int null_output = -1;
  int error_file = -1;   ///< takes standard error under Sink::Null
  int output_pipe = -1;  ///< write ends
  int error_pipe = -1;
};

/// Makes lauka's launcher look at SharedState::cancel.
inline constexpr int kPokeSignal = SIGUSR1;

/// Runs batches until the socket ends. All signals are blocked when it is called.
[[noreturn]] void serve_as_launcher(const LauncherSetup& setup);

}  // namespace lauka::os
