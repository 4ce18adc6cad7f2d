#include "engine/kperf/selection.h"

#include "core/foreign_text.h"
#include "core/text.h"
#include "engine/kperf/kperf_engine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

/// A portable name and what it stands for: the first of these names that the chip has. Retired
/// events come first, since they repeat from run to run.
struct PortableAlias {
  std::string_view alias;
  std::array<std::string_view, 2> events;
};

constexpr std::array<PortableAlias, 8> kPortable = {{
    {"cycles", {"FIXED_CYCLES", "CORE_ACTIVE_CYCLE"}},
    {"instructions", {"FIXED_INSTRUCTIONS", "INST_ALL"}},
    {"branches", {"INST_BRANCH", ""}},
    {"branch-misses", {"BRANCH_MISPRED_NONSPEC", ""}},
    {"l1d-cache-misses", {"L1D_CACHE_MISS_LD_NONSPEC", "L1D_CACHE_MISS_LD"}},
    {"l1d-tlb-misses", {"L1D_TLB_MISS_NONSPEC", "L1D_TLB_MISS"}},
    {"l1i-cache-misses", {"L1I_CACHE_MISS_DEMAND", ""}},
    {"l1i-tlb-misses", {"L1I_TLB_MISS_DEMAND", ""}},
}};

/// Portable names of what the counters of Apple's cores do not see.
constexpr std::array<std::string_view, 2> kNotOnApple = {"cache-references", "cache-misses"};

constexpr std::array<std::string_view, 6> kDefaultEvents = {"cycles",
                                                            "instructions",
                                                            "CORE_ACTIVE_CYCLE",
                                                            "INST_ALL",
                                                            "L1D_CACHE_MISS_LD_NONSPEC",
                                                            "BRANCH_MISPRED_NONSPEC"};

/// Events of these chips that users divide by one another as well, the most wanted pairs first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kAlsoTogether = {{
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

const PortableAlias* portable(std::string_view alias) {
  const auto found = std::ranges::find_if(kPortable, [alias](const PortableAlias& candidate) {
    return same_ignoring_case(candidate.alias, alias);
  });
  return found == kPortable.end() ? nullptr : &*found;
}

/// The chip's own event of exactly that name.
const KpepEvent* find_own(const KpepDatabase& database, std::string_view name) {
  const auto found = std::ranges::find_if(
      database.events, [name](const KpepEvent& event) { return event.name == name; });
  return found == database.events.end() ? nullptr : &*found;
}

const std::string& processor(const KpepDatabase& database) {
  return database.marketing_name.empty() ? database.name : database.marketing_name;
}

Error unknown(const KpepDatabase& database, std::string_view name) {
  const bool elsewhere = std::ranges::any_of(
      kNotOnApple, [name](std::string_view alias) { return same_ignoring_case(alias, name); });
  if (elsewhere || portable(name) != nullptr)
    return Error{fmt::format("{} cannot be counted: the counters of {} have no such event",
                             cited(name), processor(database)),
                 "lauka -l lists the events"};
  std::vector<std::string> names;
  names.reserve(kPortable.size() + accounted_events().size() + database.events.size());
  for (const PortableAlias& alias : kPortable) names.emplace_back(alias.alias);
  for (const AccountedEvent& event : accounted_events()) names.emplace_back(event.name);
  for (const KpepEvent& event : database.events) names.push_back(event.name);
  const std::vector<std::string> near = nearest_names(name, names);
  return Error{fmt::format("unknown event {}", cited(name)),
               near.empty() ? "lauka -l lists the events"
                            : fmt::format("did you mean {}?", listed(near, "or"))};
}

bool same_event(const SelectedEvent& a, const SelectedEvent& b) {
  return a.accounted == b.accounted && a.counted.name == b.counted.name;
}

/// Adds what is wanted; notes what is the same under two names.
Result<void> add_wanted(Selection& selection, const KpepDatabase& database,
                        const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    auto event = find_wanted(database, name);
    if (!event) return event.error();
    const auto same = std::ranges::find_if(
        selection.events, [&](const SelectedEvent& other) { return same_event(*event, other); });
    if (same == selection.events.end())
      selection.events.push_back(*std::move(event));
    else if (same->name != event->name)
      selection.notes.push_back(
          fmt::format("'{}' is the same event as '{}' and counted once", event->name, same->name));
  }
  return {};
}

