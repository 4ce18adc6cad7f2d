#include "engine/kperf/kperf_engine.h"

#include "engine/kperf/kernel.h"
#include "engine/kperf/selection.h"
#include "engine/kperf/strategy.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace lauka::engine::kperf {

namespace {

/// Since this macOS a kernel counts configurable events in user space only, whatever the word.
/// Source: XNU 11215, osfmk/arm64/kpc.c.
constexpr int kUserSpaceOnlySince = 15;

/// The source of an event's count in a pass.
struct CountSource {
  std::size_t value = 0;      ///< index into RunValues::values
  FreeReader free = nullptr;  ///< if not null: from the kernel's accounts
};

class KperfCounting final : public Counting {
 public:
  KperfCounting(Strategy& strategy, std::vector<std::uint64_t> words,
                std::vector<CountSource> places)
      : strategy_(strategy), watch_(strategy, std::move(words)), places_(std::move(places)) {}

  std::size_t runs_at_once() const override { return 1; }
  os::RunWatch* watch() override { return &watch_; }

  Counted finish(const os::Ended& ended, std::size_t /*command*/) override {
    RunValues run = strategy_.finish(ended);
    Counted counted;
    for (const CountSource& place : places_) {
      counted.counts.push_back(count_of(place, run.values, ended));
      if (!run.own.empty()) counted.own.push_back(own_count_of(place, run.own));
    }
    counted.missing = std::move(run.missing);
    counted.redo = std::move(run.redo);
    counted.coverage = run.coverage;
    return counted;
  }

 private:
  static std::optional<std::uint64_t> count_of(const CountSource& place,
                                               const std::vector<std::uint64_t>& values,
                                               const os::Ended& ended) {
    return place.free != nullptr ? place.free(ended) : value_at(place, values);
  }

  /// Returns nullopt for events that are not on a counter: they are accounted with or without the
  /// reaped descendants.
  static std::optional<std::uint64_t> own_count_of(const CountSource& place,
                                                   const std::vector<std::uint64_t>& own) {
    return place.free == nullptr ? value_at(place, own) : std::nullopt;
  }

  static std::optional<std::uint64_t> value_at(const CountSource& place,
                                               const std::vector<std::uint64_t>& values) {
    return place.value < values.size() ? std::optional(values[place.value]) : std::nullopt;
  }

  Strategy& strategy_;
  StrategyWatch watch_;
  std::vector<CountSource> places_;
};

class KperfEngine final : public CounterEngine {
 public:
  KperfEngine(const OnMacos& here, bool user_only, KpepDatabase database)
      : here_(here),
        user_only_(user_only),
        database_(std::move(database)),
        available_(database_.config_counters),
        kernel_(*here.calls),
        trace_(*here.calls),
        claim_(kernel_, trace_) {}

