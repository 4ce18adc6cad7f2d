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
Result<std::vector<Command>> make_commands(const CommandOptions& options);

/// Returns the error that there are more names than commands.
Error too_many_names(std::size_t names, std::size_t commands);

/// Returns hints about likely mistakes, one line each: shell syntax without a shell, missing
/// quotes,
/// "-d 5000", a rate for which less would be better, an unknown unit, a grep whose output is
/// discarded.
std::vector<std::string> hints_about(const Options& options, const std::vector<Command>& commands);

/// Returns `error`, which kept command `failed` from starting, with a suggestion if its words show
/// what was meant.
Error with_suggestion(Error error, const Plan& plan, std::size_t failed);

/// Returns commit and branch from the output of `git rev-parse HEAD --symbolic-full-name HEAD`: no
/// branch if none is checked out, nothing before the first commit.
std::vector<Label> labels_of_head(std::string_view head);

/// Joins the given labels with the others that were found. Sorted by key, like the reader of the
/// JSON, so that an export of an export is the same.
std::vector<Label> with_given(std::vector<Label> given, const std::vector<Label>& found);

/// Adds the metric that --jobs implies.
CountingOptions with_throughput(CountingOptions options, std::optional<std::uint64_t> jobs);

/// Refuses ways of running that do not go together, such as an output to be compared of runs that
/// are ended early.
Result<void> check_run_options(const Options& options, const Plan& plan);

}  // namespace lauka
