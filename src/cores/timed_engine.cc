#include "cores/timed_engine.h"

#include "cores/cores.h"
#include "cores/mac_core_time.h"
#include "engine/perf/counting.h"
#include "engine/perf/opening.h"
#include "engine/perf/perf_engine.h"
#include "engine/perf/reasons.h"
#include "engine/perf/resolve.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace lauka::cores {

namespace {

namespace perf = engine::perf;

/// The clocks' sum was equal to the nanosecond in all that was tried; a difference of a millionth
/// is none.
constexpr std::uint64_t kApartPart = 1'000'000;

os::PerfEventAttr clock_attributes() {
  const perf::KnownEvent& clock = *perf::find_known("task-clock");
  const perf::Rings user_only{true, false, true, false};
  return perf::as_leader(perf::attributes_of(os::Code{clock.type, clock.config}, user_only));
}

os::CounterRequest request_on(int cpu, std::size_t index) {
  os::CounterRequest request;
  const os::PerfEventAttr attributes = clock_attributes();
  static_assert(sizeof attributes == sizeof request.attributes);
  std::memcpy(request.attributes.data(), &attributes, sizeof attributes);
  request.leader = index;  // a group is of one CPU: each stands alone
  request.cpu = cpu;
  request.optional = true;
  return request;
}

Error no_times(const Error& reason) {
  return reason.of("no time by kind of core");
}

}  // namespace

Clocks::Clocks(const CoreKinds& kinds) : kinds_(kinds.size()) {
  for (std::size_t kind = 1; kind < kinds.size(); ++kind)
    if (kinds[kind].cpus.size() > kinds[largest_].cpus.size()) largest_ = kind;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kind == largest_) continue;
    for (const std::uint32_t cpu : kinds[kind].cpus) clocks_.push_back({kind, cpu});
  }
}

std::vector<os::CounterRequest> Clocks::requests(std::size_t others) const {
  std::vector<os::CounterRequest> requests{request_on(-1, others)};
  for (const OnCpu& clock : clocks_)
    requests.push_back(request_on(static_cast<int>(clock.cpu), others + requests.size()));
  return requests;
}

CoreTimes Clocks::times(std::span<const os::Reading> readings, const Usage& usage, int error,
                        const perf::Situation& situation) const {
  if (error != 0) return {{}, no_times(perf::why_not_opened(error, {}, situation))};
  if (readings.size() != clocks_.size() + 1)
    return {{},
            no_times({fmt::format("it takes {} counters, and at most {} are opened for a run",
                                  clocks_.size() + 1, os::kMaxCounters),
                      "count fewer events"})};
  const os::Reading& all = readings.front();
  if (perf::was_lost(all.enabled_ns, usage, readings.size()))
    return {{}, no_times(perf::why_lost())};
  CoreTimes times{std::vector<std::uint64_t>(kinds_)};
  std::uint64_t told = 0;
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    times.ns[clocks_[i].kind] += readings[i + 1].value;
    told += readings[i + 1].value;
  }
  if (told > all.value + all.value / kApartPart)
    return {{}, no_times({"the clocks of single CPUs add up to more than the clock of all", ""})};
  times.ns[largest_] = all.value - std::min(told, all.value);
  return times;
}

namespace {

constexpr std::uint32_t kMostRedos = 3;

}  // namespace

std::optional<LeastShare> least_of(const Decided& decided) {
  if (!decided.use.min_share) return std::nullopt;
  return LeastShare{*decided.use.min_share,
                    fmt::format("less than {}% of the CPU time was spent on {} cores",
                                100 * *decided.use.min_share, decided.kinds.front().name)};
}

void ask_for_redo(engine::Counted& counted, const std::vector<std::uint64_t>& ns,
                  const std::optional<LeastShare>& least) {
  const auto all = std::accumulate(ns.begin(), ns.end(), std::uint64_t{0});
  if (counted.redo || !least || all == 0) return;
  if (static_cast<double>(ns.front()) < least->share * static_cast<double>(all))
    counted.redo = engine::Redo{least->why, kMostRedos};
}

namespace {

namespace perf = engine::perf;

/// The places in Counting::timed_pmus of the kinds' PMUs; empty where not all are there.
std::vector<std::size_t> places_of(const CoreKinds& kinds, const std::vector<std::string>& pmus) {
  std::vector<std::size_t> places;
  for (const CoreKind& kind : kinds) {
    const auto place = std::ranges::find(pmus, kind.pmu);
    if (kind.pmu.empty() || place == pmus.end()) return {};
    places.push_back(static_cast<std::size_t>(place - pmus.begin()));
  }
  return pmus.size() == places.size() ? places : std::vector<std::size_t>{};
}

/// One pass, with the times by kind of core behind its counts.
class TimedCounting final : public engine::Counting {
 public:
  struct Parts {
    std::unique_ptr<engine::Counting> inner{};  ///< null: nothing else is counted
    std::size_t inner_counters = 0;             ///< how many of the readings are its own
    std::vector<std::size_t> places{};  ///< of the kinds in its times; empty: clocks are used
    std::vector<os::CounterRequest> requests{};  ///< its own, then the clocks
  };

