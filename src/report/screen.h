#pragma once

#include "report/style.h"
#include "results/report.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lauka::report {

/// All that is shown of results: the table and, the precision reached where one was asked for, and
/// the line of each gate: this also if `quiet`. Nothing where nothing was counted.
std::string screen(const Report& report, const Style& style, bool quiet);
std::string screen(const Results& results, const Style& style, bool quiet);

/// Notes as lines for standard error, each once, broken between words at `width` (0: nowhere).
std::string note_lines(const std::vector<std::string>& notes, std::size_t width = 0);

}  // namespace lauka::report
