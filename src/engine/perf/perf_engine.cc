#include "engine/perf/perf_engine.h"

#include "core/text.h"
#include "engine/partition.h"
#include "engine/perf/counters.h"
#include "engine/perf/layout.h"
#include "engine/perf/resolve.h"
#include "os/process.h"
#include "os/program_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <variant>

#include <fmt/format.h>

namespace lauka::engine::perf {
namespace {

/// The number of badly counted runs in a row after which runs are not repeated any more.
constexpr unsigned kMaxBadRunsInARow = 8;

Error make_shared_counters_error(const PerfConditions& before, const PerfConditions& now) {
  if (now.watchdog && !before.watchdog)
    return {"the NMI watchdog was switched on and took a counter",
            "run sudo sysctl kernel.nmi_watchdog=0, or repeat the session"};
  return {"other programs used the counters",
          now.watchdog ? "run sudo sysctl kernel.nmi_watchdog=0 to free one, or count fewer events"
                       : kHolderRemedy};
}

Error make_region_error() {
  return {"the program could not switch the counters of its region on and off",
          "make sure that it does not close descriptors that it was given"};
}

/// What is counted in a pass; the references must outlive the pass.
struct PerfPass {
  CounterGroups groups{};
  std::vector<EventCountSource> sources{};
  /// Indices of the counters in `groups` whose own counts are appended to the counts of the events,
  /// because the event is the sum over several core kinds.
  std::vector<std::size_t> separate_counters{};
  const os::LinuxCalls& calls;
  PerfConditions conditions{};  ///< conditions when the engine was made
  double& fastest_clock;
  const std::set<std::size_t>& commands_without_counters;  ///< indices of commands
  bool of_region = false;
};

class PerfCounting final : public ArmedPass {
 public:
  explicit PerfCounting(PerfPass pass) : pass_(std::move(pass)), checker_(pass_.fastest_clock) {}

  std::vector<os::CounterRequest> requests() const override {
    std::vector<os::CounterRequest> requests;
    for (std::size_t i = 0; i < pass_.groups.counters.size(); ++i) {
      os::PerfEventAttr attributes = pass_.groups.counters[i].attributes;
      if (pass_.groups.leader_of_counter[i] == i) attributes = as_leader(attributes);
      if (pass_.of_region) attributes.flags &= ~os::kPerfEnableOnExec;
      requests.push_back(make_request(attributes, pass_.groups.leader_of_counter[i]));
      requests.back().counts_only_region = pass_.of_region;
    }
    return requests;
  }

  std::vector<std::string> timed_pmus() const override {
    std::vector<std::string> pmus;
    for (const std::size_t leader : list_timed_groups())
      pmus.push_back(pass_.groups.counters[leader].pmu);
    return pmus;
  }

  std::size_t max_batch_size() const override { return os::Launcher::kMaxBatch; }

  CountsOfRun finish(const os::Ended& ended, std::size_t command) override {
    // The counts of the events come first, then those of single counters. All are missing at first.
    CountsOfRun counted;
    counted.counts.resize(pass_.sources.size() + pass_.separate_counters.size());

    if (std::holds_alternative<NotStarted>(ended.outcome)) {
      counted.why_missing_counts = Error{"the command was not started", ""};
      return counted;
    }

    fill_accounted_counts(counted, ended);
    // The kernel takes the counters away when some programs start, such as those with set-user-ID.
    if (!pass_.commands_without_counters.contains(command))
      fill_counts_of_counters(counted, ended, command);
    return counted;
  }

 private:
  /// Enters the counts of the events for which the kernel accounts without a counter, so that they
  /// are known even if the counters fail.
  void fill_accounted_counts(CountsOfRun& counted, const os::Ended& ended) const {
    for (std::size_t event = 0; event < pass_.sources.size(); ++event) {
      const AccountedEvent* accounted = pass_.sources[event].accounted_source;
      if (accounted != nullptr) counted.counts[event] = accounted->read(ended);
    }
  }

