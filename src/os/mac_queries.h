#pragma once

#include "os/darwin_calls.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka::os {

/// Returns the text of a system variable; nullopt if it cannot be read.
std::optional<std::string> sysctl_text(const DarwinCalls& calls, const std::string& name);

/// Returns the number in a system variable; nullopt if it cannot be read or has neither 4 nor 8
/// bytes.
std::optional<std::int64_t> sysctl_number(const DarwinCalls& calls, const std::string& name);

std::vector<pid_t> find_children(const DarwinCalls& calls, pid_t parent);

}  // namespace lauka::os
