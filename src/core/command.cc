#include "core/command.h"

#include <algorithm>

namespace lauka {

const Parameter* find_parameter(const Command& command, std::string_view name) {
  const auto found = std::ranges::find(command.parameters, name, &Parameter::name);
  return found == command.parameters.end() ? nullptr : &*found;
}

}  // namespace lauka
