#pragma once

#include "os/darwin_calls.h"

namespace lauka::os {

/// Kills `leader`, its process group, and its descendants, also those that left the group. What a
/// process of its own started and left behind (init's child by now) is not found.
void kill_with_descendants(const DarwinCalls& calls, pid_t leader);

}  // namespace lauka::os
