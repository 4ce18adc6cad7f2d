
#include "engine/partition.h"

#include "core/metric.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <numeric>

namespace lauka::engine {
namespace {

/// Events that are placed in the same bin.
using Unit = EventIndices;
using Bin = std::vector<std::size_t>;
using Bins = std::vector<Bin>;

// The largest number of units for which all divisions are tried.
constexpr std::size_t kMaxUnitsTried = 10;

/// Calls a FitTest at most once for each set of events. After an error, nothing fits.
class FitOracle {
 public:
  explicit FitOracle(const FitTest& fits) : fits_(fits) {}

  bool fits(EventIndices events) {
    if (error_) return false;
    if (events.size() < 2) return true;
    std::ranges::sort(events);
    const auto known = answers_.find(events);
    if (known != answers_.end()) return known->second;
    const Result<bool> answer = fits_(events);
    if (!answer) {
      error_ = answer.error();
      return false;
    }
    answers_.emplace(std::move(events), *answer);
    return *answer;
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  const FitTest& fits_;
  std::map<EventIndices, bool> answers_;
  std::optional<Error> error_;
};

EventIndices list_events(const Bin& bin, const std::vector<Unit>& units) {
  EventIndices events;
  for (const std::size_t unit : bin)
    events.insert(events.end(), units[unit].begin(), units[unit].end());
  return events;
}

class Division {
 public:
  Division(const std::vector<Unit>& units, FitOracle& oracle) : units_(units), oracle_(oracle) {}

  /// Returns the fewest bins if there are at most kMaxUnitsTried units, or if each unit is an event
  /// that needs one of certain counters (a transversal matroid, whose partition by augmenting paths
  /// is optimal: Edmonds, "Minimum partition of a matroid into independent subsets", 1965).
  Bins divide() {
    Bins bins;
    for (std::size_t unit = 0; unit < units_.size(); ++unit)
      if (!add_unit(bins, unit)) bins.push_back({unit});
    while (units_.size() <= kMaxUnitsTried && bins.size() > 1) {
      Bins fewer(bins.size() - 1);
      if (!place_units_from(fewer, 0)) break;
      bins = std::move(fewer);
    }
    return bins;
  }

 private:
  bool fits(const Bin& bin) { return oracle_.fits(list_events(bin, units_)); }

  static Bin replace_unit(Bin bin, std::size_t old_unit, std::size_t new_unit) {
    std::ranges::replace(bin, old_unit, new_unit);
    return bin;
  }

  /// A unit that loses its bin to the unit `displaced_by`. If both units are the same, the unit has
  /// no bin yet.
  struct Displacement {
    std::size_t unit;
    std::size_t displaced_by;
    std::size_t bin;
  };

  /// A search for a chain of displacements. Nothing is moved before it has found a whole chain.
  struct Search {
    /// The units that the search has reached, each with the unit that would displace it.
    std::map<std::size_t, Displacement> displaced{};
    std::deque<std::size_t> units_to_place{};

    void enter(const Displacement& displacement) {
      displaced.insert({displacement.unit, displacement});
      units_to_place.push_back(displacement.unit);
    }
  };

  /// Puts a unit (events that stay together) into a bin (units that can be counted at the same
  /// time). If no bin has room for it, it displaces a second unit, which may displace a third one,
  /// and so on, until a displaced unit finds a bin with room. Finds the shortest such chain by a
  /// breadth-first search. Returns false, and leaves the bins as they are, if there is none.
  bool add_unit(Bins& bins, std::size_t new_unit) {
    constexpr std::size_t no_bin = std::numeric_limits<std::size_t>::max();
    Search search;

    // No other unit displaces the new one, which begins the chain.
    search.enter({.unit = new_unit, .displaced_by = new_unit, .bin = no_bin});

    while (!search.units_to_place.empty()) {
      const std::size_t unit = search.units_to_place.front();
      search.units_to_place.pop_front();

      for (std::size_t bin = 0; bin < bins.size(); ++bin) {
        // A displaced unit must find another bin than the one that it leaves.
        if (search.displaced.at(unit).bin == bin) continue;

        Bin with_unit = bins[bin];
        with_unit.push_back(unit);
        if (fits(with_unit) && try_to_carry_out_chain(bins, search.displaced, unit, bin))
          return true;
        enter_displaceable_units(search, unit, bins, bin);
      }
    }

    return false;
  }

  /// Enters the units of a bin that `unit` can displace into the search.
  void enter_displaceable_units(Search& search, std::size_t unit, const Bins& bins,
                                std::size_t bin) {
    for (const std::size_t other : bins[bin]) {
      const bool can_displace =
          !search.displaced.contains(other) && fits(replace_unit(bins[bin], other, unit));
      if (can_displace) search.enter({.unit = other, .displaced_by = unit, .bin = bin});
    }
  }

