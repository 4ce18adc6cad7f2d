#include "core/metric.h"
#include "core/text.h"
#include "engine/engine.h"
#include "engine/kperf/kperf_engine.h"
#include "engine/kperf/selection.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

// A virtual machine has neither cycles nor instructions, and reports 0.
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

const AccountedEvent* find_source(std::string_view name) {
  if (same_ignoring_case(name, kEnergy.name)) return &kEnergy;
  for (const AccountedEvent& total : kTotals)
    if (same_ignoring_case(name, total.name)) return &total;
  return find_accounted(name);
}

class TotalsEngine final : public CounterEngine {
 public:
  TotalsEngine(Error why, std::optional<KpepDatabase> database)
      : why_(std::move(why)), database_(std::move(database)) {}

  std::string_view name() const override { return "kernel"; }

  Catalog catalog() const override {
    Catalog catalog;
    if (database_) {
      catalog = catalog_of(*database_, database_->config_counters);
    } else {
      for (const AccountedEvent& total : kTotals) catalog.push_back(catalog_entry_of(total));
      for (const AccountedEvent& event : accounted_events())
        catalog.push_back(catalog_entry_of(event));
    }
    catalog.push_back(catalog_entry_of(kEnergy));
    return catalog;
  }

  Result<Explanation> explain(const EventRequest& wanted) override {
    if (!database_) return CounterEngine::explain(wanted);
    const CounterRoom room{database_->config_counters, false};
    return explain_wanted(*database_, wanted.names, room);
  }

  Result<EventSet> select(const EventRequest& wanted) override {
    sources_.clear();
    EventSet set;
    set.passes.emplace_back();
    const bool by_name = !wanted.names.empty();
    for (const std::string& name :
         by_name ? wanted.names : std::vector<std::string>{"cycles", "instructions", "energy"}) {
      if (auto added = add(name, set); !added) return added.error();
    }
    if (!by_name)
      set.notes.push_back(
          fmt::format("only cycles, instructions and energy are counted: {}", why_.line()));
    return set;
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t /*pass*/) override {
    std::vector<FreeReader> readers;
    for (const AccountedEvent* source : sources_) readers.push_back(source->read);
    return count_free(std::move(readers),
                      [this, sources = sources_](const os::Ended& ended, Counted& counted) {
                        for (std::size_t i = 0; i < sources.size(); ++i)
                          if (!counted.counts[i] && sources[i] != &kEnergy)
                            counted.missing = no_counts_at_all();
                        note_children(ended);
                      });
  }

  FreeReader free_reader(std::size_t event) const override { return sources_.at(event)->read; }

  std::vector<std::string> notes() const override {
    constexpr double worth_a_note = 0.02;
    if (share_of_children_ < worth_a_note) return {};
    return {
        fmt::format("cycles, instructions and energy are of the command's own process: "
                    "its children, with up to {:.0f}% of the CPU time, are not in them",
                    share_of_children_ * 100)};
  }

 private:
  Result<void> add(const std::string& name, EventSet& set) {
    const AccountedEvent* source = find_source(name);
    if (source == nullptr) return refusal_of(name);
    if (std::ranges::find(sources_, source) != sources_.end()) return {};
    sources_.push_back(source);
    set.passes.front().events.push_back(set.events.size());
    Event& event = set.events.emplace_back();
    event.name = lower_case(name);
    event.role = role_of_event(event.name);
    event.meaning = source->meaning;
    event.is_energy = source == &kEnergy;
    return {};
  }

  void note_children(const os::Ended& ended) {
    if (!ended.totals) return;
    const auto all = static_cast<double>(ended.usage.user_ns + ended.usage.system_ns);
    const auto own = static_cast<double>(ended.totals->user_ns + ended.totals->system_ns);
    if (all > 0.0) share_of_children_ = std::max(share_of_children_, (all - own) / all);
  }

  Error refusal_of(const std::string& name) const {
    if (database_) {
      // A name that is wrong stays wrong with root.
      if (auto known = find_wanted(*database_, name); !known) return known.error();
    }
    return why_.of(fmt::format("'{}' cannot be counted", name));
  }

