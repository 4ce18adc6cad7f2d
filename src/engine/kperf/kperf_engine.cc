#include "engine/kperf/kperf_engine.h"

#include "engine/kperf/configure.h"
#include "engine/kperf/energy.h"
#include "engine/kperf/reasons.h"
#include "engine/kperf/selection.h"
#include "engine/kperf/strategy.h"
#include "engine/kperf/trial.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

/// Since this macOS a kernel counts configurable events in user space only, whatever is asked for.
/// Source: XNU 11215, osfmk/arm64/kpc.c.
constexpr int kUserSpaceOnlySince = 15;

/// Where the count of an event of a pass comes from.
struct Place {
  std::size_t value = 0;                      ///< index into RunValues::values
  const AccountedEvent* accounted = nullptr;  ///< where it is not null: from the run's usage
  bool is_energy = false;                     ///< from the kernel's totals
};

class KperfCounting final : public Counting {
 public:
  KperfCounting(Strategy& strategy, std::vector<std::uint64_t> words, std::vector<Place> places)
      : strategy_(strategy), watch_(strategy, std::move(words)), places_(std::move(places)) {}

  os::CounterSetId on_launcher() const override { return os::kNoCounters; }
  std::size_t runs_at_once() const override { return 1; }
  os::RunWatch* watch() override { return &watch_; }

  Counted finish(const os::Ended& ended) override {
    RunValues run = strategy_.finish(ended.totals);
    Counted counted;
    for (const Place& place : places_) {
      counted.counts.push_back(count_of(place, run.values, ended));
      if (!run.own.empty()) counted.own.push_back(own_count_of(place, run.own));
    }
    counted.missing = std::move(run.missing);
    counted.redo = std::move(run.redo);
    counted.coverage = run.coverage;
    return counted;
  }

 private:
  static std::optional<std::uint64_t> count_of(const Place& place,
                                               const std::vector<std::uint64_t>& values,
                                               const os::Ended& ended) {
    if (place.accounted != nullptr) return place.accounted->read(ended.usage);
    if (place.is_energy) return energy_of(ended);
    if (place.value >= values.size()) return std::nullopt;
    return values[place.value];
  }

  /// What is not on a counter is accounted with the reaped descendants, or without any.
  static std::optional<std::uint64_t> own_count_of(const Place& place,
                                                   const std::vector<std::uint64_t>& own) {
    const bool is_counted = place.accounted == nullptr && !place.is_energy;
    return is_counted && place.value < own.size() ? std::optional(own[place.value]) : std::nullopt;
  }

  Strategy& strategy_;
  StrategyWatch watch_;
  std::vector<Place> places_;
};

class KperfEngine final : public CounterEngine {
 public:
  KperfEngine(const Setting& setting, KpepDatabase database)
      : setting_(setting),
        database_(std::move(database)),
        available_(database_.config_counters),
        kernel_(setting.calls),
        trace_(setting.calls),
        claim_(kernel_, trace_) {}

  /// Takes the counters, and learns how many there are.
  Result<void> take() {
    if (auto taken = claim_.take_counters(); !taken) return taken;
    if (claim_.had_leftovers())
      notes_.emplace_back("what a killed run had left switched on was reset");
    if (const auto& missing = kernel_.missing(); missing)
      notes_.push_back(fmt::format(
          "macOS changed its private framework ({}); lauka uses sysctls",
          missing->name.empty() ? "kperf.framework is missing" : missing->name + " is missing"));
    const std::uint32_t count = kernel_.counter_count(kConfigurableClass);
    const auto usable = usable_counters(database_.config_counters, database_.power_counters, count);
    if (!usable)
      return Error{fmt::format("the kernel has {} configurable counters, the database {} of this "
                               "processor {}",
                               count, database_.name, std::popcount(database_.config_counters)),
                   ""};
    available_ = *usable;
    if (available_ != database_.config_counters)
      notes_.push_back(fmt::format("only {} of {} configurable counters can be used here", count,
                                   std::popcount(database_.config_counters)));
    return {};
  }

  std::string_view name() const override { return "kperf"; }

  Catalog catalog() const override {
    Catalog catalog = catalog_of(database_, available_);
    catalog.push_back(energy_entry());
    return catalog;
  }

  Result<Explanation> explain(const Wanted& wanted) override {
    return explain_wanted(database_, wanted.names, room());
  }

  Result<EventSet> select(const Wanted& wanted) override {
    // What the kernel's totals give is no matter for counters.
    Wanted on_counters = wanted;
    has_energy_ = take_energy(on_counters.names);
    Selection selected;
    if (!has_energy_ || !on_counters.names.empty()) {
      auto selection = select_events(database_, on_counters, room());
      if (!selection) return selection.error();
      selected = *std::move(selection);
    }
    if (setting_.launcher != nullptr) {
      if (auto allowed = leave_out_forbidden(selected); !allowed) return allowed.error();
      if (auto tried = take_strategy(); !tried) return tried.error();
    }
    selection_ = std::move(selected);
    return event_set();
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t pass, os::Launcher& /*launcher*/) override {
    if (!strategy_) return Error{"this engine was made to answer questions only", ""};
    const PlacedPass& placed = selection_.passes.at(pass);
    std::vector<Place> places;
    for (const std::size_t event : passes_.at(pass).events)
      places.push_back(place_of(event, placed));
    return std::unique_ptr<Counting>(std::make_unique<KperfCounting>(
        *strategy_, configuration_words(placed, available_), std::move(places)));
  }

