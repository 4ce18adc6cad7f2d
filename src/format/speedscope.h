#pragma once

#include "core/choices.h"
#include "results/results.h"

namespace lauka {

/// Writes --export-speedscope: one profile with the sampled call stacks of each command that has
/// some.
void write_speedscope(const Report& report, const Sink& sink);

}  // namespace lauka
