#pragma once

#include "core/outcome.h"

#include <string>

namespace lauka::report {

/// How a run ended, as the rest of a sentence whose subject is the run: "exited with status 3",
/// "was killed by SIGSEGV (core dumped)". One line without a full stop.
std::string describe(const Outcome& outcome);

/// "SIGSEGV"; "signal 64" for one without a name of its own.
std::string signal_name(int signal);

}  // namespace lauka::report
