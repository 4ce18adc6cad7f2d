#pragma once

#include "report/style.h"
#include "report/table.h"
#include "results/functions.h"
#include "results/results.h"

#include <cstddef>
#include <string>
#include <vector>

// Differences split by function.

namespace lauka::report {

/// Returns up to three lines with the functions that explain a candidate's difference in a metric:
/// "  most of it: parse +34.2M (+2.9%)", in percent of the reference. Empty if the metric is not
/// known by function, or if no function certainly differs.
std::string function_lines(const Results& results, std::size_t metric, std::size_t candidate);

/// Returns function_lines for a failed gate; empty for any other verdict.
std::string functions_below(const Results& results, const gate::Verdict& verdict);

/// Returns function_lines for one metric of each candidate: the first that differs significantly
/// and is known by function. For sampled time, a function must differ significantly; if none does,
/// a line says so. Leaves out lines that a failed gate already shows.
std::string function_summary(const Results& results);

/// A table of --functions, with the line above it.
struct FunctionSection {
  std::string title;  ///< "instructions by function"
  Table table;
};

/// Returns the tables of --functions: for the first metric that is known by function, or for all of
/// them if the user chose events or rows. Empty without --functions, and if no shown metric is
/// known by function.
std::vector<FunctionSection> function_sections(const Results& results);

/// Returns a line for each function, of at most three, that explains a large part of a benchmark's
/// difference in a suite, in the metrics of function_summary.
std::string largest_functions(const Report& suite);

/// Explains why --functions has no table; called only then. Empty if it is not wanted.
std::string why_no_functions(const Results& results);

/// Returns the tables of --functions as text, or why there is none; empty without --functions.
std::string function_text(const Results& results, const Style& style);

}  // namespace lauka::report
