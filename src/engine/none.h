#pragma once

#include "core/result.h"
#include "engine/engine.h"

#include <memory>
#include <optional>

namespace lauka::engine {

/// Counts nothing but what the kernel accounts to every process anyway, and this only when asked
/// for. `why`: what keeps a real engine from working; none: the user wants this one.
std::unique_ptr<CounterEngine> make_none_engine(std::optional<Unavailable> why);

}  // namespace lauka::engine
