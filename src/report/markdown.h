#pragma once

#include "results/results.h"

#include <string>
#include <string_view>

namespace lauka::report {

/// --export-markdown: for a pull request. One table of the rows that the terminal shows too, a line
/// for each candidate and gate, and the warnings. Names stand as code; what Markdown would take for
/// its own in them is escaped as GitHub wants it.
std::string results_markdown(const Results& results);

/// `text` as code in a cell of a table: in as many backticks as it takes, line breaks and other
/// control characters made visible, and each | escaped (a table is divided into cells before its
/// code is looked for).
std::string code_cell(std::string_view text);

}  // namespace lauka::report
