#pragma once

#include "report/style.h"
#include "results/results.h"

#include <span>
#include <string>

namespace lauka::report {

/// Returns the callers through which at least half of a function's change came, if they are known
/// with certainty: "parse > read_line". Leaves out the program and main(). Empty if there is no
/// such path.
std::string callers_with_most_of(const FunctionChange& change, std::span<const PathChange> paths);

/// Returns the call paths that differ significantly, as an indented tree for each candidate, or why
/// there are none. Without a candidate, returns those of each command with the largest totals.
/// Empty without --paths.
std::string path_text(const Results& results, const Style& style);

}  // namespace lauka::report
