#pragma once

#include "cli/options.h"
#include "plan/make_plan.h"

#include <string>
#include <utility>
#include <vector>

namespace lauka {

/// Makes options of a call that names these commands and parameters, and nothing else.
inline Options options_of(std::vector<std::string> commands,
                          std::vector<ParameterOption> parameters = {}) {
  Options options;
  options.commands.command_lines = std::move(commands);
  options.commands.parameters = std::move(parameters);
  return options;
}

/// An engine that has no events, and refuses those that are asked for.
inline Result<EventSet> no_events(const EventRequest& wanted) {
  if (wanted.names.empty()) return EventSet{};
  return Error{"there is no event '" + wanted.names.front() + "'", ""};
}

/// The line that refuses a plan; "accepted" if none does.
inline std::string answer_to(const Options& options, const EventSelector& select = no_events) {
  const auto plan = make_plan(options, select, {.clock_seed = 1});
  return plan ? "accepted" : plan.error().line();
}

}  // namespace lauka
