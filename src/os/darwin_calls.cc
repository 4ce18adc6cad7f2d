#include "os/darwin_calls.h"

#include "core/result.h"

#include <cerrno>
#include <climits>

#include <dlfcn.h>
#include <libproc.h>
#include <mach/mach_time.h>
#include <pthread/qos.h>
#include <spawn.h>
#include <sys/event.h>
#include <sys/proc_info.h>
#include <sys/sysctl.h>
#include <unistd.h>

// libSystem exports these functions, but the SDK's headers do not declare them. A weak function is
// null if the system lacks it.
extern "C" {
int posix_spawnattr_set_uid_np(const posix_spawnattr_t*, uid_t) __attribute__((weak_import));
int posix_spawnattr_set_gid_np(const posix_spawnattr_t*, gid_t) __attribute__((weak_import));
int posix_spawnattr_set_groups_np(const posix_spawnattr_t*, int, gid_t*, uid_t)
    __attribute__((weak_import));
int posix_spawnattr_set_qos_clamp_np(const posix_spawnattr_t*, std::uint64_t)
    __attribute__((weak_import));
}

namespace lauka::os {
namespace {

static_assert(RUSAGE_INFO_V4 == kRusageV4 && sizeof(rusage_info_v4) == kRusageV4Bytes);
static_assert(RUSAGE_INFO_V6 == kRusageV6 && sizeof(rusage_info_v6) == sizeof(ProcessUsage));
static_assert(offsetof(rusage_info_v6, ri_user_time) == offsetof(ProcessUsage, user_time));
static_assert(offsetof(rusage_info_v6, ri_system_time) == offsetof(ProcessUsage, system_time));
static_assert(offsetof(rusage_info_v6, ri_proc_start_abstime) ==
              offsetof(ProcessUsage, started_at));
static_assert(offsetof(rusage_info_v6, ri_proc_exit_abstime) == offsetof(ProcessUsage, ended_at));
static_assert(offsetof(rusage_info_v6, ri_child_user_time) ==
              offsetof(ProcessUsage, child_user_time));
static_assert(offsetof(rusage_info_v6, ri_instructions) == offsetof(ProcessUsage, instructions));
static_assert(offsetof(rusage_info_v6, ri_cycles) == offsetof(ProcessUsage, cycles));
static_assert(offsetof(rusage_info_v6, ri_user_ptime) ==
              offsetof(ProcessUsage, performance_core_user_time));
static_assert(offsetof(rusage_info_v6, ri_system_ptime) ==
              offsetof(ProcessUsage, performance_core_system_time));
static_assert(offsetof(rusage_info_v6, ri_energy_nj) == offsetof(ProcessUsage, energy_nj));
static_assert(PROC_PIDTHREADID64INFO == kPidThreadId64Info);
static_assert(sizeof(proc_threadinfo) == sizeof(ThreadInfo));
static_assert(offsetof(proc_threadinfo, pth_name) == offsetof(ThreadInfo, name));
static_assert(sizeof(mach_timebase_info_data_t) == sizeof(Timebase));
static_assert(offsetof(mach_timebase_info_data_t, denom) == offsetof(Timebase, denominator));
static_assert(sizeof(struct kevent) == sizeof(Kevent));
static_assert(offsetof(struct kevent, filter) == offsetof(Kevent, filter));
static_assert(offsetof(struct kevent, flags) == offsetof(Kevent, flags));
static_assert(offsetof(struct kevent, fflags) == offsetof(Kevent, filter_flags));
static_assert(offsetof(struct kevent, data) == offsetof(Kevent, data));
static_assert(offsetof(struct kevent, udata) == offsetof(Kevent, user_data));
static_assert(EVFILT_READ == kFilterRead && EVFILT_PROC == kFilterProcess);
static_assert(EVFILT_SIGNAL == kFilterSignal && EV_ADD == kEventAdd && EV_DELETE == kEventDelete);
static_assert(EV_ONESHOT == kEventOneShot && EV_CLEAR == kEventClear && EV_ERROR == kEventError);
static_assert(EV_EOF == kEventEndOfFile && NOTE_EXIT == kNoteExit);
static_assert(POSIX_SPAWN_SETPGROUP == kSpawnSetProcessGroup);
static_assert(POSIX_SPAWN_SETSIGDEF == kSpawnSetDefaultSignals);
static_assert(POSIX_SPAWN_SETSIGMASK == kSpawnSetSignalMask);
static_assert(POSIX_SPAWN_START_SUSPENDED == kSpawnSuspended);
static_assert(POSIX_SPAWN_CLOEXEC_DEFAULT == kSpawnCloseOnExec);
static_assert(NGROUPS_MAX == kMaxGroups);
static_assert(CTL_KERN == kCtlKern && KERN_KDEBUG == kKernKdebug);
static_assert(KERN_KDEFLAGS == kKdSetFlags);
static_assert(KERN_KDENABLE == kKdEnable && KERN_KDSETBUF == kKdSetBuf);
static_assert(KERN_KDGETBUF == kKdGetBuf && KERN_KDSETUP == kKdSetup);
static_assert(KERN_KDREMOVE == kKdRemove && KERN_KDSETREG == kKdSetReg);
static_assert(KERN_KDREADTR == kKdReadTr && KERN_KDSET_TYPEFILTER == kKdSetTypefilter);
static_assert(KERN_KDBUFWAIT == kKdBufWait);
static_assert(RTLD_LAZY == kLoadLazily);

struct SpawnAttributes : NonCopyable {
  posix_spawnattr_t attributes = nullptr;
  posix_spawn_file_actions_t files = nullptr;

