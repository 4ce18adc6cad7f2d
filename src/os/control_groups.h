#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "os/linux_calls.h"
#include "os/setting_files.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lauka::os {

/// Returns the limits of this process: its CPU affinity, and the smallest limits of CPU time and of
/// memory that its control groups and their ancestors have (cgroup v1 and v2). Ignores a memory
/// limit that is not below the machine's memory.
Allowance read_allowance(const LinuxCalls& calls);

/// Returns the throttling so far of this process's control group and of the group's ancestors, the
/// innermost group first. Leaves out groups without a CPU quota.
std::vector<QuotaWait> read_throttling(const LinuxCalls& calls);

/// Makes control groups (cgroup v2), one for each run. The kernel measures the peak memory of all
/// processes of a group together.
class MemoryGroups : NonCopyable {
 public:
  virtual ~MemoryGroups() = default;

  /// Makes the group of the next run. Returns the path of a file: a process joins the group by
  /// writing "0" to this file.
  virtual Result<std::string> begin() = 0;

  /// Ends the group of the latest run. Returns the group's peak memory in bytes; nullopt if
  /// unknown, or if no process joined.
  virtual std::optional<std::uint64_t> end() = 0;
};

/// Finds a place for control groups, or returns what is missing. `files` (null if this system has
/// no control groups) must outlive the result.
Result<std::unique_ptr<MemoryGroups>> open_memory_groups(SettingFiles* files);

}  // namespace lauka::os
