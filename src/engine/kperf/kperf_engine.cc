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
      : database_(std::move(database)), limits_{database_.config_counters, user_only} {}

  std::string_view name() const override { return row_of(EngineChoice::Kperf).name; }

  Catalog catalog() const override { return make_catalog(database_, limits_.available); }

  Result<EventSet> select(const EventRequest& wanted) override {
    const auto selection = select_events(database_, wanted, limits_);
    if (!selection) return selection.error();
    return make_event_set(*selection, false);
  }

  Result<Explanation> explain(const EventRequest& wanted) override {
    return explain_wanted(database_, wanted.names, limits_);
  }

  Result<OwnedPass> arm(std::size_t /*pass*/) override {
    return Error{"a kpep database alone cannot count events", "leave out --kpep"};
  }

 protected:
  KpepDatabase& database() { return database_; }
  CounterLimits& limits() { return limits_; }
  const CounterLimits& limits() const { return limits_; }

 private:
  KpepDatabase database_;
  CounterLimits limits_;
};

class KperfEngine final : public DatabaseEngine {
 public:
  KperfEngine(const MacosEngineOptions& options, bool user_only, KpepDatabase database)
      : DatabaseEngine(std::move(database), user_only),
        options_(options),
        kernel_(*options.calls),
        trace_(*options.calls),
        claim_(kernel_, trace_) {}

  /// Takes the counters from the kernel for this session, sets which of them can be used, and adds
  /// notes about what users may not expect.
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

