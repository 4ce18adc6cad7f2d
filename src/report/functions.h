#pragma once

#include "report/style.h"
#include "report/table.h"
#include "results/functions.h"
#include "results/results.h"

#include <cstddef>
#include <string>
#include <vector>

// Differences taken apart by function.

namespace lauka::report {

/// Returns up to three lines with the functions that account for a candidate's difference in a
/// metric: "  most of it: parse +34.2M (+2.9%)", in percent of the reference. Empty if the metric
/// is not known for each function, or no function differs for sure.
std::string function_lines(const Results& results, std::size_t metric, std::size_t candidate);

/// Returns function_lines for a failed gate; empty for another verdict.
std::string functions_below(const Results& results, const gate::Verdict& verdict);

/// Returns function_lines for one metric of each candidate: the first that differs significantly
/// and is known for each function. A metric of sampled time qualifies if one of its functions
/// differs significantly; if none does, a line reports that. Leaves out lines that a failed gate
/// already shows.
std::string function_summary(const Results& results);

/// A table of --functions, with the line above it.
struct FunctionSection {
  std::string title;  ///< "instructions by function"
  Table table;
};

/// Returns a table for the first metric that is known for each function, or for all of them if
/// events or rows were chosen; empty without --functions.
std::vector<FunctionSection> function_sections(const Results& results);

/// Returns a line for each of the functions of a suite that account for the largest parts of their
/// benchmark's difference: at most three, of the metrics of function_summary.
std::string largest_functions(const Report& suite);

/// Explains why --functions has no table, if it has none; empty if it is not wanted.
std::string why_no_functions(const Results& results);

/// Returns the tables as text; empty without --functions.
std::string function_text(const Results& results, const Style& style);

}  // namespace lauka::report
