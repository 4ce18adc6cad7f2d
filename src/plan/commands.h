#pragma once

#include "cli/options.h"
#include "core/command.h"
#include "core/result.h"
#include "plan/plan.h"

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

/// Lines about accepted values that most likely mean something else: "-d 5000", a rate of which
/// less would count as better, a unit that is unknown.
std::vector<std::string> hints_about_options(const Options& options);

/// A line if the quotes of a command were most likely forgotten.
std::vector<std::string> hints_about_quotes(const Options& options);

/// `error`, by which command `failed` cannot be started, with what to type instead if its words
/// suggest what was meant.
Error with_suggestion(Error error, const Plan& plan, std::size_t failed);

}  // namespace lauka