  Error why_;
  std::optional<KpepDatabase> database_;
  std::vector<const AccountedEvent*> sources_;
  double share_of_children_ =
      0.0;  ///< the largest share of a run's CPU time that the totals leave out
};

class KperfOrTotals final : public EngineAround {
 public:
  KperfOrTotals(std::unique_ptr<CounterEngine> kperf, KpepDatabase database)
      : EngineAround(std::move(kperf)), database_(std::move(database)) {}

  Result<EventSet> select(const EventRequest& wanted) override {
    auto set = other().select(wanted);
    if (set || !wanted.names.empty() || is_refused_by_user(wanted)) return set;
    replace(make_totals_engine(set.error(), database_));
    return other().select(wanted);
  }

 private:
  /// True if --single-pass rules the events out, not the kernel.
  bool is_refused_by_user(const EventRequest& wanted) {
    if (!wanted.single_pass) return false;
    const auto explanation = other().explain(wanted);
    return !explanation || explanation->passes.size() > 1;
  }

  KpepDatabase database_;
};

}  // namespace

Error no_counts_at_all() {
  return {"the kernel counts no cycles and instructions, as in a virtual machine", ""};
}

std::optional<std::uint64_t> energy_of(const os::Ended& ended) {
  if (!ended.totals) return std::nullopt;
  return ended.totals->energy_nj;
}

std::unique_ptr<CounterEngine> make_totals_engine(Error why, std::optional<KpepDatabase> database) {
  return std::make_unique<TotalsEngine>(std::move(why), std::move(database));
}

std::unique_ptr<CounterEngine> make_kperf_or_totals(std::unique_ptr<CounterEngine> kperf,
                                                    KpepDatabase database) {
  return std::make_unique<KperfOrTotals>(std::move(kperf), std::move(database));
}

}  // namespace lauka::engine::kperf

namespace lauka::engine {
namespace {

/// A count that macOS shows a thread of itself.
struct OfThread {
  std::string_view name;
  std::uint64_t os::RegionUse::*count;
};

constexpr std::array<OfThread, 2> kOfThread = {
    {{"cycles", &os::RegionUse::cycles}, {"instructions", &os::RegionUse::instructions}}};

const OfThread* find_of_thread(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kOfThread, [name](const OfThread& one) { return same_ignoring_case(name, one.name); });
  return found == kOfThread.end() ? nullptr : &*found;
}

class CallingThreads final : public Counting {
 public:
  CallingThreads(std::vector<const OfThread*> events, std::vector<FreeReader> of_whole)
      : events_(std::move(events)), of_whole_(std::move(of_whole)) {}

  bool counts_calling_threads() const override { return true; }

  std::size_t runs_at_once() const override { return os::Launcher::kMaxBatch; }

  Counted finish(const os::Ended& ended, std::size_t /*command*/) override {
    Counted counted;
    counted.missing = why_missing(ended);
    for (const OfThread* event : events_) {
      auto& count = counted.counts.emplace_back();
      if (!counted.missing) count = (*ended.region).*event->count;
    }
    for (const FreeReader& read : of_whole_) counted.counts.push_back(read(ended));
    return counted;
  }

 private:
  static std::optional<Error> why_missing(const os::Ended& ended) {
    if (std::holds_alternative<NotStarted>(ended.outcome) || !ended.region)
      return Error{"the command was not started", ""};
    const os::RegionUse& use = *ended.region;
    if (use.uncounted_threads + use.failures > 0)
      return Error{"a thread that began a region did not end it, or cannot read its counts",
                   "call lauka_region_end in the thread that called lauka_region_begin, of 64 "
                   "threads at most at once"};
    if (use.cycles == 0 && use.instructions == 0) return kperf::no_counts_at_all();
    return std::nullopt;
  }

  std::vector<const OfThread*> events_;
  std::vector<FreeReader> of_whole_;
};

class OfCallingThreads final : public EngineAround {
 public:
  using EngineAround::EngineAround;

