#pragma once

#include "cli/options.h"
#include "core/command.h"
#include "core/result.h"

#include <cstddef>
#include <vector>

namespace lauka {

/// The commands to measure, the reference first: those typed, with each combination of parameters,
/// and with what was given for them (names, hooks, variables, output). Refuses commands that cannot
/// be run, a variable that none uses, and what was given neither once nor once per command.
Result<std::vector<Command>> commands_of(const Options& options);

/// That there are more names than commands.
Error too_many_names(std::size_t names, std::size_t commands);

/// One line for each command whose text has shell syntax outside quotes although no shell runs it,
/// where they differ in it: most likely a slip.
std::vector<std::string> hints_about_shells(const Options& options);

/// A line where a command is a grep whose output is thrown away: GNU's stops at the first match.
std::vector<std::string> hints_about_output(const std::vector<Command>& commands);

}  // namespace lauka
