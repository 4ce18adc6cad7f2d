#include "engine/kperf/calling_threads.h"

#include "core/text.h"
#include "engine/kperf/kperf_engine.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::engine {
namespace {

constexpr std::array<AccountedEvent, 2> kThreadTotals = {{
    {"cycles", "", "cycles of the threads that call into the region",
     [](const os::Ended& ended) {
       return ended.region ? std::optional(ended.region->cycles) : std::nullopt;
     }},
    {"instructions", "", "instructions of the threads that call into the region",
     [](const os::Ended& ended) {
       return ended.region ? std::optional(ended.region->instructions) : std::nullopt;
     }},
}};

std::optional<Error> find_missing_counts_error(const os::RegionUse& use) {
  if (use.uncounted_threads + use.counter_failures > 0)
    return Error{"a thread that began a region did not end it, or cannot read its counts",
                 "call lauka_region_end in the thread that called lauka_region_begin, in at most "
                 "64 threads at a time"};
  if (use.cycles == 0 && use.instructions == 0) return kperf::no_counts_at_all();
  return std::nullopt;
}

class CallingThreadsEngine final : public EngineWrapper {
 public:
  using EngineWrapper::EngineWrapper;

  bool counts_regions() const override { return true; }

  /// Selects cycles and instructions of the region, which is the part of a run that the program
  /// marks. If the whole run is wanted, too, the wrapped engine selects the same events for it.
  Result<EventSet> select(const EventRequest& wanted) override {
    events_.clear();
    accounted_of_whole_run_.clear();
    passes_of_whole_run_.clear();

    // One request serves both, because the whole run always gets the same events as the region. So
    // names that ask for an event of the whole run are left out.
    EventRequest shared_request = wanted;
    std::erase_if(shared_request.names,
                  [](const std::string& name) { return name.ends_with(kWholeRunSuffix); });

    EventSet set;
    set.passes.emplace_back();  // the pass of the region
    if (auto added = add_region_events(shared_request.names, set); !added) return added.error();

    counts_whole_run_ = wanted.counted_part == CountedPart::RegionAndWhole;
    if (!counts_whole_run_) return set;

    auto whole_run_set = wrapped_engine().select(shared_request);
    if (!whole_run_set) return whole_run_set.error();
    add_whole_run(*std::move(whole_run_set), set);
    return set;
  }

  const AccountedEvent* accounted(std::size_t event) const override {
    return event < events_.size() ? nullptr : wrapped_engine().accounted(event - events_.size());
  }

  Result<OwnedPass> arm(std::size_t pass) override {
    if (pass > 0) return wrapped_engine().arm(passes_of_whole_run_.at(pass - 1));
    std::vector<const AccountedEvent*> all = events_;
    all.insert(all.end(), accounted_of_whole_run_.begin(), accounted_of_whole_run_.end());
    const auto check = [count = events_.size()](const os::Ended& ended, CountsOfRun& counted) {
      counted.why_missing_counts =
          find_missing_counts_error(ended.region.value_or(os::RegionUse{}));
      for (std::size_t i = 0; counted.why_missing_counts && i < count; ++i)
        counted.counts[i].reset();
    };
    return make_accounting_pass(std::move(all), check, true);
  }

  std::optional<Error> held_by_others() override {
    return counts_whole_run_ ? wrapped_engine().held_by_others() : std::nullopt;
  }

  void pause() override {
    if (counts_whole_run_) wrapped_engine().pause();
  }

  std::vector<Note> notes() const override {
    std::vector<Note> all;
    if (counts_whole_run_) all = wrapped_engine().notes();
    all.push_back({"calling_threads_only",
                   "cycles and instructions of the region cover only the threads that call "
                   "lauka_region_begin and lauka_region_end, not other threads and children"});
    return all;
  }

 private:
  /// Adds the events with these names, or all if there is no name, to the pass of the region.
  Result<void> add_region_events(const std::vector<std::string>& names, EventSet& set) {
    if (names.empty())
      for (const AccountedEvent& total : kThreadTotals) add_region_event(total, set);

    for (const std::string& name : names) {
      const AccountedEvent* total = find_accounted(name, kThreadTotals);
      if (total == nullptr)
        return Error{fmt::format("{} cannot be counted with --region, because macOS tells a thread "
                                 "only its cycles and instructions",
                                 cited(name)),
                     "leave it out, or leave out --region"};
      add_region_event(*total, set);
    }
    return {};
  }

  void add_region_event(const AccountedEvent& account, EventSet& set) {
    Event* added = add_accounted(account, account.name, events_, set);
    if (added == nullptr) return;
    added->name_suffix = "(calling threads)";
    mark_as_region_event(*added);
  }

  /// Adds what the wrapped engine selected for the whole run to `set`, which has the events of the
  /// region. `passes_of_whole_run_` gets the wrapped engine's index of each added pass.
  void add_whole_run(EventSet whole_run, EventSet& set) {
    // The events of the region come first, so the indices of the others move up by their number.
    const std::size_t region_event_count = events_.size();
    for (Event& event : whole_run.events) {
      event.name += kWholeRunSuffix;
      event.role = Role::Other;  // the region's event keeps the role
      if (event.index_for_all_core_kinds) *event.index_for_all_core_kinds += region_event_count;
      set.events.push_back(std::move(event));
    }

    for (std::size_t pass_index = 0; pass_index < whole_run.passes.size(); ++pass_index) {
      Pass& pass = whole_run.passes[pass_index];
      if (needs_no_counters(pass)) {
        add_to_region_pass(pass, set);
        continue;
      }
      for (std::size_t& event_index : pass.event_indices) event_index += region_event_count;
      passes_of_whole_run_.push_back(pass_index);
      set.passes.push_back(std::move(pass));
    }

    set.notes.insert(set.notes.end(), whole_run.notes.begin(), whole_run.notes.end());
  }

  /// True if the kernel accounts for all events of a pass of the wrapped engine in every run.
  bool needs_no_counters(const Pass& pass) const {
    return std::ranges::all_of(pass.event_indices, [this](std::size_t event) {
      return wrapped_engine().accounted(event) != nullptr;
    });
  }

  /// Adds the events of a pass that needs no additional runs to the first pass, which is that of
  /// the region.
  void add_to_region_pass(const Pass& pass, EventSet& set) {
    for (const std::size_t event : pass.event_indices) {
      accounted_of_whole_run_.push_back(wrapped_engine().accounted(event));
      set.passes.front().event_indices.push_back(event + events_.size());
    }
  }

  std::vector<const AccountedEvent*> events_;
  std::vector<const AccountedEvent*> accounted_of_whole_run_;
  std::vector<std::size_t> passes_of_whole_run_;
  bool counts_whole_run_ = false;
};

}  // namespace

OwnedEngine with_calling_thread_counts(OwnedEngine engine) {
  return std::make_unique<CallingThreadsEngine>(std::move(engine));
}

}  // namespace lauka::engine
