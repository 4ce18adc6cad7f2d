#pragma once

#include "os/launcher_process.h"
#include "os/launcher_shared.h"

namespace lauka::os {

/// Standard input, output and error of a run, in the launcher process. Internal to os/.
struct StandardFiles {
  int input = -1;
  int output = -1;  ///< -1: inherited
  int error = -1;   ///< -1: inherited
};

/// What could not be opened, and why; error 0: all was.
struct OpenFailure {
  LaunchStep step = LaunchStep::OpenInput;
  int error = 0;
};

/// Opens what `program` is to have, with its user's rights; EINTR when the run was cancelled while
/// it waited for the other end of a named pipe.
OpenFailure open_standard_files(const SharedProgram& program, const LauncherSetup& setup,
                                StandardFiles& files);

/// Closes what was opened for this run alone.
void close_standard_files(const SharedProgram& program, const StandardFiles& files);

/// Empties the file that keeps standard error.
void forget_error_output(int error_file);

}  // namespace lauka::os
