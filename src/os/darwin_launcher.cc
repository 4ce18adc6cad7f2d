#include "os/spawning_launcher.h"

namespace lauka::os {

Result<std::unique_ptr<Launcher>> start_launcher() {
  return start_spawning_launcher(*darwin_calls());
}

}  // namespace lauka::os
