#include "os/linux_calls.h"
#include "os/machine.h"

namespace lauka::os {

std::string cpu_model() {
  return cpu_model_of(linux_calls()->read_file("/proc/cpuinfo").value_or(""));
}

std::string os_name() {
  return os_name_of(linux_calls()->read_file("/etc/os-release").value_or(""));
}

}  // namespace lauka::os
