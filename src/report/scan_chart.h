#pragma once

#include "results/results.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace lauka::report {

/// Returns a chart of a metric's medians against a numeric parameter. Empty if there is nothing to
/// draw.
std::string scan_chart(const Results& results, std::size_t metric);

/// True if a single typed command was run with at least three different values of a parameter, all
/// of them numbers.
bool is_scan(const Results& results);

/// Returns two numbers for each command of a scan: the number of its colour, and the rank of its
/// parameter's value, from 0 for the smallest to 1 for the largest. Empty if the session is not a
/// scan.
std::vector<std::pair<std::size_t, double>> scan_colors(const Results& results);

/// Returns the result of a scan in a sentence: "wall time grows as n^1.02 (0.98 … 1.06); fastest at
/// n = 10 (mean 12.3ms)". Empty if the session is not a scan, or has no values.
std::string scan_headline(const Results& results, std::size_t metric_index);

}  // namespace lauka::report
