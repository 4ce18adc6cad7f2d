#pragma once

#include "cli/options.h"
#include "core/command.h"
#include "core/record.h"
#include "core/result.h"
#include "plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// With --layouts, each command has several builds, its layouts, which differ in the placement of
// their code. A sweep is as many rounds as there are layouts: each layout has one of them.

namespace lauka {

/// True if the number of a layout belongs somewhere in `text`.
bool mentions_layout(std::string_view text);

/// Returns a layout of a command, counted from 0: its number, from 1, is in place of {layout} in
/// everything that is run. Without --layouts the command itself.
Command command_in_layout(const Plan& plan, std::size_t command, std::uint32_t layout);

/// Returns the command's name for messages about a run: "./old-3", or "./old (layout 3)".
std::string name_in_layout(const Plan& plan, const Step& step);

/// Rounds `rounds` up to whole sweeps.
constexpr std::uint64_t whole_sweeps(const Plan& plan, std::uint64_t rounds) {
  return (rounds + plan.setting.layouts - 1) / plan.setting.layouts * plan.setting.layouts;
}

/// Refuses commands whose layouts would be the same, and a variable of -L with that name.
Result<void> check_layouts(const Options& options, const std::vector<Command>& commands);

}  // namespace lauka