  /// Takes the counters, and learns how many there are.
  Result<void> take() {
    if (auto taken = claim_.take_counters(); !taken) return taken;
    if (claim_.had_leftovers())
      notes_.emplace_back("reset what a killed session had left switched on");
    if (const auto& missing = kernel_.missing())
      notes_.push_back(fmt::format(
          "macOS changed its private framework ({} is missing); lauka uses sysctls", *missing));
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

  /// Finds out which events are refused, if the counters are free and lauka may use them.
  void try_all() {
    if (kernel_.counting() != 0 || kernel_.force_all_counters(true) != 0) return;
    if (const auto usable = usable_counters(database_.config_counters, database_.power_counters,
                                            kernel_.counter_count(kConfigurableClass))) {
      available_ = *usable;
      for (KpepEvent& event : database_.events)
        event.is_refused = !event.is_fixed && (event.mask & available_) != 0 && is_refused(event);
    }
    kernel_.force_all_counters(false);
  }

  std::string_view name() const override { return row_of(EngineChoice::Kperf).name; }

  Catalog catalog() const override {
    Catalog catalog = catalog_of(database_, available_);
    catalog.push_back(catalog_entry_of(kEnergy));
    return catalog;
  }

  Result<Explanation> explain(const EventRequest& wanted) override {
    return explain_wanted(database_, wanted.names, room());
  }

  Result<EventSet> select(const EventRequest& wanted) override {
    auto selected = select_events(database_, wanted, room());
    if (!selected) return selected.error();
    if (here_.launcher != nullptr) {
      if (auto allowed = leave_out_forbidden(*selected, wanted); !allowed) return allowed.error();
      if (auto tried = take_strategy(); !tried) return tried.error();
    }
    selection_ = *std::move(selected);
    return event_set();
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t pass) override {
    if (!strategy_) return Error{"this engine can only answer questions", ""};
    const PlacedPass& placed = selection_.passes.at(pass);
    std::vector<CountSource> places;
    for (const std::size_t event : passes_.at(pass).events)
      places.push_back(place_of(event, placed));
    return std::unique_ptr<Counting>(std::make_unique<KperfCounting>(
        *strategy_, configuration_words(placed, available_), std::move(places)));
  }

  void pause() override {
    if (strategy_) strategy_->pause();
    if (here_.takes_turns) claim_.give_back();
  }

  FreeReader free_reader(std::size_t event) const override {
    const AccountedEvent* accounted = selection_.events.at(event).accounted;
    return accounted != nullptr ? accounted->read : nullptr;
  }

  std::vector<std::string> notes() const override {
    return strategy_ ? strategy_->notes() : std::vector<std::string>{};
  }

 private:
  CounterRoom room() const { return {available_, user_only_}; }

  Result<void> take_strategy() {
    if (strategy_) return {};
    auto tried =
        try_strategies(here_.strategy, here_.period, claim_, kernel_, trace_, *here_.launcher);
    if (!tried) return tried.error();
    strategy_ = std::move(tried->strategy);
    notes_.insert(notes_.end(), tried->notes.begin(), tried->notes.end());
    counts_machine_ = tried->counts_machine;
    return {};
  }

  CountSource place_of(std::size_t event, const PlacedPass& placed) const {
    const auto found = std::ranges::find(placed, event, &PlacedEvent::event);
    if (found == placed.end()) return {.free = free_reader(event)};
    return {.value = selection_.events.at(event).counted.is_fixed
                         ? found->counter
                         : kFixedCounters + place_among(available_, found->counter)};
  }

  /// Kernels have a list of the events that may be counted, and processors know only some bits of
  /// selectors. A refused event is named, and replaced by one that counts the same, if there is
  /// one.
  Result<void> leave_out_forbidden(Selection& selected, const EventRequest& wanted) {
    for (;;) {
      int error = 0;
      for (const PlacedPass& pass : selected.passes)
        if (const auto words = configuration_words(pass, available_); !words.empty() && error == 0)
          error = claim_.try_words(words);
      if (error == 0) return {};
      if (error != EPERM) return reason_of(Asked::Count, error, kernel_);
      auto allowed = select_allowed(selected, wanted);
      if (!allowed) return allowed.error();
      selected = *std::move(allowed);
    }
  }

  bool is_refused(const KpepEvent& event) {
    const auto words = configuration_words(
        {{0, static_cast<unsigned>(std::countr_zero(event.mask & available_)), event.number}},
        available_);
    return claim_.try_words(words) == EPERM;
  }

  /// Tries every event of `selection` by itself, and selects again without the refused ones.
  Result<Selection> select_allowed(const Selection& selection, EventRequest allowed) {
    allowed.names.clear();
    bool any = false;
    for (const SelectedEvent& event : selection.events) {
      const KpepEvent& counted = event.counted;
      const bool refused = event.is_on_counter() && !counted.is_fixed && is_refused(counted);
      any = any || refused;
      if (refused) {
        std::ranges::find(database_.events, counted.name, &KpepEvent::name)->is_refused = true;
        notes_.push_back(
            fmt::format("not counted: {} (this kernel does not allow its selector {:#x} here)",
                        event.name, counted.number));
      }
      const auto other = find_wanted(database_, event.name);
      if (!refused || (other && !other->counted.is_refused)) allowed.names.push_back(event.name);
      if (refused && other && !other->counted.is_refused)
        notes_.back() = fmt::format("{} is counted by {}: this kernel refuses {}", event.name,
                                    other->counted.name, counted.name);
    }
    if (!any)
      return Error{"the kernel refused a set of events although it allows each of them",
                   "name fewer"};
    if (std::ranges::all_of(allowed.names, [](const auto& name) { return name == kEnergy.name; }))
      return Error{notes_.back(), "leave it out"};
    auto again = select_events(database_, allowed, room());
    if (again)
      again->notes.insert(again->notes.begin(), selection.notes.begin(), selection.notes.end());
    return again;
  }

  EventSet event_set() {
    const bool user_space = user_only_ || macos_version() >= kUserSpaceOnlySince;
    EventSet set = event_set_of(selection_, user_space ? ", user space only" : "");
    set.notes.insert(set.notes.end(), notes_.begin(), notes_.end());
    bool has_fixed = false;
    for (std::size_t i = 0; i < selection_.events.size(); ++i) {
      const SelectedEvent& event = selection_.events[i];
      if (!event.is_on_counter()) continue;
      std::string& note = set.events[i].note;
      set.events[i].zero_is_doubtful = !event.counted.is_fixed;
      if (counts_machine_) note = "(system-wide)";
      if (user_space && !event.counted.is_fixed) note += note.empty() ? "(user)" : " (user)";
      has_fixed = has_fixed || event.counted.is_fixed;
    }
    if (user_only_ && has_fixed)
      set.notes.emplace_back(
          "the counters of cycles and instructions cannot leave out the kernel; "
          "CORE_ACTIVE_CYCLE and INST_ALL can");
    passes_ = set.passes;
    return set;
  }

  int macos_version() const { return std::atoi(kernel_.text("kern.osproductversion").c_str()); }

  OnMacos here_;
  bool user_only_;
  KpepDatabase database_;
  CounterMask available_;
  Kernel kernel_;
  Trace trace_;
  Claim claim_;
  Selection selection_;
  std::vector<Pass> passes_;
  bool counts_machine_ = false;
  std::unique_ptr<Strategy> strategy_;
  std::vector<std::string> notes_;
};

class DatabaseEngine final : public CounterEngine {
 public:
  DatabaseEngine(KpepDatabase database, bool user_only)
      : database_(std::move(database)), room_{database_.config_counters, user_only} {}