  bool counts_regions() const override { return true; }

  Result<EventSet> select(const EventRequest& wanted) override {
    events_.clear();
    of_whole_.clear();
    whole_passes_.clear();
    EventRequest rest = wanted;
    std::erase_if(rest.names, [](const std::string& name) { return name.ends_with(kOfWholeRun); });
    EventSet set;
    if (rest.names.empty()) {
      for (const OfThread& one : kOfThread) add(one, set);
    } else {
      for (const std::string& name : rest.names) {
        const OfThread* one = find_of_thread(name);
        if (one == nullptr) return refusal_of(name);
        add(*one, set);
      }
    }
    set.passes.resize(1);
    for (std::size_t event = 0; event < events_.size(); ++event)
      set.passes.front().events.push_back(event);
    counts_whole_ = wanted.counted_in == CountedIn::RegionAndWhole;
    if (!counts_whole_) return set;
    auto whole = other().select(rest);
    if (!whole) return whole;
    add_whole(*std::move(whole), set);
    return set;
  }

  FreeReader free_reader(std::size_t event) const override {
    return event < events_.size() ? nullptr : other().free_reader(event - events_.size());
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t pass) override {
    if (pass > 0) return other().arm(whole_passes_.at(pass - 1));
    return std::unique_ptr<Counting>(std::make_unique<CallingThreads>(events_, of_whole_));
  }

  std::optional<Error> held_by_others() override {
    return counts_whole_ ? other().held_by_others() : std::nullopt;
  }

  void pause() override {
    if (counts_whole_) other().pause();
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> all;
    if (counts_whole_) all = other().notes();
    all.emplace_back(
        "cycles and instructions of the region are of the threads that call "
        "lauka_region_begin and lauka_region_end: what other threads and children do "
        "meanwhile is not in them");
    return all;
  }

 private:
  static Error refusal_of(const std::string& name) {
    return Error{fmt::format("{} cannot be counted with --region: macOS gives a thread its cycles "
                             "and instructions only",
                             cited(name)),
                 "leave it out, or leave out --region"};
  }

  void add(const OfThread& one, EventSet& set) {
    if (std::ranges::find(events_, &one) != events_.end()) return;
    events_.push_back(&one);
    Event& event = set.events.emplace_back();
    event.name = one.name;
    event.meaning = fmt::format("{} of the threads that call into the region", one.name);
    event.role = role_of_event(event.name);
    event.note = std::string(kRegionNote) + " (calling threads)";
  }

  /// Adds the whole run's events after the region's, under names of their own. Free ones are read
  /// with the region's.
  void add_whole(EventSet whole, EventSet& set) {
    for (Event& event : whole.events) {
      event.name += kOfWholeRun;
      event.role = Role::Other;  // the region's has it
      if (event.part_of) *event.part_of += events_.size();
      set.events.push_back(std::move(event));
    }
    for (std::size_t place = 0; place < whole.passes.size(); ++place) {
      Pass& pass = whole.passes[place];
      const bool is_free = std::ranges::all_of(
          pass.events, [&](auto event) { return other().free_reader(event) != nullptr; });
      for (std::size_t& event : pass.events) {
        if (is_free) of_whole_.push_back(other().free_reader(event));
        event += events_.size();
        if (is_free) set.passes.front().events.push_back(event);
      }
      if (is_free) continue;
      whole_passes_.push_back(place);
      set.passes.push_back(std::move(pass));
    }
    set.notes.insert(set.notes.end(), whole.notes.begin(), whole.notes.end());
  }

  std::vector<const OfThread*> events_;
  std::vector<FreeReader> of_whole_;       // of the whole run, in the first pass
  std::vector<std::size_t> whole_passes_;  // the other engine's, of the events after the region's
  bool counts_whole_ = false;
};

}  // namespace

std::unique_ptr<CounterEngine> count_calling_threads(std::unique_ptr<CounterEngine> engine) {
  return std::make_unique<OfCallingThreads>(std::move(engine));
}

}  // namespace lauka::engine
