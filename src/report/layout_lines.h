#pragma once

#include "results/results.h"

#include <string>

namespace lauka::report {

/// Returns lines about the effect of code placement as measured by --layouts; empty without
/// --layouts.
std::string layout_lines(const Results& results);

/// Returns advice to use --layouts, if a session without --layouts has a significant change of a
/// time that is small enough to come from code placement; else empty.
std::string layouts_advice_line(const Results& results);

/// True if the delta of the first layout differs from the delta of all layouts in direction or
/// significance, and would probably do so with as many runs as all layouts have.
bool is_misled_by_one_layout(const MetricResult& row);

}  // namespace lauka::report
