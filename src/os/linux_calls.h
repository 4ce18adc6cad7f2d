#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka::os {

/// The kernel's perf_event_attr. Source: include/uapi/linux/perf_event.h of Linux 6.3
/// (PERF_ATTR_SIZE_VER8).
struct PerfEventAttr {
  std::uint32_t type = 0;
  std::uint32_t size = 0;
  std::uint64_t config = 0;
  std::uint64_t sample_period = 0;
  std::uint64_t sample_type = 0;
  std::uint64_t read_format = 0;
  std::uint64_t flags = 0;
  std::uint32_t wakeup_bytes = 0;
  std::uint32_t not_used_either = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::array<std::uint64_t, 7> not_used{};
  std::uint64_t config3 = 0;
};

static_assert(sizeof(PerfEventAttr) == 136);
static_assert(offsetof(PerfEventAttr, read_format) == 32);
static_assert(offsetof(PerfEventAttr, config1) == 56);
static_assert(offsetof(PerfEventAttr, config3) == 128);

/// The size in bytes of PerfEventAttr up to the end of config1.
inline constexpr std::uint32_t kPerfSizeWithConfig1 = 64;
inline constexpr std::uint32_t kPerfSizeWithConfig2 = 72;
inline constexpr std::uint32_t kPerfSizeWithConfig3 = 136;

// In the kernel's header, PerfEventAttr::flags are bit-fields. Little-endian systems fill them from
// the lowest bit.
static_assert(std::endian::native == std::endian::little);
inline constexpr std::uint64_t kPerfDisabled = std::uint64_t{1} << 0;
inline constexpr std::uint64_t kPerfInherit = std::uint64_t{1} << 1;
inline constexpr std::uint64_t kPerfExcludeUser = std::uint64_t{1} << 4;
inline constexpr std::uint64_t kPerfExcludeKernel = std::uint64_t{1} << 5;
inline constexpr std::uint64_t kPerfExcludeHypervisor = std::uint64_t{1} << 6;
inline constexpr std::uint64_t kPerfMmap = std::uint64_t{1} << 8;
inline constexpr std::uint64_t kPerfComm = std::uint64_t{1} << 9;
inline constexpr std::uint64_t kPerfEnableOnExec = std::uint64_t{1} << 12;
inline constexpr std::uint64_t kPerfTask = std::uint64_t{1} << 13;
inline constexpr std::uint64_t kPerfWatermark = std::uint64_t{1} << 14;
inline constexpr std::uint64_t kPerfSampleIdAll = std::uint64_t{1} << 18;
inline constexpr std::uint64_t kPerfExcludeCallchainKernel = std::uint64_t{1} << 21;
inline constexpr std::uint64_t kPerfMmap2 = std::uint64_t{1} << 23;
inline constexpr std::uint64_t kPerfCommExec = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kPerfBuildId = std::uint64_t{1} << 34;

/// Returns the attributes of a guard: an event that stays off, and that children do not inherit.
/// While a process has a guard, the kernel does not exchange the process's inherited events for its
/// child's at a switch between the two. Exchanged events may have been enabled by the child's
/// execve already; children that inherit from them later are never enabled.
inline PerfEventAttr guard_of(PerfEventAttr attributes) {
  attributes.flags = (attributes.flags & ~(kPerfInherit | kPerfEnableOnExec)) | kPerfDisabled;
  attributes.sample_period = attributes.sample_type = attributes.read_format = 0;
  return attributes;
}

/// A bit of PerfEventAttr::sample_type: samples have an instruction pointer.
inline constexpr std::uint64_t kPerfSampleIp = std::uint64_t{1} << 0;
inline constexpr std::uint64_t kPerfSampleTid = std::uint64_t{1} << 1;
inline constexpr std::uint64_t kPerfSampleTime = std::uint64_t{1} << 2;
inline constexpr std::uint64_t kPerfSampleCallchain = std::uint64_t{1} << 5;
inline constexpr std::uint64_t kPerfSamplePeriod = std::uint64_t{1} << 8;

