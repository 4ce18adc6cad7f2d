#pragma once

#include "core/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::os {

/// The files in which Linux shows and accepts settings, and the journal of changes to them. Each
/// call is one step, so that tests can stop after any step. Paths are absolute; a path with a
/// symbolic link in it is refused (ELOOP or ENOTDIR).
class SettingFiles : NonCopyable {
 public:
  virtual ~SettingFiles() = default;

  /// Returns the first 64 KB of a file; nullopt if it cannot be read.
  virtual std::optional<std::string> read(const std::string& path) = 0;

  /// Returns the whole journal; nullopt if it is missing. Refuses a file that is not regular, that
  /// others own or may write to, or that cannot be read to its end (at most 64 MB).
  virtual Result<std::optional<std::string>> read_journal(const std::string& path) = 0;

  /// Returns the names in a folder, sorted; empty, too, if they cannot be read.
  virtual std::vector<std::string> list(const std::string& folder) = 0;

  /// Checks if this process may write to a file. Returns 0 or errno.
  virtual int check_writable(const std::string& path) = 0;

  /// Writes to an existing file in a single system call. Returns 0 or errno.
  virtual int write(const std::string& path, std::string_view text) = 0;

  /// Appends `text` to a file of the journal, which is created if missing, and waits until it is on
  /// disk. Returns 0 or errno.
  virtual int append(const std::string& path, std::string_view text) = 0;

  /// Creates a folder that only this user may list and write to. Returns 0 or errno.
  virtual int make_folder(const std::string& path) = 0;

  /// Removes a file or an empty folder. Returns 0 or errno.
  virtual int remove(const std::string& path) = 0;

  /// Locks a folder until unlock() or the end of this process. Returns 0, or errno: EWOULDBLOCK if
  /// another process holds the lock, ENOENT if the folder is gone, EPERM if others own it or
  /// may write to it.
  virtual int lock(const std::string& folder) = 0;
  virtual void unlock() = 0;

  /// Writes `latency_us` to the device and keeps it open; the latency is in force until
  /// release_latency(). Returns 0 or errno.
  virtual int hold_latency(const std::string& device, std::int32_t latency_us) = 0;
  virtual void release_latency() = 0;

  /// Returns the id of this process.
  virtual int own_pid() = 0;
  /// True if a process with that id exists.
  virtual bool is_alive(int pid) = 0;

  /// Waits a millisecond.
  virtual void wait() = 0;
};

/// Opens the files below `root` ("/" except in tests), which may contain links. Null if this system
/// is not Linux.
std::unique_ptr<SettingFiles> open_setting_files(const std::string& root = "/");

/// Makes a control group for each run, for which the kernel reports the largest memory of all
/// processes together (Linux: cgroup v2, memory.peak).
class MemoryGroups : NonCopyable {
 public:
  virtual ~MemoryGroups() = default;  ///< removes remaining groups

  /// Makes the group of the next run. Returns the path of the file to which a process writes "0" to
  /// join.
  virtual Result<std::string> begin() = 0;

  /// Removes the group of the run that has ended, or leaves it to the destructor if it still has
  /// processes. Returns its peak memory in bytes; nullopt if unknown, or if no process joined.
  virtual std::optional<std::uint64_t> end() = 0;
};

/// Finds a place for control groups; the error names the missing part. `files` outlives the result,
/// and is null if this system has no control groups.
Result<std::unique_ptr<MemoryGroups>> open_memory_groups(SettingFiles* files);

}  // namespace lauka::os
