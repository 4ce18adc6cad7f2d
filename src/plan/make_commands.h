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

/// Makes the commands to measure: each typed command with each combination of its parameters.
Result<std::vector<Command>> make_commands(const CommandOptions& options);

Error make_too_many_names_error(std::size_t names, std::size_t commands);

/// Returns hints about probable mistakes in the command line.
std::vector<std::string> make_hints(const Options& options, const std::vector<Command>& commands);

/// Adds a suggestion, as the remedy, to the `error` of a command (index `failed`) that did not
/// start. Returns `error` unchanged if there is nothing to suggest.
Error add_suggestion(Error error, const Plan& plan, std::size_t failed);

/// Returns labels for commit and branch from the output of `git rev-parse HEAD --symbolic-full-name
/// HEAD`. The branch is missing if no branch is checked out.
std::vector<Label> labels_of_git_head(std::string_view head);

/// Joins the user's labels `given` with the labels `found`, sorted by key. A label in `given`
/// replaces a label in `found` with the same key.
std::vector<Label> merge_labels(std::vector<Label> given, const std::vector<Label>& found);

}  // namespace lauka
