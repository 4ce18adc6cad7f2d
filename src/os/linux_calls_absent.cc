#include "os/linux_calls.h"
#include "os/memory_groups.h"

namespace lauka::os {

const LinuxCalls* linux_calls() {
  return nullptr;
}

const GroupCalls* group_calls() {
  return nullptr;
}

}  // namespace lauka::os
