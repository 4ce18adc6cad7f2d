#pragma once

#include "core/machine_facts.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"

namespace lauka::os {

/// What Linux tells of its machine in /proc and /sys; nothing is changed, nothing is run.
MachineFacts linux_facts(const LinuxCalls& calls);

/// What macOS tells of its machine.
MachineFacts darwin_facts(const DarwinCalls& calls);

/// That of this machine; where it is neither, only what is the same everywhere.
MachineFacts machine_facts();

}  // namespace lauka::os
