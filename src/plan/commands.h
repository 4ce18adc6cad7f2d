#pragma once

#include "cli/options.h"
#include "core/command.h"
#include "core/result.h"
#include "plan/plan.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Makes the commands to measure, the reference first: those typed, with each combination of
/// parameters, and with their names, hooks, variables and output. Refuses commands that cannot be
/// run, a variable that no command uses, and options given neither once nor once per command.
Result<std::vector<Command>> commands_of(const Options& options);

/// Returns the error that there are more names than commands.
Error too_many_names(std::size_t names, std::size_t commands);

/// Returns a line for each command whose text has shell syntax outside quotes although no shell
/// runs it, if the commands differ in it: most likely a slip.
std::vector<std::string> hints_about_shells(const Options& options);

/// Returns a line if a command is a grep whose output is thrown away: GNU's stops at the first
/// match.
std::vector<std::string> hints_about_output(const std::vector<Command>& commands);

/// Returns lines about accepted values that most likely mean something else: "-d 5000", a rate of
/// which less would count as better, an unknown unit.
std::vector<std::string> hints_about_options(const Options& options);

/// A line if the quotes of a command were most likely forgotten.
std::vector<std::string> hints_about_quotes(const Options& options);

/// Returns `error`, which kept command `failed` from starting, with a suggestion if its words show
/// what was meant.
Error with_suggestion(Error error, const Plan& plan, std::size_t failed);

/// Returns commit, branch and dirty (yes, no) from the output of `git status --porcelain=v2
/// --branch`: no branch if none is checked out, nothing before the first commit.
std::vector<Label> labels_of_git(std::string_view status);

/// Joins the given labels with the others that were found. Sorted by key, like the reader of the
/// JSON, so that an export of an export is the same.
std::vector<Label> with_given(std::vector<Label> given, const std::vector<Label>& found);

/// The largest number of commands in one session.
inline constexpr std::size_t kMostCommands = 10'000;

/// A variable and all its values, in order.
struct Variable {
  std::string name;
  std::vector<std::string> values;
};

/// True if `text` contains {NAME}.
bool mentions(std::string_view text, std::string_view name);

/// Returns `text` with the value of each parameter in place of its {NAME}; inserted text is not
/// searched again, and other braces stay.
std::string with_parameters(std::string_view text, const std::vector<Parameter>& parameters);

/// One command to measure: a command typed, and its values.
struct Combination {
  std::size_t typed = 0;
  std::vector<Parameter> parameters{};
};

/// With the metric that --jobs brings along.
Options with_throughput(Options options);

/// Refuses ways of running that do not go together, such as an output to be compared of runs that
/// are ended early.
Result<void> check_run_options(const Options& options, const Plan& plan);

}  // namespace lauka
