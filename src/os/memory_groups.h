#pragma once

#include "core/result.h"
#include "os/setting_files.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace lauka::os {

/// Control groups for runs, one for each. The kernel reports the most memory that all processes of
/// a group had together (Linux: cgroup v2, memory.peak).
class MemoryGroups : NonCopyable {
 public:
  virtual ~MemoryGroups() = default;  ///< removes what is left

  /// Makes the group of the next run. Gives the file to which a process that joins it writes "0".
  virtual Result<std::string> begin() = 0;

  /// Returns the peak of the run that has ended, in bytes; nullopt if it cannot be read. Removes
  /// its group.
  virtual std::optional<std::uint64_t> end() = 0;
};

/// Looks for a place for such groups; refused with the missing part. `files` outlives them; null:
/// this system has no control groups.
Result<std::unique_ptr<MemoryGroups>> open_memory_groups(SettingFiles* files);

}  // namespace lauka::os
