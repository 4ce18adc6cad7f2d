#include "engine/kperf/kperf_engine.h"

#include "core/text.h"
#include "engine/kperf/kernel.h"
#include "engine/kperf/selection.h"
#include "engine/kperf/strategy.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace lauka::engine::kperf {

namespace {

/// First macOS version whose kernel counts configurable events in user space only, whatever the
/// configuration word requests. Source: XNU 11215, osfmk/arm64/kpc.c.
constexpr int kUserSpaceOnlySince = 15;

struct CountSource {
  std::size_t value = 0;                      ///< index into RunValues::values
  const AccountedEvent* accounted = nullptr;  ///< null: the count is at `value`
};

class KperfPass final : public ArmedPass {
 public:
  KperfPass(CountingStrategy& strategy, std::vector<std::uint64_t> words,
            std::vector<CountSource> places)
      : strategy_(strategy), words_(std::move(words)), sources_of_counts_(std::move(places)) {}

  std::size_t max_batch_size() const override { return 1; }
  std::vector<os::RunObserver*> prepare_run() override {
    strategy_.use_words(words_);
    return {&strategy_};
  }

  CountsOfRun finish(const os::Ended& ended, std::size_t /*command*/) override {
    RunValues run = strategy_.finish(ended);
    CountsOfRun counted;
    for (const CountSource& place : sources_of_counts_) {
      const bool is_accounted = place.accounted != nullptr;
      counted.counts.push_back(is_accounted ? place.accounted->read(ended)
                                            : value_of_source(place, run.values));
      if (!run.own_process_counts.empty())
        counted.own_process_counts.push_back(
            is_accounted ? std::nullopt : value_of_source(place, run.own_process_counts));
    }
    counted.why_missing_counts = std::move(run.uncounted_reason);
    counted.redo = std::move(run.redo);
    counted.instruction_coverage = run.instruction_coverage;
    return counted;
  }

 private:
  static std::optional<std::uint64_t> value_of_source(const CountSource& place,
                                                      const std::vector<std::uint64_t>& values) {
    return place.value < values.size() ? std::optional(values[place.value]) : std::nullopt;
  }

  CountingStrategy& strategy_;
  std::vector<std::uint64_t> words_;
  std::vector<CountSource> sources_of_counts_;
};

class DatabaseEngine : public CounterEngine {
 public:
  DatabaseEngine(KpepDatabase database, bool user_only)
      : database_(std::move(database)), room_{database_.config_counters, user_only} {}

  std::string_view name() const override { return row_of(EngineChoice::Kperf).name; }

  Catalog catalog() const override { return make_catalog(database_, room_.available); }

  Result<EventSet> select(const EventRequest& wanted) override {
    const auto selection = select_events(database_, wanted, room_);
    if (!selection) return selection.error();
    return make_event_set(*selection, false);
  }

  Result<Explanation> explain(const EventRequest& wanted) override {
    return explain_wanted(database_, wanted.names, room_);
  }

  Result<OwnedPass> arm(std::size_t /*pass*/) override {
    return Error{"a kpep database alone cannot count events", "leave out --kpep"};
  }

 protected:
  KpepDatabase& database() { return database_; }
  CounterLimits& room() { return room_; }

 private:
  KpepDatabase database_;
  CounterLimits room_;
};

class KperfEngine final : public DatabaseEngine {
 public:
  KperfEngine(const MacosEngineOptions& here, bool user_only, KpepDatabase database)
      : DatabaseEngine(std::move(database), user_only),
        here_(here),
        kernel_(*here.calls),
        trace_(*here.calls),
        claim_(kernel_, trace_) {}

  /// Takes the counters from the kernel, and notes what is unusual about them.
  Result<void> claim() {
    if (auto taken = claim_.take_counters(); !taken) return taken;

    if (claim_.had_leftovers())
      notes_.push_back(
          {"counters_in_use", "lauka switched off the counters that a killed session had left on"});
    if (const auto& missing = kernel_.missing_function())
      notes_.push_back(
          {"other_strategy", fmt::format("macOS has changed its private framework ({} is "
                                         "missing), so lauka uses sysctls instead",
                                         *missing)});

    const int all = std::popcount(database().config_counters);
    if (!find_available_counters())
      return Error{fmt::format("the kernel has {} configurable counters, but the database {} of "
                               "this processor has {}",
                               kernel_.counter_count(kConfigurableClass), database().name, all),
                   ""};

    if (const int usable = std::popcount(room().available); usable != all)
      notes_.push_back(
          {"counters_in_use",
           fmt::format("only {} of {} configurable counters can be used here", usable, all)});

    return {};
  }

