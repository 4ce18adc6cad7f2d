#pragma once

#include "app/call.h"
#include "cli/options.h"
#include "core/choices.h"
#include "core/result.h"
#include "os/files.h"
#include "results/results.h"

#include <string>
#include <vector>

namespace lauka {

/// Shows and exports the results. Returns the exit status.
int deliver(Call& call);

/// Takes the session that was measured last, and analyses it without the facts about the machine.
/// The call has a single benchmark.
Results analyse_session(Call& call);

/// True if results are exported as JSON or HTML.
bool exports_whole_session(const OutputOptions& options);

int print_error(const Error& error, ExitStatus status);

/// Prints notes on standard error, unless --quiet is set.
void say_notes(const Call& call, const std::vector<std::string>& notes);

/// Prints `text` on standard error. Ignores failures.
void print_to_standard_error(const std::string& text);

/// Returns the stream for tables: standard error if an export goes to standard output, else
/// standard output.
os::StandardStream choose_stream_for_tables(const OutputOptions& options);

}  // namespace lauka
