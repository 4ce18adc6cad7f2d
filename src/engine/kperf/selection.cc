#include "engine/kperf/selection.h"

#include "core/text.h"
#include "engine/kperf/kernel.h"
#include "engine/kperf/kperf_engine.h"
#include "engine/partition.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

// By Hall's theorem, k passes are enough if and only if, for every set X of counters, at most
// k|X| events can be counted only on counters of X. Tests compare divide_into_passes() with this
// bound.

namespace lauka::engine::kperf {

namespace {

constexpr CounterMask kAllCounters = (CounterMask{1} << kMaxChipCounters) - 1;

bool may_use(CounterMask mask, unsigned counter) {
  return ((mask >> counter) & 1U) != 0;
}

/// Matches events with counters by augmenting paths (Kuhn's algorithm).
class CounterMatching {
 public:
  explicit CounterMatching(std::span<const CounterMask> masks) : masks_(masks) {}

  bool match_all() {
    if (masks_.size() > kMaxChipCounters) return false;
    for (std::size_t event = 0; event < masks_.size(); ++event) {
      CounterMask untried = kAllCounters;
      if (!place(event, untried)) return false;
    }
    return true;
  }

  PlacedPass placed() const {
    PlacedPass placed;
    for (unsigned counter = 0; counter < kMaxChipCounters; ++counter)
      if (may_use(taken_, counter)) placed.push_back({event_on_counter_[counter], counter});
    return placed;
  }

 private:
  /// Places an event on a free counter, or on one of the `untried` ones whose event can move to
  /// another counter. Returns false if neither is possible.
  bool place(std::size_t event, CounterMask& untried) {
    const CounterMask free = masks_[event] & kAllCounters & ~taken_;
    if (free != 0) {
      put_on_counter(event, static_cast<unsigned>(std::countr_zero(free)));
      return true;
    }
    while ((masks_[event] & untried) != 0) {
      const auto counter = static_cast<unsigned>(std::countr_zero(masks_[event] & untried));
      untried &= ~(CounterMask{1} << counter);
      if (!place(event_on_counter_[counter], untried)) continue;
      put_on_counter(event, counter);
      return true;
    }
    return false;
  }

  void put_on_counter(std::size_t event, unsigned counter) {
    event_on_counter_[counter] = static_cast<std::uint8_t>(event);
    taken_ |= CounterMask{1} << counter;
  }

  std::span<const CounterMask> masks_;
  CounterMask taken_ = 0;
  std::array<std::uint8_t, kMaxChipCounters> event_on_counter_{};
};

std::vector<CounterMask> collect_masks(std::span<const CounterMask> masks,
                                       const std::vector<std::size_t>& events) {
  std::vector<CounterMask> chosen;
  chosen.reserve(events.size());
  for (const std::size_t event : events) chosen.push_back(masks[event]);
  return chosen;
}

constexpr CounterMask kConfigurableCounters = ((CounterMask{1} << kConfigurableCounterCount) - 1)
                                              << kFixedCounterCount;

Error make_no_counter_error(const KpepEvent& event) {
  const CounterMask needed = event.mask & kConfigurableCounters;
  const std::string why = needed == 0 ? "no configurable counter of this chip can count it"
                                      : fmt::format("it needs {}, which cannot be used here",
                                                    counters_in_words(needed));
  return {fmt::format("'{}' cannot be counted: {}", event.name, why), "leave it out"};
}

/// A portable name and the events that it may stand for, the preferred event first; unused elements
/// are empty.
struct PortableAlias {
  std::string_view alias;
  std::array<std::string_view, 2> events;
};

constexpr std::array<PortableAlias, 8> kPortableAliases = {{
    {"cycles", {"FIXED_CYCLES", "CORE_ACTIVE_CYCLE"}},
    {"instructions", {"FIXED_INSTRUCTIONS", "INST_ALL"}},
    {"branches", {"INST_BRANCH", ""}},
    {"branch-misses", {"BRANCH_MISPRED_NONSPEC", ""}},
    {"l1d-cache-misses", {"L1D_CACHE_MISS_LD_NONSPEC", "L1D_CACHE_MISS_LD"}},
    {"l1d-tlb-misses", {"L1D_TLB_MISS_NONSPEC", "L1D_TLB_MISS"}},
    {"l1i-cache-misses", {"L1I_CACHE_MISS_DEMAND", ""}},
    {"l1i-tlb-misses", {"L1I_TLB_MISS_DEMAND", ""}},
}};

/// Names of lauka's events on Linux that no Mac can count.
constexpr std::array<std::string_view, 2> kAliasesNotOnApple = {"cache-references", "cache-misses"};

constexpr auto kDefaultEvents =
    std::to_array<std::string_view>({"cycles", "instructions", "CORE_ACTIVE_CYCLE", "INST_ALL",
                                     "L1D_CACHE_MISS_LD_NONSPEC", "BRANCH_MISPRED_NONSPEC"});

/// Pairs of events whose ratio is useful, the most important pair first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kUsefulPairs = {{
    {"INST_ALL", "CORE_ACTIVE_CYCLE"},
    {"L1D_CACHE_MISS_LD", "LD_UNIT_UOP"},
    {"L1D_CACHE_MISS_ST", "ST_UNIT_UOP"},
    {"L1D_CACHE_MISS_LD_NONSPEC", "INST_LDST"},
    {"L1D_CACHE_MISS_ST_NONSPEC", "INST_LDST"},
    {"L1D_TLB_MISS", "L1D_TLB_ACCESS"},
    {"L1D_TLB_MISS_NONSPEC", "L1D_TLB_ACCESS"},
    {"L2_TLB_MISS_DATA", "L1D_TLB_MISS"},
    {"L2_TLB_MISS_INSTRUCTION", "L1I_TLB_MISS_DEMAND"},
    {"BRANCH_COND_MISPRED_NONSPEC", "INST_BRANCH_COND"},
    {"BRANCH_INDIR_MISPRED_NONSPEC", "INST_BRANCH_INDIR"},
    {"BRANCH_RET_INDIR_MISPRED_NONSPEC", "INST_BRANCH_RET"},
    {"BRANCH_CALL_INDIR_MISPRED_NONSPEC", "INST_BRANCH_CALL"},
    {"ATOMIC_OR_EXCLUSIVE_FAIL", "ATOMIC_OR_EXCLUSIVE_SUCC"},
    {"RETIRE_UOP", "INST_ALL"},
}};

