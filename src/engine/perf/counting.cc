#include "engine/perf/counting.h"

#include "core/machine.h"
#include "core/metric.h"
#include "core/result.h"
#include "engine/perf/opening.h"
#include "engine/perf/resolve.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

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

namespace {

/// More than any PMU has. A kernel that takes so many does not look whether there is room.
constexpr std::size_t kMostSeats = 32;

/// This thread, bound to some CPUs until the end of the scope.
class Binding : NonCopyable {
 public:
  explicit Binding(const os::LinuxCalls& calls) : calls_(calls), before_(calls.allowed_cpus()) {}
  ~Binding() {
    if (bound_) calls_.run_on(before_);
  }

  /// Whether this thread is on a CPU of the PMU now.
  bool bind_to(const std::string& pmu) {
    const auto text = calls_.read_file(fmt::format("/sys/bus/event_source/devices/{}/cpus", pmu));
    const auto cpus = text ? parse_cpu_list(*text) : std::nullopt;
    if (!cpus) return false;
    std::vector<std::uint32_t> both;
    std::set_intersection(cpus->begin(), cpus->end(), before_.begin(), before_.end(),
                          std::back_inserter(both));
    bound_ = !both.empty() && calls_.run_on(both) == 0;
    return bound_;
  }

 private:
  const os::LinuxCalls& calls_;
  std::vector<std::uint32_t> before_;
  bool bound_ = false;
};

/// A counter of that event on that PMU; null where there is none.
const Counter* on_pmu(const Result<Source>& source, const std::string& pmu) {
  if (!source) return nullptr;
  for (const Counter& counter : source->counters)
    if (counter.pmu == pmu) return &counter;
  return nullptr;
}

/// What each counter of an open group shows of the loop; none where it was not on all the time.
std::optional<std::vector<std::uint64_t>> count_loop(const OpenCounters& open,
                                                     const os::LinuxCalls& calls) {
  using Words = std::array<std::uint64_t, 3 + kMostSeats>;
  const auto read = [&](Words& words) {
    return calls.read_counter(open.descriptor(0), words.data(), words.size()) >=
           static_cast<long>(3 + open.size());
  };
  Words before{};
  Words after{};
  if (!read(before) || calls.enable_group(open.descriptor(0)) != 0) return std::nullopt;
  run_loop();
  calls.disable_group(open.descriptor(0));
  if (!read(after) || after[2] == before[2] || after[1] - before[1] > after[2] - before[2])
    return std::nullopt;
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 3; i < 3 + open.size(); ++i) counts.push_back(after[i] - before[i]);
  return counts;
}

Trial try_seats(const Counter& counter, const os::LinuxCalls& calls) {
  Trial trial;
  OpenCounters open(calls);
  os::PerfEventAttr attributes = counter.attributes;
  // Arm's kernel looks for a place only for events that are enabled or will be at exec (armpmu's
  // validate_event): without the second flag the leader would take none, and one event more than
  // there are counters could be opened.
  constexpr std::uint64_t of_leader = os::kPerfDisabled | os::kPerfEnableOnExec;
  attributes.flags = (attributes.flags & ~os::kPerfInherit) | of_leader;
  while (open.size() < kMostSeats && open.open(attributes, 0) == 0) attributes.flags &= ~of_leader;
  trial.listed = open.size();
  for (; open.size() > 0; open.close_last()) {
    const auto counts = count_loop(open, calls);
    if (!counts) continue;
    const auto alive = static_cast<std::size_t>(std::count_if(
        counts->begin(), counts->end(), [](std::uint64_t count) { return count >= kLoopTurns; }));
    if (trial.running == 0) trial.running = open.size();
    if (trial.running == open.size()) trial.alive = alive;
    if (alive < open.size()) continue;
    trial.usable = open.size();
    break;
  }
  if (trial.listed == kMostSeats) trial.listed = trial.running;
  return trial;
}

/// The same with events that have no counter of their own, and one that may have.
void look_closer(Seats& seats, const Counter& instructions, const Counter* cycles,
                 const Counter* branches, const os::LinuxCalls& calls) {
  seats.general = branches != nullptr ? try_seats(*branches, calls) : seats.trial;
  seats.own_instructions = seats.trial.usable > seats.general.usable;
  seats.own_cycles = cycles != nullptr && try_seats(*cycles, calls).usable > seats.general.usable;
  seats.filler = branches != nullptr ? *branches : instructions;
  // There are more cycles than branches in a short run.
  if (cycles != nullptr && !seats.own_cycles) seats.filler = *cycles;
  seats.filler.role = Role::Other;
}

const Seats* seats_of(const Layout& layout, const Group& group, std::span<const Seats> seats) {
  for (const Seats& one : seats)
    if (one.has_dead() && one.pmu == layout.counters[group.leader].pmu) return &one;
  return nullptr;
}

/// How many of a group's counters are such as take any event.
std::size_t general_needed(const Layout& layout, const Group& group, const Seats& seats) {
  std::size_t needed = 0;
  bool has_own_cycles = seats.own_cycles;
  bool has_own_instructions = seats.own_instructions;
  for (std::size_t i = 0; i < layout.counters.size(); ++i) {
    if (layout.leaders[i] != group.leader) continue;
    const Role role = layout.counters[i].role;
    bool none = false;
    bool& has_own = role == Role::Cycles         ? has_own_cycles
                    : role == Role::Instructions ? has_own_instructions
                                                 : none;
    if (!has_own) ++needed;
    has_own = false;  // it takes one event
  }
  return needed;
}

}  // namespace

