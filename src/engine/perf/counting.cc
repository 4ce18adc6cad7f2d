#include "engine/perf/counting.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace lauka::engine::perf {
namespace {

/// CPU time of a run that lies before its exec and after its counters' end: 25 to 75 microseconds
/// were seen, more on a busy machine.
constexpr std::uint64_t kOutsideExecNs = 200'000;

/// What a counter costs at a switch on a virtual machine, up to 9 microseconds, is the run's CPU
/// time and in part not the counter's.
constexpr std::uint64_t kPerSwitchNs = 10'000;

/// Of a run too short for that: counters that stopped at exec had seen 4 of 119 microseconds, those
/// of the smallest program there is 41 of 123.
constexpr std::uint64_t kLostPart = 10;

/// A run is made again in the hope of better luck, unless so many in a row had none.
constexpr unsigned kHopeless = 8;
constexpr std::uint32_t kMostRedos = 3;

constexpr const char* kLookAtCheck =
    "lauka --check shows which counters work and who holds the others";

/// Where there are several kinds of core, the times of their counters are taken by several clocks:
/// on Linux 6.1 their sum was seen to differ by 0.1%, on 6.12 by a microsecond.
constexpr std::uint64_t kClocksApartNs = 2'000;
constexpr std::uint64_t kClocksApartPart = 500;

}  // namespace

bool was_lost(std::uint64_t enabled_ns, const Usage& usage, std::size_t counters) {
  const std::uint64_t cpu_ns = usage.user_ns + usage.system_ns;
  if (enabled_ns == 0 || enabled_ns < cpu_ns / kLostPart) return true;
  const std::uint64_t switches = usage.voluntary_switches + usage.involuntary_switches;
  const std::uint64_t unseen = kOutsideExecNs + kPerSwitchNs * counters * switches;
  // Four fifths: descendants that were never scheduled on time, and rusage's own rounding, cost
  // some 15% at most.
  return cpu_ns > unseen && enabled_ns < (cpu_ns - unseen) / 5 * 4;
}

bool held_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds) {
  const std::uint64_t apart =
      several_kinds ? kClocksApartNs + enabled_ns / kClocksApartPart : std::uint64_t{0};
  return running_ns + apart >= enabled_ns;
}

std::optional<PerfCounting::Absent> PerfCounting::why_group_is_not_exact(
    const os::Ended& ended) const {
  std::uint64_t core_running = 0;
  std::uint64_t core_enabled = 0;
  std::size_t core_groups = 0;
  bool lost = false;
  bool shared = false;
  for (const Group& group : layout_.groups) {
    const os::Reading& reading = ended.readings[group.leader];
    // A setuid program leaves what was counted up to it; an event that another program kept from
    // being scheduled leaves nothing at all.
    if (of_region_ && reading.enabled_ns == 0) return Absent{why_not_switched()};
    shared = shared || reading.enabled_ns == 0;
    lost =
        lost || (!of_region_ && was_lost(reading.enabled_ns, ended.usage, layout_.counters.size()));
    if (group.core) {
      ++core_groups;
      core_running += reading.running_ns;
      core_enabled = std::max(core_enabled, reading.enabled_ns);
    } else {
      shared = shared || !held_all_the_time(reading.running_ns, reading.enabled_ns, false);
    }
  }
  // A group of one kind of core stands still while the run is on another kind: only the sum of all
  // tells that each had its counters when it needed them.
  shared = shared || !held_all_the_time(core_running, core_enabled, core_groups > 1);
  // First: counters that are taken away stop at exec as well.
  if (shared) return Absent{why_not_all_the_time(situation_), "other programs used the counters"};
  if (lost) return Absent{why_lost()};
  if (events_were_on_dead_ones(ended))
    return Absent{why_on_dead_ones(), "the counters changed hands"};
  return std::nullopt;
}

bool PerfCounting::events_were_on_dead_ones(const os::Ended& ended) const {
  return std::ranges::any_of(layout_.fillings, [&](const Filling& filling) {
    const std::uint64_t ns = ended.readings[filling.leader].running_ns;
    const auto dead = std::ranges::count_if(filling.counters, [&](std::size_t filler) {
      return is_dead(ended.readings[filler].value, ns);
    });
    return static_cast<std::size_t>(dead) < filling.dead;
  });
}

