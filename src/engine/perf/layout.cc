#include "engine/perf/layout.h"

#include "core/machine.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace lauka::engine::perf {

namespace {

struct PlacedCounter {
  Counter counter;
  /// Index into the chosen events; nullopt if the counter is of no chosen event, because it is a
  /// witness or was added as the leader that another counter needs.
  std::optional<std::size_t> event;
};

/// Returns the counters of the chosen events, and witnesses for the core PMUs that have none. A
/// witness counts cycles on a kind of cores where no chosen event counts, which shows how long a
/// run was there.
std::vector<PlacedCounter> list_counters(std::span<const EventCountSource> sources,
                                         std::span<const std::size_t> chosen_source_indices,
                                         std::span<const Counter> witnesses) {
  std::vector<PlacedCounter> placed;
  bool has_core = false;
  for (std::size_t i = 0; i < chosen_source_indices.size(); ++i) {
    for (const Counter& counter : sources[chosen_source_indices[i]].counters) {
      placed.push_back({counter, i});
      has_core = has_core || counter.core;
    }
  }
  if (!has_core) return placed;
  for (const Counter& witness : witnesses) {
    const bool is_there = std::ranges::any_of(
        placed, [&](const PlacedCounter& other) { return other.counter.pmu == witness.pmu; });
    if (!is_there) placed.push_back({witness, std::nullopt});
  }
  return placed;
}

/// Moves the leader that a counter needs to the beginning of the group; adds the leader if missing.
std::vector<PlacedCounter> put_leader_first(std::vector<PlacedCounter> group) {
  const auto led = std::ranges::find_if(group, [](const PlacedCounter& placed) {
    return placed.counter.required_leader.has_value();
  });
  if (led == group.end()) return group;
  const os::PerfEventAttr leader = *led->counter.required_leader;
  const auto is_leader = [&](const PlacedCounter& placed) {
    return std::memcmp(&placed.counter.attributes, &leader, sizeof leader) == 0;
  };
  const auto found = std::ranges::find_if(group, is_leader);
  if (found != group.end())
    std::rotate(group.begin(), found, found + 1);
  else
    group.insert(group.begin(),
                 PlacedCounter{{led->counter.pmu, led->counter.core, leader}, std::nullopt});
  return group;
}

std::vector<PlacedCounter> list_counters_of_pmu(const std::vector<PlacedCounter>& counters,
                                                const std::string& pmu) {
  std::vector<PlacedCounter> of_pmu;
  for (const PlacedCounter& placed : counters)
    if (placed.counter.pmu == pmu) of_pmu.push_back(placed);
  return of_pmu;
}

/// Adds a group, whose first counter leads it.
void add_group(std::vector<PlacedCounter> group, CounterGroups& groups) {
  const std::size_t leader = groups.counters.size();
  groups.group_leaders.push_back(leader);
  for (PlacedCounter& member : group) {
    const std::size_t counter_index = groups.counters.size();
    if (member.event) groups.counters_by_event[*member.event].push_back(counter_index);
    groups.counters.push_back(std::move(member.counter));
    groups.leader_of_counter.push_back(leader);
  }
}

// What the kernel returns for a group: the number of counters, the time enabled, the time running,
// then one value for each counter.
constexpr std::size_t kEnabledAt = 1;
constexpr std::size_t kRunningAt = 2;
constexpr std::size_t kValuesAt = 3;

// The number of turns of run_loop(). Each turn has at least one branch, one instruction and one
// cycle.
constexpr std::uint64_t kLoopTurns = 10'000;
void run_loop() {
  for (volatile std::uint64_t turn = 0; turn < kLoopTurns;) turn = turn + 1;
}

/// What a group of counters does after it was enabled.
enum class GroupState : unsigned char {
  Idle,
  Counts,
  LacksCounters,  ///< it runs, but some of its events may be on dead counters
};

/// True if enough fillers of a group were on its dead counters. `words`: what the kernel returns
/// for the group, in which the fillers are the last counters.
bool have_covered_dead_counters(const Fillers& fillers, std::span<const std::uint64_t> words) {
  const std::size_t filler_count = fillers.counters.size();
  return words.size() >= kValuesAt + filler_count &&
         fillers.have_covered_dead_counters(words.last(filler_count), words[kRunningAt]);
}

/// Returns what the group of `leader` does, which has been enabled.
GroupState find_group_state(const CounterGroups& groups, std::size_t leader,
                            const OpenCounters& open, const os::LinuxCalls& calls) {
  std::array<std::uint64_t, kValuesAt + os::kMaxCounters> words{};
  const long words_read = calls.read_counter(open.descriptor(leader), words.data(), words.size());

  // If the kernel does not tell the times, nothing speaks against the group.
  const bool has_times = words_read >= static_cast<long>(kValuesAt) && words[kEnabledAt] > 0;
  if (!has_times) return GroupState::Counts;

  if (words[kRunningAt] == 0) return GroupState::Idle;

  // Without dead counters, a group has no fillers, and it is enough that it runs.
  const auto fillers = std::ranges::find(groups.fillers, leader, &Fillers::leader);
  if (fillers == groups.fillers.end()) return GroupState::Counts;
  const std::span<const std::uint64_t> read_words(words.data(),
                                                  static_cast<std::size_t>(words_read));
  return have_covered_dead_counters(*fillers, read_words) ? GroupState::Counts
                                                          : GroupState::LacksCounters;
}

/// The kernel may open a group of counters that it never lets run. Enables the groups of core
/// counters, and returns false if none of them runs, or if the one that runs lacks counters. The
/// groups of other kinds of cores do not run here, so one that runs is enough.
bool enable_and_check_core_groups(const CounterGroups& groups, const OpenCounters& open,
                                  const os::LinuxCalls& calls) {
  for (const std::size_t leader : groups.group_leaders)
    if (groups.counters[leader].core) calls.enable_group(open.descriptor(leader));

  // On a virtual machine, some counters may be dead: they run, but count almost nothing. Fillers
  // are events that a group has only to keep its other events off dead counters. They are expected
  // to count almost nothing. So that this means something, there must be work to count.
  if (!groups.fillers.empty()) run_loop();

  bool has_idle_group = false;
  for (const std::size_t leader : groups.group_leaders) {
    if (!groups.counters[leader].core) continue;
    const GroupState state = find_group_state(groups, leader, open, calls);
    if (state != GroupState::Idle) return state == GroupState::Counts;
    has_idle_group = true;
  }
  return !has_idle_group;
}

// The size of the largest group that is tried. A kernel that accepts this group is taken not to
// check for room.
constexpr std::size_t kMaxGroupTried = 32;

/// Binds this thread to CPUs of a PMU, and gives it all its CPUs back at the end.
class CpuBinding : NonCopyable {
 public:
  explicit CpuBinding(const os::LinuxCalls& calls)
      : calls_(calls), original_cpus_(calls.allowed_cpus()) {}
  ~CpuBinding() {
    if (is_bound_) calls_.run_on(original_cpus_);
  }

