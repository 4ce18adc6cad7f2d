#pragma once

#include "core/choices.h"
#include "results/results.h"

namespace lauka::report {

/// Writes --export-folded of the target's command: a line for each call path, with the names of its
/// frames from the outermost to the innermost, and the mean CPU time of a run in its last frame in
/// microseconds. If the command has a reference, a line has the reference's time before its own.
void write_folded(const Report& report, const ExportTarget& target, const Sink& sink);

/// Writes --export-folded of the first candidate, or of the only command.
void write_first_folded(const Report& report, const Sink& sink);

}  // namespace lauka::report