    return limit_to_available_counters();
  }

  /// Tries each event while nobody counts, so that lists and explanations know which events the
  /// kernel refuses.
  void mark_refused_events() {
    if (kernel_.counting_classes() != 0 || kernel_.force_all_counters(true) != 0) return;
    if (set_available_counters())
      for (KpepEvent& event : database().events)
        event.is_refused_by_kernel =
            !event.is_fixed && (event.mask & limits().available) != 0 && is_refused(event);
    kernel_.force_all_counters(false);
  }

  Catalog catalog() const override {
    Catalog catalog = DatabaseEngine::catalog();
    add_to_catalog({&kEnergy, 1}, catalog);
    return catalog;
  }

  Result<EventSet> select(const EventRequest& wanted) override {
    auto selected = select_events(database(), wanted, limits());
    if (!selected) return selected.error();
    if (options_.launcher != nullptr) {
      if (auto allowed = leave_out_forbidden(*selected, wanted); !allowed) return allowed.error();
      if (auto taken = choose_strategy(); !taken) return taken.error();
    }
    selection_ = *std::move(selected);
    EventSet set = describe_selection();
    passes_ = set.passes;
    return set;
  }

  Result<OwnedPass> arm(std::size_t pass) override {
    if (!strategy_) return Error{"this engine can only list and explain events", ""};
    const PlacedPass& placed = selection_.passes.at(pass);
    std::vector<CountSource> places;
    for (const std::size_t event : passes_.at(pass).event_indices)
      places.push_back(find_source_of(event, placed));
    return OwnedPass(std::make_unique<KperfPass>(
        *strategy_, configuration_words(placed, limits().available), std::move(places)));
  }

  void pause() override {
    if (strategy_) strategy_->pause();
    if (options_.gives_counters_back) claim_.give_back();
  }

  const AccountedEvent* accounted(std::size_t event) const override {
    return selection_.events.at(event).accounted_event;
  }

  std::vector<Note> notes() const override {
    return strategy_ ? strategy_->notes() : std::vector<Note>{};
  }

 private:
  /// Sets which counters can be used, and adds a note if some cannot. Returns an error if the
  /// kernel's counters do not match the database.
  Result<void> limit_to_available_counters() {
    const int counters_in_database = std::popcount(database().config_counters);
    if (!set_available_counters())
      return Error{fmt::format("the kernel has {} configurable counters, but the database {} of "
                               "this processor has {}",
                               kernel_.counter_count(kConfigurableClass), database().name,
                               counters_in_database),
                   ""};

    // The kernel may keep some of the processor's counters for its power manager.
    const int usable_count = std::popcount(limits().available);
    if (usable_count != counters_in_database)
      notes_.push_back(
          {"counters_in_use", fmt::format("only {} of {} configurable counters can be used here",
                                          usable_count, counters_in_database)});
    return {};
  }

  /// Sets limits().available to the counters that can be used. Returns false if the kernel's
  /// counters do not match the database.
  bool set_available_counters() {
    const auto usable = usable_counters(database().config_counters, database().power_counters,
                                        kernel_.counter_count(kConfigurableClass));
    if (usable) limits().available = *usable;
    return usable.has_value();
  }

  Result<void> choose_strategy() {
    if (strategy_) return {};
    auto tried = try_strategies(options_, claim_, kernel_, trace_);
    if (!tried) return tried.error();
    strategy_ = std::move(tried->strategy);
    notes_.insert(notes_.end(), tried->notes.begin(), tried->notes.end());
    counts_machine_ = tried->counts_machine;
    return {};
  }

  /// Returns where the count of an event comes from in a pass. The fixed counters' values come
  /// first, then those of the configurable counters that can be used.
  CountSource find_source_of(std::size_t event, const PlacedPass& placed) {
    const auto found = std::ranges::find(placed, event, &PlacedEvent::event_index);
    if (found == placed.end()) return {.accounted = accounted(event)};
    return {.value =
                selection_.events.at(event).hardware_event.is_fixed
                    ? found->counter
                    : kFixedCounterCount + rank_of_counter(limits().available, found->counter)};
  }

  /// Tries the words of each pass, and selects again until the kernel allows them all.
  Result<void> leave_out_forbidden(Selection& selected, const EventRequest& wanted) {
    for (;;) {
      int error = 0;
      for (const PlacedPass& pass : selected.passes)
        if (const auto words = configuration_words(pass, limits().available);
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
    const CounterMask available = limits().available;
    const auto counter = static_cast<unsigned>(std::countr_zero(event.mask & available));
    return claim_.try_words(
               configuration_words({{0, counter, event.selector_number}}, available)) == EPERM;
  }

  /// Selects events again, after the kernel refused to count `refused_selection`. Replaces or
  /// leaves out the events that the kernel refuses even alone, and adds a note for each of them.
  Result<Selection> select_allowed(const Selection& refused_selection, const EventRequest& wanted) {
    auto remaining_names = replace_or_drop_refused_events(refused_selection);
    if (!remaining_names)
      return Error{"the kernel refused a set of events although it allows each of them",
                   "name fewer"};

    // Energy needs no counter. If nothing else is left, all other events were left out, and the
    // last note says why.
    const bool is_nothing_left_to_count = std::ranges::all_of(
        *remaining_names, [](const auto& name) { return name == kEnergy.name; });
    if (is_nothing_left_to_count) return Error{notes_.back().text, "leave it out"};

    EventRequest allowed_request = wanted;
    allowed_request.names = *std::move(remaining_names);
    auto allowed_selection = select_events(database(), allowed_request, limits());
    if (!allowed_selection) return allowed_selection;

    // Notes of the refused selection still hold, such as one about two names for the same event.
    std::vector<Note>& notes_of_both = allowed_selection->notes;
    notes_of_both.insert(notes_of_both.begin(), refused_selection.notes.begin(),
                         refused_selection.notes.end());
    return allowed_selection;
  }

  /// Replaces or leaves out the events that the kernel refuses even alone, and adds a note for each
  /// of them. Returns the names of the events that remain; nullopt if the kernel refuses none of
  /// the events alone.
  std::optional<std::vector<std::string>> replace_or_drop_refused_events(
      const Selection& selection) {
    std::vector<std::string> names;
    bool is_any_refused = false;
    for (const SelectedEvent& event : selection.events) {
      const bool is_configurable = event.is_on_counter() && !event.hardware_event.is_fixed;
      const bool is_refused_alone = is_configurable && is_refused(event.hardware_event);
      is_any_refused = is_any_refused || is_refused_alone;
      if (!is_refused_alone || replace_refused_event(event)) names.push_back(event.name);
    }
    return is_any_refused ? std::optional(std::move(names)) : std::nullopt;
  }

  /// Marks the event as refused. Returns true if its name now stands for another event, which the
  /// kernel allows. Adds a note that says what becomes of the name.
  bool replace_refused_event(const SelectedEvent& event) {
    mark_as_refused(event.hardware_event.name);

    // A name such as "cycles" may stand for several events of the database. Now that this one is
    // marked, the name stands for one that is not refused, if there is any.
    const auto other = find_event_by_any_name(database(), event.name);
    const bool is_replaced = other && !other->hardware_event.is_refused_by_kernel;
    if (is_replaced)
      notes_.push_back(
          {"other_event",
           fmt::format("{} is counted by {}, because this kernel refuses {}", event.name,
                       other->hardware_event.name, event.hardware_event.name)});
    else
      notes_.push_back(
          {"events_left_out", fmt::format("{} cannot be counted, because this kernel "
                                          "does not allow its selector {:#x} here",
                                          event.name, event.hardware_event.selector_number)});
    return is_replaced;
  }

  void mark_as_refused(const std::string& event_name) {
    const auto event = std::ranges::find(database().events, event_name, &KpepEvent::name);
    event->is_refused_by_kernel = true;
  }

  /// Returns what users see of `selection_`, with all notes. Each event says what is special about
  /// its count.
  EventSet describe_selection() const {
    EventSet set = make_event_set(selection_, are_configurable_counters_user_only());
    set.notes.insert(set.notes.end(), notes_.begin(), notes_.end());

    bool uses_fixed_counter = false;
    for (std::size_t i = 0; i < selection_.events.size(); ++i) {
      const SelectedEvent& selected = selection_.events[i];
      if (!selected.is_on_counter()) continue;
      if (selected.hardware_event.is_fixed) uses_fixed_counter = true;
      describe_counting(set.events[i], selected);
    }

    // Fixed counters cannot leave the kernel out, even if the user asked for user space only.
    const bool wants_user_only = limits().user_only;
    if (wants_user_only && uses_fixed_counter)
      set.notes.push_back({"kernel_not_left_out",
                           "the counters of cycles and instructions include the kernel; count "
                           "CORE_ACTIVE_CYCLE and INST_ALL to leave the kernel out"});
    return set;
  }

  /// True if configurable counters count in user space only, because the user wants it, or because
  /// newer kernels never let them count the kernel.
  bool are_configurable_counters_user_only() const {
    if (limits().user_only) return true;
    // Such as "15.3.1".
    const std::string version = kernel_.read_sysctl_text("kern.osproductversion");
    const int major_version = std::atoi(version.c_str());
    return major_version >= kUserSpaceOnlySince;
  }

  /// Sets what is special about the count of an event that is on a counter.
  void describe_counting(Event& event, const SelectedEvent& selected) const {
    // A configurable counter may stay 0 because the kernel silently does not count the event.
    event.zero_is_doubtful = !selected.hardware_event.is_fixed;
    if (counts_machine_) event.name_suffix = "(system-wide)";
    if (event.privilege_levels == CountedPrivilegeLevels::UserOnly)
      event.name_suffix += event.name_suffix.empty() ? "(user)" : " (user)";
  }

  MacosEngineOptions options_;
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
    const CounterLimits limits{database_->config_counters, false};
    return explain_wanted(*database_, wanted.names, limits);
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

Result<OwnedEngine> make_kperf_engine(const MacosEngineOptions& options, bool user_only,
                                      KpepDatabase database) {
  auto engine = std::make_unique<KperfEngine>(options, user_only, std::move(database));
  if (options.launcher != nullptr) {
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