const PortableAlias* find_portable_alias(std::string_view alias) {
  const auto found =
      std::ranges::find_if(kPortableAliases, [alias](const PortableAlias& candidate) {
        return same_ignoring_case(candidate.alias, alias);
      });
  return found == kPortableAliases.end() ? nullptr : &*found;
}

const std::string& processor_name(const KpepDatabase& database) {
  return database.marketing_name.empty() ? database.name : database.marketing_name;
}

Error make_unknown_event_error(const KpepDatabase& database, std::string_view name) {
  const bool is_of_others = std::ranges::any_of(kAliasesNotOnApple, [name](std::string_view alias) {
    return same_ignoring_case(alias, name);
  });
  if (is_of_others || find_portable_alias(name) != nullptr)
    return Error{fmt::format("{} cannot be counted, because the counters of {} have no such event",
                             cited(name), processor_name(database)),
                 "lauka -l lists the events"};
  std::vector<std::string> names;
  names.reserve(kPortableAliases.size() + accounted_events().size() + database.events.size());
  for (const PortableAlias& alias : kPortableAliases) names.emplace_back(alias.alias);
  for (const AccountedEvent& event : accounted_events()) names.emplace_back(event.name);
  for (const KpepEvent& event : database.events) names.push_back(event.name);
  const std::vector<std::string> near = nearest_names(name, names);
  return Error{fmt::format("unknown event {}", cited(name)),
               near.empty() ? "lauka -l lists the events"
                            : fmt::format("did you mean {}?", listed(near, "or"))};
}

/// An event is on a counter, or the kernel accounts for it without one.
bool are_same_event(const SelectedEvent& first, const SelectedEvent& second) {
  return first.accounted_event == second.accounted_event &&
         first.hardware_event.name == second.hardware_event.name;
}

/// Adds the events with these names to the selection. An event that was named twice is added once,
/// with a note if the two names differ. Returns an error if a name stands for no event.
Result<void> add_wanted_events(Selection& selection, const KpepDatabase& database,
                               const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    auto event = find_event_by_any_name(database, name);
    if (!event) return event.error();

    const auto same_event = std::ranges::find_if(
        selection.events,
        [&event](const SelectedEvent& selected) { return are_same_event(selected, *event); });
    const bool is_new = same_event == selection.events.end();

    if (is_new)
      selection.events.push_back(*std::move(event));
    else if (same_event->name != event->name)
      selection.notes.push_back(
          {.kind = "same_event",
           .text = fmt::format("'{}' is the same event as '{}', so it is counted only once",
                               event->name, same_event->name)});
  }
  return {};
}