void add_defaults(Selection& selection, const KpepDatabase& database, CounterMask available) {
  std::vector<std::string> left_out;
  for (const std::string_view name : kDefaultEvents) {
    auto event = find_wanted(database, name);
    const bool can_be =
        event && (event->counted.is_fixed || (event->counted.mask & available) != 0);
    if (can_be)
      selection.events.push_back(*std::move(event));
    else
      left_out.push_back(lower_case(name));
  }
  if (!left_out.empty())
    selection.notes.push_back(
        fmt::format("not counted: {} (the counters of {} have no such event, or it needs "
                    "one that cannot be used)",
                    listed(left_out), processor(database)));
}

/// The pairs of the selection that are wanted in one pass, by index into `events`.
std::vector<EventPair> together_among(const std::vector<KpepEvent>& events,
                                      const KpepDatabase& database,
                                      const std::vector<EventNames>& wanted) {
  const auto position = [&events](std::string_view name) {
    return std::ranges::find_if(events,
                                [name](const KpepEvent& event) { return event.name == name; });
  };
  std::vector<EventPair> pairs;
  const auto add = [&](std::string_view first, std::string_view second) {
    const auto a = position(first);
    const auto b = position(second);
    if (a != events.end() && b != events.end())
      pairs.emplace_back(a - events.begin(), b - events.begin());
  };
  for (const auto& [first, second] : wanted) {
    const auto a = find_wanted(database, first);
    const auto b = find_wanted(database, second);
    if (a && b) add(a->counted.name, b->counted.name);
  }
  for (const auto& [first, second] : kAlsoTogether) add(first, second);
  return pairs;
}

/// "INST_ALL and INST_LDST compete for PMC7".
std::string competition_in_words(const Selection& selection) {
  const Competition& competition = *selection.competition;
  std::vector<std::string> names;
  for (const std::size_t event : competition.events) names.push_back(selection.events[event].name);
  const std::string others =
      competition.others == 0
          ? ""
          : fmt::format(" (and {} more that need{} {})", competition.others,
                        competition.others == 1 ? "s" : "",
                        std::popcount(competition.counters) == 1 ? "it" : "them");
  return fmt::format("{} compete for {}{}", listed(names), counters_in_words(competition.counters),
                     others);
}

/// Divides the events on counters into passes.
Result<void> divide(Selection& selection, const KpepDatabase& database,
                    const std::vector<EventNames>& together, const CounterRoom& room) {
  std::vector<KpepEvent> on_counters;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < selection.events.size(); ++i) {
    if (!selection.events[i].is_on_counter()) continue;
    on_counters.push_back(selection.events[i].counted);
    indices.push_back(i);
  }
  auto passes = place(on_counters, room.available, together_among(on_counters, database, together),
                      room.user_only);
  if (!passes) return passes.error();
  for (PlacedPass& pass : *passes)
    for (PlacedEvent& placed : pass) placed.event = indices[placed.event];
  selection.passes = *std::move(passes);
  // The kernel's own counts alone need a run as well.
  if (selection.passes.empty() && !selection.events.empty()) selection.passes.emplace_back();
  if (selection.passes.size() < 2) return {};
  selection.competition = competition_among(on_counters, room.available);
  if (selection.competition)
    for (std::size_t& event : selection.competition->events) event = indices[event];
  return {};
}

/// What sits on `counter` in one pass.
ExplainedSeat seat_on(unsigned counter, const PlacedPass& pass, const Selection& selection) {
  const std::string name = counters_in_words(CounterMask{1} << counter);
  for (const PlacedEvent& placed : pass) {
    if (placed.counter != counter) continue;
    const SelectedEvent& event = selection.events[placed.event];
    return {name, event.name,
            event.counted.is_fixed
                ? fmt::format("{}, which has this counter for itself", event.counted.name)
                : fmt::format("{}, which may use {}{}", event.counted.name,
                              counters_in_words(event.counted.mask),
                              event.counted.is_refused ? ", but is refused by this kernel" : "")};
  }
  return {name, ""};
}

}  // namespace

const KpepEvent* find_portable(const KpepDatabase& database, std::string_view alias) {
  const PortableAlias* known = portable(alias);
  if (known == nullptr) return nullptr;
  const KpepEvent* refused = nullptr;
  for (const std::string_view name : known->events) {
    const KpepEvent* event = name.empty() ? nullptr : find_own(database, name);
    if (event != nullptr && !event->is_refused) return event;
    if (refused == nullptr) refused = event;
  }
  return refused;
}

