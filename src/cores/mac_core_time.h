#pragma once

#include "cores/cores.h"
#include "cores/mac_threads.h"
#include "engine/engine.h"
#include "os/darwin_calls.h"
#include "os/process.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace lauka::cores {

/// Nanoseconds on the cores of each performance level, the fastest first.
using LevelTimes = std::vector<std::uint64_t>;

/// What looks at a run, from time to time, showed when it had ended.
struct Polled {
  LevelTimes own;                  ///< of the command's own process: a lower bound
  LevelTimes descendants;          ///< of all processes below it, as far as seen: likewise
  std::uint64_t of_reaped_ns = 0;  ///< of `descendants`, that of those that are gone
};

/// Looks about every 10 ms at a running command and its descendants, for what the kernel's totals
/// of the ended command leave out: how the time of its descendants divides on the kinds of core.
/// With two kinds one call tells that of a whole process, threads that have ended included; with
/// more, and on kernels before macOS 13, each thread is asked. Where that takes long (many threads
/// or processes), it looks less often, so that it never takes more than a hundredth of one core.
class RunPoll final : public os::RunWatch {
 public:
  RunPoll(const os::DarwinCalls& calls, std::size_t levels);

  void before_start() override;
  void made(int pid) override;
  void running(int pid) override;
  std::chrono::nanoseconds interval() const override { return std::chrono::milliseconds(10); }

  /// To be asked when the run has ended.
  Polled result() const;

 private:
  /// A pid may be given to another process meanwhile: that one began later.
  struct Identity {
    int pid = 0;
    std::uint64_t started_at = 0;
    bool operator<(const Identity& other) const {
      return pid != other.pid ? pid < other.pid : started_at < other.started_at;
    }
  };

  /// What was seen of one process.
  struct Process {
    LevelTimes times{};                              ///< mach units
    std::map<std::uint64_t, LevelCounts> threads{};  ///< where these are asked
  };

  bool read_usage(int pid, os::ProcessUsage& usage, bool& has_levels) const;
  void look_at(int pid);
  LevelTimes times_of_threads(int pid, Process& process, const os::ProcessUsage& usage) const;
  std::vector<int> children_of(int pid) const;

  const os::DarwinCalls& calls_;
  std::size_t levels_;
  os::Timebase base_;
  std::map<Identity, Process> seen_{};
  int root_ = 0;
  std::uint64_t looked_at_ = 0;  ///< mach units: when the last look ended
  std::uint64_t took_ = 0;       ///< and what it took
};

/// The times of one run by kind of core on macOS.
struct MacTimes {
  LevelTimes ns{};               ///< one per kind; empty: the kernel does not tell
  std::uint64_t unsplit_ns = 0;  ///< of what ended between two looks: the kind is not known
};

/// From what the kernel says of the ended command, which decides, and what was seen of its
/// descendants. `reaped_ns`: CPU time of the command and the descendants it waited for.
MacTimes mac_times(const std::optional<os::KernelTotals>& totals, const Polled& polled,
                   std::uint64_t reaped_ns);

/// As with_core_time of Linux: an engine that adds to each pass of `engine` the times by kind of
/// core, and behind these the time whose kind is not known (CoreUse::has_unsplit).
std::unique_ptr<engine::CounterEngine> with_mac_core_time(
    std::unique_ptr<engine::CounterEngine> engine, const Decided& decided,
    const os::DarwinCalls& calls);

}  // namespace lauka::cores
