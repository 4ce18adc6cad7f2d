#pragma once

#include <array>
#include <bit>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

// Layouts and constants of 64-bit macOS, repeated here so that code for macOS compiles on every
// system. darwin_calls.cc compares most of them with the SDK.

namespace lauka::os {

static_assert(std::endian::native == std::endian::little);

/// A flavour of proc_pid_rusage: fills the first kRusageV4Bytes bytes of a ProcessUsage. Source:
/// XNU bsd/sys/resource.h.
inline constexpr int kRusageV4 = 4;

inline constexpr int kRusageV6 = 6;

/// The kernel's rusage_info_v6, which begins with rusage_info_v4. Times are in mach units (see
/// Timebase).
struct ProcessUsage {
  std::array<std::uint8_t, 16> uuid{};
  std::uint64_t user_time = 0;
  std::uint64_t system_time = 0;
  std::array<std::uint64_t, 6> not_read_1{};
  std::uint64_t started_at = 0;
  std::uint64_t ended_at = 0;
  std::uint64_t child_user_time = 0;
  std::uint64_t child_system_time = 0;
  std::array<std::uint64_t, 17> not_read_2{};
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::array<std::uint64_t, 4> not_read_3{};
  std::uint64_t flags = 0;
  std::uint64_t performance_core_user_time = 0;
  std::uint64_t performance_core_system_time = 0;
  std::array<std::uint64_t, 2> not_read_4{};
  std::uint64_t energy_nj = 0;
  std::array<std::uint64_t, 15> not_read_5{};
};
inline constexpr std::size_t kRusageV4Bytes = 296;
static_assert(sizeof(ProcessUsage) == 464);
static_assert(offsetof(ProcessUsage, started_at) == 80);
static_assert(offsetof(ProcessUsage, instructions) == 248);
static_assert(offsetof(ProcessUsage, flags) == kRusageV4Bytes);
static_assert(offsetof(ProcessUsage, energy_nj) == 336);

/// A request of proc_pidinfo for a ThreadInfo. Source: XNU bsd/sys/proc_info.h.
inline constexpr int kPidThreadId64Info = 15;
inline constexpr int kPidListThreadIds = 28;
inline constexpr int kPidThreadCounts = 34;

struct ThreadInfo {
  std::array<std::byte, 48> not_read{};
  std::array<char, 64> name{};
};
static_assert(sizeof(ThreadInfo) == 112);

/// The beginning of kPidThreadCounts' result. `kinds` ThreadCounts follow, one per core kind, in
/// the order of hw.perflevel0, hw.perflevel1, ... Source: XNU bsd/sys/proc_info_private.h.
struct ThreadCountsHeader {
  std::uint16_t kinds = 0;
  std::uint16_t reserved_0 = 0;
  std::uint32_t reserved_1 = 0;
};
static_assert(sizeof(ThreadCountsHeader) == 8);

/// The work of one thread on one core kind. Times are in mach units (see Timebase).
struct ThreadCounts {
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::uint64_t user_time = 0;
  std::uint64_t system_time = 0;
  std::uint64_t energy_nj = 0;
};
static_assert(sizeof(ThreadCounts) == 40);

/// The length of a mach unit, in which macOS measures time: `numerator` / `denominator`
/// nanoseconds.
struct Timebase {
  std::uint32_t numerator = 1;
  std::uint32_t denominator = 1;
};
static_assert(sizeof(Timebase) == 8);

/// The system's struct kevent. Source: XNU bsd/sys/event.h.
struct Kevent {
  std::uint64_t ident = 0;
  std::int16_t filter = 0;
  std::uint16_t flags = 0;
  std::uint32_t filter_flags = 0;
  std::int64_t data = 0;
  void* user_data = nullptr;
};
static_assert(sizeof(Kevent) == 32);
static_assert(offsetof(Kevent, filter_flags) == 12);
static_assert(offsetof(Kevent, data) == 16);
inline constexpr std::int16_t kFilterRead = -1;
inline constexpr std::int16_t kFilterProcess = -5;
inline constexpr std::int16_t kFilterSignal = -6;
inline constexpr std::uint16_t kEventAdd = 0x1;
inline constexpr std::uint16_t kEventDelete = 0x2;
inline constexpr std::uint16_t kEventOneShot = 0x10;
inline constexpr std::uint16_t kEventClear = 0x20;
inline constexpr std::uint16_t kEventError = 0x4000;
inline constexpr std::uint16_t kEventEndOfFile = 0x8000;
inline constexpr std::uint32_t kNoteExit = 0x80000000;

/// A flag of posix_spawn. Source: XNU bsd/sys/spawn.h.
inline constexpr std::uint16_t kSpawnSetProcessGroup = 0x2;
inline constexpr std::uint16_t kSpawnSetDefaultSignals = 0x4;
inline constexpr std::uint16_t kSpawnSetSignalMask = 0x8;
inline constexpr std::uint16_t kSpawnSuspended = 0x80;
inline constexpr std::uint16_t kSpawnCloseOnExec = 0x4000;

inline constexpr int kMaxGroups = 16;

/// A value of SpawnRequest::qos_clamp that keeps a process on efficiency cores. Source: XNU
/// bsd/sys/spawn_internal.h.
inline constexpr int kClampBackground = 2;

/// The first number in the sysctl names of the kernel's trace: {kCtlKern, kKernKdebug, operation
/// [, value]}. Source: XNU bsd/sys/sysctl.h.
inline constexpr int kCtlKern = 1;
inline constexpr int kKernKdebug = 24;
inline constexpr int kKdSetFlags = 1;
inline constexpr int kKdEnable = 3;
inline constexpr int kKdSetBuf = 4;
inline constexpr int kKdGetBuf = 5;
inline constexpr int kKdSetup = 6;
inline constexpr int kKdRemove = 7;
inline constexpr int kKdSetReg = 8;   ///< takes a KdebugFilter, passed as the old value
inline constexpr int kKdReadTr = 10;  ///< length: bytes when called, number of records on return
inline constexpr int kKdSetTypefilter = 22;
inline constexpr int kKdBufWait = 23;  ///< length: ms to wait; on return 1 if half full, else 0

inline constexpr int kLoadLazily = 1;

struct SpawnIdentity {
  uid_t user = 0;
  gid_t group = 0;
  const gid_t* groups = nullptr;
  int group_count = 0;
};

/// The arguments of posix_spawn. All pointers belong to the caller.
struct SpawnRequest {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr;
  int input = -1;  ///< descriptor for standard input; -1: lauka's own
  int output = -1;
  int error = -1;
  const int* inherited = nullptr;
  std::size_t inherited_count = 0;
  std::uint16_t flags = 0;
  const sigset_t* default_signals = nullptr;
  const sigset_t* signal_mask = nullptr;
  int qos_clamp = 0;  ///< 0: none, 1: utility, 2: background, 3: maintenance
  const SpawnIdentity* identity = nullptr;
};

/// Functions of macOS, as pointers so that tests can replace them.
struct DarwinCalls {
  int (*sysctl)(int* name, unsigned name_length, void* old_value, std::size_t* old_length,
                void* new_value, std::size_t new_length);
  int (*sysctlbyname)(const char* name, void* old_value, std::size_t* old_length, void* new_value,
                      std::size_t new_length);

