#pragma once

#include "os/darwin_abi.h"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

namespace lauka::os {

/// Whom a command is run as, under sudo.
struct SpawnIdentity {
  uid_t user = 0;
  gid_t group = 0;
  const gid_t* groups = nullptr;
  int group_count = 0;
};

/// What posix_spawn is to do. Everything it points to belongs to the caller.
struct SpawnRequest {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr;  ///< to start in; null: lauka's own
  int input = -1;                ///< descriptors that become 0, 1 and 2
  int output = -1;
  int error = -1;
  const int* inherited = nullptr;  ///< besides them, kept open under kSpawnCloseOnExec
  std::size_t inherited_count = 0;
  std::uint16_t flags = 0;                    ///< kSpawn...; the process group is a new one
  const sigset_t* default_signals = nullptr;  ///< of kSpawnSetDefaultSignals
  const sigset_t* signal_mask = nullptr;      ///< of kSpawnSetSignalMask
  int qos_clamp = 0;                          ///< 0 none, 1 utility, 2 background, 3 maintenance
  const SpawnIdentity* identity = nullptr;    ///< null: as lauka itself
};

/// What lauka uses of macOS, under the system's own names and with its conventions (mostly -1 with
/// errno), so that the real table is little more than a list of functions. Each call is one system
/// call; none decides anything.
struct DarwinCalls {
  int (*sysctl)(int* name, unsigned name_length, void* old_value, std::size_t* old_length,
                void* new_value, std::size_t new_length);
  int (*sysctlbyname)(const char* name, void* old_value, std::size_t* old_length, void* new_value,
                      std::size_t new_length);

  /// posix_spawn: 0 or errno. ENOSYS where this system cannot do what `request` wants (identity).
  int (*spawn)(const SpawnRequest& request, pid_t* pid);
  int (*kill)(pid_t pid, int signal_number);
  int (*waitid)(idtype_t kind, id_t id, siginfo_t* info, int options);
  pid_t (*wait4)(pid_t pid, int* status, int options, rusage* usage);
  uid_t (*geteuid)();

  int (*kqueue)();
  int (*kevent)(int queue, const Kevent* changes, int change_count, Kevent* events, int event_count,
                const timespec* timeout);

  /// `usage`: a ProcessUsage of kRusageV6 or its first kRusageV4Bytes. A zombie has its final
  /// totals until it is reaped.
  int (*proc_pid_rusage)(int pid, int flavour, void** usage);
  /// Gives bytes; 0 with errno on error.
  int (*proc_pidinfo)(int pid, int flavour, std::uint64_t argument, void* buffer, int bytes);
  /// Gives the number of pids.
  int (*proc_listchildpids)(pid_t parent, void* buffer, int bytes);
  /// Gives bytes.
  /// Gives the length of the name; 0 with errno on error.
  int (*proc_name)(int pid, void* buffer, std::uint32_t bytes);

  int (*mach_timebase_info)(Timebase* timebase);
  std::uint64_t (*mach_absolute_time)();

  /// Null where there is no such library; the private frameworks are not files, so only this tells.
  void* (*dlopen)(const char* path, int mode);
  void* (*dlsym)(void* library, const char* name);
};

/// The calls of this system; null where it is not macOS.
const DarwinCalls* darwin_calls();

/// Nanoseconds of `ticks` mach units; exact, however many they are.
constexpr std::uint64_t ns_of_mach(std::uint64_t ticks, Timebase timebase) {
  const std::uint64_t whole = ticks / timebase.denominator;
  const std::uint64_t rest = ticks % timebase.denominator;
  return whole * timebase.numerator + rest * timebase.numerator / timebase.denominator;
}

/// 1/1 where the system does not say.
inline Timebase timebase_of(const DarwinCalls& calls) {
  Timebase timebase;
  const bool is_known = calls.mach_timebase_info(&timebase) == 0 && timebase.denominator != 0;
  return is_known ? timebase : Timebase{};
}

}  // namespace lauka::os
