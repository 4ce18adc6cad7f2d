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

/// Makes the commands to measure, the reference first: each typed command with each combination of
/// parameters, and with its name, hooks, variables and output. Refuses commands that cannot run, a
/// variable that no command uses, and options given neither once nor once per command.
Result<std::vector<Command>> make_commands(const CommandOptions& options);

/// Returns the error that there are more names than commands.
Error too_many_names(std::size_t names, std::size_t commands);

/// Returns hints about probable mistakes, one line each: shell syntax without a shell, missing
/// quotes, "-d 5000", a rate that is declared better if lower, an unknown unit, a grep whose output
/// is discarded.
std::vector<std::string> hints_about(const Options& options, const std::vector<Command>& commands);

/// Returns `error`, because of which command `failed` did not start, with a suggestion if there
/// is no shell and the command shows what the user meant.
Error with_suggestion(Error error, const Plan& plan, std::size_t failed);

/// Returns labels for commit and branch from the output of `git rev-parse HEAD --symbolic-full-name
/// HEAD`. No branch if none is checked out; empty before the first commit.
std::vector<Label> labels_of_head(std::string_view head);

/// Joins the user's labels `given` with the labels `found`; the user's win. Sorted by key, as when
/// JSON is read, so that an export of an export is the same.
std::vector<Label> with_given(std::vector<Label> given, const std::vector<Label>& found);

/// Adds the metric that --jobs implies to the options.
CountingOptions with_throughput(CountingOptions options, std::optional<std::uint64_t> jobs);

/// Refuses combinations of options about runs that exclude each other, such as comparing the output
/// of runs that are ended early.
Result<void> check_run_options(const Options& options, const Plan& plan);

}  // namespace lauka
