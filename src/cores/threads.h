#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lauka::cores {

/// What one thread did on the cores of one kind, or on all; what is not known is none.
struct ThreadPart {
  std::optional<double> user_seconds{};
  std::optional<double> system_seconds{};
  std::optional<double> cpu_seconds{};  ///< where user and system are not told apart
  std::optional<std::uint64_t> cycles{};
  std::optional<std::uint64_t> instructions{};
};

struct ThreadLine {
  std::uint64_t id = 0;
  std::string name{};               ///< may be empty
  double cpu_seconds = 0.0;         ///< in all
  std::vector<ThreadPart> parts{};  ///< one per column group
};

/// A group of columns: cores of one kind, or all of them.
struct ThreadColumns {
  std::string title;        ///< "PERFORMANCE"; may be empty
  bool has_split = false;   ///< user and system
  bool has_cpu = false;     ///< their sum
  bool has_counts = false;  ///< cycles, instructions, IPC
};

/// The threads of a process, the one with the most CPU time first.
struct Threads {
  std::vector<ThreadColumns> columns{};
  std::vector<ThreadLine> lines{};
  std::vector<std::string> notes{};  ///< one line each: what is missing and why
};

/// Whose threads, and for how long they are looked at.
struct ThreadsWanted {
  std::int32_t process = 0;
  std::optional<std::chrono::nanoseconds> during{};  ///< none: since each thread's birth
};

/// Waits; may come back earlier, when the user wants an end.
using Wait = std::function<void(std::chrono::nanoseconds)>;

/// As this system tells them. Both null: refused.
Result<Threads> threads_of(const ThreadsWanted& wanted, const CoreKinds& kinds, const Wait& wait,
                           const os::LinuxCalls* linux, const os::DarwinCalls* darwin);

/// On Linux: user and system time come from /proc, in hundredths of a second. With `during`,
/// counters are attached to every thread there is, so that cycles and instructions, and the time by
/// kind of core, are those of that time; threads born meanwhile have their times only. Refused
/// where there is no such process, and where it is another user's.
Result<Threads> linux_threads(const ThreadsWanted& wanted, const CoreKinds& kinds, const Wait& wait,
                              const os::LinuxCalls& calls);

/// On macOS: everything by kind of core, from the kernel's accounting of each thread, in all or,
/// with `during`, the difference over that time. Refused likewise.
Result<Threads> darwin_threads(const ThreadsWanted& wanted, const Wait& wait,
                               const os::DarwinCalls& calls);

/// Refused where there is no such process, and where it is another user's (Linux).
Result<void> check_process(const os::LinuxCalls& calls, std::int32_t process);

}  // namespace lauka::cores