std::string_view portable_name_of(const KpepDatabase& database, const KpepEvent& event) {
  for (const PortableAlias& known : kPortable) {
    const KpepEvent* found = find_portable(database, known.alias);
    if (found != nullptr && found->name == event.name) return known.alias;
  }
  return {};
}

Result<SelectedEvent> find_wanted(const KpepDatabase& database, std::string_view name) {
  if (const KpepEvent* event = find_portable(database, name))
    return SelectedEvent{lower_case(name), *event};
  if (const KpepEvent* event = find_event(database, name))
    return SelectedEvent{lower_case(name), *event};
  if (const AccountedEvent* event = find_accounted(name))
    return SelectedEvent{lower_case(name), {}, event};
  return unknown(database, name);
}

Result<Selection> select_events(const KpepDatabase& database, const EventRequest& wanted,
                                const CounterRoom& room) {
  Selection selection;
  if (wanted.names.empty())
    add_defaults(selection, database, room.available);
  else if (auto added = add_wanted(selection, database, wanted.names); !added)
    return added.error();
  if (auto divided = divide(selection, database, wanted.together, room); !divided)
    return divided.error();
  if (wanted.single_pass && selection.competition)
    return Error{fmt::format("these events do not fit the counters at once: {}",
                             competition_in_words(selection)),
                 fmt::format("leave out --single-pass (they take {} passes) or one of these events",
                             selection.passes.size())};
  return selection;
}

EventSet event_set_of(const Selection& selection, std::string_view counted_space) {
  EventSet set;
  set.notes = selection.notes;
  for (const SelectedEvent& event : selection.events) {
    if (event.accounted != nullptr)
      set.events.push_back({event.name, std::string(event.accounted->meaning)});
    else
      set.events.push_back({event.name, fmt::format("{}{}", event.counted.name,
                                                    event.counted.is_fixed ? "" : counted_space)});
    set.events.back().role = role_of_event(event.name);
  }
  for (const PlacedPass& placed : selection.passes) {
    Pass& pass = set.passes.emplace_back();
    for (const PlacedEvent& one : placed) pass.events.push_back(one.event);
    for (std::size_t i = 0; i < selection.events.size(); ++i)
      if (!selection.events[i].is_on_counter()) pass.events.push_back(i);
    std::ranges::sort(pass.events);
  }
  return set;
}

Catalog catalog_of(const KpepDatabase& database, CounterMask available) {
  Catalog catalog;
  for (const KpepEvent& event : database.events) {
    const CounterMask mask = event.is_fixed ? event.mask : event.mask & available;
    if (mask == 0) continue;
    std::string description =
        (event.is_refused ? "refused by this kernel: " : "") + event.description;
    if (!event.errata.empty())
      description += fmt::format("{}(errata: {})", description.empty() ? "" : " ", event.errata);
    catalog.push_back({event.name, std::string(portable_name_of(database, event)),
                       counters_in_words(mask), std::move(description)});
  }
  for (const AccountedEvent& event : accounted_events())
    catalog.push_back({std::string(event.name), std::string(event.name), "accounting",
                       std::string(event.meaning)});
  return catalog;
}

Explanation explanation_of(const Selection& selection, CounterMask counters) {
  Explanation explanation;
  explanation.notes = selection.notes;
  for (const PlacedPass& pass : selection.passes) {
    auto& seats = explanation.passes.emplace_back();
    for (unsigned counter = 0; counter < kMostCounters; ++counter)
      if (((counters >> counter) & 1U) != 0) seats.push_back(seat_on(counter, pass, selection));
    for (const SelectedEvent& event : selection.events)
      if (event.accounted != nullptr)
        seats.push_back({"kernel", event.name, std::string(event.accounted->meaning)});
  }
  if (selection.competition) explanation.competition = competition_in_words(selection);
  return explanation;
}

Result<Explanation> explain_wanted(const KpepDatabase& database, std::vector<std::string> names,
                                   const CounterRoom& room) {
  const bool has_energy = take_energy(names);
  Selection selection;
  if (has_energy && names.empty()) {
    selection.passes.emplace_back();
  } else {
    auto selected = select_events(database, {std::move(names), false}, room);
    if (!selected) return selected.error();
    selection = *std::move(selected);
  }
  Explanation explanation = explanation_of(selection, database.fixed_counters | room.available);
  if (has_energy) add_energy(explanation);
  return explanation;
}

}  // namespace lauka::engine::kperf
