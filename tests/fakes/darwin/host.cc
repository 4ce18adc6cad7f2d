#include "fakes/darwin/host.h"

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <utility>

namespace lauka::darwin {
namespace {

// A table of plain functions reaches its object no other way.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
Host* current = nullptr;

/// For calls that give an errno.
int as_call(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int call_sysctl(int* name, unsigned length, void* old_value, std::size_t* old_length,
                void* new_value, std::size_t new_length) {
  if (!current->enter("sysctl")) return -1;
  return as_call(current->sysctl(name, length, {old_value, old_length, new_value, new_length}));
}

int call_sysctlbyname(const char* name, void* old_value, std::size_t* old_length, void* new_value,
                      std::size_t new_length) {
  if (!current->enter(name)) return -1;
  return as_call(current->sysctlbyname(name, {old_value, old_length, new_value, new_length}));
}

int call_spawn(const os::SpawnRequest& request, pid_t* pid) {
  return current->enter("spawn") ? current->spawn(request, pid) : errno;
}

int call_kill(pid_t pid, int number) {
  return current->enter("kill") ? as_call(current->kill(pid, number)) : -1;
}

int call_waitid(idtype_t kind, id_t id, siginfo_t* info, int options) {
  return current->enter("waitid") ? as_call(current->waitid(kind, id, info, options)) : -1;
}

pid_t call_wait4(pid_t pid, int* status, int options, rusage* usage) {
  return current->enter("wait4") ? current->wait4(pid, status, options, usage) : -1;
}

uid_t call_geteuid() {
  return current->kernel.lauka().user;
}

int call_kqueue() {
  return current->enter("kqueue") ? current->kqueue() : -1;
}

int call_kevent(int queue, const os::Kevent* changes, int change_count, os::Kevent* events,
                int event_count, const timespec* timeout) {
  if (!current->enter("kevent")) return -1;
  return current->kevent(queue, changes, change_count, events, event_count, timeout);
}

int call_rusage(int pid, int flavour, void** usage) {
  if (!current->enter("proc_pid_rusage")) return -1;
  return as_call(current->proc_pid_rusage(pid, flavour, usage));
}

int call_pidinfo(int pid, int flavour, std::uint64_t argument, void* buffer, int bytes) {
  if (!current->enter("proc_pidinfo")) return 0;
  return current->proc_pidinfo(pid, flavour, argument, buffer, bytes);
}

int call_listchildpids(pid_t parent, void* buffer, int bytes) {
  if (!current->enter("proc_listchildpids")) return -1;
  return current->proc_listchildpids(parent, buffer, bytes);
}

int call_name(int pid, void* buffer, std::uint32_t bytes) {
  return current->enter("proc_name") ? current->proc_name(pid, buffer, bytes) : 0;
}

int call_timebase(os::Timebase* timebase) {
  *timebase = {current->kernel.setup.timebase_numerator,
               current->kernel.setup.timebase_denominator};
  return 0;
}

std::uint64_t call_time() {
  current->enter("mach_absolute_time");
  return current->kernel.mach(current->kernel.now_ns());
}

void* call_dlopen(const char* path, int /*mode*/) {
  current->libraries.emplace(path);
  const bool is_kperf =
      std::string(path) == "/System/Library/PrivateFrameworks/kperf.framework/kperf";
  return is_kperf && current->rules.has_frameworks ? current : nullptr;
}

void* call_dlsym(void* library, const char* name) {
  const bool is_missing = library != current || current->rules.missing_symbols.count(name) != 0;
  return is_missing ? nullptr : framework_symbol(current->calls(), name);
}

const os::DarwinCalls kCalls = {
    call_sysctl,  call_sysctlbyname, call_spawn,  call_kill,   call_waitid,  call_wait4,
    call_geteuid, call_kqueue,       call_kevent, call_rusage, call_pidinfo, call_listchildpids,
    call_name,    call_timebase,     call_time,   call_dlopen, call_dlsym};

}  // namespace

Host::Host(Setup setup, CallRules with) : kernel(std::move(setup)), rules(std::move(with)) {
  if (current != nullptr) throw std::logic_error("a second model of Darwin");
  current = this;
  play_past();
}

Host::~Host() {
  current = nullptr;
}

const os::DarwinCalls& Host::calls() const {
  return kCalls;
}

bool Host::enter(const std::string& call) {
  ++calls_made;
  if (rules.interrupt_at_call == calls_made) {
    raised_ = true;
    std::raise(rules.interrupt_signal);
  }
  kernel.pass(kCallNs);
  const unsigned use = ++uses_[call];
  const auto failure = rules.failures.find(call);
  if (failure == rules.failures.end()) return true;
  const CallRules::Failure& what = failure->second;
  if (use < what.from || use - what.from >= what.times) return true;
  errno = what.error;
  return false;
}

std::vector<std::string> Host::still_held() const {
  std::vector<std::string> held;
  const auto note = [&held](bool is_held, const char* what) {
    if (is_held) held.emplace_back(what);
  };
  const Process& own = *kernel.processes().at(1);
  note(kernel.pmu.forced_by() == own.unique_id, "forced counters");
  note(kernel.pmu.counting() != 0, "counting");
  note(kernel.pmu.thread_counting() != 0, "thread counting");
  // The set-up of another, living tracer is not lauka's to give back.
  const Process* owner = kernel.find(kernel.ktrace.owner());
  const bool is_anothers = owner != nullptr && owner->pid != own.pid;
  note(!is_anothers && kernel.sampler.is_configured(), "kperf's actions, timers or filter");
  note(!is_anothers && kernel.trace.is_made(), "the trace buffer");
  note(!is_anothers && kernel.trace.is_on(), "tracing");
  note(!is_anothers && kernel.trace.has_filter(), "the trace's filter");
  note(kernel.ktrace.owner() == own.pid, "ktrace");
  for (const auto& process : kernel.processes()) {
    const bool is_child = process->parent == own.pid;
    if (is_child && process->life != Life::Reaped) held.push_back("a child: " + process->name);
  }
  return held;
}

}  // namespace lauka::darwin
