#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "cores/mac_threads.h"
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
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace lauka::cores {

/// The core kinds of a Linux machine, the fastest first; empty if the cores are equal, or if their
/// kinds or the order of the kinds is unknown.
struct LinuxCoreKinds {
  CoreKinds kinds;
  /// One line: why the order of the kinds is unknown; empty otherwise.
  std::string why_order_unknown{};
};
/// Finds the core kinds by the PMUs of the cores, else by the capacity of each CPU.
LinuxCoreKinds detect_linux_kinds(const os::LinuxCalls& calls);

/// Refuses the user's core kinds if they do not match the CPUs of this machine. Returns the kinds
/// with the kind named P, if any, moved to the front.
Result<CoreKinds> check_user_kinds(const CoreKinds& by_hand, const os::LinuxCalls& calls);

/// Returns the CPUs of the preferred core kind on which lauka may run; empty for Any. Performance
/// means the first of `kinds`. Efficiency means the kind named E, else the last kind.
Result<std::vector<std::uint32_t>> cpus_of_preference(CorePreference prefer, const CoreKinds& kinds,
                                                      const os::LinuxCalls& calls);

/// The user's options about core kinds.
struct CoreRequest {
  /// Core kinds that the user named; empty: the system's core kinds apply.
  CoreKinds user_named_kinds{};
  CorePreference preferred_kind = CorePreference::Any;
  /// Smallest wanted share (0..1) of a run's CPU time on the first core kind, usually P; nullopt:
  /// no limit.
  std::optional<double> min_first_kind_share{};
  /// True: times by core kind may be measured in counting runs instead of timed runs.
  bool may_time_in_counting_runs = true;

  bool operator==(const CoreRequest&) const = default;
};

/// The treatment of core kinds in a session.
struct CoreDecision {
  CoreKinds session_kinds{};
  CorePlan core_plan{};
  /// One line for the user: why times by core kind are missing; may be empty.
  std::string no_times_note{};
};

/// Decides how a session treats core kinds. Refuses options that this machine cannot fulfil. Uses
/// `darwin` only if `linux` is null.
Result<CoreDecision> plan_core_use(const CoreRequest& wanted, const os::LinuxCalls* linux,
                                   const os::DarwinCalls* darwin = nullptr);

/// Returns an engine that appends times by core kind to the counts of `engine`, and may request the
/// repetition of a run whose share on the first core kind is below
/// CorePlan::min_share_on_first_kind. Returns `engine` itself if no times are measured. Uses
/// `darwin` only if `linux` is null.
engine::OwnedEngine add_core_time_measurement(engine::OwnedEngine engine,
                                              const CoreDecision& decided,
                                              const os::LinuxCalls* linux,
                                              const os::DarwinCalls* darwin = nullptr);

struct CoreTimes {
  /// Nanoseconds on each core kind, in the order of the kinds; empty if unknown.
  std::vector<std::uint64_t> ns{};
  std::uint64_t unknown_kind_ns = 0;    ///< macOS: nanoseconds on unknown core kinds
  std::optional<Error> why_no_times{};  ///< reason why `ns` is empty, if known
};

/// Task-clock counters that give CPU time by core kind: one clock for all CPUs, and one clock for
/// each CPU outside the kind with the most CPUs. The kind with the most CPUs gets the remaining
/// time. The clocks exclude the kernel, which kernel.perf_event_paranoid=2 requires, but still
/// advance in the kernel.
class KindClocks {
 public:
  explicit KindClocks(const CoreKinds& kinds);

  /// Returns the requests for the clocks. `others`: number of requests that precede the clocks in
  /// the counter set.
  std::vector<os::CounterRequest> clock_requests(std::size_t others) const;

  /// Returns the times of a run or thread. `readings`: one reading for each of clock_requests(), in
  /// the same order. `open_error`: errno of a clock that could not be opened; 0: all are open.
  CoreTimes times_by_kind(std::span<const os::Reading> readings, int open_error,
                          const engine::perf::PerfConditions& conditions) const;

 private:
  struct SingleCpuClock {
    std::size_t kind = 0;
    std::uint32_t cpu = 0;
  };

  std::vector<std::uint64_t> sum_single_cpus_by_kind(
      std::span<const os::Reading> of_single_cpus) const;

  std::size_t kind_count_;
  std::size_t most_cpus_kind_ = 0;
  std::vector<SingleCpuClock> single_cpu_clocks_{};
};

/// A time for each performance level of macOS, the fastest level first; nanoseconds or mach units.
using LevelTimes = std::vector<std::uint64_t>;

struct SampledLevelTimes {
  LevelTimes command_times;  ///< nanoseconds of the command's own process, as far as seen; all 0 if
                             ///< the kernel's totals have these times
  LevelTimes descendant_times;  ///< nanoseconds of all descendants, as far as seen
  /// Part of `descendant_times`: nanoseconds of processes that no longer exist.
  std::uint64_t vanished_descendants_ns = 0;
};

/// Polls a running command and its descendants for their times by core kind, because the kernel's
/// totals of an ended command lack the descendants' times. Polls about every 10 ms, less often if a
/// poll takes more than 0.1 ms.
class CoreTimePoller final : public os::RunObserver {
 public:
  CoreTimePoller(const os::DarwinCalls& calls, std::size_t levels)
      : calls_(calls), level_count_(levels), mach_timebase_(os::timebase_of(calls)) {}

  void before_start() override;
  void made(int pid) override { command_pid_ = pid; }
  void running(int pid) override;
  std::chrono::nanoseconds interval() const override { return std::chrono::milliseconds(10); }

  /// Returns the times of all processes that were seen. Must be called after the run has ended.
  SampledLevelTimes sampled_times() const;

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

  struct Usage {
    os::ProcessUsage of_process;
    bool has_levels = false;  ///< true if the times on performance cores are known
  };

  std::optional<Usage> read_usage(int pid) const;
  std::set<int> update_process_tree(int pid);
  void update_orphans(const std::set<int>& descendants);
  void update_times_of(int pid);
  LevelTimes store_and_sum_threads(int pid, const std::vector<std::uint64_t>& ids,
                                   Process& process) const;
  LevelTimes sum_thread_times(int pid, Process& process) const;

  const os::DarwinCalls& calls_;
  std::size_t level_count_;
  os::Timebase mach_timebase_;
  std::map<Identity, Process> seen_processes_{};
  int command_pid_ = 0;
  std::uint64_t last_poll_end_ = 0;
  std::uint64_t last_poll_duration_ = 0;
};

/// Returns the times of a run on macOS, from the kernel's totals of the ended command and from
/// polling; an empty CoreTimes if `totals` is nullopt. `reaped_ns`: CPU time of the command and of
/// all descendants that were waited for.
CoreTimes combine_mac_core_times(const std::optional<os::AccountedTotals>& totals,
                                 const SampledLevelTimes& polled, std::uint64_t reaped_ns);

}  // namespace lauka::cores
