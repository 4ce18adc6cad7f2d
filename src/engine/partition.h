#pragma once

#include "core/result.h"

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace lauka::engine {

/// Indices of events, ascending.
using EventIndices = std::vector<std::size_t>;

/// True if these events fit the counters at once. Each event alone does and is not tried.
using Fits = std::function<Result<bool>(const EventIndices&)>;

/// Divides the events 0..count-1 into the fewest sets that fit. Two events of `together` share a
/// set if that needs no further one; earlier pairs are served first. Refused if `fits` refuses to
/// answer.
///
/// Fewest is proven where each event may use certain counters and needs one of them (a transversal
/// matroid, whose partition by augmenting paths is optimal: Edmonds, "Minimum partition of a
/// matroid into independent subsets", 1965), which covers equal counters, with or without fixed
/// ones; for up to ten events, whatever the rules, by trying all divisions; beyond that the result
/// always fits, but may not be the smallest.
Result<std::vector<EventIndices>> partition(
    std::size_t count, const Fits& fits,
    const std::vector<std::pair<std::size_t, std::size_t>>& together);

/// Finds events that do not fit at once, although without any one of them the others do; empty if
/// all of 0..count-1 fit. Refused if `fits` refuses to answer.
Result<EventIndices> competing(std::size_t count, const Fits& fits);

}  // namespace lauka::engine
