#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "cores/threads.h"
#include "engine/engine.h"
#include "engine/perf/counters.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"
#include "os/process.h"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka::cores {

/// The core kinds of a Linux machine, the fastest first; empty if the cores are equal, or if their
/// kinds or the order of the kinds is unknown.
struct DetectedKinds {
  CoreKinds kinds;
  std::string why_none{};  ///< one line: why the order of the kinds is unknown; empty otherwise
};
/// Finds the core kinds by the PMUs of the cores, else by the capacity of each CPU. Frequencies do
/// not make kinds, because equal cores may have different frequencies.
DetectedKinds find_kinds(const os::LinuxCalls& calls);

/// Refuses the user's core kinds if they do not match the CPUs of this machine. Returns the kinds
/// with P, if any, moved to the front.
Result<CoreKinds> check_kinds(const CoreKinds& by_hand, const os::LinuxCalls& calls);

/// Returns the CPUs of the preferred core kind on which lauka may run; empty for Any. Performance
/// means the first of `kinds`. Efficiency means the kind named E, else the last kind.
Result<std::vector<std::uint32_t>> choose_cpus(CorePreference prefer, const CoreKinds& kinds,
                                               const os::LinuxCalls& calls);

/// The user's options about core kinds.
struct CoreRequest {
  CoreKinds by_hand{};  ///< core kinds that the user named; empty: the system's core kinds apply
  CorePreference prefer = CorePreference::Any;
  std::optional<double> min_share{};  ///< smallest wanted share (0..1) of a run's CPU time on the
                                      ///< first core kind, usually P; nullopt: no limit
  bool may_time_in_counting_runs =
      true;  ///< true: times by core kind may be measured in counting runs instead of timed runs

  bool operator==(const CoreRequest&) const = default;
};

/// The treatment of core kinds in a session.
struct CoreDecision {
  CoreKinds kinds{};
  CorePlan use{};
  std::string note{};  ///< one line for the user: why times by core kind are missing; may be empty
};

/// Decides how a session treats core kinds. Refuses options that this machine cannot fulfil. Uses
/// `darwin` only if `linux` is null.
Result<CoreDecision> decide(const CoreRequest& wanted, const os::LinuxCalls* linux,
                            const os::DarwinCalls* darwin = nullptr);

/// Returns an engine that appends times by core kind to the counts of `engine`, and requests the
/// repetition of runs below CorePlan::min_share. Returns `engine` itself if no times are measured.
/// Uses `darwin` only if `linux` is null.
std::unique_ptr<engine::CounterEngine> with_core_time(std::unique_ptr<engine::CounterEngine> engine,
                                                      const CoreDecision& decided,
                                                      const os::LinuxCalls* linux,
                                                      const os::DarwinCalls* darwin = nullptr);

struct CoreTimes {
  std::vector<std::uint64_t>
      ns{};  ///< nanoseconds on each core kind, in the order of the kinds; empty if unknown
  std::uint64_t unknown_kind_ns = 0;  ///< macOS: nanoseconds on unknown core kinds
  std::optional<Error> missing{};     ///< reason why `ns` is empty, if known
};

/// Task-clock counters that give CPU time by core kind: one clock for all CPUs, and one clock for
/// each CPU outside the kind with the most CPUs. The kind with the most CPUs gets the remaining
/// time. The clocks work with kernel.perf_event_paranoid up to 2: a clock that excludes the kernel
/// still advances in the kernel.
class KindClocks {
 public:
  explicit KindClocks(const CoreKinds& kinds);

  /// Returns the requests for the clocks. `others`: number of other requests before them in the
  /// counter set.
  std::vector<os::CounterRequest> requests(std::size_t others) const;

  /// Returns the times of a run or thread. `readings`: one reading for each of requests(), in the
  /// same order. `error`: errno of a clock that could not be opened; 0 if all were opened.
  CoreTimes times(std::span<const os::Reading> readings, int error,
                  const engine::perf::PerfConditions& situation) const;

 private:
  struct OnCpu {
    std::size_t kind = 0;
    std::uint32_t cpu = 0;
  };
  std::size_t kinds_;
  std::size_t largest_ = 0;
  std::vector<OnCpu> clocks_{};
};

/// A time for each performance level of macOS, the fastest level first; nanoseconds or mach units.
using LevelTimes = std::vector<std::uint64_t>;

struct PollResult {
  LevelTimes own;  ///< nanoseconds of the command's own process, as far as seen; all 0 if the
                   ///< kernel's totals have these times
  LevelTimes descendants;  ///< nanoseconds of all descendants, as far as seen
  std::uint64_t ended_descendants_ns =
      0;  ///< part of `descendants`: nanoseconds of processes that no longer exist
};

/// Polls a running command and its descendants about every 10 ms for their times by core kind,
/// because the kernel's totals of an ended command lack its descendants' times. Polls less often if
/// a poll takes more than 0.1 ms.
class RunPoll final : public os::RunObserver {
 public:
  RunPoll(const os::DarwinCalls& calls, std::size_t levels);

  void before_start() override;
  void made(int pid) override { root_ = pid; }
  void running(int pid) override;
  std::chrono::nanoseconds interval() const override { return std::chrono::milliseconds(10); }

  /// Returns the times of all processes that were seen. Must be called after the run has ended.
  PollResult result() const;

 private:
  /// A process id with the start time of its process, because the system reuses ids.
  struct Identity {
    int pid = 0;
    std::uint64_t started_at = 0;
    auto operator<=>(const Identity&) const = default;
  };

  struct Process {
    LevelTimes times{};  ///< times in mach units
    std::map<std::uint64_t, CountsByLevel> threads{};
  };

  bool read_usage(int pid, os::ProcessUsage& usage, bool& has_levels) const;
  void look_at(int pid);
  LevelTimes times_of_threads(int pid, Process& process) const;

  const os::DarwinCalls& calls_;
  std::size_t levels_;
  os::Timebase base_;
  std::map<Identity, Process> seen_{};
  int root_ = 0;
  std::uint64_t looked_at_ = 0;
  std::uint64_t poll_duration_ = 0;
};

/// Returns the times of a run on macOS, from the kernel's totals of the ended command and from
/// polling; an empty CoreTimes if `totals` is nullopt. `reaped_ns`: CPU time of the command and of
/// all descendants that were waited for.
CoreTimes mac_core_times(const std::optional<os::KernelTotals>& totals, const PollResult& polled,
                         std::uint64_t reaped_ns);

}  // namespace lauka::cores
