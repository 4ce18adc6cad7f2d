#pragma once

#include "core/result.h"
#include "os/darwin_calls.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What macOS tells of the threads of a process, to its own user without further right. Source: XNU
// bsd/kern/proc_info.c, osfmk/kern/recount.c.

namespace lauka::cores {

/// The names of the performance levels, the fastest first ("Performance", "Efficiency"); none where
/// the system does not tell.
std::vector<std::string> level_names(const os::DarwinCalls& calls);

/// The threads of a process. Not the ids of PROC_PIDLISTTHREADS, which are addresses.
struct ThreadIds {
  std::vector<std::uint64_t> ids{};
  int error = 0;  ///< errno
  explicit operator bool() const { return error == 0; }
};
ThreadIds thread_ids(const os::DarwinCalls& calls, int process);

/// Its name; may be empty.
std::string thread_name(const os::DarwinCalls& calls, int process, std::uint64_t thread);

/// One per performance level.
using LevelCounts = std::vector<os::ThreadCounts>;

/// What one thread did since its birth. A running thread's trail behind by up to a time slice.
struct CountsOfThread {
  LevelCounts levels{};
  int error = 0;  ///< errno; ESRCH: it has ended
};
CountsOfThread thread_counts(const os::DarwinCalls& calls, int process, std::uint64_t thread,
                             std::size_t levels);

/// Refused where there is no such process, where it is another user's, and where the kernel does
/// not count by kind of core.
Result<void> check_mac_process(const os::DarwinCalls& calls, int process, std::size_t levels);

/// What is said where there are no kinds of core, and where a kernel counts nothing on them.
Error no_kinds_of_core();
std::string no_counts_in_virtual_machine();

}  // namespace lauka::cores