/// Users see the events in the order of the selection. Energy is not a count, so they see it after
/// all counts.
void move_energy_to_end(Selection& selection) {
  std::stable_partition(selection.events.begin(), selection.events.end(),
                        [](const SelectedEvent& event) { return !event.is_energy(); });
}

void add_default_events(Selection& selection, const KpepDatabase& database, CounterMask available) {
  std::vector<std::string> left_out;
  for (const std::string_view name : kDefaultEvents) {
    auto event = find_event_by_any_name(database, name);
    const bool can_be_counted =
        event && (event->hardware_event.is_fixed || (event->hardware_event.mask & available) != 0);
    if (can_be_counted)
      selection.events.push_back(*std::move(event));
    else
      left_out.push_back(lower_case(name));
  }
  if (!left_out.empty())
    selection.notes.push_back(
        {"events_left_out",
         fmt::format("{} cannot be counted, because the counters of {} have no such event, or "
                     "because it needs a counter that cannot be used",
                     listed(left_out), processor_name(database))});
}

/// Finds an event by its name in the database. `events`: indices into the selection. Returns the
/// position in this list; nullopt if the event is not in it.
std::optional<std::size_t> find_position(std::string_view name, const Selection& selection,
                                         const std::vector<std::size_t>& events) {
  for (std::size_t i = 0; i < events.size(); ++i)
    if (selection.events[events[i]].hardware_event.name == name) return i;
  return std::nullopt;
}

/// Lists the pairs of selected events that should be counted in one pass, because their ratio is
/// useful. The most important pair comes first. `configurable`: indices into the selection of the
/// events that need configurable counters. A pair consists of two positions in `configurable`.
std::vector<EventPair> list_pairs_for_one_pass(const Selection& selection,
                                               const std::vector<std::size_t>& configurable,
                                               const KpepDatabase& database,
                                               const std::vector<EventNamePair>& wanted_pairs) {
  std::vector<EventPair> pairs;
  const auto add_if_selected = [&](std::string_view first_name, std::string_view second_name) {
    const auto first_position = find_position(first_name, selection, configurable);
    const auto second_position = find_position(second_name, selection, configurable);
    if (!first_position || !second_position) return;
    const bool is_same_event = *first_position == *second_position;
    if (!is_same_event) pairs.emplace_back(*first_position, *second_position);
  };

  // The wanted pairs have portable names, such as "cycles". The database has other names for these
  // events, or lacks them.
  for (const auto& [first_name, second_name] : wanted_pairs) {
    const auto first = find_event_by_any_name(database, first_name);
    const auto second = find_event_by_any_name(database, second_name);
    if (first && second) add_if_selected(first->hardware_event.name, second->hardware_event.name);
  }
  for (const auto& [first_name, second_name] : kUsefulPairs)
    add_if_selected(first_name, second_name);
  return pairs;
}

std::string describe_competition(const Selection& selection) {
  const CompetingEvents& competition = *selection.competition;
  std::vector<std::string> names;
  for (const std::size_t event : competition.events) names.push_back(selection.events[event].name);
  const std::string others =
      competition.other_competitors == 0
          ? ""
          : fmt::format(" (and {} more that need{} {})", competition.other_competitors,
                        competition.other_competitors == 1 ? "s" : "",
                        std::popcount(competition.counters) == 1 ? "it" : "them");
  return fmt::format("{} compete for {}{}", listed(names), counters_in_words(competition.counters),
                     others);
}

/// The selected events that are on counters.
struct EventsByCounterKind {
  PlacedPass fixed{};  ///< events on fixed counters, by counter
  /// Indices into the selection of events that need a configurable counter.
  std::vector<std::size_t> configurable{};
  std::vector<CounterMask> configurable_masks{};  ///< counters that each of these events may use
};

