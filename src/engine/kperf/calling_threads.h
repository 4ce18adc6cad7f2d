#pragma once

#include "engine/engine.h"

namespace lauka::engine {

/// Makes an engine for macOS that counts, without root, the cycles and instructions of the threads
/// that call into a region (lauka/region.h). `engine` counts whole runs if they are requested, too.
OwnedEngine with_calling_thread_counts(OwnedEngine engine);

}  // namespace lauka::engine
