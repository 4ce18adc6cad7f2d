#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace lauka {

/// How many insertions, deletions, replacements and swaps of neighbours turn one into the other
/// (optimal string alignment).
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The candidate that `typed` was most likely meant to be, or nothing where none is near: one that
/// it abbreviates, else the one of least edit_distance, at most a third of its length.
std::string_view nearest(std::string_view typed, std::span<const std::string_view> candidates);

}  // namespace lauka
