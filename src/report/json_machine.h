#pragma once

#include "core/machine.h"

#include <nlohmann/json_fwd.hpp>

namespace lauka::report {

/// The machine as every JSON of lauka has it.
nlohmann::ordered_json json_of(const Machine& machine);

}  // namespace lauka::report
