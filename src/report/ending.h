#pragma once

#include "core/record.h"

#include <string>
#include <vector>

namespace lauka::report {

/// Why a session ended before its plan was carried out, as one line for standard error, and below
/// it, indented, the end of what a failed run wrote there. `names` are the commands' names.
std::string ending_lines(const CutShort& why, const std::vector<std::string>& names);

}  // namespace lauka::report
