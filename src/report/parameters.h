#pragma once

#include "report/style.h"
#include "results/results.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

/// The variables that commands were made with, each once, in the order in which commands have them.
std::vector<std::string> parameter_names(const Results& results);

/// The value that a command was made with; null where it does not use the variable.
const Parameter* find_parameter(const CommandResult& command, std::string_view name);

/// Where one variable was tried with several values: a table with a row for each value and a column
/// with the mean wall time of each command typed; for a single one also how it differs from the
/// first value's. Empty otherwise. Ends in a line feed.
std::string scan_table(const Results& results, const Style& style);

}  // namespace lauka::report
