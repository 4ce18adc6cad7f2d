#pragma once

#include "os/darwin_calls.h"

#include <string>

namespace lauka::darwin {

/// A function of kperf.framework as the facts have it (1.2): thin wrappers of sysctls, which they
/// make through `calls`. Null: the framework has no such symbol.
void* framework_symbol(const os::DarwinCalls& calls, const std::string& name);

}  // namespace lauka::darwin