std::vector<Seats> find_seats(const os::Sysfs& sysfs, const Prober& prober,
                              const os::LinuxCalls& calls) {
  const auto source_of = [&](std::string_view event) -> Result<Source> {
    const auto resolved = resolve(event, sysfs);
    if (!resolved) return resolved.error();
    return prober.probe(*resolved);
  };
  std::vector<Seats> all;
  const Result<Source> instructions = source_of("instructions");
  if (!instructions) return all;
  Binding binding(calls);
  for (const Counter& counter : instructions->counters) {
    if (instructions->counters.size() > 1 && !binding.bind_to(counter.pmu)) continue;
    Seats seats{.pmu = counter.pmu, .trial = try_seats(counter, calls)};
    if (seats.trial.dead() > 0) {
      const Result<Source> cycles = source_of("cycles");
      const Result<Source> branches = source_of("branches");
      look_closer(seats, counter, on_pmu(cycles, counter.pmu), on_pmu(branches, counter.pmu),
                  calls);
    }
    all.push_back(std::move(seats));
  }
  return all;
}

bool has_room(const Layout& layout, std::span<const Seats> seats) {
  return std::ranges::all_of(layout.groups, [&](const Group& group) {
    const Seats* here = seats_of(layout, group, seats);
    return here == nullptr || general_needed(layout, group, *here) <= here->general.usable;
  });
}

void fill_up(Layout& layout, std::span<const Seats> seats) {
  for (const Group& group : layout.groups) {
    const Seats* here = seats_of(layout, group, seats);
    if (here == nullptr) continue;
    Filling filling{.leader = group.leader, .counters = {}, .dead = here->general.dead()};
    for (std::size_t n = general_needed(layout, group, *here); n < here->general.running; ++n) {
      filling.counters.push_back(layout.counters.size());
      layout.counters.push_back(here->filler);
      layout.leaders.push_back(group.leader);
    }
    layout.fillings.push_back(std::move(filling));
  }
}

std::optional<Error> who_holds(std::span<const Seats> now, const Situation& situation_now,
                               std::span<const Seats> before, const Situation& situation_before) {
  // The watchdog may have been switched on or off since.
  const auto taken = [](const Trial& one, const Situation& situation) {
    const std::size_t excused = situation.watchdog ? 1 : 0;
    return one.listed - one.running - std::min(one.listed - one.running, excused);
  };
  for (const Seats& seats : now) {
    const Trial& trial = seats.trial;
    const std::string which = now.size() > 1 ? " of " + seats.pmu : "";
    const auto same =
        std::ranges::find_if(before, [&](const Seats& one) { return one.pmu == seats.pmu; });
    const std::size_t taken_now = taken(trial, situation_now);
    const std::size_t taken_before =
        same != before.end() ? taken(same->trial, situation_before) : taken_now;
    // A counter that was free is taken now: somebody took it.
    if (taken_now > taken_before) return why_held(taken_now - taken_before, trial.listed, which);
    if (taken_now > 0) return why_fewer(trial.running, trial.listed, which);
    if (same != before.end() && trial.dead() > same->trial.dead())
      return why_died(trial.dead() - same->trial.dead(), trial.listed, which);
  }
  return std::nullopt;
}

std::vector<CounterFacts> facts_of(std::span<const Seats> seats, const Situation& situation) {
  std::vector<CounterFacts> facts;
  for (const Seats& one : seats)
    if (one.trial.listed > 0)
      facts.push_back(
          {one.pmu, one.trial.listed, one.trial.running, one.trial.alive, situation.watchdog});
  return facts;
}

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
  if (shared) {
    Error why = why_not_all_the_time(situation_, situation_of(calls_));
    return Absent{why, why.what};
  }
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

Result<Source> in_region(Source source) {
  if (source.accounted == nullptr) return source;
  return Error{"its counter, which a region needs, may not be opened",
               "use sudo, or sudo sysctl kernel.perf_event_paranoid=1, or leave out --region"};
}

void mark_region(EventSet& set) {
  for (Event& event : set.events)
    event.note = std::string(kRegionNote) + (event.note.empty() ? "" : " ") + event.note;
}

void add_whole_run(EventSet& set, std::size_t count) {
  const std::size_t first = set.events.size();
  for (std::size_t i = 0; i < count; ++i) {
    Event event = set.events[i];
    event.name += kOfWholeRun;
    event.note.erase(0, std::string(kRegionNote).size());
    if (event.note.starts_with(' ')) event.note.erase(0, 1);
    event.role = Role::Other;  // the region's has it
    set.events.push_back(std::move(event));
  }
  std::vector<Pass> of_whole;
  for (const Pass& pass : set.passes) {
    Pass& whole = of_whole.emplace_back();
    for (const std::size_t event : pass.events)
      if (event < count) whole.events.push_back(first + event);
  }
  set.passes.insert(set.passes.end(), of_whole.begin(), of_whole.end());
}

}  // namespace lauka::engine::perf