  /// Enters the counts of all other events, or why they are missing.
  void fill_counts_of_counters(CountsOfRun& counted, const os::Ended& ended, std::size_t command) {
    // Another run helps only against some of the reasons.
    if (auto missing = find_missing_counts(ended)) {
      counted.why_missing_counts = std::move(missing->why);
      if (!missing->why_repeated.empty())
        ask_for_repetition(counted, std::move(missing->why_repeated));
      return;
    }

    // The time for which a core kind's group ran is the time for which the run was on this kind.
    for (const std::size_t leader : list_timed_groups())
      counted.cpu_ns_by_pmu.push_back(ended.readings[leader].running_ns);
    fill_plausible_counts(counted, ended, command);
  }

  /// Returns the leaders of the groups whose times show on which core kind a run was; none if there
  /// is only one core kind.
  std::vector<std::size_t> list_timed_groups() const {
    std::vector<std::size_t> groups;
    for (const std::size_t leader : pass_.groups.group_leaders)
      if (pass_.groups.counters[leader].core && !pass_.of_region) groups.push_back(leader);
    if (groups.size() < 2) groups.clear();
    return groups;
  }

  struct MissingCounts {
    Error why;
    std::string why_repeated{};  ///< RepeatRequest::why; empty: the run is not repeated
  };

  /// Returns why no count of the run can be reported; nullopt if counts can.
  std::optional<MissingCounts> find_missing_counts(const os::Ended& ended) const {
    if (pass_.groups.counters.empty()) return std::nullopt;
    if (ended.counter_error != 0)
      return MissingCounts{why_not_opened(ended.counter_error, {}, pass_.conditions)};
    if (ended.readings.size() != pass_.groups.counters.size())
      return MissingCounts{{"the launcher did not read the counters", ""}};
    if (pass_.of_region && ended.region && ended.region->counter_failures > 0)
      return MissingCounts{make_region_error()};
    return find_why_inexact(ended);
  }

  /// Returns why the counts of a run may be too small, for example because other programs used the
  /// counters for a while; nullopt if they are exact.
  std::optional<MissingCounts> find_why_inexact(const os::Ended& ended) const {
    const bool was_any_group_off = std::ranges::any_of(
        pass_.groups.group_leaders,
        [&ended](std::size_t leader) { return ended.readings[leader].enabled_ns == 0; });

    // The program must switch the groups of its region on, and has failed to do so.
    if (pass_.of_region && was_any_group_off) return MissingCounts{make_region_error()};

    if (was_any_group_off || !have_groups_run_all_the_time(ended)) {
      Error why = make_shared_counters_error(pass_.conditions, read_conditions(pass_.calls));
      return MissingCounts{.why = why, .why_repeated = why.what};
    }

    // In some virtual machines, fillers keep the events off counters that do not count.
    if (!have_fillers_covered_dead_counters(ended))
      return MissingCounts{
          .why = {"other programs took some of the counters", kHolderRemedy},
          .why_repeated = "other programs used the counters for a part of the run"};

    return std::nullopt;
  }

  /// Dead counters of a virtual machine run, but count nothing. Fillers are additional events that
  /// occupy all of them. Returns false if too few fillers counted nothing, so that an event of this
  /// pass may have been on a dead counter.
  bool have_fillers_covered_dead_counters(const os::Ended& ended) const {
    for (const Fillers& fillers : pass_.groups.fillers) {
      std::vector<std::uint64_t> values;
      for (const std::size_t filler : fillers.counters)
        values.push_back(ended.readings[filler].value);
      if (!fillers.have_covered_dead_counters(values, ended.readings[fillers.leader].running_ns))
        return false;
    }
    return true;
  }

  /// False if the kernel gave the counters of a group to another program for some time.
  bool have_groups_run_all_the_time(const os::Ended& ended) const {
    for (const std::size_t leader : pass_.groups.group_leaders) {
      if (pass_.groups.counters[leader].core) continue;
      const os::Reading& reading = ended.readings[leader];
      constexpr bool has_several_kinds = false;
      if (!ran_all_the_time(reading.running_ns, reading.enabled_ns, has_several_kinds))
        return false;
    }
    return have_core_groups_run_all_the_time(ended);
  }

