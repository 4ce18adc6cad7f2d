#include "cores/core_time.h"

#include "cores/cores.h"
#include "engine/engine.h"
#include "engine/perf/perf_engine.h"
#include "engine/perf/resolve.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace lauka::cores {

namespace {

namespace perf = engine::perf;

constexpr std::uint32_t kMostRedos = 3;

/// The clocks' sum was equal to the nanosecond in all that was tried; a difference of a millionth
/// is ignored.
constexpr std::uint64_t kApartPart = 1'000'000;

os::CounterRequest request_on(int cpu, std::size_t index) {
  const perf::KnownEvent& clock = *perf::find_known("task-clock");
  const perf::Rings user_only{true, false, true, false};
  os::CounterRequest request =
      perf::request_of(perf::as_leader(perf::attributes_of({clock.type, clock.config}, user_only)),
                       index);  // a group is of one CPU: each is alone
  request.cpu = cpu;
  request.optional = true;
  return request;
}

CoreTimes no_times(const Error& reason) {
  return {.missing = reason.of("no time by kind of core")};
}

// A look may take at most this fraction (1 / 100) of the time between looks.
constexpr std::uint64_t kCostPart = 100;
constexpr std::size_t kMostChildren = 1U << 16U;

std::uint64_t sum_of(const LevelTimes& times) {
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
}

void add(LevelTimes& sum, const LevelCounts& counts) {
  for (std::size_t level = 0; level < sum.size() && level < counts.size(); ++level)
    sum[level] += counts[level].user_time + counts[level].system_time;
}

/// Both follow the same run.
class BothWatches final : public os::RunWatch {
 public:
  BothWatches(os::RunWatch& first, os::RunWatch& second) : first_(first), second_(second) {}

  void before_start() override {
    first_.before_start();
    second_.before_start();
  }
  void made(int pid) override {
    first_.made(pid);
    second_.made(pid);
  }
  void running(int pid) override {
    first_.running(pid);
    second_.running(pid);
  }
  std::chrono::nanoseconds interval() const override {
    return std::min(first_.interval(), second_.interval());
  }

 private:
  os::RunWatch& first_;
  os::RunWatch& second_;
};

/// One pass, with the times by kind of core after its counts.
class TimedCounting : public engine::Counting {
 public:
  /// `inner`: null if nothing else is counted. `has_unsplit`: as CoreUse's.
  TimedCounting(std::unique_ptr<engine::Counting> inner, const Decided& decided, bool has_unsplit)
      : inner_(std::move(inner)),
        decided_(decided),
        columns_(kinds().size() + (has_unsplit ? 1 : 0)) {}

  bool counts_calling_threads() const override {
    return inner_ && inner_->counts_calling_threads();
  }

  engine::Counted finish(const os::Ended& ended, std::size_t command) override {
    engine::Counted counted = finish_inner(ended, command);
    CoreTimes times;
    if (!std::holds_alternative<NotStarted>(ended.outcome)) times = times_of(ended, counted);
    const std::size_t first = counted.counts.size();
    counted.counts.resize(first + columns_);
    for (std::size_t i = 0; !times.ns.empty() && i < columns_; ++i)
      counted.counts[first + i] = i < times.ns.size() ? times.ns[i] : times.unsplit_ns;
    ask_for_redo(counted, times.ns);
    if (!counted.missing) counted.missing = std::move(times.missing);
    return counted;
  }

 protected:
  virtual engine::Counted finish_inner(const os::Ended& ended, std::size_t command) {
    return inner_ ? inner_->finish(ended, command) : engine::Counted{};
  }
  virtual CoreTimes times_of(const os::Ended& ended, const engine::Counted& counted) = 0;

  engine::Counting* inner() const { return inner_.get(); }
  const CoreKinds& kinds() const { return decided_.kinds; }

 private:
  /// Has a run with less than --min-p-share on the first kind of core run again.
  void ask_for_redo(engine::Counted& counted, const std::vector<std::uint64_t>& ns) const {
    const auto all = std::accumulate(ns.begin(), ns.end(), std::uint64_t{0});
    const auto least = decided_.use.min_share;
    if (counted.redo || !least || all == 0) return;
    if (static_cast<double>(ns.front()) < *least * static_cast<double>(all))
      counted.redo = engine::Redo{fmt::format("less than {}% of the CPU time was spent on {} cores",
                                              100 * *least, kinds().front().name),
                                  kMostRedos};
  }

