#include "core/nearest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lauka {

std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> d(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = d[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[from.size()][to.size()];
}

std::string_view nearest(std::string_view typed, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(typed.size() / 3, 1) + 1;
  for (const std::string_view candidate : candidates) {
    const bool abbreviated = typed.size() > 1 && candidate.starts_with(typed);
    const std::size_t far = abbreviated ? 0 : edit_distance(typed, candidate);
    if (far < best_distance) {
      best = candidate;
      best_distance = far;
    }
  }
  return best;
}

}  // namespace lauka
