#pragma once

#include "core/result.h"
#include "engine/kperf/kpep.h"
#include "os/darwin_calls.h"

#include <string>

namespace lauka::confirm {

/// Prints the machine's facts and the table. Gives the status of scripts/confirm-on-mac: 0 all
/// holds, 1 something does not, 2 it cannot be tried.
int run(const os::DarwinCalls& calls, Result<engine::kperf::KpepDatabase> database,
        const std::string& fixtures);

/// Says why it cannot be tried; gives 2.
int refuse(const Error& error);

}  // namespace lauka::confirm
