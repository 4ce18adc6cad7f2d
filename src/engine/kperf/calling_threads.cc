#include "core/foreign_text.h"
#include "core/metric.h"
#include "core/text.h"
#include "engine/choose.h"
#include "engine/kperf/kperf_engine.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace lauka::engine {
namespace {

/// What a thread is told of itself.
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
      return Error{"a thread that began a region did not end it, or is not told its counts",
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
    return event < events_.size() ? FreeReader{} : other().free_reader(event - events_.size());
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
        "cycles and instructions of the region are those of the threads that call "
        "lauka_region_begin and lauka_region_end: what other threads and children do "
        "meanwhile is not in them");
    return all;
  }

 private:
  static Error refusal_of(const std::string& name) {
    return Error{fmt::format("{} cannot be counted with --region: macOS tells a thread its cycles "
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

  /// Behind the region's, by names of their own. What costs nothing is read along with those.
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
          pass.events, [&](auto event) { return static_cast<bool>(other().free_reader(event)); });
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
  std::vector<std::size_t> whole_passes_;  // the other engine's, of those behind it
  bool counts_whole_ = false;
};

}  // namespace

std::unique_ptr<CounterEngine> of_calling_threads(std::unique_ptr<CounterEngine> engine) {
  return std::make_unique<OfCallingThreads>(std::move(engine));
}

}  // namespace lauka::engine
