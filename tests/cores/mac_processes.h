#pragma once

#include "cores/cores.h"
#include "cores/mac_threads.h"
#include "os/darwin_calls.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace lauka::cores {

/// The calls of macOS about processes and threads, as a script. One at a time.
struct MacProcesses {
  struct Thread {
    std::string name{};
    CountsByLevel levels{};
    int error_of_counts = 0;
  };
  struct Process {
    int parent = 1;
    os::ProcessUsage usage{};
    std::map<std::uint64_t, Thread> threads{};
    bool is_foreign = false;
  };
  std::map<int, Process> all{};
  std::vector<std::string> levels{"Performance", "Efficiency"};
  os::Timebase base{1, 1};
  bool knows_v6 = true;
  std::uint64_t now = 1'000'000'000;
  std::uint64_t cost_of_call = 0;
  std::size_t calls_made = 0;

  MacProcesses() { current() = this; }
  ~MacProcesses() { current() = nullptr; }
  MacProcesses(const MacProcesses&) = delete;
  MacProcesses& operator=(const MacProcesses&) = delete;

  static MacProcesses*& current() {
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): calls have no state
    static MacProcesses* processes = nullptr;
    return processes;
  }

  static const os::DarwinCalls& calls() {
    static const os::DarwinCalls kCalls = [] {
      os::DarwinCalls calls{};
      calls.sysctlbyname = &by_name;
      calls.proc_pid_rusage = &write_usage;
      calls.proc_pidinfo = &pid_info;
      calls.proc_listchildpids = &children;
      calls.mach_timebase_info = [](os::Timebase* target) {
        *target = current()->base;
        return 0;
      };
      calls.mach_absolute_time = [] { return current()->now; };
      return calls;
    }();
    return kCalls;
  }

 private:
  static MacProcesses& made_call() {
    MacProcesses& it = *current();
    it.now += it.cost_of_call;
    ++it.calls_made;
    return it;
  }

  /// A call on a process that is there and may be looked at; null with errno: it may not.
  static Process* called(int pid) {
    MacProcesses& it = made_call();
    const auto found = it.all.find(pid);
    errno = found == it.all.end() ? ESRCH : EPERM;
    return found == it.all.end() || found->second.is_foreign ? nullptr : &found->second;
  }

  /// As macOS returns lists and structs: the part that fits, and its bytes.
  static int copy_out(const void* from, std::size_t count, void* buffer, int room) {
    const std::size_t copied = std::min(count, static_cast<std::size_t>(room));
    if (copied > 0) std::memcpy(buffer, from, copied);
    return static_cast<int>(copied);
  }

  static int by_name(const char* key, void* value, std::size_t* bytes, void*, std::size_t) {
    const std::vector<std::string>& levels = current()->levels;
    const std::string name = key;
    if (name == "hw.nperflevels") {
      const auto count = static_cast<std::int32_t>(levels.size());
      std::memcpy(value, &count, sizeof count);
      *bytes = sizeof count;
      return count == 0 ? -1 : 0;
    }
    const std::string start = "hw.perflevel";
    if (!name.starts_with(start)) return -1;
    const std::string& text = levels.at(static_cast<std::size_t>(name[start.size()] - '0'));
    std::memcpy(value, text.c_str(), text.size() + 1);
    *bytes = text.size() + 1;
    return 0;
  }

  static int write_usage(int pid, int flavour, void** buffer) {
    const Process* process = called(pid);
    if (process == nullptr) return -1;
    errno = EINVAL;
    if (flavour == os::kRusageV6 && !current()->knows_v6) return -1;
    std::memcpy(static_cast<void*>(buffer), &process->usage,
                flavour == os::kRusageV6 ? sizeof process->usage : os::kRusageV4Bytes);
    return 0;
  }

  static int pid_info(int pid, int flavour, std::uint64_t argument, void* buffer, int bytes) {
    const Process* process = called(pid);
    if (process == nullptr) return 0;
    if (flavour == os::kPidListThreadIds) {
      std::vector<std::uint64_t> ids;
      for (const auto& [id, thread] : process->threads) ids.push_back(id);
      return copy_out(ids.data(), ids.size() * sizeof(std::uint64_t), buffer, bytes);
    }
    const auto thread = process->threads.find(argument);
    errno = ESRCH;
    if (thread == process->threads.end()) return 0;
    const auto& [name, counts, error] = thread->second;
    if (flavour == os::kPidThreadId64Info) {
      os::ThreadInfo info;
      name.copy(info.name.data(), sizeof info.name);
      return copy_out(&info, sizeof info, buffer, bytes);
    }
    errno = error;
    if (error != 0) return 0;
    const os::ThreadCountsHeader header{static_cast<std::uint16_t>(counts.size())};
    const std::size_t size = counts.size() * sizeof(os::ThreadCounts);
    std::vector<std::byte> written(sizeof header + size);
    std::memcpy(written.data(), &header, sizeof header);
    std::memcpy(written.data() + sizeof header, counts.data(), size);
    return copy_out(written.data(), written.size(), buffer, bytes);
  }

  static int children(int parent, void* buffer, int bytes) {
    std::vector<int> pids;
    for (const auto& [pid, process] : made_call().all)
      if (process.parent == parent) pids.push_back(pid);
    return copy_out(pids.data(), pids.size() * sizeof(int), buffer, bytes / 4 * 4) / 4;
  }
};

}  // namespace lauka::cores
