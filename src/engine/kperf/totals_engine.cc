#include "core/text.h"
#include "engine/accounting.h"
#include "engine/kperf/kperf_engine.h"
#include "engine/kperf/selection.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

constexpr std::string_view kName = "energy";
constexpr std::string_view kMeaning =
    "energy of the command's own process, without its children, by the kernel's accounting";

using CountReader = std::optional<std::uint64_t> (*)(const os::Ended&);

/// A count of the kernel's own accounting of a process.
struct Total {
  std::string_view name;
  std::string_view meaning;
  CountReader read;
};

// A virtual machine has neither cycles nor instructions, and says 0.
constexpr std::array<Total, 2> kTotals = {{
    {"cycles", "cycles of the command's own process, without its children",
     [](const os::Ended& ended) {
       return ended.totals && ended.totals->cycles > 0 ? std::optional(ended.totals->cycles)
                                                       : std::nullopt;
     }},
    {"instructions", "instructions of the command's own process, without its children",
     [](const os::Ended& ended) {
       return ended.totals && ended.totals->instructions > 0
                  ? std::optional(ended.totals->instructions)
                  : std::nullopt;
     }},
}};

const Total* find_total(std::string_view name) {
  for (const Total& total : kTotals)
    if (same_ignoring_case(name, total.name)) return &total;
  return nullptr;
}

/// What one event of the session is read from.
struct Source {
  const Total* total = nullptr;
  const AccountedEvent* accounted = nullptr;  ///< neither: energy

  bool operator==(const Source&) const = default;

  std::optional<std::uint64_t> read(const os::Ended& ended) const {
    if (total != nullptr) return total->read(ended);
    if (accounted != nullptr) return accounted->read(ended.usage);
    return energy_of(ended);
  }
};

/// What the commands left to their children, whom the totals leave out.
struct Children {
  double most_share = 0.0;  ///< of the CPU time of a run
};

class TotalsOnly final : public Counting {
 public:
  TotalsOnly(std::vector<Source> sources, Children& children)
      : sources_(std::move(sources)), children_(children) {}

  std::size_t runs_at_once() const override { return os::Launcher::kMaxBatch; }

  Counted finish(const os::Ended& ended, std::size_t /*command*/) override {
    Counted counted{std::vector<std::optional<std::uint64_t>>(sources_.size())};
    if (std::holds_alternative<NotStarted>(ended.outcome)) {
      counted.missing = Error{"the command was not started", ""};
      return counted;
    }
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      counted.counts[i] = sources_[i].read(ended);
      if (!counted.counts[i] && sources_[i].total != nullptr) counted.missing = no_counts_at_all();
    }
    note_children(ended);
    return counted;
  }

 private:
  void note_children(const os::Ended& ended) {
    if (!ended.totals) return;
    const auto all = static_cast<double>(ended.usage.user_ns + ended.usage.system_ns);
    const auto own = static_cast<double>(ended.totals->user_ns + ended.totals->system_ns);
    if (all > 0.0) children_.most_share = std::max(children_.most_share, (all - own) / all);
  }

  std::vector<Source> sources_;
  Children& children_;
};

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
      for (const Total& total : kTotals)
        catalog.push_back({std::string(total.name), std::string(total.name), "accounting",
                           std::string(total.meaning)});
      for (const AccountedEvent& event : accounted_events())
        catalog.push_back({std::string(event.name), std::string(event.name), "accounting",
                           std::string(event.meaning)});
    }
    catalog.push_back(energy_entry());
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
    if (!by_name) {
      std::string note =
          fmt::format("only cycles, instructions and energy are counted: {}", why_.what);
      if (!why_.remedy.empty()) note += "; " + why_.remedy;
      set.notes.push_back(std::move(note));
    }
    return set;
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t /*pass*/) override {
    return std::unique_ptr<Counting>(std::make_unique<TotalsOnly>(sources_, children_));
  }

  FreeReader free_reader(std::size_t event) const override {
    return [source = sources_.at(event)](const os::Ended& ended) { return source.read(ended); };
  }

  std::vector<std::string> notes() const override {
    constexpr double told = 0.02;
    if (children_.most_share < told) return {};
    return {
        fmt::format("cycles, instructions and energy are those of the command's own process: "
                    "its children, with up to {:.0f}% of the CPU time, are not in them",
                    children_.most_share * 100)};
  }

 private:
  Result<void> add(const std::string& name, EventSet& set) {
    const Source source{find_total(name), find_accounted(name)};
    if (source == Source{} && !is_energy_name(name)) return refusal_of(name);
    if (std::ranges::find(sources_, source) != sources_.end()) return {};
    sources_.push_back(source);
    if (source == Source{}) {
      add_energy(set);
      return {};
    }
    set.passes.front().events.push_back(set.events.size());
    Event& event = set.events.emplace_back();
    event.name = lower_case(name);
    event.role = role_of_event(event.name);
    event.meaning = source.total != nullptr ? source.total->meaning : source.accounted->meaning;
    return {};
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
  std::vector<Source> sources_;
  Children children_;
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
  /// Whether it is --single-pass that rules the events out, which is no matter of the kernel's.
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

bool is_energy_name(std::string_view name) {
  return same_ignoring_case(name, kName);
}

bool take_energy(std::vector<std::string>& names) {
  return std::erase_if(names, is_energy_name) > 0;
}

CatalogEntry energy_entry() {
  return {std::string(kName), std::string(kName), "accounting", std::string(kMeaning)};
}

void add_energy(EventSet& set) {
  const std::size_t index = set.events.size();
  Event& event = set.events.emplace_back();
  event.name = kName;
  event.meaning = kMeaning;
  event.is_energy = true;
  if (set.passes.empty()) set.passes.emplace_back();
  for (Pass& pass : set.passes) pass.events.push_back(index);
}

void add_energy(Explanation& explanation) {
  if (explanation.passes.empty()) explanation.passes.emplace_back();
  for (auto& seats : explanation.passes)
    seats.push_back({"kernel", std::string(kName), std::string(kMeaning)});
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
