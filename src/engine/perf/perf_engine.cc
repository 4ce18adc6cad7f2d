#include "engine/perf/perf_engine.h"

#include "core/text.h"
#include "engine/partition.h"
#include "engine/perf/counting.h"
#include "engine/perf/reasons.h"
#include "engine/perf/resolve.h"
#include "engine/perf/source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace lauka::engine::perf {
namespace {

constexpr std::array<std::string_view, 5> kDefaultEvents = {
    "cycles", "instructions", "cache-references", "cache-misses", "branch-misses"};

int try_dummy(const os::LinuxCalls& calls) {
  const KnownEvent& dummy = *find_known("dummy");
  return try_counter(calls,
                     attributes_of(os::Code{dummy.type, dummy.config}, {true, false, false}));
}

class PerfEngine final : public CounterEngine {
 public:
  PerfEngine(const os::LinuxCalls& calls, bool user_only, CoreKinds kinds)
      : calls_(calls),
        kinds_(std::move(kinds)),
        sysfs_(calls),
        situation_(situation_of(calls)),
        prober_(calls, user_only, situation_) {}

  std::string_view name() const override { return row_of(EngineChoice::Perf).name; }
  Catalog catalog() const override { return catalog_of(sysfs_, prober_); }
  Result<EventSet> select(const EventRequest& wanted) override;
  Result<Explanation> explain(const EventRequest& wanted) override;
  Result<std::unique_ptr<Counting>> arm(std::size_t pass) override;
  bool counts_regions() const override { return true; }
  std::optional<Error> held_by_others() override;
  FreeReader free_reader(std::size_t event) const override {
    const UsageCount read = event < sources_.size() ? sources_[event].accounted : nullptr;
    return read != nullptr ? reader_of(read) : FreeReader{};
  }

 private:
  Result<std::vector<std::string>> find_wanted(const std::vector<std::string>& names);
  std::vector<std::string> find_defaults();
  Result<Source> find(std::string_view name) const;
  Result<void> divide(const EventRequest& wanted);
  EventIndices core_events() const;
  Layout layout_of(const EventIndices& events) const;
  Fits fits_among(const EventIndices& events) const;
  Result<std::vector<EventIndices>> divide_core_events(
      const EventIndices& events, const std::vector<EventNames>& wanted_together) const;
  void place_others();
  Error too_many(std::size_t events, const std::vector<EventIndices>& sets) const;
  void find_witnesses();
  std::string kind_of(const std::string& pmu) const;
  std::string note_of(const Source& source) const;
  std::vector<std::string> pmus_of(const Source& source) const;
  void add_parts(EventSet& set) const;
  std::vector<std::size_t> parts_of(const Layout& layout, const EventIndices& events) const;