  /// Calls posix_spawn. Returns 0 or errno; ENOSYS if `request` has an identity, but this system
  /// cannot start programs as another user.
  int (*spawn)(const SpawnRequest& request, pid_t* pid);
  int (*kill)(pid_t pid, int signal_number);
  int (*waitid)(idtype_t kind, id_t id, siginfo_t* info, int options);
  pid_t (*wait4)(pid_t pid, int* status, int options, rusage* usage);
  uid_t (*geteuid)();

  int (*kqueue)();
  int (*kevent)(int queue, const Kevent* changes, int change_count, Kevent* events, int event_count,
                const timespec* timeout);

  /// Fills a ProcessUsage (kRusageV6) or its first kRusageV4Bytes bytes (kRusageV4). `usage` is the
  /// address of the ProcessUsage. Also works for a zombie.
  int (*proc_pid_rusage)(int pid, int flavour, void** usage);
  /// Returns the number of bytes written to `buffer`; 0 with errno on error.
  int (*proc_pidinfo)(int pid, int flavour, std::uint64_t argument, void* buffer, int bytes);
  /// Returns the number of process ids written to `buffer`; 0 or less without children or on error.
  int (*proc_listchildpids)(pid_t parent, void* buffer, int bytes);
  int (*proc_name)(int pid, void* buffer, std::uint32_t bytes);

  int (*mach_timebase_info)(Timebase* timebase);
  std::uint64_t (*mach_absolute_time)();

  void* (*dlopen)(const char* path, int mode);
  void* (*dlsym)(void* library, const char* name);
};

/// Returns the calls of macOS; null on other systems.
const DarwinCalls* darwin_calls();

constexpr std::uint64_t ns_of_mach(std::uint64_t ticks, Timebase timebase) {
  const std::uint64_t whole = ticks / timebase.denominator;
  const std::uint64_t rest = ticks % timebase.denominator;
  return whole * timebase.numerator + rest * timebase.numerator / timebase.denominator;
}

/// Returns the system's timebase; 1/1 if it is unknown.
inline Timebase timebase_of(const DarwinCalls& calls) {
  Timebase timebase;
  const bool is_known = calls.mach_timebase_info(&timebase) == 0 && timebase.denominator != 0;
  return is_known ? timebase : Timebase{};
}

}  // namespace lauka::os
