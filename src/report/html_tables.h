#pragma once

#include "core/choices.h"
#include "results/results.h"

#include <string>

namespace lauka::report {

/// Deltas of all metrics shown, of all commands, each coloured where it is significant. Empty where
/// there is no delta.
std::string delta_matrix(const Results& results);

/// The table of each command, folded.
void write_tables(const Results& results, const Sink& sink);

/// The page's script: it names the run under the pointer.
std::string_view html_script();

}  // namespace lauka::report
