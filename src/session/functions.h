#pragma once

#include "core/metric.h"
#include "core/result.h"
#include "session/recording.h"

#include <span>
#include <string>

namespace lauka {

/// Adds the metric "EVENT@FUNCTION" of each gate to a session from a file, if it lacks the metric
/// and has EVENT and values by function. Refuses a function that no command has, unless `may_lack`:
/// its value is then 0.
Result<void> add_function_metrics(std::span<const Condition> gates, bool may_lack,
                                  Recording& session);

/// Refuses the first of the functions `wanted` that no command has, and suggests similar names.
/// `others` are functions of a baseline's commands. Empty names are ignored.
Result<void> check_functions(std::span<const std::string> wanted,
                             std::span<const FunctionTable> tables,
                             std::span<const FunctionTable> others = {});

}  // namespace lauka