  std::vector<std::string> notes() const override {
    return strategy_ ? strategy_->notes() : std::vector<std::string>{};
  }

 private:
  CounterRoom room() const { return {available_, setting_.user_only}; }

  Result<void> take_strategy() {
    if (strategy_) return {};
    auto tried = try_strategies(setting_.strategy, setting_.period, claim_, kernel_, trace_,
                                *setting_.launcher);
    if (!tried) return tried.error();
    strategy_ = std::move(tried->strategy);
    notes_.insert(notes_.end(), tried->notes.begin(), tried->notes.end());
    counts_machine_ = tried->counts_machine;
    return {};
  }

  const SelectedEvent& selection_event(std::size_t event) const {
    return selection_.events.at(event);
  }

  Place place_of(std::size_t event, const PlacedPass& placed) const {
    Place place;
    if (event >= selection_.events.size()) {
      place.is_energy = true;
      return place;
    }
    place.accounted = selection_event(event).accounted;
    const auto found = std::find_if(placed.begin(), placed.end(),
                                    [event](const PlacedEvent& one) { return one.event == event; });
    if (found == placed.end()) return place;
    place.value = selection_event(event).counted.is_fixed
                      ? found->counter
                      : kFixedCounters + place_among(available_, found->counter);
    return place;
  }

  /// Kernels have a list of the events that may be counted. What they refuse is named and left out.
  Result<void> leave_out_forbidden(Selection& selected) {
    selection_ = selected;
    int error = 0;
    for (const PlacedPass& pass : selection_.passes)
      if (const auto words = configuration_words(pass, available_); !words.empty() && error == 0)
        error = kernel_.set_words(words);
    if (error == 0) return {};
    if (error != EPERM) {
      const Unavailable why = reason_of(Asked::Count, error, kernel_);
      return Error{why.why, why.remedy};
    }
    return select_allowed(selected);
  }

  /// Tries every event by itself.
  Result<void> select_allowed(Selection& selected) {
    std::vector<std::string> refused(selection_.events.size());
    for (const PlacedPass& pass : selection_.passes) {
      for (const PlacedEvent& placed : pass) {
        const auto words = configuration_words({placed}, available_);
        if (words.empty() || kernel_.set_words(words) != EPERM) continue;
        refused[placed.event] = forbidden_event(selection_event(placed.event).name, placed.word);
      }
    }
    Wanted allowed;
    for (std::size_t i = 0; i < refused.size(); ++i) {
      if (refused[i].empty())
        allowed.names.push_back(selection_event(i).name);
      else
        notes_.push_back(refused[i]);
    }
    if (allowed.names.size() == refused.size())
      return Error{"the kernel refused a set of events of which it allows each", "name fewer"};
    if (allowed.names.empty()) return Error{notes_.back(), "leave it out"};
    auto again = select_events(database_, allowed, room());
    if (!again) return again.error();
    again->notes.insert(again->notes.begin(), selection_.notes.begin(), selection_.notes.end());
    selected = *std::move(again);
    return {};
  }

  EventSet event_set() {
    const bool user_space = setting_.user_only || macos_version() >= kUserSpaceOnlySince;
    EventSet set = event_set_of(selection_, user_space ? ", user space only" : "");
    set.notes.insert(set.notes.end(), notes_.begin(), notes_.end());
    bool has_fixed = false;
    for (std::size_t i = 0; i < selection_.events.size(); ++i) {
      const SelectedEvent& event = selection_event(i);
      if (!event.is_on_counter()) continue;
      std::string& note = set.events[i].note;
      set.events[i].zero_is_doubtful = !event.counted.is_fixed;
      if (counts_machine_) note = "(system-wide)";
      if (user_space && !event.counted.is_fixed) note += note.empty() ? "(user)" : " (user)";
      has_fixed = has_fixed || event.counted.is_fixed;
    }
    if (setting_.user_only && has_fixed)
      set.notes.emplace_back(
          "the counters of cycles and instructions cannot leave out the kernel; "
          "CORE_ACTIVE_CYCLE and INST_ALL can");
    if (has_energy_) add_energy(set);
    if (selection_.passes.empty() && !set.passes.empty()) selection_.passes.emplace_back();
    passes_ = set.passes;
    return set;
  }

  int macos_version() const { return std::atoi(kernel_.text("kern.osproductversion").c_str()); }

  Setting setting_;
  KpepDatabase database_;
  CounterMask available_;
  Kernel kernel_;
  Trace trace_;
  Claim claim_;
  Selection selection_;
  std::vector<Pass> passes_;
  bool has_energy_ = false;
  bool counts_machine_ = false;
  std::unique_ptr<Strategy> strategy_;
  std::vector<std::string> notes_;
};

}  // namespace

Result<std::unique_ptr<CounterEngine>> make_kperf_engine(const Setting& setting,
                                                         KpepDatabase database) {
  auto engine = std::make_unique<KperfEngine>(setting, std::move(database));
  if (setting.launcher != nullptr) {
    if (auto taken = engine->take(); !taken) return taken.error();
  }
  return std::unique_ptr<CounterEngine>(std::move(engine));
}

}  // namespace lauka::engine::kperf
