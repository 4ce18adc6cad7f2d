#include "fakes/darwin/host.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

// The kernel's accounting of processes and threads: facts, 7. Offsets, not structs: the layouts are
// what is tested.

namespace lauka::darwin {
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

/// As proc_pidinfo gives lists and structs: what fits, and how many bytes that is.
int copy_out(const void* from, std::size_t count, void* buffer, int room) {
  const std::size_t copied = std::min(count, static_cast<std::size_t>(std::max(room, 0)));
  std::memcpy(buffer, from, copied);
  return static_cast<int>(copied);
}

/// What recount knows of a thread: up to its last switch.
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
  if (!rules.has_thread_counts || kernel.setup.is_virtual) return refuse(ENOTSUP);
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

}  // namespace lauka::darwin
