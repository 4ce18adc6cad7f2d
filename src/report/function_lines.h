#pragma once

#include "report/style.h"
#include "report/table.h"
#include "results/results.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lauka::report {

/// Returns up to three lines with functions that certainly differ in a metric: "  most of it: parse
/// +34.2M (+2.9%)". Empty if there is no such function.
std::string function_lines(const Results& results, std::size_t metric_index, std::size_t candidate);

/// Returns function_lines for a failed gate; empty for another answer.
std::string functions_of_failed_gate(const Results& results, const gate::Verdict& verdict);

/// Returns lines about the functions of each candidate, except lines that are already below a
/// failed gate.
std::string function_summary(const Results& results);

struct FunctionSection {
  std::string title;
  Table table;
};

/// Returns the tables of --functions; empty without --functions or without functions.
std::vector<FunctionSection> function_sections(const Results& results);

/// Returns up to three lines with the functions of a suite that certainly changed. The largest
/// changes, as a share of the reference's total, come first.
std::string largest_function_change_lines(const Report& suite);

/// Returns why --functions has no table; empty without --functions. Requires that there is no
/// table.
std::string why_no_functions(const Results& results);

/// Returns the tables of --functions as text, or why there is no table; empty without --functions.
std::string function_text(const Results& results, const Style& style);

}  // namespace lauka::report
