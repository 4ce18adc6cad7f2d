#pragma once

#include "app/call.h"
#include "core/choices.h"
#include "core/command.h"
#include "core/record.h"
#include "core/result.h"
#include "os/process.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Adds the benchmarks to measure, or reads saved benchmarks. Returns an exit status if the call
/// must end.
std::optional<int> add_benchmarks(Call& call);

/// Makes the plans, reads the baselines and opens the exports. Returns an exit status if the call
/// must end.
std::optional<int> prepare(Call& call);

Result<void> start_launcher(Call& call);

Result<void> find_user(Call& call);

Result<void> decide_cores(const Call& call, Benchmark& benchmark);

Result<void> choose_engine(const Call& call, Benchmark& benchmark);

Error with_benchmark_name(const Error& error, const Benchmark& benchmark);

/// Returns nullopt if `made` has no error. Else, if a signal asked lauka to end, returns the
/// signal's exit status; if not, prints the error and returns `if_refused`.
std::optional<int> status_if_failed(const Result<void>& made,
                                    ExitStatus if_refused = ExitStatus::Usage);

/// Waits for git's answer. Returns the labels of commit and branch; empty if unknown.
std::vector<Label> await_head_labels(Call& call);

/// Adds the labels `head` and a label "dirty" to Call::labels, if git reports whether files are
/// changed. Called after the runs, because git status takes long in a large tree.
void add_git_labels(Call& call, std::vector<Label> head);

/// Reads a file ("-": standard input) with the rights of Call::user. `what` precedes the file's
/// name in errors.
Result<std::string> read_text(const Call& call, const std::string& file, std::string_view what,
                              std::size_t max_bytes);

}  // namespace lauka
