#pragma once

#include <span>
#include <string_view>

namespace lauka {

/// The candidate that `typed` was most likely meant to be, or nothing where none is near: one that
/// it abbreviates, else the fewest insertions, deletions, replacements and swaps of neighbours
/// away (optimal string alignment), at most a third of its length.
std::string_view nearest(std::string_view typed, std::span<const std::string_view> candidates);

}  // namespace lauka
