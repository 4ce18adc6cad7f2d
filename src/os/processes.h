#pragma once

#include <cstdint>
#include <map>

#include <sys/types.h>

// The processes of Linux and who began whom. Internal to os/.

namespace lauka::os {

struct ProcessFacts {
  pid_t parent = 0;
  bool is_zombie = false;
  std::int64_t started_ns = 0;  ///< CLOCK_MONOTONIC; the latest it can have been
};

using ProcessTable = std::map<pid_t, ProcessFacts>;

/// All that this process may see.
ProcessTable all_processes();

/// Whether `root` is a parent of `pid`, or one of its parents' parents.
bool descends_from(const ProcessTable& all, pid_t pid, pid_t root);

}  // namespace lauka::os
