#pragma once

#include "core/record.h"
#include "os/linux_calls.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lauka::fakes {

/// An event as one PMU knows it: its type (kPerfTypeRaw for the PMU's own codes) and config.
using EventKey = std::pair<std::uint32_t, std::uint64_t>;

inline constexpr EventKey kCycles{0, 0};
inline constexpr EventKey kInstructions{0, 1};
inline constexpr EventKey kCacheReferences{0, 2};
inline constexpr EventKey kCacheMisses{0, 3};
inline constexpr EventKey kBranches{0, 4};
inline constexpr EventKey kBranchMisses{0, 5};
inline constexpr EventKey kRefCycles{0, 9};

/// A PMU of the model: general counters, handed out from the lowest, and events with their own.
struct FakePmu {
  std::string name;
  std::uint32_t type = 4;
  std::string cpus{};          ///< a file of that name: a core PMU of a machine with several kinds
  bool per_package = false;    ///< a file "cpumask"; its events are refused on a task
  std::size_t general = 4;     ///< counters that take any event
  std::set<EventKey> fixed{};  ///< events with a counter of their own
  std::set<EventKey> knows{};  ///< generic and cache events that it has; raw codes it takes all
  std::set<EventKey> led{};    ///< events that are taken in a group of `leader` only
  std::optional<EventKey> leader{};
  bool takes_exclusions = true;  ///< false: EINVAL for user space only, as msr
  std::size_t taken = 0;         ///< the lowest, which others hold: seen when scheduled only
  std::set<std::size_t> dead{};  ///< general counters that run and count nothing

  /// True if each event of a group counts while others hold the `held` lowest; nullopt: the group
  /// does not fit next to them.
  std::optional<std::vector<bool>> places(const std::vector<EventKey>& keys,
                                          std::size_t held) const {
    std::vector<bool> counts;
    std::set<EventKey> on_fixed;
    std::size_t next = held;
    for (const EventKey& key : keys) {
      const bool has_own = fixed.contains(key) && on_fixed.insert(key).second;
      counts.push_back(has_own || !dead.contains(next));
      if (!has_own) ++next;
    }
    if (next > general) return std::nullopt;
    return counts;
  }
};

/// The count of an event on one PMU.
struct FakeAmount {
  std::uint64_t user = 0;
  std::uint64_t kernel = 0;
};

/// A program that is run with counters.
struct FakeProgram {
  std::map<std::string, std::uint64_t> ns_on{};  ///< CPU time, by PMU; "" with one kind
  std::map<std::pair<std::string, EventKey>, FakeAmount> counts{};  ///< by PMU and event
  std::map<std::uint32_t, std::uint64_t> ns_on_cpu{};               ///< what task-clock shows there
  bool is_setuid = false;  ///< loses its counters at exec, after 9 microseconds
  Usage usage{};

  /// A part of the run (of 1000), and how many general counters others hold meanwhile.
  struct Phase {
    std::uint64_t part = 1000;
    std::size_t held = 0;
  };
  std::vector<Phase> phases{};  ///< empty: as the PMU says
  std::set<EventKey> silent{};  ///< the host keeps these from counting
};

/// The properties of the model's kernel; to be set before its use.
struct FakeKernel {
  std::map<std::string, std::string> files;
  std::map<std::string, os::ProgramFile> programs;  ///< by path
  bool has_perf = true;                             ///< false: ENOSYS
  bool is_debian = false;                           ///< levels 3 and above refuse everything
  bool blocked_by_container = false;                ///< EPERM
  bool refuses_hypervisor_bit = false;
  bool validates_like_arm = false;  ///< see FakePerf::is_validated
  bool knows_extended_type = true;  ///< the PMU's number in config: Arm since 6.6
  std::size_t descriptor_limit = 1000;
  std::set<int> switched_off{};  ///< CPUs: ENODEV
  std::uint32_t attr_size = 136;
  std::vector<std::uint32_t> allowed = {0, 1, 2, 3, 4, 5, 6, 7};  ///< CPUs, by the inherited mask
  std::string thread_is_on;                  ///< the kind of core that this thread runs on; "": any
  std::vector<std::uint32_t> thread_cpus{};  ///< what the engine bound this thread to last
};

inline constexpr std::uint64_t kMs = 1'000'000;  // in nanoseconds

/// The events that the model's processors have: six generic ones and first-level data cache misses.
inline std::set<EventKey> usual_events() {
  return {kCycles,   kInstructions, kCacheReferences, kCacheMisses,
          kBranches, kBranchMisses, {3, 0x10000}};
}

/// A processor with one kind of core: cycles and instructions have counters of their own, four more
/// are general.
inline FakePmu usual_pmu() {
  return {"cpu", 4, "", false, 4, {kCycles, kInstructions}, usual_events()};
}

/// The same with `general` counters for any event.
inline FakePmu small_pmu(std::size_t general) {
  FakePmu pmu = usual_pmu();
  pmu.general = general;
  return pmu;
}

/// A virtual machine's processor: six counters for everything, the last of which the host holds.
inline FakePmu virtual_pmu() {
  FakePmu pmu{"cpu", 4, "", false, 6, {}, usual_events()};
  pmu.dead = {5};
  return pmu;
}

}  // namespace lauka::fakes
