#pragma once

#include "core/event.h"
#include "core/result.h"
#include "engine/perf/resolve.h"
#include "os/linux_calls.h"
#include "os/process.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::engine::perf {

/// One event on one PMU, as it is opened.
struct Counter {
  std::string pmu;
  bool core = false;
  os::PerfEventAttr attributes{};  ///< as a member of a group; lay_out makes the leaders
  Role role = Role::Other;
  std::uint64_t scale = 1;                    ///< of its counts
  std::optional<os::PerfEventAttr> led_by{};  ///< the only leader of a group that it counts in
};

/// Counters that were opened together; all are closed with this.
class OpenCounters : NonCopyable {
 public:
  explicit OpenCounters(const os::LinuxCalls& calls) : calls_(calls) {}
  ~OpenCounters();

  /// Opens one more. `leader`: the index of its group's leader, its own for a new group. Gives 0 or
  /// errno.
  int open(const os::PerfEventAttr& attributes, std::size_t leader);

  void close_last();

  std::size_t size() const { return descriptors_.size(); }
  int descriptor(std::size_t index) const { return descriptors_[index]; }

 private:
  const os::LinuxCalls& calls_;
  std::vector<int> descriptors_;
};

/// The settings that every counter of ours has: inherited, read with its group and its times.
os::PerfEventAttr attributes_of(const os::Code& code, const Rings& rings);

/// Makes a group's leader of a member: off until the command is executed.
os::PerfEventAttr as_leader(os::PerfEventAttr attributes);

/// A loop to be counted: one branch, two instructions and a cycle in each of so many turns at
/// least.
inline constexpr std::uint64_t kLoopTurns = 10'000;
void run_loop();

/// Opens the counter alone and closes it. Gives 0 or errno.
int try_counter(const os::LinuxCalls& calls, const os::PerfEventAttr& attributes);

/// What one event of a run counted.
struct Tally {
  std::string_view event;
  Role role = Role::Other;
  std::uint64_t rings = 0;  ///< what the counter leaves out, as PerfEventAttr::flags
  std::uint64_t count = 0;
  std::uint64_t ns = 0;  ///< its counters were on
};

/// Finds counts that cannot be true, although their counters claim to have been on all the time:
/// the counters of a virtual machine may be taken by its host. One for each pass, as it compares a
/// run with the other runs of its command.
class Judge {
 public:
  /// `fastest_clock`: the most cycles in a nanosecond that the session has seen; 0: none yet. It is
  /// shared by the passes and outlives them.
  explicit Judge(double& fastest_clock) : fastest_clock_(fastest_clock) {}

  /// For each event why its count is not believed; empty where it is.
  std::vector<std::string> doubts(std::size_t command, std::span<const Tally> tallies);

 private:
  struct History {
    std::uint64_t least = 0;  ///< of the counts above 0; 0: there were none
    unsigned zeros = 0;       ///< that were doubted before there was any other count
  };

  static bool is_doubtful_zero(const Tally& tally, History& history);
  double most_instructions(const Tally& instructions, std::span<const Tally> all) const;
  std::string doubt(const Tally& tally, std::span<const Tally> all, History& history) const;
  void learn(const Tally& tally, History& history);

  double& fastest_clock_;
  std::map<std::pair<std::size_t, std::size_t>, History> histories_;  ///< by command and event
};

}  // namespace lauka::engine::perf