  /// The counters of the cores have a group for each core kind. It stays enabled, but stops while
  /// the run is on another core kind. Returns true if the times for which these groups ran add up
  /// to the time for which they were enabled.
  bool have_core_groups_run_all_the_time(const os::Ended& ended) const {
    std::uint64_t running_ns = 0;
    std::uint64_t enabled_ns = 0;
    std::size_t core_kind_count = 0;
    for (const std::size_t leader : pass_.groups.group_leaders) {
      if (!pass_.groups.counters[leader].core) continue;
      ++core_kind_count;
      running_ns += ended.readings[leader].running_ns;
      enabled_ns = std::max(enabled_ns, ended.readings[leader].enabled_ns);
    }
    if (core_kind_count == 0) return true;

    // The clocks of the CPUs may differ slightly, so a sum may lack a little of the enabled time.
    const bool has_several_kinds = core_kind_count > 1;
    return ran_all_the_time(running_ns, enabled_ns, has_several_kinds);
  }

  std::vector<std::size_t> list_events_on_counters() const {
    std::vector<std::size_t> events;
    for (std::size_t event = 0; event < pass_.sources.size(); ++event)
      if (pass_.sources[event].accounted_source == nullptr) events.push_back(event);
    return events;
  }

  /// Sums an event's counts and times over the core kinds.
  Tally sum_counters(std::size_t event, const os::Ended& ended) const {
    const std::vector<std::size_t>& counters = pass_.groups.counters_by_event[event];
    const Counter& first = pass_.groups.counters[counters.front()];
    Tally tally{.event = pass_.sources[event].event.name,
                .role = first.role,
                .attribute_flags = first.attributes.flags};
    for (const std::size_t counter : counters) {
      tally.count += pass_.groups.counters[counter].scale * ended.readings[counter].value;
      if (pass_.groups.counters[counter].core) tally.core_ns += ended.readings[counter].running_ns;
    }
    return tally;
  }

  /// Enters the counts that are plausible into `counted`. If a count is not, asks for another run:
  /// the host of a virtual machine may have taken counters away, and nothing else shows this.
  void fill_plausible_counts(CountsOfRun& counted, const os::Ended& ended, std::size_t command) {
    const std::vector<std::size_t> events_on_counters = list_events_on_counters();
    std::vector<Tally> tallies;
    tallies.reserve(events_on_counters.size());
    for (const std::size_t event : events_on_counters)
      tallies.push_back(sum_counters(event, ended));

    // There is a doubt for each count. It is empty if the count is plausible.
    const std::vector<std::string> doubts = checker_.doubts(command, tallies);
    for (std::size_t i = 0; i < doubts.size(); ++i) {
      if (!doubts[i].empty()) continue;
      const std::size_t event = events_on_counters[i];
      counted.counts[event] = tallies[i].count;
      fill_counts_of_single_counters(counted, ended, event);
    }

    const auto first_doubt =
        std::ranges::find_if(doubts, [](const std::string& doubt) { return !doubt.empty(); });
    const bool are_all_plausible = first_doubt == doubts.end();
    if (are_all_plausible) {
      bad_runs_in_a_row_ = 0;
      return;
    }

    counted.why_missing_counts =
        Error{*first_doubt, "lauka --check shows which counters work and who holds the others"};
    ask_for_repetition(counted, *first_doubt);
  }

  /// If an event's count is a sum over core kinds, its counters' own counts are reported, too. They
  /// follow the counts of all events.
  void fill_counts_of_single_counters(CountsOfRun& counted, const os::Ended& ended,
                                      std::size_t event) const {
    const std::vector<std::size_t>& counters_of_event = pass_.groups.counters_by_event[event];
    for (std::size_t i = 0; i < pass_.separate_counters.size(); ++i) {
      const std::size_t counter = pass_.separate_counters[i];
      if (std::ranges::find(counters_of_event, counter) == counters_of_event.end()) continue;
      counted.counts[pass_.sources.size() + i] =
          pass_.groups.counters[counter].scale * ended.readings[counter].value;
    }
  }

