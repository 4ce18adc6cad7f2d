#pragma once

#include "core/metric.h"
#include "core/result.h"
#include "session/recording.h"

#include <span>
#include <string>

namespace lauka {

/// Adds the metrics "EVENT@FUNCTION" that `gates` need to a session, if the session has the metric
/// EVENT and values by function. Refuses a function that no command has, unless `may_lack` is true;
/// then the function's values are 0.
Result<void> add_function_metrics(std::span<const Condition> gates, bool may_lack,
                                  Recording& session);

/// Refuses the first function of `wanted` that is in none of `tables` and `others`, and suggests
/// similar names. Ignores empty names.
Result<void> check_functions(std::span<const std::string> wanted,
                             std::span<const FunctionTable> tables,
                             std::span<const FunctionTable> others = {});

}  // namespace lauka
