#pragma once

#include "cli/options.h"

#include <string>
#include <utility>
#include <vector>

namespace lauka {

/// Makes options of a call that names these commands and parameters, and nothing else.
inline Options options_of(std::vector<std::string> commands,
                          std::vector<ParameterOption> parameters = {}) {
  Options options;
  options.commands = std::move(commands);
  options.parameters = std::move(parameters);
  return options;
}

}  // namespace lauka