  std::unique_ptr<engine::Counting> inner_;
  const Decided& decided_;
  std::size_t columns_;
};

/// On Linux: by the counters of the kinds of core, or else by clocks.
class ClockedCounting final : public TimedCounting {
 public:
  ClockedCounting(std::unique_ptr<engine::Counting> inner, const Decided& decided,
                  const Clocks& clocks, const perf::Situation& situation)
      : TimedCounting(std::move(inner), decided, false), clocks_(clocks), situation_(situation) {
    if (this->inner() != nullptr) {
      requests_ = this->inner()->requests();
      find_places(this->inner()->timed_pmus());
    }
    inner_counters_ = requests_.size();
    if (!places_.empty()) return;
    const auto own = clocks_.requests(requests_.size());
    // With too many clocks and other counters there are no times, and finish reports it.
    if (requests_.size() + own.size() <= os::kMaxCounters)
      requests_.insert(requests_.end(), own.begin(), own.end());
  }

  std::vector<os::CounterRequest> requests() const override { return requests_; }
  os::RunWatch* watch() override { return inner() != nullptr ? inner()->watch() : nullptr; }
  std::size_t runs_at_once() const override {
    return inner() != nullptr ? inner()->runs_at_once() : os::Launcher::kMaxBatch;
  }

 private:
  /// Finds the kinds' PMUs among `pmus`; none unless all are there.
  void find_places(const std::vector<std::string>& pmus) {
    for (const CoreKind& kind : kinds()) {
      const auto place = std::ranges::find(pmus, kind.pmu);
      if (!kind.pmu.empty() && place != pmus.end())
        places_.push_back(static_cast<std::size_t>(place - pmus.begin()));
    }
    if (places_.size() != kinds().size() || places_.size() != pmus.size()) places_.clear();
  }

  engine::Counted finish_inner(const os::Ended& ended, std::size_t command) override {
    os::Ended of_inner = ended;
    of_inner.readings.resize(std::min(of_inner.readings.size(), inner_counters_));
    return TimedCounting::finish_inner(of_inner, command);
  }

  CoreTimes times_of(const os::Ended& ended, const engine::Counted& counted) override {
    if (places_.empty()) {
      const std::span<const os::Reading> all = ended.readings;
      return clocks_.times(all.subspan(std::min(all.size(), inner_counters_)), ended.usage,
                           ended.optional_error, situation_);
    }
    CoreTimes times;  // empty if the counts are missing as well, with their reason
    if (counted.pmu_ns.size() == places_.size())
      for (const std::size_t place : places_) times.ns.push_back(counted.pmu_ns[place]);
    return times;
  }

  const Clocks& clocks_;
  perf::Situation situation_;
  std::vector<os::CounterRequest> requests_;  ///< the inner ones, then the clocks
  std::size_t inner_counters_ = 0;
  std::vector<std::size_t> places_;  ///< of the kinds in Counted::pmu_ns; empty: clocks are used
};

/// On macOS: by looks at the run.
class PolledCounting final : public TimedCounting {
 public:
  PolledCounting(std::unique_ptr<engine::Counting> inner, const Decided& decided,
                 const os::DarwinCalls& calls)
      : TimedCounting(std::move(inner), decided, true), poll_(calls, kinds().size()) {
    if (this->inner() != nullptr && this->inner()->watch() != nullptr)
      both_.emplace(*this->inner()->watch(), poll_);
  }

  std::vector<os::CounterRequest> requests() const override {
    return inner() != nullptr ? inner()->requests() : std::vector<os::CounterRequest>{};
  }
  os::RunWatch* watch() override { return both_ ? static_cast<os::RunWatch*>(&*both_) : &poll_; }
  std::size_t runs_at_once() const override { return 1; }  // what was seen is of the last run

 private:
  CoreTimes times_of(const os::Ended& ended, const engine::Counted& /*counted*/) override {
    CoreTimes times =
        mac_times(ended.totals, poll_.result(), ended.usage.user_ns + ended.usage.system_ns);
    if (times.ns.empty() && ended.totals)
      times.missing = Error{"no time by kind of core: this kernel does not report it",
                            "macOS 13 and later do on Apple's own processors"};
    return times;
  }