  const os::LinuxCalls& calls_;
  CoreKinds kinds_;
  os::Sysfs sysfs_;
  Situation situation_;
  Prober prober_;
  std::vector<Source> sources_;     ///< what was selected last
  std::vector<Counter> witnesses_;  ///< one for each kind of core, where there are several
  std::vector<Seats> seats_;        ///< none where no event needs a core's counter
  double fastest_clock_ = 0.0;      ///< cycles in a nanosecond, of the runs so far
  std::vector<Pass> passes_;
  CountedIn counted_in_ = CountedIn::WholeRun;
};

Result<Source> PerfEngine::find(std::string_view name) const {
  const auto resolved = resolve(name, sysfs_);
  if (!resolved) return resolved.error();
  auto source = prober_.probe(*resolved);
  if (source && counted_in_ != CountedIn::WholeRun) source = in_region(*std::move(source));
  if (!source) return source.error().of(fmt::format("'{}' cannot be counted", name));
  return source;
}

/// Fills sources_; gives notes.
Result<std::vector<std::string>> PerfEngine::find_wanted(const std::vector<std::string>& names) {
  std::vector<std::string> notes;
  for (const std::string& name : names) {
    auto source = find(name);
    if (!source) return source.error();
    const auto same = std::ranges::find_if(
        sources_, [&](const Source& other) { return same_source(*source, other); });
    if (same == sources_.end())
      sources_.push_back(*std::move(source));
    else if (same->event.name != source->event.name)
      notes.push_back(fmt::format("'{}' is the same event as '{}' and counted once",
                                  source->event.name, same->event.name));
  }
  return notes;
}

/// Fills sources_; gives notes.
std::vector<std::string> PerfEngine::find_defaults() {
  std::vector<std::string> left_out;
  Error first_reason;
  for (const std::string_view name : kDefaultEvents) {
    const auto resolved = resolve(name, sysfs_);
    auto source = resolved ? prober_.probe(*resolved) : Result<Source>(resolved.error());
    if (source) {
      sources_.push_back(*std::move(source));
      continue;
    }
    if (left_out.empty()) first_reason = source.error();
    left_out.emplace_back(name);
  }
  if (left_out.empty()) return {};
  if (sources_.empty()) return notes_without_counters(first_reason);
  return {fmt::format("not counted: {} ({})", listed(left_out), first_reason.line())};
}

void PerfEngine::find_witnesses() {
  witnesses_.clear();
  const auto cycles = resolve("cycles", sysfs_);
  if (!cycles || cycles->parts.size() < 2) return;
  if (auto source = prober_.probe(*cycles)) witnesses_ = std::move(source->counters);
}

EventIndices PerfEngine::core_events() const {
  EventIndices on_cores;
  for (std::size_t index = 0; index < sources_.size(); ++index)
    if (sources_[index].is_on_cores()) on_cores.push_back(index);
  return on_cores;
}

/// Where these events are counted, dead counters kept from them. There has to be room.
Layout PerfEngine::layout_of(const EventIndices& events) const {
  Layout layout = lay_out(sources_, events, witnesses_);
  fill_up(layout, seats_);
  return layout;
}

/// Asks the kernel; `events` must outlive the answer.
Fits PerfEngine::fits_among(const EventIndices& events) const {
  return [this, &events](const EventIndices& some) -> Result<bool> {
    EventIndices chosen;
    for (const std::size_t index : some) chosen.push_back(events[index]);
    if (!has_room(lay_out(sources_, chosen, witnesses_), seats_)) return false;
    return fits_at_once(layout_of(chosen), calls_, situation_);
  };
}

/// Pairs that differ from a wanted one by a modifier on both sides are as good.
Result<std::vector<EventIndices>> PerfEngine::divide_core_events(
    const EventIndices& events, const std::vector<EventNames>& wanted_together) const {
  const auto position = [&](const std::string& name, std::string_view modifier) {
    const Role role = modifier.empty() ? role_of_event(name) : Role::Other;
    const std::string full = fmt::format("{}{}", name, modifier);
    return std::ranges::find_if(events, [&](std::size_t index) {
      const Event& event = sources_[index].event;
      return event.name == full || (role != Role::Other && event.role == role);
    });
  };
  std::vector<std::pair<std::size_t, std::size_t>> together;
  for (const EventNames& pair : wanted_together) {
    for (const std::string_view modifier : {"", ":u", ":k"}) {
      const auto first = position(pair.first, modifier);
      const auto second = position(pair.second, modifier);
      if (first != events.end() && second != events.end())
        together.emplace_back(first - events.begin(), second - events.begin());
    }
  }
  return partition(events.size(), fits_among(events), together);
}

Error PerfEngine::too_many(std::size_t events, const std::vector<EventIndices>& sets) const {
  const auto largest = std::ranges::max_element(
      sets, [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::vector<std::string> names;
  for (const std::size_t index : *largest) names.push_back(sources_[index].event.name);
  return Error{
      fmt::format("these {} events do not fit the counters at once: {} do ({})", events,
                  names.size(), listed(names)),
      fmt::format("leave out --single-pass (they take {} passes) or some events", sets.size())};
}

/// The events that need no counter of the cores go where there is room: none of them costs one.
void PerfEngine::place_others() {
  for (std::size_t index = 0; index < sources_.size(); ++index) {
    if (sources_[index].is_on_cores()) continue;
    const auto has_room = [&](const Pass& pass) {
      auto events = pass.events;
      events.push_back(index);
      return layout_of(events).counters.size() <= os::kMaxCounters;
    };
    auto pass = std::ranges::find_if(passes_, has_room);
    if (pass == passes_.end()) pass = passes_.insert(passes_.end(), Pass{});
    pass->events.push_back(index);
  }
  for (Pass& pass : passes_) std::ranges::sort(pass.events);
}

/// Fills passes_.
Result<void> PerfEngine::divide(const EventRequest& wanted) {
  passes_.clear();
  const EventIndices on_cores = core_events();
  auto sets = divide_core_events(on_cores, wanted.together);
  if (!sets) return sets.error();
  for (EventIndices& set : *sets)
    for (std::size_t& index : set) index = on_cores[index];
  if (wanted.single_pass && sets->size() > 1) return too_many(on_cores.size(), *sets);
  for (EventIndices& set : *sets) passes_.push_back({std::move(set)});
  place_others();
  if (wanted.single_pass && passes_.size() > 1)
    return Error{fmt::format("at most {} counters are opened for a run", os::kMaxCounters),
                 "leave out --single-pass or some events"};
  return {};
}

Result<EventSet> PerfEngine::select(const EventRequest& wanted) {
  sources_.clear();
  passes_.clear();
  counted_in_ = wanted.counted_in;
  EventSet set;
  if (wanted.names.empty()) {
    set.notes = find_defaults();
  } else {
    auto notes = find_wanted(wanted.names);
    if (!notes) return notes.error();
    set.notes = *std::move(notes);
  }
  find_witnesses();
  seats_.clear();
  if (!core_events().empty()) seats_ = find_seats(sysfs_, prober_, calls_);
  if (auto divided = divide(wanted); !divided) return divided.error();
  const bool kernel_left_out =
      std::ranges::any_of(sources_, [](const Source& source) { return source.kernel_left_out; });
  if (kernel_left_out) {
    const Error reason = why_not_opened(EACCES, {true, false}, situation_);
    set.notes.push_back(
        fmt::format("counters cover user space only: {}; {}", reason.what, reason.remedy));
  }
  for (const Source& source : sources_) {
    set.events.push_back(source.event);
    set.events.back().note = note_of(source);
  }
  set.passes = passes_;
  add_parts(set);
  if (counted_in_ != CountedIn::WholeRun) mark_region(set);
  if (counted_in_ == CountedIn::RegionAndWhole) add_whole_run(set, sources_.size());
  return set;
}

Result<Explanation> PerfEngine::explain(const EventRequest& wanted) {
  const auto set = select({wanted.names, false});
  if (!set) return set.error();
  Explanation explanation{.passes = {}, .notes = set->notes};
  for (const Pass& pass : passes_) {
    auto& seats = explanation.passes.emplace_back();
    for (const std::size_t index : pass.events) {
      const Source& source = sources_[index];
      seats.push_back({counters_in_words(source), source.event.name, source.event.meaning});
    }
  }
  if (passes_.size() < 2) return explanation;
  const EventIndices on_cores = core_events();
  const auto group = competing(on_cores.size(), fits_among(on_cores));
  if (!group) return group.error();
  std::vector<std::string> names;
  for (const std::size_t position : *group)
    names.push_back(sources_[on_cores[position]].event.name);
  if (!names.empty())
    explanation.competition = fmt::format(
        "{} do not fit the counters of {} at once, although without any one of them the others do",
        listed(names), counters_in_words(sources_[on_cores[group->front()]]));
  return explanation;
}

std::string PerfEngine::kind_of(const std::string& pmu) const {
  const auto kind =
      std::ranges::find_if(kinds_, [&](const CoreKind& one) { return one.pmu == pmu; });
  return kind == kinds_.end() ? pmu : kind->name;
}

/// The PMUs that count it, the fastest cores' first.
std::vector<std::string> PerfEngine::pmus_of(const Source& source) const {
  std::vector<std::string> pmus;
  pmus.reserve(source.counters.size());
  for (const Counter& counter : source.counters) pmus.push_back(counter.pmu);
  const auto rank = [&](const std::string& pmu) {
    return std::ranges::find_if(kinds_, [&](const CoreKind& kind) { return kind.pmu == pmu; }) -
           kinds_.begin();
  };
  std::ranges::stable_sort(
      pmus, [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  return pmus;
}

/// Of an event that was wanted on all cores and is there on one kind only. One that names its PMU
/// says so itself.
std::string PerfEngine::note_of(const Source& source) const {
  if (source.accounted != nullptr) return source.event.note;
  const bool on_one_kind = witnesses_.size() > 1 && source.is_on_cores() &&
                           source.counters.size() == 1 &&
                           source.event.name.find('/') == std::string::npos;
  return on_one_kind ? fmt::format("({} only)", kind_of(source.counters.front().pmu)) : "";
}

/// "cycles (P)" and "cycles (E)" for an event that is counted on both: they cost nothing more.
void PerfEngine::add_parts(EventSet& set) const {
  for (Pass& pass : set.passes) {
    const std::vector<std::size_t> whole = pass.events;
    for (const std::size_t index : whole) {
      const Source& source = sources_[index];
      if (!source.is_of_several_kinds()) continue;
      for (const std::string& pmu : pmus_of(source)) {
        Event part{.name = fmt::format("{} ({})", source.event.name, kind_of(pmu)),
                   .meaning = fmt::format("the part of {} on {}", source.event.name, pmu),
                   .is_time = source.event.is_time,
                   .part_of = index,
                   .role = source.event.role};
        pass.events.push_back(set.events.size());
        set.events.push_back(std::move(part));
      }
    }
  }
}

/// The counters behind what add_parts adds, in the same order.
std::vector<std::size_t> PerfEngine::parts_of(const Layout& layout,
                                              const EventIndices& events) const {
  std::vector<std::size_t> parts;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Source& source = sources_[events[i]];
    if (!source.is_of_several_kinds()) continue;
    for (const std::string& pmu : pmus_of(source))
      for (const std::size_t place : layout.of_event[i])
        if (layout.counters[place].pmu == pmu) parts.push_back(place);
  }
  return parts;
}

Result<std::unique_ptr<Counting>> PerfEngine::arm(std::size_t pass) {
  const bool has_whole = counted_in_ == CountedIn::RegionAndWhole;
  if (pass >= passes_.size() * (has_whole ? 2 : 1))
    return Error{fmt::format("there is no pass {}", pass), ""};
  const bool of_region = counted_in_ != CountedIn::WholeRun && pass < passes_.size();
  const std::vector<std::size_t>& events = passes_[pass % passes_.size()].events;
  Layout layout = layout_of(events);
  std::vector<Source> sources;
  sources.reserve(events.size());
  for (const std::size_t index : events) sources.push_back(sources_[index]);
  const bool has_parts = of_region || !has_whole;
  std::vector<std::size_t> parts = has_parts ? parts_of(layout, events) : EventIndices{};
  return std::unique_ptr<Counting>(
      std::make_unique<PerfCounting>(std::move(layout), std::move(sources), std::move(parts),
                                     calls_, situation_, fastest_clock_, of_region));
}

std::optional<Error> PerfEngine::held_by_others() {
  if (seats_.empty()) return std::nullopt;
  const std::vector<Seats> now = find_seats(sysfs_, prober_, calls_);
  // Read behind the trial: a watchdog that was switched on meanwhile is excused.
  return who_holds(now, situation_of(calls_), seats_, situation_);
}

}  // namespace

bool is_there(const os::LinuxCalls& calls) {
  return try_dummy(calls) != ENOSYS;
}

Result<void> can_count(const os::LinuxCalls& calls) {
  const int error = try_dummy(calls);
  if (error == 0) return {};
  return why_not_opened(error, {}, situation_of(calls));
}

std::vector<CounterFacts> counters_here(const os::LinuxCalls& calls, bool user_only) {
  const Situation situation = situation_of(calls);
  return facts_of(find_seats(os::Sysfs(calls), Prober(calls, user_only, situation), calls),
                  situation);
}

std::unique_ptr<CounterEngine> make_perf_engine(const os::LinuxCalls& calls, bool user_only,
                                                CoreKinds kinds) {
  return std::make_unique<PerfEngine>(calls, user_only, std::move(kinds));
}

}  // namespace lauka::engine::perf
