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

/// The core kinds of a Linux machine, the fastest first; empty if all cores are equal, or if the
/// kinds or their order are unknown.
struct FoundKinds {
  CoreKinds kinds;
  std::string why_none{};  ///< one line; empty if no reason is needed
};
/// Finds the core kinds by the PMUs of the cores (Intel: cpu_core, cpu_atom, cpu_lowpower; Arm: one
/// for each type of core), else by each CPU's capacity; never by frequencies alone, which differ
/// between equal cores.
FoundKinds find_kinds(const os::LinuxCalls& calls);

/// Returns the core kinds that the user named, with P first and then in the user's order. Refuses
/// them unless they have all CPUs that are online, and only CPUs that exist.
Result<CoreKinds> check_kinds(const CoreKinds& by_hand, const os::LinuxCalls& calls);

/// Returns the CPUs of the preferred kind on which this program may run; empty for Any. Performance
/// is the first kind; Efficiency is the kind called E, or else the last. Refuses a preference among
/// fewer than two kinds, and a kind without such CPUs.
Result<std::vector<std::uint32_t>> choose_cpus(CorePreference prefer, const CoreKinds& kinds,
                                               const os::LinuxCalls& calls);

/// The user's wishes about core kinds.
struct CoreRequest {
  CoreKinds by_hand{};  ///< core kinds that the user named; empty: as the system reports them
  CorePreference prefer = CorePreference::Any;
  std::optional<double> min_share{};  ///< smallest share, a fraction, of a run's CPU time on the
                                      ///< fastest kind; nullopt: no limit
  bool counts_separately = true;      ///< true: costly counters run in counting runs only
};

/// A session's treatment of core kinds.
struct CoreDecision {
  CoreKinds kinds{};
  CoreUse use{};
  std::string note{};  ///< one line: why times are missing although there are several core kinds;
                       ///< else empty
};

/// Decides how a session treats core kinds. Refuses wishes that cannot be met on this machine.
/// `linux` and `darwin` are null on other systems.
Result<CoreDecision> decide(const CoreRequest& wanted, const os::LinuxCalls* linux,
                            const os::DarwinCalls* darwin = nullptr);

/// Adds times by core kind (EventSet::core_times) to the counts of `engine`, after them, in each
/// timed pass, or in core_time_pass() alone if CoreUse::in_counting_runs. On Linux they are exact:
/// times of the counters of all core kinds if these are in use, else of Clocks. On macOS they are
/// from mac_times, followed by the time on unknown kinds (CoreUse::has_unsplit). A run with too
/// little time on the fastest kind (CoreUse::min_share) is repeated, at most three times. Returns
/// `engine` itself if no times are wanted.
std::unique_ptr<engine::CounterEngine> with_core_time(std::unique_ptr<engine::CounterEngine> engine,
                                                      const CoreDecision& decided,
                                                      const os::LinuxCalls* linux,
                                                      const os::DarwinCalls* darwin = nullptr);

/// The times of one run by core kind, or the reason why they are missing.
struct CoreTimes {
  std::vector<std::uint64_t> ns{};  ///< nanoseconds for each core kind; empty: unknown
  std::uint64_t unsplit_ns =
      0;  ///< macOS: nanoseconds on unknown kinds, mostly of processes that ended unseen
  std::optional<Error> missing{};  ///< nullopt: `ns` is known, or something else has the reason
};

/// Task-clock counters that give a run's time by core kind: one for all CPUs, and one for each CPU
/// that is not of the largest kind, which gets the remainder. They include threads and descendants.
/// perf_event_paranoid 2 is enough for them, because a clock runs on in the kernel even if the
/// kernel is excluded.
class Clocks {
 public:
  explicit Clocks(const CoreKinds& kinds);

  /// Returns the counters to open after `others` other counters.
  std::vector<os::CounterRequest> requests(std::size_t others) const;

  /// Returns the times of one run. `readings`: one per request, in their order. `error`: errno of a
  /// counter that could not be opened; 0: none.
  CoreTimes times(std::span<const os::Reading> readings, int error,
                  const engine::perf::Situation& situation) const;

 private:
  struct OnCpu {
    std::size_t kind = 0;
    std::uint32_t cpu = 0;
  };
  std::size_t kinds_;
  std::size_t largest_ = 0;      ///< index of the kind whose CPUs have no clocks
  std::vector<OnCpu> clocks_{};  ///< clock for all CPUs, then clocks in the order of requests()
};

/// Nanoseconds on the cores of each performance level of macOS, the fastest level first.
using LevelTimes = std::vector<std::uint64_t>;

/// The result of polling a run that has ended.
struct PollResult {
  LevelTimes own;                  ///< times of the command's own process: a lower bound; 0 if the
                                   ///< kernel's totals have them
  LevelTimes descendants;          ///< times of all descendants that were seen: a lower bound
  std::uint64_t of_reaped_ns = 0;  ///< nanoseconds of `descendants` that have ended
};

/// Polls a running command and its descendants about every 10 ms, or less often, so that polling
/// never takes more than a hundredth of one core. It finds what the kernel's totals of the ended
/// command lack: the core kinds on which descendants ran. With two core kinds, one call gives the
/// times of a whole process, including ended threads; with more kinds, and before macOS 13, each
/// thread must be read.
class RunPoll final : public os::RunWatch {
 public:
  RunPoll(const os::DarwinCalls& calls, std::size_t levels);

  void before_start() override;
  void made(int pid) override { root_ = pid; }
  void running(int pid) override;
  std::chrono::nanoseconds interval() const override { return std::chrono::milliseconds(10); }

  /// Returns the sums, once the run has ended.
  PollResult result() const;

 private:
  /// Identifies a process even if its id is reused, because the other process started later.
  struct Identity {
    int pid = 0;
    std::uint64_t started_at = 0;
    auto operator<=>(const Identity&) const = default;
  };

  /// The observations of one process.
  struct Process {
    LevelTimes times{};  ///< times in mach units
    std::map<std::uint64_t, LevelCounts>
        threads{};  ///< counts of each thread by its id, if threads are read
  };

  bool read_usage(int pid, os::ProcessUsage& usage, bool& has_levels) const;
  void look_at(int pid);
  LevelTimes times_of_threads(int pid, Process& process) const;

  const os::DarwinCalls& calls_;
  std::size_t levels_;
  os::Timebase base_;
  std::map<Identity, Process> seen_{};
  int root_ = 0;
  std::uint64_t looked_at_ = 0;  ///< mach_absolute_time at the end of the last poll; 0: none
  std::uint64_t took_ = 0;       ///< mach units that the last poll took
};

/// Returns the times of a run on macOS, from the kernel's totals of the ended command (nullopt: no
/// times) and from polling its descendants. `reaped_ns`: CPU time of the command and of the
/// descendants it waited for.
CoreTimes mac_times(const std::optional<os::KernelTotals>& totals, const PollResult& polled,
                    std::uint64_t reaped_ns);

}  // namespace lauka::cores
