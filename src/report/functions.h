#pragma once

#include "report/style.h"
#include "report/table.h"
#include "results/functions.h"
#include "results/results.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lauka::report {

/// Returns up to three lines with the functions that explain a candidate's difference in a metric:
/// "  most of it: parse +34.2M (+2.9%)". Empty if no function certainly differs.
std::string function_lines(const Results& results, std::size_t metric, std::size_t candidate);

/// Returns function_lines for a failed gate; empty for another verdict.
std::string functions_below(const Results& results, const gate::Verdict& verdict);

/// Returns function_lines for the first metric of each candidate that changed, without the lines
/// that a failed gate shows.
std::string function_summary(const Results& results);

struct FunctionSection {
  std::string title;
  Table table;
};

/// Returns the tables of --functions; empty without --functions or without functions.
std::vector<FunctionSection> function_sections(const Results& results);

/// Returns up to three lines with the functions that explain most of the differences in a suite.
std::string largest_functions(const Report& suite);

/// Returns why --functions has no table. Callers have checked that there is none. Empty without
/// --functions.
std::string why_no_functions(const Results& results);

/// Returns the tables of --functions as text, or why there is none; empty without --functions.
std::string function_text(const Results& results, const Style& style);

}  // namespace lauka::report