/// Groups the selected events into those with a fixed counter and those that need a configurable
/// one. Events that need no counter are in neither group. Returns an error if an event needs a
/// configurable counter, but can use none of the `available` ones.
Result<EventsByCounterKind> group_by_counter_kind(const Selection& selection,
                                                  CounterMask available) {
  EventsByCounterKind groups;
  for (std::size_t i = 0; i < selection.events.size(); ++i) {
    if (!selection.events[i].is_on_counter()) continue;

    const KpepEvent& hardware_event = selection.events[i].hardware_event;
    if (hardware_event.is_fixed) {
      // The mask has only the bit of this counter.
      const auto counter = static_cast<unsigned>(std::countr_zero(hardware_event.mask));
      groups.fixed.push_back({.event_index = i, .counter = counter});
      continue;
    }

    const CounterMask usable_counters = hardware_event.mask & available;
    if (usable_counters == 0) return make_no_counter_error(hardware_event);
    groups.configurable.push_back(i);
    groups.configurable_masks.push_back(usable_counters);
  }

  std::ranges::sort(groups.fixed, {}, &PlacedEvent::counter);
  return groups;
}

/// Returns the word that configures a counter to count an event.
std::uint64_t make_configuration_word(const KpepEvent& event, const CounterLimits& limits) {
  std::uint64_t word = event.selector_number;
  if (limits.user_only) word |= kUserSpaceOnly;
  return word;
}

/// Returns which of the selected events compete; nullopt if all fit into one pass.
std::optional<CompetingEvents> find_competition(const EventsByCounterKind& events) {
  auto competition = smallest_competition(events.configurable_masks);
  if (!competition) return competition;
  // The competition has positions in `configurable_masks`.
  for (std::size_t& event : competition->events) event = events.configurable[event];
  return competition;
}

/// Returns a pass with all events on fixed counters. These take no room from the configurable ones.
/// `configurable_pass`: the other events of the pass, as positions in `events`.
PlacedPass complete_pass(const PlacedPass& configurable_pass, const EventsByCounterKind& events,
                         const Selection& selection, const CounterLimits& limits) {
  PlacedPass pass = events.fixed;
  for (const PlacedEvent& placed : configurable_pass) {
    const std::size_t event = events.configurable[placed.event_index];
    const KpepEvent& hardware_event = selection.events[event].hardware_event;
    pass.push_back({.event_index = event,
                    .counter = placed.counter,
                    .word = make_configuration_word(hardware_event, limits)});
  }
  return pass;
}

/// Divides the selected events into passes, which are counted in separate runs. The events of a
/// pass fit on the counters at the same time. If there are several passes, also notes in
/// `selection` which events compete for the counters.
Result<void> divide_selection(Selection& selection, const KpepDatabase& database,
                              const std::vector<EventNamePair>& wanted_pairs,
                              const CounterLimits& limits) {
  auto events = group_by_counter_kind(selection, limits.available);
  if (!events) return events.error();

  const auto pairs =
      list_pairs_for_one_pass(selection, events->configurable, database, wanted_pairs);
  for (const PlacedPass& configurable_pass : divide_into_passes(events->configurable_masks, pairs))
    selection.passes.push_back(complete_pass(configurable_pass, *events, selection, limits));

  // Without configurable events, the others still need a pass.
  if (selection.passes.empty() && !selection.events.empty())
    selection.passes.push_back(std::move(events->fixed));

  if (selection.passes.size() > 1) selection.competition = find_competition(*events);
  return {};
}

ExplainedCounter explain_counter(unsigned counter, const PlacedPass& pass,
                                 const Selection& selection) {
  const std::string name = counters_in_words(CounterMask{1} << counter);
  for (const PlacedEvent& placed : pass) {
    if (placed.counter != counter) continue;
    const SelectedEvent& event = selection.events[placed.event_index];
    return {name, event.name,
            event.hardware_event.is_fixed
                ? fmt::format("{}, which has this counter for itself", event.hardware_event.name)
                : fmt::format("{}, which may use {}{}", event.hardware_event.name,
                              counters_in_words(event.hardware_event.mask),
                              event.hardware_event.is_refused_by_kernel
                                  ? ", but is refused by this kernel"
                                  : "")};
  }
  return {name, ""};
}

/// Returns the event for which a portable name stands: the first that the kernel allows, or else
/// the first; null if the processor has none.
const KpepEvent* find_portable(const KpepDatabase& database, std::string_view alias) {
  const PortableAlias* known = find_portable_alias(alias);
  if (known == nullptr) return nullptr;
  const KpepEvent* refused = nullptr;
  for (const std::string_view name : known->events) {
    const auto event = std::ranges::find(database.events, name, &KpepEvent::name);
    if (name.empty() || event == database.events.end()) continue;
    if (!event->is_refused_by_kernel) return &*event;
    if (refused == nullptr) refused = &*event;
  }
  return refused;
}