  bool bind_to(const std::string& pmu) {
    const auto text = calls_.read_file(fmt::format("/sys/bus/event_source/devices/{}/cpus", pmu));
    const auto cpus = text ? parse_cpu_list(*text) : std::nullopt;
    if (!cpus) return false;
    const auto both = common_cpus(original_cpus_, *cpus);
    is_bound_ = !both.empty() && calls_.run_on(both) == 0;
    return is_bound_;
  }

 private:
  const os::LinuxCalls& calls_;
  std::vector<std::uint32_t> original_cpus_;
  bool is_bound_ = false;
};

const Counter* find_on_pmu(const Result<EventCountSource>& source, const std::string& pmu) {
  if (!source) return nullptr;
  for (const Counter& counter : source->counters)
    if (counter.pmu == pmu) return &counter;
  return nullptr;
}

using GroupWords = std::array<std::uint64_t, kValuesAt + kMaxGroupTried>;

/// Reads a group of `size` counters through its leader; nullopt if the kernel does not return all.
std::optional<GroupWords> read_group(int leader, std::size_t size, const os::LinuxCalls& calls) {
  GroupWords words{};
  const long words_read = calls.read_counter(leader, words.data(), words.size());
  if (words_read < static_cast<long>(kValuesAt + size)) return std::nullopt;
  return words;
}

/// Runs a loop of known work. Returns what the counters of the open group count meanwhile; nullopt
/// if they did not count all the time.
std::optional<std::vector<std::uint64_t>> count_loop(const OpenCounters& open_group,
                                                     const os::LinuxCalls& calls) {
  // The counters of a group are switched and read by its leader, which is the first.
  const int leader = open_group.descriptor(0);
  const auto before = read_group(leader, open_group.size(), calls);
  if (!before || calls.enable_group(leader) != 0) return std::nullopt;
  run_loop();
  calls.disable_group(leader);
  const auto after = read_group(leader, open_group.size(), calls);
  if (!after) return std::nullopt;

  const std::uint64_t enabled_ns = (*after)[kEnabledAt] - (*before)[kEnabledAt];
  const std::uint64_t running_ns = (*after)[kRunningAt] - (*before)[kRunningAt];
  const bool counted_throughout = running_ns > 0 && running_ns >= enabled_ns;
  if (!counted_throughout) return std::nullopt;

  std::vector<std::uint64_t> counts;
  for (std::size_t i = kValuesAt; i < kValuesAt + open_group.size(); ++i)
    counts.push_back((*after)[i] - (*before)[i]);
  return counts;
}

/// Opens the same event again and again in one group, until the kernel has no counter for it.
void fill_group(OpenCounters& group, const Counter& counter) {
  // Arm's kernel reserves counters only for events that are enabled or will be at exec (armpmu's
  // validate_event). Without kPerfEnableOnExec, the leader would reserve none, and one event too
  // many could be opened.
  constexpr std::uint64_t flags_of_leader = os::kPerfDisabled | os::kPerfEnableOnExec;
  os::PerfEventAttr attributes = counter.attributes;
  attributes.flags = (attributes.flags & ~os::kPerfInherit) | flags_of_leader;

  constexpr std::size_t leader = 0;
  while (group.size() < kMaxGroupTried && group.open(attributes, leader) == 0)
    attributes.flags &= ~flags_of_leader;  // only the first event leads the group
}

/// Returns how many of the counters have counted the loop, each turn of which causes the event at
/// least once.
std::size_t count_live(const std::vector<std::uint64_t>& counts) {
  return static_cast<std::size_t>(std::count_if(
      counts.begin(), counts.end(), [](std::uint64_t count) { return count >= kLoopTurns; }));
}

/// Finds out how many counters a PMU has, how many of them are free, and how many really count. In
/// a virtual machine, some may be dead: they run, but count nothing. Opens one event several times
/// for this. `counter`: a counter of this event.
CounterTrial try_counters(const Counter& counter, const os::LinuxCalls& calls) {
  CounterTrial trial;
  OpenCounters group(calls);
  fill_group(group, counter);
  trial.accepted_size = group.size();

  // Makes the group smaller, one event at a time, until all its counters count.
  for (; group.size() > 0; group.close_last()) {
    const auto counts = count_loop(group, calls);
    if (!counts) continue;  // the group did not run, so it is still too large

    const std::size_t live_counters = count_live(*counts);
    const bool is_largest_that_runs = trial.running_group_size == 0;
    if (is_largest_that_runs) {
      trial.running_group_size = group.size();
      trial.live_counters = live_counters;
    }

    if (live_counters == group.size()) {
      trial.usable_size = group.size();
      break;
    }
  }

  // A kernel that accepts any number of events says nothing about the number of counters.
  if (trial.accepted_size == kMaxGroupTried) trial.accepted_size = trial.running_group_size;
  return trial;
}

/// Finds out which counters of a PMU with dead ones serve only a single event, by comparison with
/// branches, which any counter counts.
void try_other_counters(PmuCounters& pmu, const Counter& instructions, const Prober& prober) {
  const os::LinuxCalls& calls = prober.calls();
  const Result<EventCountSource> all_cycles = prober.find("cycles");
  const Result<EventCountSource> all_branches = prober.find("branches");
  const Counter* cycles = find_on_pmu(all_cycles, pmu.pmu);
  const Counter* branches = find_on_pmu(all_branches, pmu.pmu);
  pmu.branches_trial =
      branches != nullptr ? try_counters(*branches, calls) : pmu.instructions_trial;
  pmu.has_own_instructions_counter =
      pmu.instructions_trial.usable_size > pmu.branches_trial.usable_size;
  pmu.has_own_cycles_counter = cycles != nullptr && try_counters(*cycles, calls).usable_size >
                                                        pmu.branches_trial.usable_size;
  pmu.filler = branches != nullptr ? *branches : instructions;
  if (cycles != nullptr && !pmu.has_own_cycles_counter) pmu.filler = *cycles;
  pmu.filler.role = Role::Other;
}

/// Returns the PMU of a group, if it has dead counters; else null.
const PmuCounters* find_pmu_with_dead(const CounterGroups& groups, std::size_t leader,
                                      std::span<const PmuCounters> pmus) {
  for (const PmuCounters& counters : pmus)
    if (counters.has_dead() && counters.pmu == groups.counters[leader].pmu) return &counters;
  return nullptr;
}

/// Returns how many counters that any event can use the group of `leader` needs. The first event
/// that has a counter of its own needs none of these.
std::size_t count_general_needed(const CounterGroups& groups, std::size_t leader,
                                 const PmuCounters& pmu) {
  std::size_t needed = 0;
  bool has_own_cycles = pmu.has_own_cycles_counter;
  bool has_own_instructions = pmu.has_own_instructions_counter;
  for (std::size_t i = 0; i < groups.counters.size(); ++i) {
    if (groups.leader_of_counter[i] != leader) continue;
    const Role role = groups.counters[i].role;
    const bool has_own = (role == Role::Cycles && std::exchange(has_own_cycles, false)) ||
                         (role == Role::Instructions && std::exchange(has_own_instructions, false));
    if (!has_own) ++needed;
  }
  return needed;
}

}  // namespace

