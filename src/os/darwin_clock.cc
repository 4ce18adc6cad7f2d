#include "os/clock.h"

namespace lauka::os {

// XNU reads its clock at every change between user space and kernel: there is no tick to divide CPU
// time by.
std::optional<std::chrono::nanoseconds> scheduler_tick() {
  return std::nullopt;
}

}  // namespace lauka::os