  /// Tries each event while nobody counts, so that lists and explanations know which events the
  /// kernel refuses.
  void mark_refused_events() {
    if (kernel_.counting_classes() != 0 || kernel_.force_all_counters(true) != 0) return;
    if (find_available_counters())
      for (KpepEvent& event : database().events)
        event.is_refused_by_kernel =
            !event.is_fixed && (event.mask & room().available) != 0 && is_refused(event);
    kernel_.force_all_counters(false);
  }

  Catalog catalog() const override {
    Catalog catalog = DatabaseEngine::catalog();
    add_to_catalog({&kEnergy, 1}, catalog);
    return catalog;
  }

  Result<EventSet> select(const EventRequest& wanted) override {
    auto selected = select_events(database(), wanted, room());
    if (!selected) return selected.error();
    if (here_.launcher != nullptr) {
      if (auto allowed = leave_out_forbidden(*selected, wanted); !allowed) return allowed.error();
      if (auto taken = choose_strategy(); !taken) return taken.error();
    }
    selection_ = *std::move(selected);
    return make_selected_event_set();
  }

  Result<OwnedPass> arm(std::size_t pass) override {
    if (!strategy_) return Error{"this engine can only list and explain events", ""};
    const PlacedPass& placed = selection_.passes.at(pass);
    std::vector<CountSource> places;
    for (const std::size_t event : passes_.at(pass).event_indices)
      places.push_back(find_source_of(event, placed));
    return OwnedPass(std::make_unique<KperfPass>(
        *strategy_, configuration_words(placed, room().available), std::move(places)));
  }

  void pause() override {
    if (strategy_) strategy_->pause();
    if (here_.gives_counters_back) claim_.give_back();
  }

  const AccountedEvent* accounted(std::size_t event) const override {
    return selection_.events.at(event).accounted;
  }

  std::vector<Note> notes() const override {
    return strategy_ ? strategy_->notes() : std::vector<Note>{};
  }

 private:
  /// Finds the counters that can be used. Returns false if they do not match the database.
  bool find_available_counters() {
    const auto usable = usable_counters(database().config_counters, database().power_counters,
                                        kernel_.counter_count(kConfigurableClass));
    if (usable) room().available = *usable;
    return usable.has_value();
  }

  Result<void> choose_strategy() {
    if (strategy_) return {};
    auto tried = try_strategies(here_, claim_, kernel_, trace_);
    if (!tried) return tried.error();
    strategy_ = std::move(tried->strategy);
    notes_.insert(notes_.end(), tried->notes.begin(), tried->notes.end());
    counts_machine_ = tried->counts_machine;
    return {};
  }

  /// Returns where the count of an event comes from in a pass. The fixed counters' values come
  /// first, then those of the configurable counters that can be used.
  CountSource find_source_of(std::size_t event, const PlacedPass& placed) {
    const auto found = std::ranges::find(placed, event, &PlacedEvent::event);
    if (found == placed.end()) return {.accounted = accounted(event)};
    return {.value = selection_.events.at(event).hardware_event.is_fixed
                         ? found->counter
                         : kFixedCounterCount + rank_of_counter(room().available, found->counter)};
  }

  /// Tries the words of each pass, and selects again until the kernel allows them all.
  Result<void> leave_out_forbidden(Selection& selected, const EventRequest& wanted) {
    for (;;) {
      int error = 0;
      for (const PlacedPass& pass : selected.passes)
        if (const auto words = configuration_words(pass, room().available);
            !words.empty() && error == 0)
          error = claim_.try_words(words);
      if (error == 0) return {};
      if (error != EPERM) return explain_refusal(KernelRequest::Count, error, kernel_);
      auto allowed = select_allowed(selected, wanted);
      if (!allowed) return allowed.error();
      selected = *std::move(allowed);
    }
  }

  bool is_refused(const KpepEvent& event) {
    const CounterMask available = room().available;
    const auto counter = static_cast<unsigned>(std::countr_zero(event.mask & available));
    return claim_.try_words(
               configuration_words({{0, counter, event.selector_number}}, available)) == EPERM;
  }