bool Fillers::have_covered_dead_counters(std::span<const std::uint64_t> values,
                                         std::uint64_t ns) const {
  // Even a dead counter may show a few events.
  constexpr std::uint64_t max_at_begin = 32;
  constexpr std::uint64_t ns_per_further_event = 10'000;
  const std::uint64_t max_of_dead = max_at_begin + ns / ns_per_further_event;
  const auto dead =
      std::ranges::count_if(values, [&](std::uint64_t value) { return value <= max_of_dead; });
  return static_cast<std::size_t>(dead) >= dead_counters_to_cover;
}

/// The kernel counts the counters of a group at the same time or not at all. Puts the counters of
/// the chosen events, and those that must count beside them, into one group for each PMU.
CounterGroups group_counters_by_pmu(std::span<const EventCountSource> sources,
                                    std::span<const std::size_t> chosen_source_indices,
                                    std::span<const Counter> witnesses) {
  const std::vector<PlacedCounter> all_counters =
      list_counters(sources, chosen_source_indices, witnesses);
  CounterGroups groups;
  groups.counters_by_event.resize(chosen_source_indices.size());

  // Each PMU gets a group of its own, because the kernel refuses groups with several core PMUs, and
  // a software event in the group of a core kind would stop on other core kinds.
  std::set<std::string> pmus_with_group;
  for (const PlacedCounter& candidate : all_counters) {
    const std::string& pmu = candidate.counter.pmu;
    const bool is_first_of_pmu = pmus_with_group.insert(pmu).second;
    if (is_first_of_pmu)
      add_group(put_leader_first(list_counters_of_pmu(all_counters, pmu)), groups);
  }
  return groups;
}

