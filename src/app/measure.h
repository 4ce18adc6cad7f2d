#pragma once

#include "app/call.h"
#include "core/result.h"

#include <optional>

namespace lauka {

/// Measures all benchmarks. Returns an exit status if the call must end.
std::optional<int> measure(Call& call);

/// Adds the benchmarks of the suite (--suite).
Result<void> add_suite(Call& call);

/// True if results are exported or compared with a baseline.
bool exports_or_has_baseline(const Call& call);

/// Completes the log of rounds. Removes the log if no benchmark was cut short and all exports were
/// written (`is_exported`).
void end_log(Call& call, bool is_exported);

}  // namespace lauka
