#include "os/darwin_calls.h"

namespace lauka::os {

const DarwinCalls* darwin_calls() {
  return nullptr;
}

}  // namespace lauka::os
