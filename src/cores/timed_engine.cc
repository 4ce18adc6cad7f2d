#include "cores/timed_engine.h"

#include <numeric>

#include <fmt/format.h>

namespace lauka::cores {
namespace {

constexpr std::uint32_t kMostRedos = 3;

}  // namespace

std::optional<LeastShare> least_of(const Decided& decided) {
  if (!decided.use.min_share) return std::nullopt;
  return LeastShare{*decided.use.min_share,
                    fmt::format("less than {}% of the CPU time was spent on {} cores",
                                100 * *decided.use.min_share, decided.kinds.front().name)};
}

void ask_for_redo(engine::Counted& counted, const std::vector<std::uint64_t>& ns,
                  const std::optional<LeastShare>& least) {
  const auto all = std::accumulate(ns.begin(), ns.end(), std::uint64_t{0});
  if (counted.redo || !least || all == 0) return;
  if (static_cast<double>(ns.front()) < least->share * static_cast<double>(all))
    counted.redo = engine::Redo{least->why, kMostRedos};
}

}  // namespace lauka::cores
