#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace lauka::os {

/// Lets the others go on; returns when it is one's turn again.
using Yield = std::function<void()>;

/// Carries out activities that take turns, each in a thread of its own, of which one goes on at a
/// time: what they share needs no lock. Each has its first turn in order; then `next` chooses among
/// those that are not over (ascending), until all are. Signals come to whose turn it is. What one
/// throws comes out when the others are over.
void take_turns(const std::vector<std::function<void(const Yield&)>>& activities,
                const std::function<std::size_t(std::span<const std::size_t>)>& next);

}  // namespace lauka::os
