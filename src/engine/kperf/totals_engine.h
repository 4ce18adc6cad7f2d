#pragma once

#include "core/result.h"
#include "engine/engine.h"
#include "engine/kperf/kpep.h"

#include <memory>
#include <optional>

namespace lauka::engine::kperf {

/// Counts what the kernel itself accounts to each process, exactly and without root: cycles,
/// instructions, energy. `why`: why no more can be counted here. `database`: the events that could
/// be, to answer questions about; none: not known.
std::unique_ptr<CounterEngine> make_totals_engine(Unavailable why,
                                                  std::optional<KpepDatabase> database);

}  // namespace lauka::engine::kperf
