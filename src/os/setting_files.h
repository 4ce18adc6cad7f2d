#pragma once

#include "core/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::os {

/// The files in which Linux shows and accepts settings, and the journal of changes to settings.
/// Paths are absolute. No function follows a symbolic link.
class SettingFiles : NonCopyable {
 public:
  virtual ~SettingFiles() = default;

  /// Returns the first 64 KiB of a file; nullopt if it cannot be read.
  virtual std::optional<std::string> read(const std::string& path) = 0;

  /// Returns the whole journal; nullopt if the file is missing. Refuses a file that other users
  /// could have written, or that cannot be read to its end.
  virtual Result<std::optional<std::string>> read_journal(const std::string& path) = 0;

  virtual std::vector<std::string> list(const std::string& folder) = 0;

  /// Returns 0 if this process may write to the file, else errno.
  virtual int check_writable(const std::string& path) = 0;

  /// Writes `text` to an existing file in a single system call. Returns 0 or errno.
  virtual int write(const std::string& path, std::string_view text) = 0;

  /// Appends `text` to a file, which is created if missing, and waits until the text is on disk.
  /// Returns 0 or errno.
  virtual int append(const std::string& path, std::string_view text) = 0;

  /// Creates a folder that only this user and root may list and change. Returns 0 or errno.
  virtual int make_folder(const std::string& path) = 0;

  virtual int remove(const std::string& path) = 0;

  /// Locks a folder until unlock() or the end of this process. Returns 0 or errno: EWOULDBLOCK if
  /// another process holds the lock, ENOENT if the folder is gone, EPERM if another user owns or
  /// may change the folder.
  virtual int lock(const std::string& folder) = 0;
  virtual void unlock() = 0;

  /// Writes `latency_us` to the device and keeps the device open, so that the latency stays in
  /// force until release_latency(). Returns 0 or errno.
  virtual int hold_latency(const std::string& device, std::int32_t latency_us) = 0;
  virtual void release_latency() = 0;

  virtual int own_pid() = 0;
  virtual bool is_alive(int pid) = 0;

  /// Sleeps for a millisecond, between two tries.
  virtual void pause() = 0;
};

/// Opens the files below `root`, which is "/" except in tests. Returns null if this system is not
/// Linux.
std::unique_ptr<SettingFiles> open_setting_files(const std::string& root = "/");

}  // namespace lauka::os