  /// Asks for another run, unless too many in a row had bad counts, so that another would, too.
  void ask_for_repetition(CountsOfRun& counted, std::string why) {
    if (bad_runs_in_a_row_ < kMaxBadRunsInARow)
      counted.redo = RepeatRequest{.reason = RedoReason::Counting,
                                   .why = std::move(why),
                                   .max_repetitions = kMaxRepetitions};
    ++bad_runs_in_a_row_;
  }

  PerfPass pass_;
  CountChecker checker_;
  unsigned bad_runs_in_a_row_ = 0;
};

/// Adds copies of the first `count` events, which are counted in the whole run, and of the passes,
/// which count the copies.
void add_passes_of_whole_run(EventSet& set, std::size_t count) {
  const std::size_t first_copy = set.events.size();
  for (std::size_t i = 0; i < count; ++i) {
    Event event = set.events[i];
    event.name += kWholeRunSuffix;
    event.role = Role::Other;
    set.events.push_back(std::move(event));
  }
  std::vector<Pass> of_whole;
  for (const Pass& pass : set.passes) {
    Pass& whole = of_whole.emplace_back();
    for (const std::size_t event : pass.event_indices)
      if (event < count) whole.event_indices.push_back(first_copy + event);
  }
  set.passes.insert(set.passes.end(), of_whole.begin(), of_whole.end());
}

constexpr std::array<std::string_view, 5> kDefaultEvents = {
    "cycles", "instructions", "cache-references", "cache-misses", "branch-misses"};

class PerfEngine final : public CounterEngine {
 public:
  PerfEngine(const os::LinuxCalls& calls, bool user_only, CoreKinds kinds)
      : calls_(calls), kinds_(std::move(kinds)), prober_(calls, user_only) {}

  std::string_view name() const override { return row_of(EngineChoice::Perf).name; }
  Catalog catalog() const override { return prober_.catalog(); }
  bool counts_regions() const override { return true; }
  const AccountedEvent* accounted(std::size_t event) const override {
    return event < sources_.size() ? sources_[event].accounted_source : nullptr;
  }

  /// Finds the wanted events, or the default events, with the counters that count them
  /// (`sources_`), and divides them into passes that fit the counters (`passes_`). They are counted
  /// in the region that a program marks, in the whole run, or in both (`counted_part_`).
  Result<EventSet> select(const EventRequest& wanted) override {
    sources_.clear();
    passes_.clear();
    counted_part_ = wanted.counted_part;

    // Both functions add to `sources_`. The set that they return has notes, but no events yet.
    auto set_without_events =
        wanted.names.empty() ? add_default_sources() : add_wanted_sources(wanted.names);
    if (!set_without_events) return set_without_events;

    // A run may move between kinds of cores. The witnesses are counters that show its time on each
    // kind. They occupy counters, so they must be known before events are divided into passes.
    witnesses_ = find_witnesses();

    // Only the counters of the cores are scarce, so lauka tries how many of them it can use.
    pmus_.clear();
    if (!list_core_events().empty()) pmus_ = try_pmus(prober_);

    auto passes = divide_into_passes(wanted);
    if (!passes) return passes.error();
    passes_ = *std::move(passes);

    return complete_event_set(*std::move(set_without_events));
  }

  Result<Explanation> explain(const EventRequest& wanted) override {
    // Users want to see all passes that are necessary, so --single-pass must not refuse them.
    const auto set = select({.names = wanted.names, .single_pass = false});
    if (!set) return set.error();

    Explanation explanation{.passes = {}, .notes = set->notes};
    for (const Pass& pass : passes_) explanation.passes.push_back(explain_pass(pass));
    if (passes_.size() < 2) return explanation;

    auto competition = explain_competition();
    if (!competition) return competition.error();
    explanation.competition = *std::move(competition);
    return explanation;
  }

  Result<OwnedPass> arm(std::size_t pass) override {
    // If both the region and the whole run are counted, each pass of `passes_` is counted twice:
    // first come all passes of the region, then the same passes of the whole run.
    const bool counts_both = counted_part_ == CountedPart::RegionAndWhole;
    const std::size_t pass_count = counts_both ? 2 * passes_.size() : passes_.size();
    if (pass >= pass_count) return Error{fmt::format("there is no pass {}", pass), ""};

    return OwnedPass(std::make_unique<PerfCounting>(make_pass(pass)));
  }

