#pragma once

#include "core/record.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lauka::report {

/// Why a session ended before its plan was carried out, as one line for standard error, and below
/// it, indented, the end of what a failed run or hook wrote; the same for hooks that failed after
/// that. Empty where all went well. `names` are the commands' names. lauka's own words are broken
/// at `width` cells (0: no limit).
std::string ending_lines(const Session& session, const std::vector<std::string>& names,
                         std::size_t width = 0);

}  // namespace lauka::report
