#pragma once

#include "core/tuning.h"
#include "os/setting_files.h"

#include <cstdint>
#include <vector>

namespace lauka::tune {

/// Reads how the machine is; `cpus` are the commands' own, all if there are none.
Vitals read_vitals(os::SettingFiles& files, std::vector<std::uint32_t> cpus);

}  // namespace lauka::tune
