#include "os/setting_files.h"

namespace lauka::os {

std::unique_ptr<SettingFiles> open_setting_files(const std::string& /*root*/) {
  return nullptr;
}

}  // namespace lauka::os
