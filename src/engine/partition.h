#pragma once

#include "core/result.h"

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace lauka::engine {

using EventIndices = std::vector<std::size_t>;

/// A function that tests if events fit on the counters at the same time. Called with at least two
/// events.
using FitTest = std::function<Result<bool>(const EventIndices&)>;

/// Divides the events 0..count-1 into sets that fit: into the fewest sets if there are at most ten
/// events. Puts both events of a pair in `wanted_pairs` into the same set if this is found to need
/// no additional set; earlier pairs have priority.
Result<std::vector<EventIndices>> partition(
    std::size_t count, const FitTest& fits,
    const std::vector<std::pair<std::size_t, std::size_t>>& wanted_pairs);

/// Finds a set of events that does not fit, but fits after any one of its events is left out. Empty
/// if all events 0..count-1 fit.
Result<EventIndices> find_competing_events(std::size_t count, const FitTest& fits);

}  // namespace lauka::engine