  RunPoll poll_;
  std::optional<BothWatches> both_{};
};

/// Adds the times by kind of core to the counts of another engine.
class CoreTimeEngine final : public engine::EngineAround {
 public:
  /// One of `linux` and `darwin` is null.
  CoreTimeEngine(std::unique_ptr<CounterEngine> inner, const Decided& decided,
                 const os::LinuxCalls* linux, const os::DarwinCalls* darwin)
      : EngineAround(std::move(inner)),
        decided_(decided),
        darwin_(darwin),
        clocks_(decided_.kinds),
        situation_(linux != nullptr ? perf::situation_of(*linux) : perf::Situation{}) {}

  Result<EventSet> select(const EventRequest& wanted) override {
    auto set = other().select(wanted);
    passes_.clear();
    if (set) passes_ = set->passes;
    return set;
  }

  Result<std::unique_ptr<engine::Counting>> arm(std::size_t pass) override {
    std::unique_ptr<engine::Counting> inner;  // null if the other engine counts nothing
    if (pass < passes_.size()) {
      auto armed = other().arm(pass);
      if (!armed) return armed;
      inner = *std::move(armed);
    }
    const bool is_timed = pass >= passes_.size() || passes_[pass].kind == RoundKind::Timed;
    const bool is_for_times =
        decided_.use.apart ? pass == core_time_pass_of(passes_.size()) : is_timed;
    if (!is_for_times) return inner ? std::move(inner) : engine::count_free({});
    if (darwin_ != nullptr)
      return std::unique_ptr<engine::Counting>(
          std::make_unique<PolledCounting>(std::move(inner), decided_, *darwin_));
    return std::unique_ptr<engine::Counting>(
        std::make_unique<ClockedCounting>(std::move(inner), decided_, clocks_, situation_));
  }

 private:
  Decided decided_;
  const os::DarwinCalls* darwin_;
  Clocks clocks_;
  perf::Situation situation_;
  std::vector<Pass> passes_{};  // what the other engine selected last
};

std::uint64_t remainder(std::uint64_t all, std::uint64_t part) {
  return all - std::min(all, part);
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
  if (error != 0) return no_times(perf::why_not_opened(error, {}, situation));
  if (readings.size() != clocks_.size() + 1)
    return no_times({fmt::format("it takes {} counters, and at most {} are opened for a run",
                                 clocks_.size() + 1, os::kMaxCounters),
                     "count fewer events"});
  const os::Reading& all = readings.front();
  if (perf::was_lost(all.enabled_ns, usage, readings.size())) return no_times(perf::why_lost());
  CoreTimes times{std::vector<std::uint64_t>(kinds_)};
  std::uint64_t split = 0;
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    times.ns[clocks_[i].kind] += readings[i + 1].value;
    split += readings[i + 1].value;
  }
  if (split > all.value + all.value / kApartPart)
    return no_times({"the clocks of single CPUs add up to more than the clock of all", ""});
  times.ns[largest_] = all.value - std::min(split, all.value);
  return times;
}

RunPoll::RunPoll(const os::DarwinCalls& calls, std::size_t levels)
    : calls_(calls), levels_(levels), base_(os::timebase_of(calls)) {}

void RunPoll::before_start() {
  seen_.clear();
  root_ = 0;
  looked_at_ = 0;
  took_ = 0;
}

void RunPoll::running(int pid) {
  const std::uint64_t begin = calls_.mach_absolute_time();
  if (looked_at_ != 0 && begin - looked_at_ < kCostPart * took_) return;
  std::set<int> looked{pid};
  std::vector<int> left{pid};
  while (!left.empty()) {
    const int parent = left.back();
    left.pop_back();
    look_at(parent);
    for (const int child : children_of(parent))
      if (looked.insert(child).second) left.push_back(child);
  }
  // Orphans are launchd's children now, and go on with the command's work.
  std::vector<int> orphans;
  for (const auto& [known, process] : seen_)
    if (!looked.contains(known.pid)) orphans.push_back(known.pid);
  for (const int orphan : orphans) look_at(orphan);
  looked_at_ = calls_.mach_absolute_time();
  took_ = looked_at_ - begin;
}

bool RunPoll::read_usage(int pid, os::ProcessUsage& usage, bool& has_levels) const {
  auto* const place = reinterpret_cast<void**>(&usage);  // the system's own, odd, signature
  has_levels = levels_ == 2 && calls_.proc_pid_rusage(pid, os::kRusageV6, place) == 0;
  return has_levels || calls_.proc_pid_rusage(pid, os::kRusageV4, place) == 0;
}