std::string_view find_portable_name(const KpepDatabase& database, const KpepEvent& event) {
  for (const PortableAlias& known : kPortableAliases) {
    const KpepEvent* found = find_portable(database, known.alias);
    if (found != nullptr && found->name == event.name) return known.alias;
  }
  return {};
}

}  // namespace

bool fits_at_once(std::span<const CounterMask> masks) {
  return CounterMatching(masks).match_all();
}

std::optional<PlacedPass> place_all(std::span<const CounterMask> masks) {
  CounterMatching matching(masks);
  return matching.match_all() ? std::optional(matching.placed()) : std::nullopt;
}

std::vector<PlacedPass> divide_into_passes(std::span<const CounterMask> masks,
                                           std::span<const EventPair> together) {
  const auto fits = [masks](const EventIndices& events) -> Result<bool> {
    return fits_at_once(collect_masks(masks, events));
  };
  const auto sets = partition(masks.size(), fits, {together.begin(), together.end()});
  std::vector<PlacedPass> passes;
  for (const EventIndices& events : *sets) {  // `fits` never fails
    PlacedPass& pass =
        passes.emplace_back(place_all(collect_masks(masks, events)).value_or(PlacedPass{}));
    for (PlacedEvent& placed : pass) placed.event_index = events[placed.event_index];
  }
  return passes;
}

namespace {

bool can_use_only(CounterMask mask, CounterMask counters) {
  return (mask & ~counters) == 0;
}

/// Returns a smallest set of counters such that more events than it has counters can use only
/// counters of this set; nullopt if there is none.
std::optional<CounterMask> find_smallest_overfull(std::span<const CounterMask> masks) {
  CounterMask usable = 0;
  for (const CounterMask mask : masks) usable |= mask;

  // Visits every subset of the usable counters: subtracting 1 and masking gives the next smaller
  // number that is a subset.
  std::optional<CounterMask> smallest_set;
  for (CounterMask counters = usable; counters != 0; counters = (counters - 1) & usable) {
    const int counter_count = std::popcount(counters);
    if (smallest_set && counter_count > std::popcount(*smallest_set)) continue;
    const auto event_count = std::ranges::count_if(
        masks, [&](CounterMask mask) { return can_use_only(mask, counters); });
    if (event_count > counter_count) smallest_set = counters;
  }
  return smallest_set;
}

}  // namespace

/// The mask of an event has a bit for each counter that can count it. By Hall's theorem, all events
/// can be counted at the same time unless there is a set of counters such that more events than it
/// has counters can use only counters of this set. Finds a smallest such set, and names its events.
std::optional<CompetingEvents> smallest_competition(std::span<const CounterMask> masks) {
  const auto counters = find_smallest_overfull(masks);
  if (!counters) return std::nullopt;

  // One event more than there are counters is enough to show that they do not fit. Of the others,
  // only the number is of interest.
  CompetingEvents competition{.events = {}, .counters = *counters};
  const auto max_named = static_cast<std::size_t>(std::popcount(*counters)) + 1;
  for (std::size_t event = 0; event < masks.size(); ++event) {
    if (!can_use_only(masks[event], *counters)) continue;
    if (competition.events.size() < max_named)
      competition.events.push_back(event);
    else
      ++competition.other_competitors;
  }
  return competition;
}

std::vector<std::uint64_t> configuration_words(const PlacedPass& pass, CounterMask available) {
  std::vector<std::uint64_t> words;
  for (const PlacedEvent& placed : pass) {
    if (placed.counter < kFixedCounterCount) continue;
    words.resize(static_cast<std::size_t>(std::popcount(available)));
    words.at(rank_of_counter(available, placed.counter)) = placed.word;
  }
  return words;
}

bool SelectedEvent::is_energy() const {
  return accounted_event == &kEnergy;
}

Result<SelectedEvent> find_event_by_any_name(const KpepDatabase& database, std::string_view name) {
  const KpepEvent* by_alias = find_portable(database, name);
  if (const KpepEvent* event = by_alias != nullptr ? by_alias : find_event(database, name))
    return SelectedEvent{lower_case(name), *event};
  const bool is_energy = same_ignoring_case(name, kEnergy.name);
  if (const AccountedEvent* event = is_energy ? &kEnergy : find_accounted(name))
    return SelectedEvent{lower_case(name), {}, event};
  return make_unknown_event_error(database, name);
}

