#pragma once

#include "core/command.h"
#include "core/record.h"
#include "core/result.h"
#include "os/descriptor.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <map>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

// Functions of the system. Functions without a body here are in linux_platform.cc and
// darwin_platform.cc. Internal to os/.

// NOLINTNEXTLINE: POSIX wants this global declared by its users
extern char** environ;

namespace lauka::os {

/// Opens a file without a name, for appending. Returns an empty Descriptor with errno on failure.
Descriptor open_anonymous_file();

/// Opens a file without a name, of at least `size` zero bytes, as memory that a program shares with
/// lauka. The file's size cannot change. Returns an empty Descriptor with errno on failure.
Descriptor open_shared_memory(off_t size);

/// Frees the space of all but the last `keep` bytes of a file with `size` bytes, as far as the
/// system can. The file keeps its size.
void free_front_space(int fd, off_t size, off_t keep);

/// Gives the calling process the groups of `user` (macOS: as many as the system allows). Returns 0,
/// or -1 with errno.
int join_groups(const User& user);

int open_unnamed(const char* folder);
int name_unnamed(int fd, const char* path);
bool is_mount_point(const char* path);

/// Makes the kernel send `signal_number` to the calling process when the parent of the process
/// dies. A change of user undoes this. A vfork child may call this. Does nothing on macOS.
void signal_after_parent_death(int signal_number);

/// Blocks all signals in the calling thread while the object exists. Keeps errno.
class AllSignalsBlocked : NonCopyable {
 public:
  AllSignalsBlocked() {
    sigset_t all_signals;
    sigfillset(&all_signals);
    sigprocmask(SIG_SETMASK, &all_signals, &mask_before_);
  }
  ~AllSignalsBlocked() {
    const int saved = errno;
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    errno = saved;
  }

  const sigset_t& mask_before() const { return mask_before_; }

 private:
  sigset_t mask_before_{};
};

/// Starts a process that calls `become(data)`, which must end in execve or _exit. Returns the
/// process's id; -1 with errno on failure. All signals must be blocked in the calling thread. On
/// Linux, the child uses the memory of this process until it executes a program or ends, and the
/// calling thread waits for that. So `become` must not allocate memory or call functions of the C
/// library that concern all threads (setuid), and changes only what is volatile.
pid_t start_child(void (*become)(void* data), void* data);

/// Sets the signal mask of a new process that was started with all signals blocked. Linux: first
/// discards the signals that are pending, which were meant for lauka.
void unblock_signals_in_child(const sigset_t& mask);

inline sigset_t signal_set(std::initializer_list<int> signal_numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal_number : signal_numbers) sigaddset(&set, signal_number);
  return set;
}

inline timespec to_timespec(std::chrono::nanoseconds time) {
  constexpr std::int64_t ns_per_second = 1'000'000'000;
  return {static_cast<time_t>(time.count() / ns_per_second),
          static_cast<long>(time.count() % ns_per_second)};
}

/// Linux: kills the descendants of `root` that can have started at or after `since_ns`
/// (CLOCK_MONOTONIC). Gives up after about two seconds. Returns the id of a descendant that is
/// left; 0 if none.
pid_t kill_descendants(pid_t root, std::int64_t since_ns);

/// Linux: returns the signal that has stopped a descendant of `root`, SIGSTOP if the kernel does
/// not tell which; 0 if no descendant is stopped. Elsewhere 0.
int stop_signal_of_descendant(pid_t root);

/// Calls faccessat with the effective ids of this process.
inline int check_access(const std::string& path, int mode) {
  return faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS);
}

inline bool is_directory(const std::string& path) {
  struct stat there {};
  return stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode);
}

/// Returns why this process cannot run the file `path`: an errno; 0 if it can.
inline int why_not_runnable(const std::string& path) {
  if (check_access(path, F_OK) != 0) return errno;
  if (is_directory(path)) return EISDIR;
  return check_access(path, X_OK) != 0 ? errno : 0;
}

/// Returns why this process cannot enter the folder `path`: an errno; 0 if it can.
inline int why_not_enterable(const std::string& path) {
  if (check_access(path, F_OK) != 0) return errno;
  if (!is_directory(path)) return ENOTDIR;
  return check_access(path, X_OK) != 0 ? errno : 0;
}

inline std::uint64_t to_ns(const timeval& t) {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_usec) * 1'000;
}

inline Outcome to_outcome(int status) {
  if (WIFSIGNALED(status)) return Signalled{WTERMSIG(status), WCOREDUMP(status) != 0};
  return Exited{WEXITSTATUS(status)};
}

/// Copies CPU times, page faults, context switches and block transfers from `used` to `usage`.
inline void note_usage(const rusage& used, Usage& usage) {
  usage.user_ns = to_ns(used.ru_utime);
  usage.system_ns = to_ns(used.ru_stime);
  usage.minor_faults = static_cast<std::uint64_t>(used.ru_minflt);
  usage.major_faults = static_cast<std::uint64_t>(used.ru_majflt);
  usage.voluntary_switches = static_cast<std::uint64_t>(used.ru_nvcsw);
  usage.involuntary_switches = static_cast<std::uint64_t>(used.ru_nivcsw);
  usage.block_reads = static_cast<std::uint64_t>(used.ru_inblock);
  usage.block_writes = static_cast<std::uint64_t>(used.ru_oublock);
}

struct ProcessFacts {
  pid_t parent = 0;
  bool is_zombie = false;
  std::int64_t started_ns = 0;  ///< latest possible start of the process, CLOCK_MONOTONIC
  /// Signal that has stopped the process, SIGSTOP if unknown; 0 if the process is not stopped.
  int stop_signal = 0;
};

using ProcessTable = std::map<pid_t, ProcessFacts>;

ProcessTable all_processes();

/// True if `all` shows `root` as an ancestor of `pid`.
bool descends_from(const ProcessTable& all, pid_t pid, pid_t root);

}  // namespace lauka::os
