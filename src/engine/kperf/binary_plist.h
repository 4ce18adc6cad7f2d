#pragma once

#include "core/result.h"

#include <string_view>

namespace lauka::engine::kperf {

/// Refuses a binary property list on which libplist would crash, or never end: nested more than 64
/// deep, in a circle, or of a million values (one object may stand in many places). The error is a
/// predicate of the file.
Result<void> check_binary_plist(std::string_view bytes);

}  // namespace lauka::engine::kperf
