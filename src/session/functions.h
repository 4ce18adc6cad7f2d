#pragma once

#include "core/metric.h"
#include "core/result.h"
#include "session/recording.h"

#include <span>
#include <string>

namespace lauka {

/// Adds the metric "EVENT@FUNCTION" of each gate to a session that was read, if it lacks that
/// metric and knows EVENT for each function. Refuses a function that none of its commands has,
/// unless `may_lack` is true: it is then 0.
Result<void> add_function_metrics(std::span<const Condition> gates, bool may_lack,
                                  Recording& session);

/// Refuses the first of the functions `wanted` that no command has, with the most similar names.
/// `others`: the functions of a baseline's commands. Empty names mean no function.
Result<void> check_functions(std::span<const std::string> wanted,
                             std::span<const FunctionTable> tables,
                             std::span<const FunctionTable> others = {});

}  // namespace lauka
