#include "fakes/darwin/host.h"
#include "fakes/darwin/region.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>

namespace lauka::darwin {

// Processes: posix_spawn, signals, waiting; facts, 6.

namespace {

timeval to_timeval(std::uint64_t ns) {
  timeval time{};
  time.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  time.tv_usec = static_cast<suseconds_t>(ns % 1'000'000'000 / 1000);
  return time;
}

/// The model's processes write long after the caller has closed its files.
std::shared_ptr<Descriptors> kept(const os::SpawnRequest& request) {
  auto own = std::make_shared<Descriptors>();
  const std::array given = {request.input, request.output, request.error};
  for (std::size_t i = 0; i < given.size(); ++i) {
    const int fd = given.at(i) >= 0 ? given.at(i) : static_cast<int>(i);
    own->fds.at(i) = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  }
  return own;
}

}  // namespace

int Host::spawn(const os::SpawnRequest& request, pid_t* pid) {
  Kernel::Birth birth;
  birth.path = request.path;
  for (char* const* word = request.argv; *word != nullptr; ++word) birth.words.emplace_back(*word);
  birth.descriptors = kept(request);
  birth.region = Region::of(request);
  birth.suspended = (request.flags & 0x80U) != 0;
  birth.own_group = (request.flags & 0x2U) != 0;
  birth.qos_clamp = request.qos_clamp;
  birth.user = request.identity != nullptr ? request.identity->user : kernel.lauka().user;
  if (birth.user != kernel.lauka().user && !kernel.setup.is_root) return EPERM;
  if (request.identity != nullptr && request.identity->group_count > 16) return EINVAL;
  const int error = kernel.spawn(birth, *pid);
  if (error != 0) return error;
  ++runs_;
  if (rules.words_change_in_run == runs_) kernel.change_words_in(500'000);
  if (rules.lose_in_run == runs_) kernel.trace.lose_at_next_read(rules.loss_argument);
  if (rules.silent_in_run == runs_) kernel.trace.fall_silent();
  if (rules.wrapped_in_run == runs_) kernel.trace.say_wrapped();
  if (rules.late_in_run == runs_) kernel.trace.delay_next(rules.late_record);
  return 0;
}

int Host::kill(pid_t pid, int number) {
  return kernel.send_signal(pid, number);
}

int Host::waitid(idtype_t kind, id_t id, siginfo_t* info, int options) {
  if (kind != P_PID) return EINVAL;
  const auto pid = static_cast<Pid>(id);
  Process* process = kernel.find(pid);
  if (process == nullptr || process->parent != kernel.lauka().pid) return ECHILD;
  const auto has_ended = [&] { return (options & WEXITED) != 0 && process->life == Life::Zombie; };
  const auto has_stopped = [&] {
    return (options & WSTOPPED) != 0 && process->life == Life::Stopped &&
           !process->stop_is_reported;
  };
  const bool blocks = (options & WNOHANG) == 0;
  if (blocks) kernel.wait_until([&] { return has_ended() || has_stopped(); }, kForEver);
  *info = siginfo_t{};
  if (!has_ended() && !has_stopped()) return 0;
  info->si_pid = pid;
  info->si_signo = SIGCHLD;
  const int low = process->status & 0x7f;
  if (has_stopped()) {
    info->si_code = CLD_STOPPED;
    info->si_status = process->status >> 8;
    if ((options & WNOWAIT) == 0) process->stop_is_reported = true;
  } else {
    info->si_code = low == 0 ? CLD_EXITED : CLD_KILLED;
    info->si_status = low == 0 ? process->status >> 8 & 0xff : low;
    if ((options & WNOWAIT) == 0) kernel.reap(*process);
  }
  return 0;
}

pid_t Host::wait4(pid_t pid, int* status, int options, rusage* usage) {
  const auto is_child = [this, pid](const Process& process) {
    return process.parent == kernel.lauka().pid && process.life != Life::Reaped &&
           (pid == -1 || process.pid == pid);
  };
  const auto find = [&](bool zombie) -> Process* {
    for (const auto& process : kernel.processes()) {
      if (is_child(*process) && (!zombie || process->life == Life::Zombie)) return process.get();
    }
    return nullptr;
  };
  if (find(false) == nullptr) {
    errno = ECHILD;
    return -1;
  }
  if ((options & WNOHANG) == 0) kernel.wait_until([&] { return find(true) != nullptr; }, kForEver);
  Process* process = find(true);
  if (process == nullptr) return 0;
  if (status != nullptr) *status = process->status;
  if (usage != nullptr) {
    Work all = process->cached;
    all += process->children;
    *usage = rusage{};
    usage->ru_utime = to_timeval(all.of(Mode::User));
    usage->ru_stime = to_timeval(all.of(Mode::Kernel));
    usage->ru_maxrss = static_cast<long>(process->peak_bytes);
    usage->ru_minflt = 211;
    usage->ru_majflt = 1;
    usage->ru_nvcsw = 7;
    usage->ru_nivcsw = 3;
  }
  const Pid reaped = process->pid;
  kernel.reap(*process);
  return reaped;
}

int Host::proc_listchildpids(pid_t parent, void* buffer, int bytes) {
  std::vector<Pid> children;
  std::size_t all = 20;
  for (const auto& process : kernel.processes()) {
    if (process->life == Life::Reaped) continue;
    ++all;
    if (process->parent == parent) children.push_back(process->pid);
  }
  if (buffer == nullptr) return static_cast<int>(all);
  const std::size_t count =
      std::min(children.size(), static_cast<std::size_t>(bytes) / sizeof(Pid));
  if (count > 0) std::memcpy(buffer, children.data(), count * sizeof(Pid));
  return static_cast<int>(count);
}

int Host::proc_name(int pid, void* buffer, std::uint32_t bytes) {
  const Process* process = kernel.find(pid);
  const std::string name = process == nullptr ? "" : process->name;
  if (name.empty() || bytes == 0) {
    errno = ESRCH;
    return 0;
  }
  const std::size_t length = std::min<std::size_t>(name.size(), bytes - 1);
  std::memcpy(buffer, name.c_str(), length);
  static_cast<char*>(buffer)[length] = '\0';
  return static_cast<int>(length);
}

// The kernel's accounting of processes and threads: facts, 7. Offsets, not structs, since the
// layouts are tested.

namespace {

/// Bytes of proc_pid_rusage, by flavour.
constexpr std::array<std::size_t, 7> kRusageBytes = {96, 0, 160, 0, 296, 304, 464};

constexpr int kListThreads = 6;
constexpr int kThreadInfo = 15;
constexpr int kListThreadIds = 28;
constexpr int kThreadCounts = 34;

template <typename T>
void put(std::vector<std::uint8_t>& bytes, std::size_t offset, T value) {
  if (offset + sizeof value <= bytes.size())
    std::memcpy(bytes.data() + offset, &value, sizeof value);
}

int refuse(int error) {
  errno = error;
  return 0;
}

/// As proc_pidinfo returns lists and structs: the part that fits, and its bytes.
int copy_out(const void* from, std::size_t count, void* buffer, int room) {
  const std::size_t copied = std::min(count, static_cast<std::size_t>(std::max(room, 0)));
  std::memcpy(buffer, from, copied);
  return static_cast<int>(copied);
}

/// Returns the work that recount knows of a thread: up to its last switch.
Work known_work(const Thread& thread) {
  Work known = thread.accounted;
  known += thread.inherited;
  return known;
}

}  // namespace

int Host::proc_pid_rusage(int pid, int flavour, void* buffer) {
  const Process* process = kernel.find(pid);
  if (process == nullptr) return ESRCH;
  if (!kernel.setup.is_root && process->user != kernel.lauka().user) return EPERM;
  const bool is_known = flavour >= 0 && flavour <= rules.newest_rusage && flavour < 7;
  if (!is_known || kRusageBytes.at(static_cast<std::size_t>(flavour)) == 0) return EINVAL;
  std::vector<std::uint8_t> bytes(kRusageBytes.at(static_cast<std::size_t>(flavour)));
  const bool is_zombie = process->life == Life::Zombie;
  const Work all = is_zombie ? process->cached : kernel.recounted(*process);
  const auto put_mach = [&](std::size_t offset, std::uint64_t ns) {
    put(bytes, offset, kernel.mach(ns));
  };
  put_mach(16, all.of(Mode::User));
  put_mach(24, all.of(Mode::Kernel));
  put(bytes, 48, std::uint64_t{1});
  if (!is_zombie) put(bytes, 72, process->peak_bytes);
  put_mach(80, process->started_at_ns);
  if (is_zombie) put_mach(88, process->ended_at_ns);
  put_mach(96, process->children.of(Mode::User));
  put_mach(104, process->children.of(Mode::Kernel));
  put(bytes, 240, process->peak_bytes);
  put_mach(304, all.at(Level::Performance, Mode::User));
  put_mach(312, all.at(Level::Performance, Mode::Kernel));
  if (!kernel.setup.is_virtual) {
    put(bytes, 248, instructions_of(all, kBothModes));
    put(bytes, 256, cycles_of(all, kBothModes));
    put(bytes, 320, instructions_of(all, Level::Performance, kBothModes));
    put(bytes, 328, cycles_of(all, Level::Performance, kBothModes));
    const std::uint64_t p_energy = energy_nj_of(all, Level::Performance);
    put(bytes, 336, p_energy + energy_nj_of(all, Level::Efficiency));
    put(bytes, 344, p_energy);
  }
  std::memcpy(buffer, bytes.data(), bytes.size());
  return 0;
}

int Host::proc_pidinfo(int pid, int flavour, std::uint64_t argument, void* buffer, int bytes) {
  const Process* process = kernel.find(pid);
  if (process == nullptr || process->life == Life::Zombie) return refuse(ESRCH);
  if (!kernel.setup.is_root && process->user != kernel.lauka().user) return refuse(EPERM);
  if (flavour == kListThreads || flavour == kListThreadIds)
    return list_threads(*process, flavour == kListThreadIds, buffer, bytes);
  if (flavour != kThreadInfo && flavour != kThreadCounts) return refuse(EINVAL);
  const auto found =
      std::find_if(process->threads.begin(), process->threads.end(),
                   [argument](const auto& thread) { return thread->tid == argument; });
  if (found == process->threads.end()) return refuse(ESRCH);
  return flavour == kThreadInfo ? thread_info(**found, buffer, bytes)
                                : thread_counts(**found, buffer, bytes);
}

int Host::list_threads(const Process& process, bool right_ids, void* buffer, int bytes) {
  constexpr int size = sizeof(Tid);
  if (bytes < size) return refuse(ENOMEM);
  std::vector<std::uint64_t> ids;
  for (const auto& thread : process.threads)
    ids.push_back(right_ids ? thread->tid : 0x16fe00000 + thread->tid * 0x1000);
  return copy_out(ids.data(), ids.size() * sizeof(Tid), buffer, bytes / size * size);
}

int Host::thread_info(const Thread& thread, void* buffer, int bytes) {
  std::vector<std::uint8_t> info(112);
  if (bytes < static_cast<int>(info.size())) return refuse(ENOMEM);
  const Work known = known_work(thread);
  put(info, 0, known.of(Mode::User));
  put(info, 8, known.of(Mode::Kernel));
  put(info, 24, std::int32_t{thread.state == State::Running ? 1 : 3});
  put(info, 36, std::int32_t{31});
  std::memcpy(info.data() + 48, thread.name.data(), std::min<std::size_t>(thread.name.size(), 63));
  return copy_out(info.data(), info.size(), buffer, bytes);
}

int Host::thread_counts(const Thread& thread, void* buffer, int bytes) const {
  if (kernel.setup.is_virtual) return refuse(ENOTSUP);
  if (bytes < 8) return refuse(ENOMEM);
  const Work known = known_work(thread);
  std::vector<std::uint8_t> counts(8 + kLevels * 40);
  put(counts, 0, std::uint16_t{kLevels});
  for (std::size_t i = 0; i < kLevels; ++i) {
    const auto level = static_cast<Level>(i);
    put(counts, 8 + i * 40, instructions_of(known, level, kBothModes));
    put(counts, 16 + i * 40, cycles_of(known, level, kBothModes));
    put(counts, 24 + i * 40, kernel.mach(known.at(level, Mode::User)));
    put(counts, 32 + i * 40, kernel.mach(known.at(level, Mode::Kernel)));
    put(counts, 40 + i * 40, energy_nj_of(known, level));
  }
  return copy_out(counts.data(), counts.size(), buffer, bytes);
}

// kqueue: processes that end, signals, descriptors that can be read, and the time.

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr int kChildSignal = 20;  // SIGCHLD of macOS

bool can_be_read(int fd) {
  pollfd one{fd, POLLIN, 0};
  return poll(&one, 1, 0) > 0;
}

}  // namespace

int Host::kqueue() {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) queues_[fd];
  return fd;
}

int Host::change(Queue& queue, const os::Kevent& wanted) {
  const auto key = std::pair{wanted.ident, wanted.filter};
  if ((wanted.flags & os::kEventDelete) != 0) return queue.erase(key) == 0 ? ENOENT : 0;
  if (wanted.filter == os::kFilterProcess) {
    const Process* process = kernel.find(static_cast<Pid>(wanted.ident));
    if (process == nullptr || process->life == Life::Zombie) return ESRCH;
  }
  queue[key] = {wanted, 0};
  return 0;
}

/// Reports a signal to every queue that watches it.
void Host::note_signals() {
  for (auto& [fd, queue] : queues_) {
    for (auto& [key, watch] : queue) {
      if (key.second != os::kFilterSignal) continue;
      const bool is_child_signal = key.first == SIGCHLD || key.first == kChildSignal;
      if (raised_ && static_cast<int>(key.first) == rules.interrupt_signal) ++watch.pending;
      if (kernel.child_changed && is_child_signal) ++watch.pending;
    }
  }
  raised_ = false;
  kernel.child_changed = false;
}

void Host::note_ends() {
  for (auto& [fd, queue] : queues_) {
    for (auto& [key, watch] : queue) {
      if (key.second != os::kFilterProcess) continue;
      const Process* process = kernel.find(static_cast<Pid>(key.first));
      if (process == nullptr || process->life == Life::Zombie) watch.pending = 1;
    }
  }
}

int Host::collect(Queue& queue, os::Kevent* events, int capacity) {
  note_signals();
  note_ends();
  int count = 0;
  for (auto at = queue.begin(); at != queue.end() && count < capacity;) {
    Watch& watch = at->second;
    if (at->first.second == os::kFilterRead)
      watch.pending = can_be_read(static_cast<int>(at->first.first)) ? 1 : 0;
    if (watch.pending == 0) {
      ++at;
      continue;
    }
    events[count] = watch.wanted;
    events[count].data = watch.pending;
    ++count;
    watch.pending = 0;
    const bool goes = (watch.wanted.flags & os::kEventOneShot) != 0;
    at = goes ? queue.erase(at) : std::next(at);
  }
  return count;
}

int Host::kevent(int fd, const os::Kevent* changes, int change_count, os::Kevent* events,
                 int event_count, const timespec* timeout) {
  const auto found = queues_.find(fd);
  if (found == queues_.end()) {
    errno = EBADF;
    return -1;
  }
  int reported = 0;
  for (int i = 0; i < change_count; ++i) {
    const int error = change(found->second, changes[i]);
    if (error == 0) continue;
    if (reported == event_count) {
      errno = error;
      return -1;
    }
    events[reported] = changes[i];
    events[reported].flags = os::kEventError;
    events[reported++].data = error;
  }
  if (reported > 0 || event_count == 0) return reported;
  int count = collect(found->second, events, event_count);
  if (count > 0) return count;
  const std::uint64_t ns =
      timeout == nullptr
          ? kForEver
          : static_cast<std::uint64_t>(timeout->tv_sec * kNsPerSecond + timeout->tv_nsec);
  kernel.wait_until(
      [&] {
        count = collect(found->second, events, event_count);
        return count > 0;
      },
      ns);
  return count;
}

// The work of other programs before lauka began, by the calls that they would make.

namespace {

constexpr Pid kEarlierTool = 555;
constexpr Pid kKilledLauka = 700;
constexpr Pid kProfiler = 650;

void need(int error, const std::string& name) {
  if (error != 0) throw std::logic_error("another program's call is refused: " + name);
}

}  // namespace

void Host::call_for(const std::string& name, std::uint32_t value) {
  need(sysctlbyname(name, {nullptr, nullptr, &value, sizeof value}), name);
}

void Host::call_for(const std::string& name, std::uint64_t which, std::uint64_t value) {
  const std::array pair = {which, value};
  need(sysctlbyname(name, {nullptr, nullptr, pair.data(), sizeof pair}), name);
}

void Host::trace_for(const std::vector<int>& name) {
  need(sysctl(name.data(), static_cast<unsigned>(name.size()), {}), "kern.kdebug");
}

void Host::sample_for(unsigned actions) {
  call_for("kperf.action.count", std::max(actions, kernel.sampler.action_count()));
  call_for("kperf.action.samplers", 1, sampler_bit::kThreadInfo);
  call_for("kperf.action.filter_by_pid", 1, 4711);
}

void Host::trace_all_for() {
  trace_for({1, 24, 4, 1});
  trace_for({1, 24, 6});
  trace_for({1, 24, 3, 1});
}

/// A lauka that was killed: counting, words, an action, a timer, a buffer, sampling.
void Host::leave_leftovers() {
  std::vector<std::uint64_t> words = {kConfigurableClass};
  call_for("kpc.force_all_ctrs", 1);
  words.resize(1 + kernel.pmu.config_count(kConfigurableClass), kernel.setup.chip.any_selector());
  need(sysctlbyname("kpc.config",
                    {nullptr, nullptr, words.data(), words.size() * sizeof(std::uint64_t)}),
       "kpc.config");
  call_for("kpc.counting", kFixedClass | kConfigurableClass);
  call_for("kpc.thread_counting", kFixedClass | kConfigurableClass);
  sample_for(3);
  call_for("kperf.timer.count", 2);
  trace_all_for();
  call_for("kperf.sampling", 1);
}

void Host::play_past() {
  const Setup& setup = kernel.setup;
  const auto as = [this](Pid pid, const std::string& name) -> Process& {
    Process& process = kernel.start_beside(pid, 0, name);
    call_as(caller_of(process));
    return process;
  };
  if (setup.earlier_actions > 0) {
    Process& tool = as(kEarlierTool, "xctrace");
    sample_for(setup.earlier_actions);
    call_for("kperf.reset", 1);
    kernel.end_beside(tool);
  }
  if (setup.has_leftovers) {
    Process& killed = as(kKilledLauka, "lauka");
    leave_leftovers();
    kernel.end_beside(killed);
  }
  if (setup.force_is_taken) {
    as(kProfiler, "profiler");
    call_for("kpc.force_all_ctrs", 1);
  }
  if (setup.tracer) {
    Process& tool = as(setup.tracer->pid, setup.tracer->name);
    if (setup.tracer->is_background) call_for("ktrace.init_background", 1);
    // It waits if a tool in the foreground has left the tracing on, even if that has ended.
    const bool waits = setup.tracer->is_background && setup.has_leftovers;
    if (!setup.is_virtual && !waits) sample_for(1);
    if (!waits) trace_all_for();
    if (setup.tracer->has_ended) kernel.end_beside(tool);
  }
  call_as(std::nullopt);
}

}  // namespace lauka::darwin