  std::optional<CounterLossFile> find_counter_loss_file(std::size_t command,
                                                        const os::ProgramSpec& program) override {
    const bool has_counters = std::ranges::any_of(sources_, [](const EventCountSource& source) {
      return source.accounted_source == nullptr;
    });
    auto found = has_counters ? os::find_counter_loss_file(program, calls_) : std::nullopt;
    if (found) commands_without_counters_.insert(command);
    return found;
  }

  std::optional<Error> held_by_others() override {
    if (pmus_.empty()) return std::nullopt;
    const std::vector<PmuCounters> now = try_pmus(prober_);
    // Reads the conditions only now: read before try_pmus(), they would miss a watchdog that was
    // switched on in between.
    return find_lost_counters(now, read_conditions(calls_, prober_.sysfs()), pmus_,
                              prober_.conditions());
  }

 private:
  /// Returns what is counted in a pass. If both the region and the whole run are counted, the
  /// passes of `passes_` come twice: first those of the region, then the same ones of the whole
  /// run.
  PerfPass make_pass(std::size_t pass_index) {
    const bool repeats_pass_for_whole_run = pass_index >= passes_.size();
    const EventIndices& events = passes_[pass_index % passes_.size()].event_indices;
    CounterGroups groups = place_events(events);
    std::vector<EventCountSource> sources;
    for (const std::size_t index : events) sources.push_back(sources_[index]);

    // The counts on each core kind are reported only once, so not again for the whole run.
    EventIndices separate_counters;
    if (!repeats_pass_for_whole_run) separate_counters = list_counters_by_kind(groups, events);

    return {.groups = std::move(groups),
            .sources = std::move(sources),
            .separate_counters = std::move(separate_counters),
            .calls = calls_,
            .conditions = prober_.conditions(),
            .fastest_clock = fastest_clock_,
            .commands_without_counters = commands_without_counters_,
            .of_region = counted_part_ != CountedPart::WholeRun && !repeats_pass_for_whole_run};
  }

  /// Adds the events of `sources_`, their passes and notes about them to a set without events.
  EventSet complete_event_set(EventSet set) const {
    // The counts lack the kernel's part only if the kernel denied access (EACCES).
    if (std::ranges::any_of(sources_, &EventCountSource::lacks_wanted_kernel_part)) {
      const RequestedCounter counter_with_kernel{.kernel_excluded = false};
      set.notes.push_back(
          {"user_space_only",
           "counters cover user space only: " +
               why_not_opened(EACCES, counter_with_kernel, prober_.conditions()).line()});
    }

    for (const EventCountSource& source : sources_) {
      set.events.push_back(source.event);
      set.events.back().name_suffix = make_name_suffix(source);
    }

    // Each source has given one event so far. On several kinds of cores, this event is a sum. The
    // parts of the sum become events, too.
    set.passes = passes_;
    add_events_by_core_kind(set);

    // Marks the events of a region, and copies them for the whole run if that is counted as well.
    distinguish_region_and_whole_run(set);
    return set;
  }

  std::vector<ExplainedCounter> explain_pass(const Pass& pass) const {
    std::vector<ExplainedCounter> rows;
    for (const std::size_t index : pass.event_indices) {
      const EventCountSource& source = sources_[index];
      rows.push_back({.counter = counters_in_words(source),
                      .event = source.event.name,
                      .explanation = source.event.meaning});
    }
    return rows;
  }

  /// Returns why one pass is not enough; nullopt if the reason is unknown.
  Result<std::optional<std::string>> explain_competition() const {
    // Only the counters of the cores are scarce. The competing events are given by their positions
    // in `core_events`.
    const EventIndices core_events = list_core_events();
    const auto competing = find_competing_events(core_events.size(), make_fit_test(core_events));
    if (!competing) return competing.error();
    if (competing->empty()) return std::optional<std::string>();

    std::vector<std::string> names;
    for (const std::size_t position : *competing)
      names.push_back(sources_[core_events[position]].event.name);

    // Competing events share their counters, so the first one tells which counters they are.
    const EventCountSource& first = sources_[core_events[competing->front()]];
    return std::optional(fmt::format(
        "{} do not fit the counters of {} at the same time, but if you leave out any one of "
        "them, the others fit",
        listed(names), counters_in_words(first)));
  }

