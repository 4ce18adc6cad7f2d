#pragma once

#include "core/metric.h"
#include "core/result.h"
#include "session/recording.h"

#include <span>

namespace lauka {

/// Adds the metric "EVENT@FUNCTION" of each gate to a session that was read, if it lacks that
/// metric and knows EVENT for each function. Refuses a function that none of its commands has,
/// unless `may_lack` is true: it is then 0.
Result<void> add_function_metrics(std::span<const Condition> gates, bool may_lack,
                                  Recording& session);

/// Returns the error that no command has the function `wanted`, with the most similar names.
Error unknown_function(const std::string& wanted, std::span<const FunctionTable> tables);

/// True if a command has a function that `wanted` means.
bool has_function(std::span<const FunctionTable> tables, std::string_view wanted);

}  // namespace lauka