Result<bool> fits_at_once(const CounterGroups& groups, const os::LinuxCalls& calls,
                          const PerfConditions& conditions) {
  if (groups.counters.size() > os::kMaxCounters) return false;
  OpenCounters open(calls);
  for (std::size_t i = 0; i < groups.counters.size(); ++i) {
    os::PerfEventAttr attributes = groups.counters[i].attributes;
    if (groups.leader_of_counter[i] == i) attributes.flags |= os::kPerfDisabled;
    const int error = open.open(attributes, groups.leader_of_counter[i]);
    if (error == EINVAL || error == ENOSPC) return false;
    if (error != 0) return why_not_opened(error, {groups.counters[i].core, true}, conditions);
  }
  // At opening, the kernel also accepts groups that never run, such as a group that needs the NMI
  // watchdog's counter.
  return enable_and_check_core_groups(groups, open, calls);
}

std::vector<PmuCounters> try_pmus(const Prober& prober) {
  std::vector<PmuCounters> all;
  const Result<EventCountSource> instructions = prober.find("instructions");
  if (!instructions) return all;
  CpuBinding binding(prober.calls());
  for (const Counter& counter : instructions->counters) {
    if (instructions->counters.size() > 1 && !binding.bind_to(counter.pmu)) continue;
    PmuCounters pmu{.pmu = counter.pmu,
                    .instructions_trial = try_counters(counter, prober.calls())};
    if (pmu.instructions_trial.dead_counter_count() > 0) try_other_counters(pmu, counter, prober);
    all.push_back(std::move(pmu));
  }
  return all;
}

bool has_room(const CounterGroups& groups, std::span<const PmuCounters> pmus) {
  return std::ranges::all_of(groups.group_leaders, [&](std::size_t leader) {
    const PmuCounters* here = find_pmu_with_dead(groups, leader, pmus);
    return here == nullptr ||
           count_general_needed(groups, leader, *here) <= here->branches_trial.usable_size;
  });
}