  /// On a machine with several kinds of cores, cycles show how long a run was on each kind, even on
  /// one where no selected event is counted. Returns the counters of cycles as witnesses of this;
  /// none on other machines.
  std::vector<Counter> find_witnesses() const {
    const auto cycles = resolve("cycles", prober_.sysfs());
    const bool has_several_kinds = cycles && cycles->events_on_pmus.size() > 1;
    if (!has_several_kinds) return {};
    auto source = prober_.probe(*cycles);
    return source ? std::move(source->counters) : std::vector<Counter>();
  }

  /// Marks the events of `set` as events of the region, if they are. If the whole run is counted,
  /// too, adds events and passes for it.
  void distinguish_region_and_whole_run(EventSet& set) const {
    if (counted_part_ == CountedPart::WholeRun) return;

    // The added events are copies, so the others are marked afterwards.
    const std::size_t region_events = set.events.size();
    if (counted_part_ == CountedPart::RegionAndWhole) add_passes_of_whole_run(set, sources_.size());
    for (std::size_t event = 0; event < region_events; ++event)
      mark_as_region_event(set.events[event]);
  }

  Result<EventCountSource> find(std::string_view name) const {
    const auto resolved = resolve(name, prober_.sysfs());
    if (!resolved) return resolved.error();
    auto source = prober_.probe(*resolved);
    if (source && counted_part_ != CountedPart::WholeRun && source->accounted_source != nullptr)
      source =
          Error{"this user may not open its counter, which a region needs",
                "use sudo, or run sudo sysctl kernel.perf_event_paranoid=1, or leave out --region"};
    if (!source) return source.error().prefixed(fmt::format("'{}' cannot be counted", name));
    return source;
  }

  /// Adds the events with these names to `sources_`. Returns an event set that has no events yet,
  /// but a note for each event that was named again, by another name.
  Result<EventSet> add_wanted_sources(const std::vector<std::string>& names) {
    EventSet set;
    for (const std::string& name : names) {
      auto source = find(name);
      if (!source) return source.error();
      const auto same = std::ranges::find_if(
          sources_, [&](const EventCountSource& other) { return same_source(*source, other); });
      if (same == sources_.end())
        sources_.push_back(*std::move(source));
      else if (same->event.name != source->event.name)
        set.notes.push_back(
            {"same_event", fmt::format("'{}' is the same event as '{}', so it is counted only once",
                                       source->event.name, same->event.name)});
    }
    return set;
  }

  /// Adds those default events that can be counted here to `sources_`. Returns an event set that
  /// has no events yet. If default events were left out, it has a note that names them.
  Result<EventSet> add_default_sources() {
    std::vector<std::string> left_out;
    Error why_first_left_out;

    for (const std::string_view name : kDefaultEvents) {
      auto source = prober_.find(name);
      if (source) {
        sources_.push_back(*std::move(source));
        continue;
      }
      if (left_out.empty()) why_first_left_out = source.error();
      left_out.emplace_back(name);
    }

    // If no default event can be counted, the set stays empty, and says why.
    if (sources_.empty()) return make_empty_event_set(why_first_left_out);

    EventSet set;
    if (!left_out.empty())
      set.notes.push_back({"events_left_out", fmt::format("not counted: {} ({})", listed(left_out),
                                                          why_first_left_out.line())});
    return set;
  }

  EventIndices list_core_events() const {
    EventIndices on_cores;
    for (std::size_t index = 0; index < sources_.size(); ++index)
      if (sources_[index].is_on_cores()) on_cores.push_back(index);
    return on_cores;
  }

  CounterGroups place_events(const EventIndices& events) const {
    CounterGroups groups = group_counters_by_pmu(sources_, events, witnesses_);
    add_fillers(groups, pmus_);
    return groups;
  }

