#pragma once

#include "core/record.h"
#include "core/user.h"
#include "os/process.h"
#include "plan/plan.h"

#include <functional>
#include <optional>
#include <vector>

namespace lauka {

/// Runs the plan's shell with an empty command, again and again under each command's own conditions
/// (output, variables, user), and gives what that takes, one for each command; empty without a
/// shell and when the user interrupts. Wall time is the median of the runs, since a single one that
/// was held up would shift the mean; CPU times are means, since the kernel books those of a short
/// run as all user or all system. An error: the shell cannot be run.
Result<std::vector<ShellOverhead>> measure_shell(const Plan& plan, os::Launcher& launcher,
                                                 const std::optional<User>& user,
                                                 const std::function<int()>& interrupt);

/// Takes `overhead` out of the times in `usage`. Wall time and CPU time stop at 0; of the CPU time
/// that is left, as much as fits is user time, so that user and system still add up to it. Whether
/// one of the two would have been below 0.
bool subtract(const ShellOverhead& overhead, Usage& usage);

}  // namespace lauka