  /// Carries out the chain of displacements that ends with `last_unit` in `last_bin`. The search
  /// tested each step alone, but a chain may change a bin twice. Returns false, and leaves the bins
  /// as they are, if a bin would not fit afterwards.
  bool try_to_carry_out_chain(Bins& bins, const std::map<std::size_t, Displacement>& displaced,
                              std::size_t last_unit, std::size_t last_bin) {
    Bins changed = bins;
    changed[last_bin].push_back(last_unit);
    for (Displacement step = displaced.at(last_unit); step.displaced_by != step.unit;
         step = displaced.at(step.displaced_by))
      changed[step.bin] = replace_unit(changed[step.bin], step.unit, step.displaced_by);

    if (!std::ranges::all_of(changed, [this](const Bin& bin) { return fits(bin); })) return false;
    bins = std::move(changed);
    return true;
  }

  /// Places `unit` and all later units in the bins, by trying all divisions. Returns false, and
  /// leaves the bins as they are, if there is none.
  bool place_units_from(Bins& bins, std::size_t unit) {
    if (unit == units_.size()) return true;
    for (Bin& bin : bins) {
      const bool was_empty = bin.empty();
      bin.push_back(unit);
      if (fits(bin) && place_units_from(bins, unit + 1)) return true;
      bin.pop_back();
      if (was_empty) break;  // any other empty bin would be the same
    }
    return false;
  }

  const std::vector<Unit>& units_;
  FitOracle& oracle_;
};

std::vector<EventIndices> list_sets(const Bins& bins, const std::vector<Unit>& units) {
  std::vector<EventIndices> sets;
  for (const Bin& bin : bins) {
    if (bin.empty()) continue;
    std::ranges::sort(sets.emplace_back(list_events(bin, units)));
  }
  std::ranges::sort(sets);
  return sets;
}

/// Joins the units of two events. Returns nullopt if they are the same unit, or one is missing.
std::optional<std::vector<Unit>> join_units(std::vector<Unit> units, std::size_t first,
                                            std::size_t second) {
  const auto find_unit_of = [&units](std::size_t event) {
    return std::ranges::find_if(
        units, [event](const Unit& unit) { return std::ranges::find(unit, event) != unit.end(); });
  };
  const auto left = find_unit_of(first);
  const auto right = find_unit_of(second);
  if (left == units.end() || right == units.end() || left == right) return std::nullopt;
  left->insert(left->end(), right->begin(), right->end());
  units.erase(right);
  return units;
}

/// Units, and the bins into which they are divided.
struct DividedUnits {
  std::vector<Unit> units;
  Bins bins;
};

/// Returns the division in which two events, and all events that are already joined to either of
/// them, are one unit. Returns nullopt if they are one unit already, if one of them is missing, or
/// if this unit does not fit or would need more bins.
std::optional<DividedUnits> try_to_join(const DividedUnits& divided, std::size_t first,
                                        std::size_t second, FitOracle& oracle) {
  auto units = join_units(divided.units, first, second);
  if (!units) return std::nullopt;

  // If the two alone do not fit, no unit with both fits.
  if (!oracle.fits({first, second})) return std::nullopt;
  const bool does_each_unit_fit =
      std::ranges::all_of(*units, [&oracle](const Unit& unit) { return oracle.fits(unit); });
  if (!does_each_unit_fit) return std::nullopt;

  Bins bins = Division(*units, oracle).divide();
  if (bins.size() > divided.bins.size()) return std::nullopt;
  return DividedUnits{.units = *std::move(units), .bins = std::move(bins)};
}

}  // namespace

Result<EventIndices> find_competing_events(std::size_t count, const FitTest& fits) {
  FitOracle oracle(fits);
  EventIndices group(count);
  std::iota(group.begin(), group.end(), std::size_t{0});
  const bool all_fit = oracle.fits(group);

  // Leaves out each event without which the others still do not fit. What remains competes: without
  // any one of them, the others fit.
  for (std::size_t event = count; !all_fit && event-- > 0;) {
    EventIndices without = group;
    std::erase(without, event);
    if (!oracle.fits(without)) group = std::move(without);
  }
  if (oracle.error()) return *oracle.error();
  return all_fit ? EventIndices{} : group;
}

/// Divides the events 0..count-1 into few sets whose events can be counted at the same time. The
/// division works on units, which are events that stay together, and puts them into bins, which
/// become the sets.
Result<std::vector<EventIndices>> partition(
    std::size_t count, const FitTest& fits,
    const std::vector<std::pair<std::size_t, std::size_t>>& wanted_pairs) {
  if (count == 0) return std::vector<EventIndices>{};

  FitOracle oracle(fits);
  EventIndices all_events(count);
  std::iota(all_events.begin(), all_events.end(), std::size_t{0});
  if (oracle.fits(all_events)) return std::vector<EventIndices>{all_events};

  // At first, each event is a unit of its own.
  DividedUnits divided;
  for (const std::size_t event : all_events) divided.units.push_back({event});
  divided.bins = Division(divided.units, oracle).divide();

  // Then the events of each wanted pair are joined into one unit if possible.
  for (const auto& [first, second] : wanted_pairs)
    if (auto joined = try_to_join(divided, first, second, oracle)) divided = *std::move(joined);

  // If the test failed, the oracle has said since then that nothing fits, so the bins are useless.
  if (oracle.error()) return *oracle.error();
  return list_sets(divided.bins, divided.units);
}

}  // namespace lauka::engine
