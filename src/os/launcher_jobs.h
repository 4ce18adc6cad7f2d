#pragma once

#include "os/launcher_child.h"
#include "os/launcher_shared.h"

#include <sys/types.h>

// Several copies of a program at once, as one run (--jobs). Internal to os/.

namespace lauka::os {

/// Starts the program of `plan` again until it is there or cannot be: a file that is just being
/// written is waited for.
pid_t start_patiently(ChildPlan& plan);

/// Makes a process that starts SharedProgram::jobs copies of the program in its own process group,
/// waits for all of them and ends; what came of them is in `jobs`. Where one of them fails, the
/// group is killed with it. -1 with errno.
pid_t start_jobs(const ChildPlan& plan, SharedJobs& jobs);

}  // namespace lauka::os
