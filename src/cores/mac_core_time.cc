#include "cores/mac_core_time.h"

#include "cores/timed_engine.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lauka::cores {
namespace {

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

class PolledCounting final : public engine::Counting {
 public:
  PolledCounting(std::unique_ptr<engine::Counting> inner, const os::DarwinCalls& calls,
                 std::size_t kinds, std::optional<LeastShare> least)
      : inner_(std::move(inner)), poll_(calls, kinds), kinds_(kinds), least_(std::move(least)) {
    if (inner_ && inner_->watch() != nullptr) both_.emplace(*inner_->watch(), poll_);
  }

  os::CounterSetId on_launcher() const override {
    return inner_ ? inner_->on_launcher() : os::kNoCounters;
  }
  os::RunWatch* watch() override { return both_ ? static_cast<os::RunWatch*>(&*both_) : &poll_; }
  std::size_t runs_at_once() const override { return 1; }  // what was seen is of the last run

  engine::Counted finish(const os::Ended& ended) override {
    engine::Counted counted;
    if (inner_) counted = inner_->finish(ended);
    MacTimes times;
    if (!std::holds_alternative<NotStarted>(ended.outcome))
      times = mac_times(ended.totals, poll_.result(), ended.usage.user_ns + ended.usage.system_ns);
    if (times.ns.empty()) {
      counted.counts.resize(counted.counts.size() + kinds_ + 1);
    } else {
      counted.counts.insert(counted.counts.end(), times.ns.begin(), times.ns.end());
      counted.counts.emplace_back(times.unsplit_ns);
    }
    ask_for_redo(counted, times.ns, least_);
    if (times.ns.empty() && !counted.missing && ended.totals)
      counted.missing = Unavailable{"no time by kind of core: this kernel does not tell it",
                                    "macOS 13 and later do on Apple's own processors"};
    return counted;
  }

 private:
  std::unique_ptr<engine::Counting> inner_;
  RunPoll poll_;
  std::optional<BothWatches> both_{};
  std::size_t kinds_;
  std::optional<LeastShare> least_;
};

class PollingEngine final : public TimedEngine {
 public:
  PollingEngine(std::unique_ptr<CounterEngine> inner, const Decided& decided,
                const os::DarwinCalls& calls)
      : TimedEngine(std::move(inner), decided), calls_(calls), kinds_(decided.kinds.size()) {}

 private:
  Result<std::unique_ptr<engine::Counting>> arm_timed(std::size_t pass,
                                                      os::Launcher& launcher) override {
    auto inner = arm_inner(pass, launcher);
    if (!inner) return inner;
    return std::unique_ptr<engine::Counting>(
        std::make_unique<PolledCounting>(*std::move(inner), calls_, kinds_, least()));
  }

  const os::DarwinCalls& calls_;
  std::size_t kinds_;
};

std::uint64_t sum_of(const LevelTimes& times) {
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
}

std::uint64_t what_is_left(std::uint64_t all, std::uint64_t part) {
  return all - std::min(all, part);
}

}  // namespace

MacTimes mac_times(const std::optional<os::KernelTotals>& totals, const Polled& polled,
                   std::uint64_t reaped_ns) {
  if (!totals) return {};
  const std::uint64_t own = totals->user_ns + totals->system_ns;
  MacTimes times{polled.own};
  if (const auto& fast = totals->on_performance_cores) {
    times.ns.front() = fast->user_ns + fast->system_ns;
    if (times.ns.size() == 2) times.ns.back() = what_is_left(own, times.ns.front());
  }
  times.unsplit_ns = what_is_left(own, sum_of(times.ns));
  for (std::size_t kind = 0; kind < times.ns.size(); ++kind)
    times.ns[kind] += polled.descendants[kind];
  const std::uint64_t of_descendants = what_is_left(reaped_ns, own);
  times.unsplit_ns += what_is_left(of_descendants, polled.of_reaped_ns);
  return times;
}

std::unique_ptr<engine::CounterEngine> with_mac_core_time(
    std::unique_ptr<engine::CounterEngine> engine, const Decided& decided,
    const os::DarwinCalls& calls) {
  return std::make_unique<PollingEngine>(std::move(engine), decided, calls);
}

}  // namespace lauka::cores