  TimedCounting(Parts parts, const Clocks& clocks, std::size_t kinds,
                std::optional<LeastShare> least, const perf::Situation& situation)
      : parts_(std::move(parts)),
        clocks_(clocks),
        kinds_(kinds),
        least_(std::move(least)),
        situation_(situation) {}

  std::vector<os::CounterRequest> requests() const override { return parts_.requests; }
  os::RunWatch* watch() override { return parts_.inner ? parts_.inner->watch() : nullptr; }
  std::size_t runs_at_once() const override {
    return parts_.inner ? parts_.inner->runs_at_once() : os::Launcher::kMaxBatch;
  }

  engine::Counted finish(const os::Ended& ended, std::size_t command) override {
    engine::Counted counted = finish_inner(ended, command);
    CoreTimes times;
    if (!std::holds_alternative<NotStarted>(ended.outcome)) times = times_of(ended, counted);
    for (std::size_t kind = 0; kind < kinds_; ++kind) {
      if (times.ns.empty())
        counted.counts.emplace_back();
      else
        counted.counts.emplace_back(times.ns[kind]);
    }
    ask_for_redo(counted, times.ns, least_);
    if (!counted.missing) counted.missing = std::move(times.missing);
    return counted;
  }

 private:
  engine::Counted finish_inner(const os::Ended& ended, std::size_t command) {
    if (!parts_.inner) return {};
    os::Ended of_inner = ended;
    of_inner.readings.resize(std::min(of_inner.readings.size(), parts_.inner_counters));
    return parts_.inner->finish(of_inner, command);
  }

  CoreTimes times_of(const os::Ended& ended, const engine::Counted& counted) const {
    if (!parts_.places.empty()) {
      if (counted.pmu_ns.size() != parts_.places.size()) return {};  // its reason is told already
      CoreTimes times;
      for (const std::size_t place : parts_.places) times.ns.push_back(counted.pmu_ns[place]);
      return times;
    }
    const std::span<const os::Reading> all = ended.readings;
    return clocks_.times(all.subspan(std::min(all.size(), parts_.inner_counters)), ended.usage,
                         ended.optional_error, situation_);
  }

  Parts parts_;
  const Clocks& clocks_;
  std::size_t kinds_;
  std::optional<LeastShare> least_;
  perf::Situation situation_;
};

class TimingEngine final : public TimedEngine {
 public:
  TimingEngine(std::unique_ptr<CounterEngine> inner, const Decided& decided,
               const os::LinuxCalls& calls)
      : TimedEngine(std::move(inner), decided),
        kinds_(decided.kinds),
        clocks_(kinds_),
        situation_(perf::situation_of(calls)) {}

 private:
  Result<std::unique_ptr<engine::Counting>> arm_timed(std::size_t pass) override {
    TimedCounting::Parts parts;
    auto inner = arm_inner(pass);
    if (!inner) return inner;
    parts.inner = *std::move(inner);
    auto& requests = parts.requests;
    if (parts.inner) {
      requests = parts.inner->requests();
      parts.places = places_of(kinds_, parts.inner->timed_pmus());
    }
    parts.inner_counters = requests.size();
    if (parts.places.empty()) {
      const auto clocks = clocks_.requests(requests.size());
      // Where they are too many beside what else is counted, there are no times: finish says so.
      if (requests.size() + clocks.size() <= os::kMaxCounters)
        requests.insert(requests.end(), clocks.begin(), clocks.end());
    }
    return std::unique_ptr<engine::Counting>(std::make_unique<TimedCounting>(
        std::move(parts), clocks_, kinds_.size(), least(), situation_));
  }

  CoreKinds kinds_;
  Clocks clocks_;
  perf::Situation situation_;
};

}  // namespace

std::optional<Error> why_no_core_time(const os::LinuxCalls& calls) {
  if (const auto able = perf::can_count(calls); !able) return able.error();
  return std::nullopt;
}

std::unique_ptr<engine::CounterEngine> with_core_time(std::unique_ptr<engine::CounterEngine> engine,
                                                      const Decided& decided,
                                                      const os::LinuxCalls* linux,
                                                      const os::DarwinCalls* darwin) {
  if (decided.use.timed.empty()) return engine;
  if (linux != nullptr) return std::make_unique<TimingEngine>(std::move(engine), decided, *linux);
  if (darwin != nullptr) return with_mac_core_time(std::move(engine), decided, *darwin);
  return engine;
}

}  // namespace lauka::cores