  /// Returns a test if some of `events`, given by their places in it, can be counted in one pass.
  FitTest make_fit_test(const EventIndices& events) const {
    return [this, &events](const EventIndices& some) -> Result<bool> {
      EventIndices chosen;
      for (const std::size_t index : some) chosen.push_back(events[index]);
      if (!has_room(group_counters_by_pmu(sources_, chosen, witnesses_), pmus_)) return false;
      return fits_at_once(place_events(chosen), calls_, prober_.conditions());
    };
  }

  /// Divides events on core counters, given as indices into `sources_`, into sets that can be
  /// counted at the same time. A wanted pair of events shares a set if possible.
  Result<std::vector<EventIndices>> divide_core_events(
      const EventIndices& events, const std::vector<EventNamePair>& wanted_pairs) const {
    std::vector<std::pair<std::size_t, std::size_t>> pairs_of_positions;
    for (const EventNamePair& pair : wanted_pairs) {
      // Users who count events in user space or in the kernel only want the same pairs of them.
      for (const std::string_view modifier : {"", ":u", ":k"}) {
        const auto first = find_position(events, pair.first, modifier);
        const auto second = find_position(events, pair.second, modifier);
        if (first && second) pairs_of_positions.emplace_back(*first, *second);
      }
    }

    return partition(events.size(), make_fit_test(events), pairs_of_positions);
  }

  /// Finds the event `name` with this modifier. Without a modifier, an event with another name but
  /// the same role is found, too. Returns its position in `events`.
  std::optional<std::size_t> find_position(const EventIndices& events, const std::string& name,
                                           std::string_view modifier) const {
    const Role role = modifier.empty() ? role_of_event(name) : Role::Other;
    const std::string full_name = fmt::format("{}{}", name, modifier);
    for (std::size_t i = 0; i < events.size(); ++i) {
      const EventCountSource& source = sources_[events[i]];
      const bool has_same_role =
          role != Role::Other && source.event.role == role && !source.has_modifier;
      if (source.event.name == full_name || has_same_role) return i;
    }
    return std::nullopt;
  }

  Error make_too_many_events_error(std::size_t events,
                                   const std::vector<EventIndices>& sets) const {
    const auto largest = std::ranges::max_element(sets, {}, std::ranges::size);
    std::vector<std::string> names;
    for (const std::size_t index : *largest) names.push_back(sources_[index].event.name);
    return Error{
        fmt::format(
            "these {} events do not fit the counters at the same time, but {} of them do ({})",
            events, names.size(), listed(names)),
        fmt::format("leave out --single-pass, so that they are counted in {} passes, or leave out "
                    "some events",
                    sets.size())};
  }

  /// Adds each event without core counters to the first pass that has room for it.
  void place_other_events(std::vector<Pass>& passes) const {
    for (std::size_t index = 0; index < sources_.size(); ++index) {
      if (sources_[index].is_on_cores()) continue;
      const auto has_room = [&](const Pass& pass) {
        auto events = pass.event_indices;
        events.push_back(index);
        return place_events(events).counters.size() <= os::kMaxCounters;
      };
      auto pass = std::ranges::find_if(passes, has_room);
      if (pass == passes.end()) pass = passes.insert(passes.end(), Pass{});
      pass->event_indices.push_back(index);
    }
    for (Pass& pass : passes) std::ranges::sort(pass.event_indices);
  }

  /// Divides the events of `sources_` into passes that fit the counters of `pmus_`.
  Result<std::vector<Pass>> divide_into_passes(const EventRequest& wanted) const {
    const EventIndices on_cores = list_core_events();
    auto sets = divide_core_events(on_cores, wanted.pairs_for_one_pass);
    if (!sets) return sets.error();
    for (EventIndices& set : *sets)
      for (std::size_t& index : set) index = on_cores[index];
    if (wanted.single_pass && sets->size() > 1)
      return make_too_many_events_error(on_cores.size(), *sets);

    std::vector<Pass> passes;
    for (EventIndices& set : *sets) passes.push_back({std::move(set)});
    place_other_events(passes);
    if (wanted.single_pass && passes.size() > 1)
      return Error{fmt::format("a run can have at most {} counters", os::kMaxCounters),
                   "leave out --single-pass or some events"};
    return passes;
  }