void RunPoll::look_at(int pid) {
  const bool own_totals_tell = pid == root_ && levels_ == 2;
  os::ProcessUsage usage;
  bool has_levels = false;
  if (!read_usage(pid, usage, has_levels)) return;  // gone, or another user's
  if (own_totals_tell && has_levels) return;        // the zombie has it exactly
  Process& process = seen_[{pid, usage.started_at}];
  if (has_levels) {
    const std::uint64_t fast = usage.p_user_time + usage.p_system_time;
    const std::uint64_t all = usage.user_time + usage.system_time;
    process.times = {fast, all - std::min(all, fast)};
  } else {
    process.times = times_of_threads(pid, process, usage);
  }
}

/// Sums the last values of each thread, ended ones included. At exec the old thread's counts are
/// copied to the new one's; a sum above the process's drops the old ones.
LevelTimes RunPoll::times_of_threads(int pid, Process& process,
                                     const os::ProcessUsage& before) const {
  const ThreadIds listed = thread_ids(calls_, pid);
  LevelTimes living(levels_);
  for (const std::uint64_t id : listed.ids) {
    CountsOfThread counts = thread_counts(calls_, pid, id, levels_);
    if (counts.error != 0) continue;  // it has just ended
    add(living, counts.levels);
    process.threads[id] = std::move(counts.levels);
  }
  LevelTimes all(levels_);
  for (const auto& [id, counts] : process.threads) add(all, counts);
  // Read after the threads, so it is not below their sum.
  os::ProcessUsage now = before;
  bool has_levels = false;
  if (!read_usage(pid, now, has_levels) || sum_of(all) <= now.user_time + now.system_time)
    return all;
  std::erase_if(process.threads, [&](const auto& one) {
    return std::ranges::find(listed.ids, one.first) == listed.ids.end();
  });
  return living;
}

std::vector<int> RunPoll::children_of(int pid) const {
  for (std::size_t room = 64; room <= kMostChildren; room *= 2) {
    std::vector<int> children(room);
    const int count = calls_.proc_listchildpids(pid, children.data(),
                                                static_cast<int>(room * sizeof children[0]));
    if (count <= 0) return {};
    if (static_cast<std::size_t>(count) >= room) continue;  // it may have been too small
    children.resize(static_cast<std::size_t>(count));
    return children;
  }
  return {};
}

Polled RunPoll::result() const {
  Polled polled{LevelTimes(levels_), LevelTimes(levels_)};
  for (const auto& [known, process] : seen_) {
    LevelTimes& sum = known.pid == root_ ? polled.own : polled.descendants;
    for (std::size_t level = 0; level < process.times.size(); ++level)
      sum[level] += os::ns_of_mach(process.times[level], base_);
    os::ProcessUsage usage;
    bool has_levels = false;
    const bool lives =
        read_usage(known.pid, usage, has_levels) && usage.started_at == known.started_at;
    if (known.pid != root_ && !lives)
      polled.of_reaped_ns += os::ns_of_mach(sum_of(process.times), base_);
  }
  return polled;
}

CoreTimes mac_times(const std::optional<os::KernelTotals>& totals, const Polled& polled,
                    std::uint64_t reaped_ns) {
  if (!totals) return {};
  const std::uint64_t own = totals->user_ns + totals->system_ns;
  CoreTimes times{polled.own};
  if (const auto& fast = totals->on_performance_cores) {
    times.ns.front() = fast->user_ns + fast->system_ns;
    if (times.ns.size() == 2) times.ns.back() = remainder(own, times.ns.front());
  }
  times.unsplit_ns = remainder(own, sum_of(times.ns));
  for (std::size_t kind = 0; kind < times.ns.size(); ++kind)
    times.ns[kind] += polled.descendants[kind];
  const std::uint64_t of_descendants = remainder(reaped_ns, own);
  times.unsplit_ns += remainder(of_descendants, polled.of_reaped_ns);
  return times;
}

std::optional<Error> why_no_core_time(const os::LinuxCalls& calls) {
  if (const auto able = perf::can_count(calls); !able) return able.error();
  return std::nullopt;
}

std::unique_ptr<engine::CounterEngine> with_core_time(std::unique_ptr<engine::CounterEngine> engine,
                                                      const Decided& decided,
                                                      const os::LinuxCalls* linux,
                                                      const os::DarwinCalls* darwin) {
  if (decided.use.timed.empty() || (linux == nullptr && darwin == nullptr)) return engine;
  return std::make_unique<CoreTimeEngine>(std::move(engine), decided, linux,
                                          linux != nullptr ? nullptr : darwin);
}

}  // namespace lauka::cores