  /// Selects events again, after the kernel refused a selection. Replaces or leaves out the events
  /// that the kernel refuses alone.
  Result<Selection> select_allowed(const Selection& selection, EventRequest allowed) {
    allowed.names.clear();
    bool has_refused = false;

    for (const SelectedEvent& event : selection.events) {
      const KpepEvent& counted = event.hardware_event;
      const bool refused = event.is_on_counter() && !counted.is_fixed && is_refused(counted);
      if (refused) {
        has_refused = true;
        std::ranges::find(database().events, counted.name, &KpepEvent::name)->is_refused_by_kernel =
            true;
        notes_.push_back(
            {"events_left_out", fmt::format("{} cannot be counted, because this kernel "
                                            "does not allow its selector {:#x} here",
                                            event.name, counted.selector_number)});
      }

      // The same name may stand for another event, now that this one is marked as refused.
      const auto other = find_event_by_any_name(database(), event.name);
      const bool has_other = other && !other->hardware_event.is_refused_by_kernel;
      if (!refused || has_other) allowed.names.push_back(event.name);
      if (refused && has_other)
        notes_.back() = {"other_event",
                         fmt::format("{} is counted by {}, because this kernel refuses {}",
                                     event.name, other->hardware_event.name, counted.name)};
    }

    if (!has_refused)
      return Error{"the kernel refused a set of events although it allows each of them",
                   "name fewer"};

    // Energy needs no counter, so it does not show that anything can be counted.
    const bool counts_nothing =
        std::ranges::all_of(allowed.names, [](const auto& name) { return name == kEnergy.name; });
    if (counts_nothing) return Error{notes_.back().text, "leave it out"};

    auto reselected = select_events(database(), allowed, room());
    if (reselected)
      reselected->notes.insert(reselected->notes.begin(), selection.notes.begin(),
                               selection.notes.end());
    return reselected;
  }

  /// Returns the selected events, with what the engine knows about each of them.
  EventSet make_selected_event_set() {
    // Newer kernels never let configurable counters count the kernel.
    bool counts_user_space_only = room().user_only;
    if (!counts_user_space_only) {
      const std::string version = kernel_.read_sysctl_text("kern.osproductversion");
      counts_user_space_only = std::atoi(version.c_str()) >= kUserSpaceOnlySince;
    }

    EventSet set = make_event_set(selection_, counts_user_space_only);
    set.notes.insert(set.notes.end(), notes_.begin(), notes_.end());

    bool has_fixed_counter = false;
    for (std::size_t i = 0; i < selection_.events.size(); ++i) {
      const SelectedEvent& selected = selection_.events[i];
      if (!selected.is_on_counter()) continue;

      Event& event = set.events[i];
      event.zero_is_doubtful = !selected.hardware_event.is_fixed;
      if (counts_machine_) event.name_suffix = "(system-wide)";
      if (event.privilege_levels == CountedPrivilegeLevels::UserOnly)
        event.name_suffix += event.name_suffix.empty() ? "(user)" : " (user)";
      if (selected.hardware_event.is_fixed) has_fixed_counter = true;
    }

    if (room().user_only && has_fixed_counter)
      set.notes.push_back({"kernel_not_left_out",
                           "the counters of cycles and instructions include the kernel; count "
                           "CORE_ACTIVE_CYCLE and INST_ALL to leave the kernel out"});

    passes_ = set.passes;
    return set;
  }

  MacosEngineOptions here_;
  Kernel kernel_;
  Trace trace_;
  Claim claim_;
  Selection selection_;
  std::vector<Pass> passes_;
  bool counts_machine_ = false;
  std::unique_ptr<CountingStrategy> strategy_;
  std::vector<Note> notes_;
};

// 0 cycles or instructions mean that the kernel does not count them, as in a virtual machine.
constexpr std::array<AccountedEvent, 2> kTotals = {{
    {"cycles", "", "cycles of the command's own process, without its children",
     [](const os::Ended& ended) {
       return ended.totals && ended.totals->cycles > 0 ? std::optional(ended.totals->cycles)
                                                       : std::nullopt;
     }},
    {"instructions", "", "instructions of the command's own process, without its children",
     [](const os::Ended& ended) {
       return ended.totals && ended.totals->instructions > 0
                  ? std::optional(ended.totals->instructions)
                  : std::nullopt;
     }},
}};

const AccountedEvent* find_accounted_source(std::string_view name) {
  if (same_ignoring_case(name, kEnergy.name)) return &kEnergy;
  const AccountedEvent* total = find_accounted(name, kTotals);
  return total != nullptr ? total : find_accounted(name);
}

class TotalsEngine final : public CounterEngine {
 public:
  TotalsEngine(Error why, std::optional<KpepDatabase> database)
      : why_(std::move(why)), database_(std::move(database)) {}

  std::string_view name() const override { return "kernel"; }

  Catalog catalog() const override {
    Catalog catalog;
    if (database_) {
      catalog = make_catalog(*database_, database_->config_counters);
    } else {
      add_to_catalog(kTotals, catalog);
      add_to_catalog(accounted_events(), catalog);
    }
    add_to_catalog({&kEnergy, 1}, catalog);
    return catalog;
  }

