#pragma once

#include "core/event.h"
#include "core/result.h"
#include "engine/perf/source.h"

#include <cstddef>

namespace lauka::engine::perf {

/// `source` where it can be counted in a region: by a counter, since what the kernel accounts to a
/// process is of its whole life.
Result<Source> in_region(Source source);

/// Says beside each event's row that it is of the region.
void mark_region(EventSet& set);

/// Adds the first `count` events of `set` again, of the whole run, and behind all of its passes one
/// of theirs for each.
void add_whole_run(EventSet& set, std::size_t count);

}  // namespace lauka::engine::perf
