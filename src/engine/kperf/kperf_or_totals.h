#pragma once

#include "engine/engine.h"
#include "engine/kperf/kpep.h"

#include <memory>

namespace lauka::engine::kperf {

/// Counts with `kperf`. Where the user named no events and the kernel, which gave the counters
/// away, then refuses to count with them, all is given back, and the kernel's own totals are
/// counted with the reason told. Named events are refused instead. `database`: what `kperf` was
/// made of.
std::unique_ptr<CounterEngine> make_kperf_or_totals(std::unique_ptr<CounterEngine> kperf,
                                                    KpepDatabase database);

}  // namespace lauka::engine::kperf