  Result<Explanation> explain(const EventRequest& wanted) override {
    if (!database_) return CounterEngine::explain(wanted);
    const CounterLimits room{database_->config_counters, false};
    return explain_wanted(*database_, wanted.names, room);
  }

  Result<EventSet> select(const EventRequest& wanted) override {
    sources_.clear();
    EventSet set;
    set.passes.emplace_back();
    const bool by_name = !wanted.names.empty();
    for (const std::string& name :
         by_name ? wanted.names : std::vector<std::string>{"cycles", "instructions", "energy"}) {
      if (auto added = add_event(name, set); !added) return added.error();
    }
    if (!by_name)
      set.notes.push_back(
          {"events_left_out",
           fmt::format("only cycles, instructions and energy are counted: {}", why_.line())});
    return set;
  }

  Result<OwnedPass> arm(std::size_t /*pass*/) override {
    return make_accounting_pass(
        sources_, [this, sources = sources_](const os::Ended& ended, CountsOfRun& counted) {
          for (std::size_t i = 0; i < sources.size(); ++i)
            if (!counted.counts[i] && sources[i] != &kEnergy)
              counted.why_missing_counts = no_counts_at_all();
          note_share_of_children(ended);
        });
  }

  const AccountedEvent* accounted(std::size_t event) const override { return sources_.at(event); }

  std::vector<Note> notes() const override {
    constexpr double min_share_for_note = 0.02;
    if (share_of_children_ < min_share_for_note) return {};
    return {{"one_process_only",
             fmt::format("cycles, instructions and energy cover only the command's own process, "
                         "not its children, which used up to {:.0f}% of the CPU time",
                         share_of_children_ * 100)}};
  }

 private:
  Result<void> add_event(const std::string& name, EventSet& set) {
    const AccountedEvent* source = find_accounted_source(name);
    if (source == nullptr) {
      if (database_)
        if (const auto known = find_event_by_any_name(*database_, name); !known)
          return known.error();
      return why_.prefixed(fmt::format("'{}' cannot be counted", name));
    }
    if (Event* added = add_accounted(*source, name, sources_, set))
      added->is_energy = source == &kEnergy;
    return {};
  }

  void note_share_of_children(const os::Ended& ended) {
    if (!ended.totals) return;
    const auto all = static_cast<double>(ended.usage.user_ns + ended.usage.system_ns);
    const auto own = static_cast<double>(ended.totals->user_ns + ended.totals->system_ns);
    if (all > 0.0) share_of_children_ = std::max(share_of_children_, (all - own) / all);
  }

  Error why_;
  std::optional<KpepDatabase> database_;
  std::vector<const AccountedEvent*> sources_;
  double share_of_children_ = 0.0;
};

class KperfOrTotals final : public EngineWrapper {
 public:
  KperfOrTotals(OwnedEngine kperf, KpepDatabase database)
      : EngineWrapper(std::move(kperf)), database_(std::move(database)) {}

  Result<EventSet> select(const EventRequest& wanted) override {
    auto set = wrapped_engine().select(wanted);
    if (set || !wanted.names.empty() || is_refused_by_user(wanted)) return set;
    replace(make_totals_engine(set.error(), database_));
    return wrapped_engine().select(wanted);
  }

 private:
  bool is_refused_by_user(const EventRequest& wanted) {
    if (!wanted.single_pass) return false;
    const auto explanation = wrapped_engine().explain(wanted);
    return !explanation || explanation->passes.size() > 1;
  }

  KpepDatabase database_;
};

}  // namespace

Result<OwnedEngine> make_kperf_engine(const MacosEngineOptions& here, bool user_only,
                                      KpepDatabase database) {
  auto engine = std::make_unique<KperfEngine>(here, user_only, std::move(database));
  if (here.launcher != nullptr) {
    if (auto taken = engine->claim(); !taken) return taken.error();
  } else {
    engine->mark_refused_events();
  }
  return OwnedEngine(std::move(engine));
}

Result<OwnedEngine> open_database_engine(const std::string& path, bool user_only) {
  auto database = load_kpep(path);
  if (!database) return database.error();
  return OwnedEngine(std::make_unique<DatabaseEngine>(*std::move(database), user_only));
}

OwnedEngine make_totals_engine(Error why, std::optional<KpepDatabase> database) {
  return std::make_unique<TotalsEngine>(std::move(why), std::move(database));
}

OwnedEngine make_kperf_or_totals(OwnedEngine kperf, KpepDatabase database) {
  return std::make_unique<KperfOrTotals>(std::move(kperf), std::move(database));
}

}  // namespace lauka::engine::kperf
