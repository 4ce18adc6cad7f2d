#pragma once

#include "core/result.h"
#include "engine/kperf/kernel.h"

#include <string>

namespace lauka::engine::kperf {

/// What was asked of the kernel when it refused.
enum class Asked : unsigned char {
  Force,  ///< all counters for lauka
  Count,  ///< kpc: words, counting
  Trace,  ///< kperf and kdebug
};

/// Why the kernel refused with `error`, and the way out. `kernel` tells who has the tracing.
Unavailable reason_of(Asked asked, int error, const Kernel& kernel);

/// What is told of an event that this kernel refuses to count.
std::string forbidden_event(const std::string& name, std::uint64_t word);

}  // namespace lauka::engine::kperf
