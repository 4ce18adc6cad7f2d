#include "os/linux_calls.h"
#include "os/memory_groups.h"
#include "os/setting_files.h"

namespace lauka::os {

const LinuxCalls* linux_calls() {
  return nullptr;
}

const GroupCalls* group_calls() {
  return nullptr;
}

std::unique_ptr<SettingFiles> open_setting_files(const std::string& /*root*/) {
  return nullptr;
}

}  // namespace lauka::os
