#pragma once

#include <optional>
#include <string>

namespace lauka::os {

/// A variable of lauka's own environment; none: it is not set, or empty.
std::optional<std::string> variable(const char* name);

}  // namespace lauka::os
