#include "os/linux_calls.h"

namespace lauka::os {

const LinuxCalls* linux_calls() {
  return nullptr;
}

}  // namespace lauka::os
