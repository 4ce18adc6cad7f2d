#include "fakes/darwin/host.h"
#include "fakes/darwin/region.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>

#include <fcntl.h>

// Processes: posix_spawn, signals, waiting; facts, 6.

namespace lauka::darwin {
namespace {

timeval timeval_of(std::uint64_t ns) {
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
    return (options & WSTOPPED) != 0 && process->life == Life::Stopped && !process->stop_is_told;
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
    if ((options & WNOWAIT) == 0) process->stop_is_told = true;
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
    usage->ru_utime = timeval_of(all.of(Mode::User));
    usage->ru_stime = timeval_of(all.of(Mode::Kernel));
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

}  // namespace lauka::darwin
