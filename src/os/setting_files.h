#pragma once

#include "core/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::os {

/// The files through which Linux shows and takes its settings, and the journal of their changes.
/// Files of settings. Each call is one step, so that tests can stop after any step. Paths are
/// absolute; a path with a symbolic link in it is refused (ELOOP or ENOTDIR).
class SettingFiles : NonCopyable {
 public:
  virtual ~SettingFiles() = default;

  /// Reads the first 64 KB of a file; nullopt if it cannot be read.
  virtual std::optional<std::string> read(const std::string& path) = 0;

  /// Reads the whole journal; nullopt if it is missing. Refused with the reason if it is not a file
  /// that this user alone may write to, or cannot be read to its end.
  virtual Result<std::optional<std::string>> read_journal(const std::string& path) = 0;

  /// Lists the names in a folder, sorted; empty if there is no such folder.
  virtual std::vector<std::string> list(const std::string& folder) = 0;

  /// Checks that this process may write a file. Returns 0 or errno, as do the next.
  virtual int check_writable(const std::string& path) = 0;

  /// Writes to a file that is there, in a single system call.
  virtual int write(const std::string& path, std::string_view text) = 0;

  /// Makes a file of the journal if missing, adds `text` to it and waits until it is on the disk.
  virtual int append(const std::string& path, std::string_view text) = 0;

  /// Makes a folder that only this user may list and write to.
  virtual int make_folder(const std::string& path) = 0;

  /// Removes a file or an empty folder.
  virtual int remove(const std::string& path) = 0;

  /// Locks a folder until unlock() or the end of this process. EWOULDBLOCK if another process holds
  /// it; ENOENT if it has gone; EPERM if others own it or may write to it.
  virtual int lock(const std::string& folder) = 0;
  virtual void unlock() = 0;

  /// Writes `latency_us` to the device and keeps it open, as long as which it is in force.
  virtual int hold_latency(const std::string& device, std::int32_t latency_us) = 0;
  virtual void release_latency() = 0;

  /// Returns the id of this process, and true if there is a process of that id.
  virtual int own_pid() = 0;
  virtual bool is_alive(int pid) = 0;

  /// Waits a millisecond.
  virtual void wait() = 0;
};

/// Opens the files below `root`, which is "/" except in tests; it may have links in it. Null if
/// this system is not Linux.
std::unique_ptr<SettingFiles> open_setting_files(const std::string& root = "/");

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
