#pragma once

#include "report/style.h"
#include "results/results.h"

#include <string>

namespace lauka::report {

/// The table of every benchmark (or, of many, a compact one) and, for two or more commands, the
/// summary lines: text that ends with a line feed. Columns are aligned over all benchmarks. In a
/// narrower terminal a full table gives up, in this order: spacing, the outliers' percentage, more
/// than three digits in a range, the outliers, the range, the end of long metric names.
std::string table(const Results& results, const Style& style);

/// The lines that compare wall times, fastest first; empty where there is nothing to compare.
std::string summary_lines(const Results& results, const Style& style);

}  // namespace lauka::report