Result<Selection> select_events(const KpepDatabase& database, const EventRequest& wanted,
                                const CounterLimits& limits) {
  Selection selection;
  if (wanted.names.empty())
    add_default_events(selection, database, limits.available);
  else if (auto added = add_wanted_events(selection, database, wanted.names); !added)
    return added.error();
  move_energy_to_end(selection);
  if (auto divided = divide_selection(selection, database, wanted.pairs_for_one_pass, limits);
      !divided)
    return divided.error();
  if (wanted.single_pass && selection.competition)
    return Error{fmt::format("these events do not fit the counters at the same time: {}",
                             describe_competition(selection)),
                 fmt::format("leave out --single-pass, so that they are counted in {} passes, or "
                             "leave out one of these events",
                             selection.passes.size())};
  return selection;
}

/// Makes a pass of the selected events. `placed_pass`: its events on counters.
Pass make_pass(const PlacedPass& placed_pass, const std::vector<SelectedEvent>& events) {
  Pass pass;
  for (const PlacedEvent& placed : placed_pass) pass.event_indices.push_back(placed.event_index);

  // The kernel accounts for events without a counter in every run, so every pass has them.
  for (std::size_t i = 0; i < events.size(); ++i)
    if (!events[i].is_on_counter()) pass.event_indices.push_back(i);
  std::ranges::sort(pass.event_indices);
  return pass;
}

namespace {

Event make_event(const SelectedEvent& selected, CountedPrivilegeLevels levels) {
  std::string meaning;
  if (!selected.is_on_counter())
    meaning = selected.accounted_event->meaning;
  else if (levels == CountedPrivilegeLevels::UserOnly)
    meaning = selected.hardware_event.name + ", user space only";
  else
    meaning = selected.hardware_event.name;

  Event event{.name = selected.name,
              .meaning = std::move(meaning),
              .is_energy = selected.is_energy(),
              .privilege_levels = levels,
              .role = role_of_event(selected.name)};
  // The engine of the session counts the events on counters, so they need not name one.
  if (!selected.is_on_counter()) event.method.engine = kAccountingEngine;
  return event;
}

}  // namespace

/// Makes from a selection what users see of it: the events with their meanings, and in which pass
/// each of them is counted. Configurable counters, unlike fixed ones, may count only in user space,
/// because the user or the kernel wants it.
EventSet make_event_set(const Selection& selection, bool configurable_are_user_only) {
  EventSet set;
  set.notes = selection.notes;
  for (const SelectedEvent& selected : selection.events) {
    const bool is_configurable = selected.is_on_counter() && !selected.hardware_event.is_fixed;
    set.events.push_back(make_event(selected, configurable_are_user_only && is_configurable
                                                  ? CountedPrivilegeLevels::UserOnly
                                                  : CountedPrivilegeLevels::UserAndKernel));
  }

  for (const PlacedPass& placed_pass : selection.passes)
    set.passes.push_back(make_pass(placed_pass, selection.events));
  return set;
}

Catalog make_catalog(const KpepDatabase& database, CounterMask available) {
  Catalog catalog;
  for (const KpepEvent& event : database.events) {
    const CounterMask mask = event.is_fixed ? event.mask : event.mask & available;
    if (mask == 0) continue;
    std::string description =
        (event.is_refused_by_kernel ? "refused by this kernel: " : "") + event.description;
    if (!event.errata.empty())
      description += fmt::format("{}(errata: {})", description.empty() ? "" : " ", event.errata);
    catalog.push_back({event.name, std::string(find_portable_name(database, event)),
                       counters_in_words(mask), std::move(description)});
  }
  add_to_catalog(accounted_events(), catalog);
  return catalog;
}

Result<Explanation> explain_wanted(const KpepDatabase& database, std::vector<std::string> names,
                                   const CounterLimits& limits) {
  const auto selection = select_events(database, {std::move(names), false}, limits);
  if (!selection) return selection.error();
  Explanation explanation;
  explanation.notes = selection->notes;
  const CounterMask counters = database.fixed_counters | limits.available;
  for (const PlacedPass& pass : selection->passes) {
    auto& rows = explanation.passes.emplace_back();
    for (unsigned counter = 0; counter < kMaxChipCounters; ++counter)
      if (may_use(counters, counter)) rows.push_back(explain_counter(counter, pass, *selection));
    for (const SelectedEvent& event : selection->events)
      if (event.accounted_event != nullptr)
        rows.push_back({"kernel", event.name, std::string(event.accounted_event->meaning)});
  }
  if (selection->competition) explanation.competition = describe_competition(*selection);
  return explanation;
}

}  // namespace lauka::engine::kperf
