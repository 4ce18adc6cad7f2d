#pragma once

#include "core/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::os {

/// Control groups for runs, one for each, of which the kernel tells the most memory that all
/// processes in them had together (Linux: cgroup v2, memory.peak).
class MemoryGroups : NonCopyable {
 public:
  virtual ~MemoryGroups() = default;  ///< removes what is left

  /// Makes the group of the next run. Gives the file to which a process that joins it writes "0".
  virtual Result<std::string> begin() = 0;

  /// The peak of the run that has ended, in bytes; none: it cannot be read. Its group goes.
  virtual std::optional<std::uint64_t> end() = 0;
};

/// What control groups are made with. Each call is one system call or reads one file; none decides
/// anything.
struct GroupCalls {
  /// The first 64 KB of a file; none where it cannot be read.
  std::optional<std::string> (*read_file)(const std::string& path);
  /// 0 or errno, as of those that follow.
  int (*write_file)(const std::string& path, std::string_view text);
  int (*make_folder)(const std::string& path);
  int (*remove_folder)(const std::string& path);
  /// Whether a file may be written, with this process's rights.
  bool (*may_write)(const std::string& path);
  /// The names in a folder, sorted; none where there is no such folder.
  std::vector<std::string> (*list_folder)(const std::string& path);
  int (*own_pid)();
  /// Whether there is such a process.
  bool (*is_alive)(int pid);
};

/// The calls of this system; null where it has no control groups.
const GroupCalls* group_calls();

/// Looks for a place where such groups can be made; refused with what is missing.
Result<std::unique_ptr<MemoryGroups>> open_memory_groups(const GroupCalls* calls);

}  // namespace lauka::os
