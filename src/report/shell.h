#pragma once

#include "results/results.h"

#include <string>

namespace lauka::report {

/// What starting the shell takes, which is subtracted from the times; a line for each time that was
/// found. Empty without a shell.
std::string shell_lines(const Results& results);

}  // namespace lauka::report