  SpawnAttributes() {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&files);
  }
  ~SpawnAttributes() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }

  /// Sets the flags, the signals and the clamp of the scheduling class.
  void set_attributes(const SpawnRequest& request) {
    posix_spawnattr_setflags(&attributes, static_cast<short>(request.flags));
    posix_spawnattr_setpgroup(&attributes, 0);  // 0: a new group, if the flags ask for one

    if (request.default_signals != nullptr)
      posix_spawnattr_setsigdefault(&attributes, request.default_signals);
    if (request.signal_mask != nullptr)
      posix_spawnattr_setsigmask(&attributes, request.signal_mask);

    // The clamp, a limit of the scheduling class, keeps the process on efficiency cores. The
    // function is private: its address is null on a system that lacks it, where the clamp is left
    // out.
    if (request.qos_clamp != 0 && posix_spawnattr_set_qos_clamp_np != nullptr)
      posix_spawnattr_set_qos_clamp_np(&attributes, static_cast<std::uint64_t>(request.qos_clamp));
  }

  /// Gives the child its standard streams and the descriptors that it inherits.
  void connect_all(const SpawnRequest& request) {
    connect(request.input, STDIN_FILENO);
    connect(request.output, STDOUT_FILENO);
    connect(request.error, STDERR_FILENO);
    for (std::size_t i = 0; i < request.inherited_count; ++i)
      posix_spawn_file_actions_addinherit_np(&files, request.inherited[i]);
  }

  /// Makes `descriptor` the child's descriptor `as`. If `descriptor` is -1, the child inherits
  /// lauka's descriptor `as`.
  void connect(int descriptor, int as) {
    if (descriptor < 0) {
      posix_spawn_file_actions_addinherit_np(&files, as);
    } else {
      posix_spawn_file_actions_adddup2(&files, descriptor, as);
    }
  }

  int run_as(const SpawnIdentity& identity) {
    if (posix_spawnattr_set_uid_np == nullptr || posix_spawnattr_set_gid_np == nullptr ||
        posix_spawnattr_set_groups_np == nullptr)
      return ENOSYS;
    const int error = posix_spawnattr_set_groups_np(
        &attributes, identity.group_count, const_cast<gid_t*>(identity.groups), identity.user);
    if (error != 0) return error;
    posix_spawnattr_set_gid_np(&attributes, identity.group);
    return posix_spawnattr_set_uid_np(&attributes, identity.user);
  }
};

/// Starts a process as `request` says, in the form that posix_spawn() needs. Returns 0 or an errno,
/// and sets `pid` if the process was started.
int spawn(const SpawnRequest& request, pid_t* pid) {
  SpawnAttributes child;
  child.set_attributes(request);

  // A program must not run as the wrong user or in the wrong folder, so these errors prevent it.
  if (request.identity != nullptr) {
    if (const int error = child.run_as(*request.identity); error != 0) return error;
  }
  if (request.folder != nullptr) {
    const int error = posix_spawn_file_actions_addchdir_np(&child.files, request.folder);
    if (error != 0) return error;
  }

  child.connect_all(request);
  return posix_spawn(pid, request.path, &child.files, &child.attributes, request.argv,
                     request.environment);
}

int wait_for_event(int queue, const Kevent* changes, int change_count, Kevent* events,
                   int event_count, const timespec* timeout) {
  return kevent(queue, reinterpret_cast<const struct kevent*>(changes), change_count,
                reinterpret_cast<struct kevent*>(events), event_count, timeout);
}

int timebase_of_mach(Timebase* timebase) {
  return mach_timebase_info(reinterpret_cast<mach_timebase_info_data_t*>(timebase));
}

constexpr DarwinCalls kDarwinCalls{
    .sysctl = &sysctl,
    .sysctlbyname = &sysctlbyname,
    .spawn = &spawn,
    .kill = &kill,
    .waitid = &waitid,
    .wait4 = &wait4,
    .geteuid = &geteuid,
    .kqueue = &kqueue,
    .kevent = &wait_for_event,
    .proc_pid_rusage = &proc_pid_rusage,
    .proc_pidinfo = &proc_pidinfo,
    .proc_listchildpids = &proc_listchildpids,
    .proc_name = &proc_name,
    .mach_timebase_info = &timebase_of_mach,
    .mach_absolute_time = &mach_absolute_time,
    .dlopen = &dlopen,
    .dlsym = &dlsym,
};

}  // namespace

const DarwinCalls* darwin_calls() {
  return &kDarwinCalls;
}

}  // namespace lauka::os