  std::string kind_name_of(const std::string& pmu) const {
    const auto kind = std::ranges::find(kinds_, pmu, &CoreKind::pmu);
    return kind == kinds_.end() ? pmu : kind->name;
  }

  std::vector<std::string> list_pmus_by_kind(const EventCountSource& source) const {
    std::vector<std::string> pmus;
    pmus.reserve(source.counters.size());
    for (const Counter& counter : source.counters) pmus.push_back(counter.pmu);
    const auto rank = [&](const std::string& pmu) {
      return std::ranges::find(kinds_, pmu, &CoreKind::pmu) - kinds_.begin();
    };
    std::ranges::stable_sort(
        pmus, [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
    return pmus;
  }

  /// Returns "(P only)" for an event that only one of several core kinds can count; else "".
  std::string make_name_suffix(const EventCountSource& source) const {
    if (source.accounted_source != nullptr) return source.event.name_suffix;
    const bool on_one_kind = witnesses_.size() > 1 && source.is_on_cores() &&
                             source.counters.size() == 1 &&
                             source.event.name.find('/') == std::string::npos;
    return on_one_kind ? fmt::format("({} only)", kind_name_of(source.counters.front().pmu)) : "";
  }

  /// Adds to each pass an event for each core kind, beside the event that is their sum.
  void add_events_by_core_kind(EventSet& set) const {
    for (Pass& pass : set.passes) {
      const std::vector<std::size_t> whole = pass.event_indices;
      for (const std::size_t index : whole) {
        const EventCountSource& source = sources_[index];
        if (!source.is_of_several_kinds()) continue;
        for (const std::string& pmu : list_pmus_by_kind(source)) {
          Event of_kind{.name = fmt::format("{} ({})", source.event.name, kind_name_of(pmu)),
                        .meaning = fmt::format("the part of {} on {}", source.event.name, pmu),
                        .is_time = source.event.is_time,
                        .privilege_levels = source.event.privilege_levels,
                        .index_for_all_core_kinds = index,
                        .role = source.event.role};
          pass.event_indices.push_back(set.events.size());
          set.events.push_back(std::move(of_kind));
        }
      }
    }
  }

  std::vector<std::size_t> list_counters_by_kind(const CounterGroups& groups,
                                                 const EventIndices& events) const {
    std::vector<std::size_t> separate_counters;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const EventCountSource& source = sources_[events[i]];
      if (!source.is_of_several_kinds()) continue;
      for (const std::string& pmu : list_pmus_by_kind(source))
        for (const std::size_t place : groups.counters_by_event[i])
          if (groups.counters[place].pmu == pmu) separate_counters.push_back(place);
    }
    return separate_counters;
  }

  const os::LinuxCalls& calls_;
  CoreKinds kinds_;
  Prober prober_;
  std::vector<EventCountSource> sources_;
  std::vector<Counter> witnesses_;
  std::vector<PmuCounters> pmus_;
  double fastest_clock_ = 0.0;
  std::set<std::size_t> commands_without_counters_;
  std::vector<Pass> passes_;
  CountedPart counted_part_ = CountedPart::WholeRun;
};

}  // namespace

std::vector<CounterFacts> counters_here(const os::LinuxCalls& calls, bool user_only) {
  const Prober prober(calls, user_only);
  std::vector<CounterFacts> facts;
  for (const PmuCounters& counters : try_pmus(prober))
    if (counters.instructions_trial.accepted_size > 0)
      facts.push_back({counters.pmu, counters.instructions_trial.accepted_size,
                       counters.instructions_trial.running_group_size,
                       counters.instructions_trial.live_counters, prober.conditions().watchdog});
  return facts;
}

OwnedEngine make_perf_engine(const os::LinuxCalls& calls, bool user_only, CoreKinds kinds) {
  return std::make_unique<PerfEngine>(calls, user_only, std::move(kinds));
}

}  // namespace lauka::engine::perf