void add_fillers(CounterGroups& groups, std::span<const PmuCounters> pmus) {
  for (const std::size_t leader : groups.group_leaders) {
    const PmuCounters* here = find_pmu_with_dead(groups, leader, pmus);
    if (here == nullptr) continue;
    Fillers fillers{.leader = leader,
                    .counters = {},
                    .dead_counters_to_cover = here->branches_trial.dead_counter_count()};
    for (std::size_t n = count_general_needed(groups, leader, *here);
         n < here->branches_trial.running_group_size; ++n) {
      fillers.counters.push_back(groups.counters.size());
      groups.counters.push_back(here->filler);
      groups.leader_of_counter.push_back(leader);
    }
    groups.fillers.push_back(std::move(fillers));
  }
}

namespace {

/// Numbers of the counters of a PMU that cannot be used.
struct UnusableCounters {
  std::size_t taken = 0;  ///< counters that the kernel knows but cannot use
  std::size_t dead = 0;   ///< counters that run, but count nothing
};

/// Counts what the trial of a PMU found unusable. The counter that the kernel's own watchdog uses
/// does not matter.
UnusableCounters count_unusable(const PmuCounters& pmu, const PerfConditions& conditions) {
  const CounterTrial& trial = pmu.instructions_trial;
  const std::size_t unusable = trial.accepted_size - trial.running_group_size;
  const std::size_t used_by_watchdog = conditions.watchdog ? 1 : 0;
  return {.taken = unusable - std::min(unusable, used_by_watchdog),
          .dead = trial.dead_counter_count()};
}

/// `counters`: all counters of a PMU in words, as "6 counters".
Error make_newly_taken_error(std::size_t newly_taken, const CounterTrial& trial,
                             const std::string& counters) {
  const bool are_all_taken = newly_taken == trial.accepted_size;
  return {are_all_taken ? fmt::format("another program holds all {}", counters)
                        : fmt::format("another program holds {} of the {}", newly_taken, counters),
          kHolderRemedy};
}

Error make_taken_error(const CounterTrial& trial, const std::string& counters) {
  return {fmt::format("only {} of the {} can be used", trial.running_group_size, counters),
          "run sudo find /proc/[0-9]*/fd -lname '*perf_event*' to see which programs hold "
          "some, or count fewer events"};
}

Error make_died_error(std::size_t died, const std::string& counters) {
  return {fmt::format("{} of the {} stopped counting, because the host of this virtual "
                      "machine took {}; the counts since then may be wrong",
                      died, counters, died == 1 ? "it" : "them"),
          "repeat the session, or measure on the host"};
}

/// Returns what became of the counters of a PMU that cannot be used; nullopt if none is taken and
/// none has died. `counters`: all of them in words.
std::optional<Error> explain_unusable(const CounterTrial& trial, const UnusableCounters& now,
                                      const UnusableCounters& before, const std::string& counters) {
  if (now.taken > before.taken)
    return make_newly_taken_error(now.taken - before.taken, trial, counters);
  // Even those that were taken before the session may explain why counts are missing.
  if (now.taken > 0) return make_taken_error(trial, counters);
  if (now.dead > before.dead) return make_died_error(now.dead - before.dead, counters);
  return std::nullopt;
}

}  // namespace

/// Compares what trials found out about the counters of each PMU now and at the beginning of the
/// session. Returns what became of counters that cannot be used.
std::optional<Error> find_lost_counters(std::span<const PmuCounters> now,
                                        const PerfConditions& conditions_now,
                                        std::span<const PmuCounters> before,
                                        const PerfConditions& conditions_before) {
  for (const PmuCounters& pmu : now) {
    const CounterTrial& trial = pmu.instructions_trial;
    std::string counters = fmt::format("{} counters", trial.accepted_size);
    if (now.size() > 1) counters += " of " + pmu.pmu;

    // A PMU that was not tried before counts as unchanged.
    const UnusableCounters unusable = count_unusable(pmu, conditions_now);
    const auto pmu_before = std::ranges::find(before, pmu.pmu, &PmuCounters::pmu);
    const UnusableCounters unusable_before =
        pmu_before == before.end() ? unusable : count_unusable(*pmu_before, conditions_before);
    if (auto error = explain_unusable(trial, unusable, unusable_before, counters)) return error;
  }
  return std::nullopt;
}

}  // namespace lauka::engine::perf
