#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "engine/perf/reasons.h"
#include "os/process.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lauka::cores {

/// The times of one run by kind of core, or the reason why they are not known.
struct CoreTimes {
  std::vector<std::uint64_t> ns{};  ///< one per kind; empty: not known
  std::optional<Error> missing{};
};

/// Clocks that tell a run's time by kind of core: one of its CPU time wherever it is spent, and one
/// for each CPU of all kinds but that with the most CPUs, which gets what is left. They count a
/// process with its threads and descendants, however short-lived, and need no right beyond those of
/// perf_event_paranoid 2: a clock goes on in the kernel whether or not that is excluded.
class Clocks {
 public:
  explicit Clocks(const CoreKinds& kinds);

  /// What the launcher is asked to open behind `others` counters.
  std::vector<os::CounterRequest> requests(std::size_t others) const;

  /// What they showed for one run. `readings`: one per request, in their order.
  CoreTimes times(std::span<const os::Reading> readings, const Usage& usage, int error,
                  const engine::perf::Situation& situation) const;

 private:
  struct OnCpu {
    std::size_t kind = 0;
    std::uint32_t cpu = 0;
  };
  std::size_t kinds_;
  std::size_t largest_ = 0;      ///< the kind whose CPUs have no clocks
  std::vector<OnCpu> clocks_{};  ///< in the order of the requests, behind the one for all CPUs
};

}  // namespace lauka::cores
