#include "engine/perf/layout.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace lauka::engine::perf {
namespace {

struct Placed {
  Counter counter;
  std::optional<std::size_t> event;  ///< index into the chosen events; none: a witness
};

std::vector<Placed> placed_counters(std::span<const Source> sources,
                                    std::span<const std::size_t> chosen,
                                    std::span<const Counter> witnesses) {
  std::vector<Placed> placed;
  bool any_core = false;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (const Counter& counter : sources[chosen[i]].counters) {
      placed.push_back({counter, i});
      any_core = any_core || counter.core;
    }
  }
  if (!any_core) return placed;
  for (const Counter& witness : witnesses) {
    const bool is_there = std::ranges::any_of(
        placed, [&](const Placed& other) { return other.counter.pmu == witness.pmu; });
    if (!is_there) placed.push_back({witness, std::nullopt});
  }
  return placed;
}

/// The counters of one PMU in the order of their group: first the one that some of them have to be
/// led by, which is opened for no event where none has it.
std::vector<Placed> in_order(std::vector<Placed> group) {
  const auto led = std::ranges::find_if(
      group, [](const Placed& placed) { return placed.counter.led_by.has_value(); });
  if (led == group.end()) return group;
  const os::PerfEventAttr leader = *led->counter.led_by;
  const auto is_leader = [&](const Placed& placed) {
    return std::memcmp(&placed.counter.attributes, &leader, sizeof leader) == 0;
  };
  const auto found = std::ranges::find_if(group, is_leader);
  if (found != group.end())
    std::rotate(group.begin(), found, found + 1);
  else
    group.insert(group.begin(),
                 Placed{{led->counter.pmu, led->counter.core, leader}, std::nullopt});
  return group;
}

/// Whether a group's fillers are on the dead counters. `words`: what its leader reads.
bool events_are_on_live_ones(const Filling& filling, std::span<const std::uint64_t> words) {
  if (words.size() < 3 + filling.counters.size()) return false;
  const auto fillers = words.last(filling.counters.size());
  const auto dead =
      std::ranges::count_if(fillers, [&](std::uint64_t value) { return is_dead(value, words[2]); });
  return static_cast<std::size_t>(dead) >= filling.dead;
}

/// Whether a core's group got counters. On a machine with several kinds of core only the groups of
/// the kind that this thread is on can have any.
bool some_core_group_runs(const Layout& layout, const OpenCounters& open,
                          const os::LinuxCalls& calls) {
  bool any_left_out = false;
  for (const Group& group : layout.groups)
    if (group.core) calls.enable_group(open.descriptor(group.leader));
  if (!layout.fillings.empty()) run_loop();
  for (const Group& group : layout.groups) {
    if (!group.core) continue;
    std::array<std::uint64_t, 3 + os::kMaxCounters> words{};
    const long got = calls.read_counter(open.descriptor(group.leader), words.data(), words.size());
    // Times of 0: nothing is known, so the group has the benefit of the doubt; the run will tell.
    const bool is_left_out = got >= 3 && words[1] > 0 && words[2] == 0;
    if (is_left_out) {
      any_left_out = true;
      continue;
    }
    const auto filling = std::ranges::find_if(
        layout.fillings, [&](const Filling& one) { return one.leader == group.leader; });
    const std::span<const std::uint64_t> read = words;
    return filling == layout.fillings.end() || got < 3 || words[1] == 0 ||
           events_are_on_live_ones(*filling, read.first(static_cast<std::size_t>(got)));
  }
  return !any_left_out;
}

}  // namespace

bool is_dead(std::uint64_t value, std::uint64_t ns) {
  constexpr std::uint64_t always = 32;
  constexpr std::uint64_t one_in_ns = 10'000;
  return value <= always + ns / one_in_ns;
}

Layout lay_out(std::span<const Source> sources, std::span<const std::size_t> chosen,
               std::span<const Counter> witnesses) {
  std::vector<Placed> placed = placed_counters(sources, chosen, witnesses);
  Layout layout;
  layout.of_event.resize(chosen.size());
  std::vector<bool> done(placed.size());
  for (std::size_t first = 0; first < placed.size(); ++first) {
    if (done[first]) continue;
    const std::size_t leader = layout.counters.size();
    layout.groups.push_back({leader, placed[first].counter.core});
    std::vector<Placed> group;
    for (std::size_t i = first; i < placed.size(); ++i) {
      if (placed[i].counter.pmu != placed[first].counter.pmu) continue;
      done[i] = true;
      group.push_back(placed[i]);
    }
    for (Placed& member : in_order(std::move(group))) {
      if (member.event) layout.of_event[*member.event].push_back(layout.counters.size());
      layout.counters.push_back(std::move(member.counter));
      layout.leaders.push_back(leader);
    }
  }
  return layout;
}

std::vector<os::CounterRequest> requests_of(const Layout& layout, bool of_region) {
  std::vector<os::CounterRequest> requests(layout.counters.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const os::PerfEventAttr& member = layout.counters[i].attributes;
    os::PerfEventAttr attributes = layout.leaders[i] == i ? as_leader(member) : member;
    if (of_region) attributes.flags &= ~os::kPerfEnableOnExec;
    requests[i].of_region = of_region;
    static_assert(sizeof attributes == sizeof requests[i].attributes);
    std::memcpy(requests[i].attributes.data(), &attributes, sizeof attributes);
    requests[i].leader = layout.leaders[i];
  }
  return requests;
}

Result<bool> fits_at_once(const Layout& layout, const os::LinuxCalls& calls,
                          const Situation& situation) {
  if (layout.counters.size() > os::kMaxCounters) return false;
  OpenCounters open(calls);
  for (std::size_t i = 0; i < layout.counters.size(); ++i) {
    os::PerfEventAttr attributes = layout.counters[i].attributes;
    if (layout.leaders[i] == i) attributes.flags |= os::kPerfDisabled;
    const int error = open.open(attributes, layout.leaders[i]);
    // Each was opened alone before: what it is refused for is the company.
    if (error == EINVAL || error == ENOSPC) return false;
    if (error != 0) return why_not_opened(error, {layout.counters[i].core, true}, situation);
  }
  // The kernel takes groups at open that it never finds room for, as beside the NMI watchdog.
  return some_core_group_runs(layout, open, calls);
}

}  // namespace lauka::engine::perf