  std::string_view name() const override { return row_of(EngineChoice::Kperf).name; }

  Catalog catalog() const override { return catalog_of(database_, room_.available); }

  Result<EventSet> select(const EventRequest& wanted) override {
    const auto selection = select_events(database_, wanted, room_);
    if (!selection) return selection.error();
    return event_set_of(*selection, "");
  }

  Result<Explanation> explain(const EventRequest& wanted) override {
    return explain_wanted(database_, wanted.names, room_);
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t /*pass*/) override {
    return Error{"a kpep database cannot count", "leave out --kpep"};
  }

 private:
  KpepDatabase database_;
  CounterRoom room_;
};

}  // namespace

Result<std::unique_ptr<CounterEngine>> make_kperf_engine(const OnMacos& here, bool user_only,
                                                         KpepDatabase database) {
  auto engine = std::make_unique<KperfEngine>(here, user_only, std::move(database));
  if (here.launcher != nullptr) {
    if (auto taken = engine->take(); !taken) return taken.error();
  } else {
    engine->try_all();
  }
  return std::unique_ptr<CounterEngine>(std::move(engine));
}

std::unique_ptr<CounterEngine> make_database_engine(KpepDatabase database, bool user_only) {
  return std::make_unique<DatabaseEngine>(std::move(database), user_only);
}

Result<std::unique_ptr<CounterEngine>> open_database_engine(const std::string& path,
                                                            bool user_only) {
  auto database = load_kpep(path);
  if (!database) return database.error();
  return make_database_engine(*std::move(database), user_only);
}

}  // namespace lauka::engine::kperf
