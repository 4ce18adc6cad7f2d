#pragma once

#include <bit>
#include <cstdint>

namespace lauka::cores {

/// How often a thread moved between kinds of core, as far as can be seen: the fewest moves that
/// explain on which kinds it was. No system counts them; a thread that left and came back between
/// two looks, without being seen there, is taken for one that stayed.
class SeenMoves {
 public:
  /// `kinds`: a bit for each that it was on since the last call. The moves that this takes.
  std::uint64_t see(std::uint32_t kinds) {
    if (kinds == 0) return 0;
    const auto count = static_cast<std::uint64_t>(std::popcount(kinds));
    const std::uint32_t began_on = where_ & kinds;
    const bool came_from_elsewhere = where_ != 0 && began_on == 0;
    // Of several it ends on another than it began on.
    const bool is_elsewhere = count > 1 && std::popcount(began_on) == 1;
    where_ = is_elsewhere ? kinds & ~began_on : kinds;
    return count - 1 + (came_from_elsewhere ? 1 : 0);
  }

 private:
  std::uint32_t where_ = 0;  // may be there now; 0: nothing is known
};

}  // namespace lauka::cores
