#pragma once

#include "cli/options.h"
#include "core/command.h"
#include "core/record.h"
#include "core/result.h"
#include "plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// With --layouts, each command has several builds (layouts) that differ in the placement of their
// code. A sweep consists of one round for each layout.

namespace lauka {

bool mentions_layout(std::string_view text);

/// Returns `text` with the number `layout` (from 1) in place of {layout}.
std::string fill_in_layout(std::string_view text, std::uint64_t layout);

/// Returns a command with the number of a layout in place of {layout}. `layout` counts from 0, the
/// number from 1. Returns the command unchanged without --layouts.
std::shared_ptr<const Command> command_in_layout(const Plan& plan, std::size_t command,
                                                 std::uint32_t layout);

/// Returns the command's name for messages about a run: "./old-3" or "./old (layout 3)".
std::string name_in_layout(const Plan& plan, const Step& step);

/// Returns `rounds`, rounded up to a multiple of `layouts`.
constexpr std::uint64_t round_up_to_sweeps(std::uint64_t rounds, std::uint64_t layouts) {
  return (rounds + layouts - 1) / layouts * layouts;
}

/// Returns `rounds`, rounded up to a multiple of the number of layouts.
constexpr std::uint64_t round_up_to_sweeps(const Plan& plan, std::uint64_t rounds) {
  return round_up_to_sweeps(rounds, plan.setting.layouts);
}

/// Refuses, with --layouts, a command whose layouts would all be the same, and a parameter called
/// layout.
Result<void> check_layouts(const Options& options, const std::vector<Command>& commands);

}  // namespace lauka