inline constexpr std::uint32_t kPerfTypeHardware = 0;  ///< type of CPU cycles (config 0)
inline constexpr std::uint32_t kPerfTypeSoftware = 1;  ///< type of the CPU clock (config 0)
inline constexpr std::uint32_t kPerfTypeCache = 3;
inline constexpr std::uint32_t kPerfTypeRaw = 4;

/// A bit of PerfEventAttr::read_format. With this bit, kPerfReadRunning and kPerfReadGroup, reading
/// a group's leader gives {number of counters, time enabled, time running, values...}, the values
/// in the order in which the counters were opened.
inline constexpr std::uint64_t kPerfReadEnabled = 1;
inline constexpr std::uint64_t kPerfReadRunning = 2;
inline constexpr std::uint64_t kPerfReadGroup = 8;

struct CounterPlace {
  int thread = 0;  ///< id; 0: the calling thread; -1: every thread that runs on `cpu`
  int cpu = -1;    ///< -1: every CPU
};

/// The facts about a file that decide whether a process keeps its counters when it executes the
/// file.
struct ProgramFile {
  std::uint32_t owner = 0;
  std::uint32_t group = 0;
  std::uint32_t mode = 0;
  bool is_on_nosuid = false;   ///< true if the file system is mounted with nosuid
  std::string capabilities{};  ///< bytes of the attribute security.capability; may be empty
  std::optional<std::string> first_bytes{};  ///< first kMaxHeadBytes bytes; nullopt: unreadable
};

/// The number of bytes at a script's beginning in which Linux (5.1 and later) looks for the
/// script's interpreter.
inline constexpr std::size_t kMaxHeadBytes = 256;

/// Calls of Linux for counters and for facts about the machine, so that tests can replace them. A
/// function that returns an int returns minus errno on failure.
struct LinuxCalls {
  /// Calls perf_event_open, with close on exec. `group` is the leader's descriptor, or -1. Returns
  /// the descriptor.
  int (*open_counter)(const PerfEventAttr& attributes, const CounterPlace& place, int group);

  int (*enable_group)(int leader);

  int (*disable_group)(int leader);

  /// Reads at most `capacity` words. Returns the number of words, or minus errno.
  long (*read_counter)(int descriptor, std::uint64_t* words, std::size_t capacity);

  void (*close_descriptor)(int descriptor);

  /// Returns the CPUs on which lauka may run, ascending; empty if unknown.
  std::vector<std::uint32_t> (*allowed_cpus)();

  int (*run_on)(const std::vector<std::uint32_t>& cpus);

  /// Returns the first 64 KiB of a file; nullopt if it cannot be read.
  std::optional<std::string> (*read_file)(const std::string& path);

  /// Returns the names in a folder, sorted, without "." and ".."; empty if they cannot be read.
  std::vector<std::string> (*list_folder)(const std::string& path);

  /// Returns the number of folders in a folder such as /proc/PID/task; -1 if the folder cannot be
  /// looked up.
  long (*count_subfolders)(const std::string& path);

  /// Opens a file for read_from_start(). Returns the descriptor, for close_descriptor().
  int (*open_file)(const std::string& path);

  /// Reads an open file from its beginning. Returns the number of bytes, or minus errno.
  long (*read_from_start)(int descriptor, char* bytes, std::size_t capacity);

  /// Describes a program's file as far as this process may read it; nullopt if no regular file is
  /// found at `path`.
  std::optional<ProgramFile> (*describe_program)(const std::string& path);

  /// Maps a counter's ring of `bytes` bytes: a page with the ring's state, then 2^N pages for
  /// records. Returns null with errno on failure.
  void* (*map_ring)(int descriptor, std::size_t bytes) = nullptr;
  void (*unmap_ring)(void* ring, std::size_t bytes) = nullptr;
};

/// Returns the calls of this system; null if it is not Linux.
const LinuxCalls* linux_calls();

}  // namespace lauka::os
