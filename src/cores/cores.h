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

/// Finds the kinds of core of a Linux machine, the fastest first; empty if it has one kind, or if
/// it is unknown which of several is the fast one. From the PMUs of the cores (Intel: cpu_core,
/// cpu_atom, cpu_lowpower; Arm: one for each type of core), else from the capacity of each CPU;
/// never from frequencies alone, which differ between equal cores.
struct FoundKinds {
  CoreKinds kinds;
  std::string why_none{};  ///< one line; empty if no reason is needed
};
FoundKinds find_kinds(const os::LinuxCalls& calls);

/// Returns the kinds that the user named, P first and else in their order. Refused unless they have
/// every CPU that is switched on and no CPU that does not exist.
Result<CoreKinds> check_kinds(const CoreKinds& by_hand, const os::LinuxCalls& calls);

/// Returns the CPUs of the wanted kind that this program may run on. P is the first kind, E the one
/// called so, else the last.
Result<std::vector<std::uint32_t>> choose_cpus(CorePreference prefer, const CoreKinds& kinds,
                                               const os::LinuxCalls& calls);

/// The user's wishes about kinds of core.
struct CoreRequest {
  CoreKinds by_hand{};  ///< empty: as the system says
  CorePreference prefer = CorePreference::Any;
  std::optional<double> min_share{};  ///< a fraction
  bool counts_separately = true;      ///< costly counters stay out of the timed runs
};

/// A session's decisions about them.
struct Decided {
  CoreKinds kinds{};
  CoreUse use{};
  std::string note{};  ///< one line: why times are missing although there are several kinds
};

/// Decides it. Refuses wishes that cannot be met here. Null: this is not that system.
Result<Decided> decide(const CoreRequest& wanted, const os::LinuxCalls* linux,
                       const os::DarwinCalls* darwin = nullptr);

/// Adds the time that a run spent on each kind of core (EventSet::core_times) to the counts of
/// `engine`, after them, in each pass that is not simulated. On Linux it is exact: the time that
/// the counters of all kinds of core ran, if they are in use anyway, else the time of Clocks. On
/// macOS it is that of mac_times, followed by the time on unknown kinds (CoreUse::has_unsplit). A
/// run with too little time on the first kind (CoreUse::min_share) is repeated, at most three
/// times. Returns `engine` itself if no times are wanted.
std::unique_ptr<engine::CounterEngine> with_core_time(std::unique_ptr<engine::CounterEngine> engine,
                                                      const Decided& decided,
                                                      const os::LinuxCalls* linux,
                                                      const os::DarwinCalls* darwin = nullptr);

/// The times of one run by kind of core, or the reason why they are unknown.
struct CoreTimes {
  std::vector<std::uint64_t> ns{};  ///< one per kind; empty: unknown
  std::uint64_t unsplit_ns = 0;     ///< macOS: of processes that ended unseen, on unknown kinds
  std::optional<Error> missing{};
};

/// Task-clock counters that show a run's time by kind of core: one for all CPUs, and one for each
/// CPU of all kinds but the largest, which gets what is left. They count threads and descendants,
/// too. They need no more than perf_event_paranoid 2, as a clock goes on in the kernel even if that
/// is excluded.
class Clocks {
 public:
  explicit Clocks(const CoreKinds& kinds);

  /// Returns what the launcher must open after `others` counters.
  std::vector<os::CounterRequest> requests(std::size_t others) const;

  /// Returns their values for one run. `readings`: one per request, in their order.
  CoreTimes times(std::span<const os::Reading> readings, int error,
                  const engine::perf::Situation& situation) const;

 private:
  struct OnCpu {
    std::size_t kind = 0;
    std::uint32_t cpu = 0;
  };
  std::size_t kinds_;
  std::size_t largest_ = 0;  ///< the kind whose CPUs have no clocks
  std::vector<OnCpu>
      clocks_{};  ///< clocks in the order of the requests, after the clock for all CPUs
};

/// Nanoseconds on the cores of each performance level of macOS, the fastest first.
using LevelTimes = std::vector<std::uint64_t>;

/// The result of polling a run, once it has ended.
struct Polled {
  LevelTimes own;                  ///< the command's own process: a lower bound
  LevelTimes descendants;          ///< all processes below it that were seen: a lower bound
  std::uint64_t of_reaped_ns = 0;  ///< the part of `descendants` that has ended
};

/// Looks at a running command and its descendants about every 10 ms, or less often, so that it
/// never takes more than a hundredth of one core. It finds what the kernel's totals of the ended
/// command leave out: the kinds of core on which its descendants ran. With two kinds one call gives
/// the times of a whole process, threads that have ended included; with more, and before macOS 13,
/// each thread is asked.
class RunPoll final : public os::RunWatch {
 public:
  RunPoll(const os::DarwinCalls& calls, std::size_t levels);

  void before_start() override;
  void made(int pid) override { root_ = pid; }
  void running(int pid) override;
  std::chrono::nanoseconds interval() const override { return std::chrono::milliseconds(10); }

  /// Sums up the looks; called when the run has ended.
  Polled result() const;

 private:
  /// A pid may be given to another process meanwhile: that one began later.
  struct Identity {
    int pid = 0;
    std::uint64_t started_at = 0;
    auto operator<=>(const Identity&) const = default;
  };

  /// The observations of one process.
  struct Process {
    LevelTimes times{};                              ///< mach units
    std::map<std::uint64_t, LevelCounts> threads{};  ///< if these are asked
  };

  bool read_usage(int pid, os::ProcessUsage& usage, bool& has_levels) const;
  void look_at(int pid);
  LevelTimes times_of_threads(int pid, Process& process) const;

  const os::DarwinCalls& calls_;
  std::size_t levels_;
  os::Timebase base_;
  std::map<Identity, Process> seen_{};
  int root_ = 0;
  std::uint64_t looked_at_ = 0;  ///< mach units: when the last look ended
  std::uint64_t took_ = 0;       ///< mach units that the last look took
};

/// Returns the times of a run on macOS from the kernel's totals of the ended command and from
/// polling its descendants. `reaped_ns`: CPU time of the command and the descendants it waited for.
CoreTimes mac_times(const std::optional<os::KernelTotals>& totals, const Polled& polled,
                    std::uint64_t reaped_ns);

}  // namespace lauka::cores
