#pragma once

#include "cli/options.h"
#include "core/command.h"
#include "core/result.h"
#include "plan/plan.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
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

/// commit, branch and dirty (yes, no) by what `git status --porcelain=v2 --branch` writes; no
/// branch where none is checked out, and nothing where there is no commit and no branch.
std::vector<Label> labels_of_git(std::string_view status);

/// Those of a session: what is given, and what was found besides. Sorted by key, as a reader of the
/// JSON has them, so that what is exported again is the same.
std::vector<Label> with_given(std::vector<Label> given, const std::vector<Label>& found);

/// At most so many commands are measured in one session.
inline constexpr std::size_t kMostCommands = 10'000;

/// A variable and all its values, in order.
struct Variable {
  std::string name;
  std::vector<std::string> values;
};

/// The variables of -L and -P. Refuses names that could not be written as {NAME} or that come
/// twice, and ranges without an end.
Result<std::vector<Variable>> variables_of(const std::vector<ParameterOption>& options);

/// Whether `text` has {NAME} in it.
bool mentions(std::string_view text, std::string_view name);

/// `text` with the value of each parameter in place of its {NAME}; what was put in is not looked at
/// again, and other braces stay.
std::string with_parameters(std::string_view text, const std::vector<Parameter>& parameters);

/// One command to measure: which of those typed, with which values.
struct Combination {
  std::size_t typed = 0;
  std::vector<Parameter> parameters{};
};

/// All combinations of the values, for each typed command with those variables that `uses` says it
/// uses: one that uses none is measured once. The commands vary fastest, then the first variable.
/// Refuses more than kMostCommands.
Result<std::vector<Combination>> combinations_of(
    const std::vector<Variable>& variables, std::size_t typed,
    const std::function<bool(std::size_t typed, const Variable& variable)>& uses);

/// With the metric that --jobs brings along.
Options with_throughput(Options options);

/// Refuses ways of running that do not go together, such as an output to be compared of runs that
/// are ended early.
Result<void> check_ways_of_running(const Options& options, const Plan& plan);

}  // namespace lauka
