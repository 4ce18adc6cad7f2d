#pragma once

#include "report/style.h"
#include "results/results.h"

#include <string>
#include <vector>

namespace lauka::report {

/// All that is shown of results: the table unless `quiet`, and the line of each gate. Nothing where
/// nothing was counted.
std::string screen(const Results& results, const Style& style, bool quiet);

/// Notes as lines for standard error, each once.
std::string note_lines(const std::vector<std::string>& notes);

}  // namespace lauka::report
