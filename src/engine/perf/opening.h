#pragma once

#include "core/result.h"
#include "engine/perf/resolve.h"
#include "os/linux_calls.h"
#include "os/process.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lauka::engine::perf {

/// One event on one PMU, as it is opened.
struct Counter {
  std::string pmu;
  bool core = false;
  os::PerfEventAttr attributes{};  ///< as a member of a group; lay_out makes the leaders
};

/// Counters that were opened together; all are closed with this.
class OpenCounters {
 public:
  explicit OpenCounters(const os::LinuxCalls& calls) : calls_(calls) {}
  OpenCounters(const OpenCounters&) = delete;
  OpenCounters& operator=(const OpenCounters&) = delete;
  OpenCounters(OpenCounters&&) = delete;
  OpenCounters& operator=(OpenCounters&&) = delete;
  ~OpenCounters();

  /// Opens one more. `leader`: the index of its group's leader, its own for a new group. Gives 0 or
  /// errno.
  int open(const os::PerfEventAttr& attributes, std::size_t leader);

  std::size_t size() const { return descriptors_.size(); }
  int descriptor(std::size_t index) const { return descriptors_[index]; }

 private:
  const os::LinuxCalls& calls_;
  std::vector<int> descriptors_;
};

/// The settings that every counter of ours has: inherited, read with its group and its times.
os::PerfEventAttr attributes_of(const Code& code, const Rings& rings);

/// Makes a group's leader of a member: off until the command is executed.
os::PerfEventAttr as_leader(os::PerfEventAttr attributes);

/// Opens the counter alone and closes it. Gives 0 or errno.
int try_counter(const os::LinuxCalls& calls, const os::PerfEventAttr& attributes);

}  // namespace lauka::engine::perf