std::optional<PerfCounting::Absent> PerfCounting::why_none(const os::Ended& ended) const {
  if (layout_.counters.empty()) return std::nullopt;
  if (ended.counter_error != 0) return Absent{why_not_opened(ended.counter_error, {}, situation_)};
  if (ended.readings.size() != layout_.counters.size())
    return Absent{{"the launcher did not read the counters", ""}};
  if (of_region_ && ended.region && ended.region->failures > 0) return Absent{why_not_switched()};
  return why_group_is_not_exact(ended);
}

std::vector<std::string> PerfCounting::timed_pmus() const {
  std::vector<std::string> pmus;
  if (of_region_) return pmus;  // of the region only
  for (const Group& group : layout_.groups)
    if (group.core) pmus.push_back(layout_.counters[group.leader].pmu);
  if (pmus.size() < 2) pmus.clear();  // one kind of core: nothing to tell apart
  return pmus;
}

Tally PerfCounting::tally_of(std::size_t event, const os::Ended& ended) const {
  const std::vector<std::size_t>& counters = layout_.of_event[event];
  const Counter& first = layout_.counters[counters.front()];
  Tally tally{sources_[event].event.name, first.role, first.attributes.flags, 0, 0};
  for (const std::size_t counter : counters) {
    tally.count += layout_.counters[counter].scale * ended.readings[counter].value;
    if (layout_.counters[counter].core) tally.ns += ended.readings[counter].running_ns;
  }
  return tally;
}

/// The counts that come from counters, but for those that cannot be true.
void PerfCounting::fill(Counted& counted, const os::Ended& ended, std::size_t command) {
  std::vector<std::size_t> events;
  std::vector<Tally> tallies;
  for (std::size_t event = 0; event < sources_.size(); ++event) {
    if (sources_[event].accounted != nullptr) continue;
    events.push_back(event);
    tallies.push_back(tally_of(event, ended));
  }
  const std::vector<std::string> doubts = judge_.doubts(command, tallies);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!doubts[i].empty()) {
      if (!counted.missing) counted.missing = Error{doubts[i], kLookAtCheck};
      continue;
    }
    counted.counts[events[i]] = tallies[i].count;
    for (const std::size_t counter : layout_.of_event[events[i]]) {
      const auto part = std::ranges::find(parts_, counter);
      if (part != parts_.end())
        counted.counts[sources_.size() + static_cast<std::size_t>(part - parts_.begin())] =
            layout_.counters[counter].scale * ended.readings[counter].value;
    }
  }
  const auto first =
      std::ranges::find_if(doubts, [](const std::string& doubt) { return !doubt.empty(); });
  if (first == doubts.end())
    bad_in_a_row_ = 0;
  else
    ask_again(counted, *first);
}

void PerfCounting::ask_again(Counted& counted, std::string why) {
  if (bad_in_a_row_++ < kHopeless) counted.redo = Redo{std::move(why), kMostRedos};
}

Counted PerfCounting::finish(const os::Ended& ended, std::size_t command) {
  Counted counted{std::vector<std::optional<std::uint64_t>>(sources_.size() + parts_.size())};
  if (std::holds_alternative<NotStarted>(ended.outcome)) {
    counted.missing = Error{"the command was not started", ""};
    return counted;
  }
  for (std::size_t event = 0; event < sources_.size(); ++event)
    if (sources_[event].accounted != nullptr)
      counted.counts[event] = sources_[event].accounted(ended.usage);
  if (auto absent = why_none(ended)) {
    counted.missing = std::move(absent->why);
    if (!absent->redo.empty()) ask_again(counted, std::move(absent->redo));
    return counted;
  }
  if (several_kinds_)
    for (const Group& group : layout_.groups)
      if (group.core) counted.pmu_ns.push_back(ended.readings[group.leader].running_ns);
  fill(counted, ended, command);
  return counted;
}

}  // namespace lauka::engine::perf
