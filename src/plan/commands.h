#pragma once

#include "cli/options.h"
#include "core/command.h"
#include "core/result.h"

#include <vector>

namespace lauka {

/// The commands to measure, the reference first: those typed, with each combination of parameters,
/// and with what was given for them (names, hooks, variables, output). Refuses commands that cannot
/// be run, a variable that none uses, and what was given neither once nor once per command.
Result<std::vector<Command>> commands_of(const Options& options);

}  // namespace lauka
