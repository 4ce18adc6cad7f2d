#pragma once

#include "core/choices.h"
#include "core/event.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace lauka {

/// Confidence of intervals and gates without --confidence.
inline constexpr double kDefaultConfidence = 0.95;

struct StopRule {
  std::optional<std::uint64_t> exact_runs{};
  std::uint64_t min_runs = 10;
  std::optional<std::uint64_t> max_runs{};
  std::chrono::nanoseconds budget_per_command = std::chrono::seconds(5);
};

/// The part of a plan that results keep (Recording::setting).
struct Setting {
  Order order = Order::Random;
  std::uint64_t seed = 0;
  std::uint64_t warmup_runs = 1;
  /// Pattern of --until as typed; nullopt without --until.
  std::optional<std::string> until{};
  std::uint32_t jobs = 1;     ///< number of copies of a command in one run
  std::uint32_t layouts = 1;  ///< number of builds of each command; 1 without --layouts
  EventSet events{};
  StopRule stop{};
  /// True if the order is sequential only because there are setup or cleanup hooks.
  bool order_for_hooks = false;
  /// Copy of CorePlan::min_share_on_first_kind that is made for results; nullopt in a plan.
  std::optional<double> min_share{};
  bool measures_region = false;
};

}  // namespace lauka
