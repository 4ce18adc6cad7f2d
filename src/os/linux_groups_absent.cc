#include "os/memory_groups.h"

namespace lauka::os {

const GroupCalls* group_calls() {
  return nullptr;
}

}  // namespace lauka::os
