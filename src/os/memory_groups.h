#pragma once

#include "core/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// The calls for control groups. Each is one system call or reads one file, without decisions.
struct GroupCalls {
  /// Returns the first 64 KB of a file; nullopt if it cannot be read.
  std::optional<std::string> (*read_file)(const std::string& path);
  /// Writes a file: 0 or errno, like the following calls.
  int (*write_file)(const std::string& path, std::string_view text);
  int (*make_folder)(const std::string& path);
  int (*remove_folder)(const std::string& path);
  /// True if a file may be written, with this process's rights.
  bool (*may_write)(const std::string& path);
  /// Returns the names in a folder, sorted; empty if there is no such folder.
  std::vector<std::string> (*list_folder)(const std::string& path);
  int (*own_pid)();
  /// True if the process exists.
  bool (*is_alive)(int pid);
};

/// The calls of this system; null if it has no control groups.
const GroupCalls* group_calls();

/// Looks for a place for such groups; refused with the missing part.
Result<std::unique_ptr<MemoryGroups>> open_memory_groups(const GroupCalls* calls);

}  // namespace lauka::os
