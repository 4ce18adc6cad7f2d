#include "history/chain.h"

#include "history/observe.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <optional>

namespace lauka::history {

namespace {

/// Of two ratios in a row, whose errors have nothing to do with each other.
LogRatio sum_of(const LogRatio& a, const LogRatio& b) {
  LogRatio sum{.value = a.value + b.value};
  if (a.error && b.error) sum.error = std::hypot(*a.error, *b.error);
  return sum;
}

}  // namespace

void Chain::add(const std::string& of, const std::string& to, const LogRatio& ratio) {
  if (of == to || !ratio.error) return;  // how sure a link of one round is nobody knows
  // Whichever of the two was the anchor of that session.
  if (of < to)
    links_[{of, to}].push_back(ratio);
  else
    links_[{to, of}].push_back({-ratio.value, ratio.error});
}

std::map<std::string, LogRatio> Chain::to(const std::string& newest) const {
  std::map<std::string, LogRatio> found{{newest, {0.0, 0.0}}};
  std::deque<std::string> next{newest};
  while (!next.empty()) {
    const std::string at = next.front();
    next.pop_front();
    for (const auto& [ends, ratios] : links_) {
      if (ends.first != at && ends.second != at) continue;
      const std::string& other = ends.first == at ? ends.second : ends.first;
      LogRatio link = mean_of(ratios);
      if (other == ends.second) link.value = -link.value;
      if (found.emplace(other, sum_of(found.at(at), link)).second) next.push_back(other);
    }
  }
  found.erase(newest);
  return found;
}

}  // namespace lauka::history
