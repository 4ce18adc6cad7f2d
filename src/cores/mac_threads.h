#pragma once

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

/// One per performance level.
using LevelCounts = std::vector<os::ThreadCounts>;

/// What one thread did since its birth. A running thread's trail behind by up to a time slice.
struct CountsOfThread {
  LevelCounts levels{};
  int error = 0;  ///< errno; ESRCH: it has ended
};
CountsOfThread thread_counts(const os::DarwinCalls& calls, int process, std::uint64_t thread,
                             std::size_t levels);

}  // namespace lauka::cores
