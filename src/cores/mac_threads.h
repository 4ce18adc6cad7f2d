#pragma once

#include "core/result.h"
#include "cores/threads.h"
#include "os/darwin_calls.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lauka::cores {

// Source of these declarations: XNU bsd/kern/proc_info.c, osfmk/kern/recount.c.

/// Returns the names of macOS's performance levels, the fastest first; empty if the system does not
/// report them.
std::vector<std::string> read_performance_levels(const os::DarwinCalls& calls);

/// Lists the unique ids of a process's threads, not the addresses that PROC_PIDLISTTHREADS gives;
/// no ids after an error. Returns 0 or an errno.
int list_thread_ids(const os::DarwinCalls& calls, int process, std::vector<std::uint64_t>& ids);

/// The counts of one thread since its start on each performance level; the latest work of a running
/// thread may be missing.
using CountsByLevel = std::vector<os::ThreadCounts>;

struct CountsOfThread {
  CountsByLevel counts{};  ///< empty after an error
  int error = 0;           ///< errno; 0 if the counts were read
};

/// Reads the counts of a thread on the first `levels` performance levels.
CountsOfThread read_thread_counts(const os::DarwinCalls& calls, int process, std::uint64_t thread,
                                  std::size_t levels);

/// Reads the threads for sample_threads() on macOS, in any order.
Result<ThreadTable> sample_darwin_threads(const ThreadSampling& sampling,
                                          const os::DarwinCalls& calls);

Result<std::unique_ptr<ThreadStream>> open_darwin_thread_stream(
    const std::vector<std::int32_t>& processes, const os::DarwinCalls& calls);

}  // namespace lauka::cores
