#pragma once

#include "os/perf_abi.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka::os {

/// Whose work a counter counts, and where.
struct CounterPlace {
  int thread = 0;  ///< its id; 0: the calling one; -1: whatever runs on `cpu`
  int cpu = -1;    ///< on that CPU only; -1: on all
};

/// What the perf engine uses of Linux. Each call is one system call or reads one file; none decides
/// anything.
struct LinuxCalls {
  /// perf_event_open, closed by exec. `group`: the leader's descriptor, or -1. Gives the
  /// descriptor, or minus errno.
  int (*open_counter)(const PerfEventAttr& attributes, const CounterPlace& place, int group);

  /// Starts a group that was opened disabled. Gives 0, or minus errno.
  int (*enable_group)(int leader);

  /// Stops a group. Gives 0, or minus errno.
  int (*disable_group)(int leader);

  /// Reads at most `capacity` words. Gives the number of words, or minus errno.
  long (*read_counter)(int descriptor, std::uint64_t* words, std::size_t capacity);

  void (*close_counter)(int descriptor);

  /// The CPUs that this program, and what it starts, may run on, ascending.
  std::vector<std::uint32_t> (*allowed_cpus)();

  /// From now on the calling thread runs on these CPUs only. Gives 0, or minus errno.
  int (*run_on)(const std::vector<std::uint32_t>& cpus);

  /// The first 64 KB of a file; none where it cannot be read.
  std::optional<std::string> (*read_file)(const std::string& path);

  /// The names in a folder, sorted, without "." and ".."; none where there is no such folder.
  std::vector<std::string> (*list_folder)(const std::string& path);

  /// How many names a folder of /proc says that it has; -1 where there is no such folder.
  long (*count_folder)(const std::string& path);

  /// Opens a file that is to be read often, closed by exec and by close_counter. The descriptor, or
  /// minus errno.
  int (*open_file)(const std::string& path);

  /// Its first bytes, as they are now. Gives their number, or minus errno.
  long (*read_again)(int descriptor, char* bytes, std::size_t capacity);
};

/// The calls of this system; null where it is not Linux.
const LinuxCalls* linux_calls();

}  // namespace lauka::os
