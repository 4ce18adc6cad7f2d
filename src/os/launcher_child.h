#pragma once

#include "os/launcher_process.h"

#include <cstdint>

#include <sys/resource.h>
#include <sys/types.h>

// The process that becomes a command. Internal to os/.

namespace lauka::os {

/// What the vfork child uses and reports; it lives in the launcher's frame, which both share until
/// execve.
struct ChildPlan {
  const SharedProgram* program;
  const StartedWith* started_with;
  const sigset_t* all_signals;
  StandardFiles files{};
  int control_group = -1;               // file by which it joins one; -1: none
  pid_t group = 0;                      // that it joins; 0: one of its own
  const rlimit* descriptors = nullptr;  // null: not changed
  volatile std::int64_t exec_ns = 0;
  volatile int error_number = 0;
  volatile LaunchStep failed_step = LaunchStep::Execute;
};

/// Starts the program. -1 with errno; where the child could not
/// become the program, `plan` says why.
pid_t start_child(ChildPlan& plan);

}  // namespace lauka::os
