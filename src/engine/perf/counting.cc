#include "engine/perf/counting.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace lauka::engine::perf {
namespace {

/// CPU time of a run that lies before its exec and after its counters' end: 25 to 75 microseconds
/// were seen, more on a busy machine.
constexpr std::uint64_t kOutsideExecNs = 200'000;

/// Of a run too short for that: counters that stopped at exec had seen 4 of 119 microseconds, those
/// of the smallest program there is 41 of 123.
constexpr std::uint64_t kLostPart = 10;

/// Where there are several kinds of core, the times of their counters are taken by several clocks:
/// on Linux 6.1 their sum was seen to differ by 0.1%, on 6.12 by a microsecond.
constexpr std::uint64_t kClocksApartNs = 2'000;
constexpr std::uint64_t kClocksApartPart = 500;

}  // namespace

bool was_lost(std::uint64_t enabled_ns, std::uint64_t cpu_ns) {
  if (enabled_ns == 0 || enabled_ns < cpu_ns / kLostPart) return true;
  // Half: descendants that were never scheduled on time, and rusage's own rounding, cost some 15%
  // at most; what was lost at exec is nearly all.
  return cpu_ns > kOutsideExecNs && enabled_ns < (cpu_ns - kOutsideExecNs) / 2;
}

bool held_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds) {
  const std::uint64_t apart =
      several_kinds ? kClocksApartNs + enabled_ns / kClocksApartPart : std::uint64_t{0};
  return running_ns + apart >= enabled_ns;
}

std::optional<Unavailable> PerfCounting::why_group_is_not_exact(const os::Ended& ended) const {
  const std::uint64_t cpu_ns = ended.usage.user_ns + ended.usage.system_ns;
  std::uint64_t core_running = 0;
  std::uint64_t core_enabled = 0;
  std::size_t core_groups = 0;
  for (const Group& group : layout_.groups) {
    const os::Reading& reading = ended.readings[group.leader];
    if (was_lost(reading.enabled_ns, cpu_ns)) return why_lost();
    if (group.core) {
      ++core_groups;
      core_running += reading.running_ns;
      core_enabled = std::max(core_enabled, reading.enabled_ns);
    } else if (!held_all_the_time(reading.running_ns, reading.enabled_ns, false)) {
      return why_not_all_the_time(situation_);
    }
  }
  // A group of one kind of core stands still while the run is on another kind: only the sum of all
  // tells that each had its counters when it needed them.
  if (!held_all_the_time(core_running, core_enabled, core_groups > 1))
    return why_not_all_the_time(situation_);
  return std::nullopt;
}

std::optional<Unavailable> PerfCounting::why_none(const os::Ended& ended) const {
  if (layout_.counters.empty()) return std::nullopt;
  if (ended.counter_error != 0) return why_not_opened(ended.counter_error, {}, situation_);
  if (ended.readings.size() != layout_.counters.size())
    return Unavailable{"the launcher did not read the counters", ""};
  return why_group_is_not_exact(ended);
}

std::vector<std::string> PerfCounting::timed_pmus() const {
  std::vector<std::string> pmus;
  for (const Group& group : layout_.groups)
    if (group.core) pmus.push_back(layout_.counters[group.leader].pmu);
  if (pmus.size() < 2) pmus.clear();  // one kind of core: nothing to tell apart
  return pmus;
}

Counted PerfCounting::finish(const os::Ended& ended) {
  Counted counted{std::vector<std::optional<std::uint64_t>>(accounted_.size() + parts_.size())};
  if (std::holds_alternative<NotStarted>(ended.outcome)) {
    counted.missing = Unavailable{"the command was not started", ""};
    return counted;
  }
  counted.missing = why_none(ended);
  if (several_kinds_ && !counted.missing)
    for (const Group& group : layout_.groups)
      if (group.core) counted.pmu_ns.push_back(ended.readings[group.leader].running_ns);
  for (std::size_t event = 0; event < accounted_.size(); ++event) {
    if (accounted_[event] != nullptr) {
      counted.counts[event] = accounted_[event](ended.usage);
    } else if (!counted.missing) {
      std::uint64_t sum = 0;
      for (const std::size_t counter : layout_.of_event[event])
        sum += ended.readings[counter].value;
      counted.counts[event] = sum;
    }
  }
  for (std::size_t i = 0; i < parts_.size() && !counted.missing; ++i)
    counted.counts[accounted_.size() + i] = ended.readings[parts_[i]].value;
  return counted;
}

}  // namespace lauka::engine::perf
