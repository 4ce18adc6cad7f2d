#include "engine/perf/seats.h"

#include "core/machine.h"
#include "core/result.h"
#include "engine/perf/opening.h"
#include "engine/perf/resolve.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

namespace lauka::engine::perf {
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

std::optional<Error> who_holds(std::span<const Seats> now, std::span<const Seats> before,
                               const Situation& situation) {
  for (const Seats& seats : now) {
    const Trial& trial = seats.trial;
    const std::string which = now.size() > 1 ? " of " + seats.pmu : "";
    const auto same =
        std::ranges::find_if(before, [&](const Seats& one) { return one.pmu == seats.pmu; });
    // The watchdog may have been switched on since.
    const auto taken = [&](const Trial& one) {
      const std::size_t excused = situation.watchdog ? 1 : 0;
      return one.listed - one.running - std::min(one.listed - one.running, excused);
    };
    // A counter that was free is taken now: somebody took it.
    if (same != before.end() && taken(trial) > taken(same->trial))
      return why_held(taken(trial) - taken(same->trial), trial.listed, which);
    if (taken(trial) > 0) return why_fewer(trial.running, trial.listed, which);
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

}  // namespace lauka::engine::perf
