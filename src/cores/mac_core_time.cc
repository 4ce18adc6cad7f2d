#include "cores/mac_core_time.h"

#include "cores/timed_engine.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lauka::cores {
namespace {

/// One look may take this part of the time until the next.
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

class PolledCounting final : public engine::Counting {
 public:
  PolledCounting(std::unique_ptr<engine::Counting> inner, const os::DarwinCalls& calls,
                 std::size_t kinds, std::optional<LeastShare> least)
      : inner_(std::move(inner)), poll_(calls, kinds), kinds_(kinds), least_(std::move(least)) {
    if (inner_ && inner_->watch() != nullptr) both_.emplace(*inner_->watch(), poll_);
  }

  std::vector<os::CounterRequest> requests() const override {
    return inner_ ? inner_->requests() : std::vector<os::CounterRequest>{};
  }
  os::RunWatch* watch() override { return both_ ? static_cast<os::RunWatch*>(&*both_) : &poll_; }
  bool counts_calling_threads() const override {
    return inner_ && inner_->counts_calling_threads();
  }
  std::size_t runs_at_once() const override { return 1; }  // what was seen is of the last run

  engine::Counted finish(const os::Ended& ended, std::size_t command) override {
    engine::Counted counted;
    if (inner_) counted = inner_->finish(ended, command);
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
      counted.missing = Error{"no time by kind of core: this kernel does not report it",
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
  Result<std::unique_ptr<engine::Counting>> arm_timed(std::size_t pass) override {
    auto inner = arm_inner(pass);
    if (!inner) return inner;
    return std::unique_ptr<engine::Counting>(
        std::make_unique<PolledCounting>(*std::move(inner), calls_, kinds_, least()));
  }

  const os::DarwinCalls& calls_;
  std::size_t kinds_;
};

std::uint64_t what_is_left(std::uint64_t all, std::uint64_t part) {
  return all - std::min(all, part);
}

}  // namespace

RunPoll::RunPoll(const os::DarwinCalls& calls, std::size_t levels)
    : calls_(calls), levels_(levels), base_(os::timebase_of(calls)) {}

void RunPoll::before_start() {
  seen_.clear();
  root_ = 0;
  looked_at_ = 0;
  took_ = 0;
}

void RunPoll::made(int pid) {
  root_ = pid;
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
  // What lost its parent is launchd's child now, and goes on with the command's work.
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
  if (own_totals_tell && has_levels) return;        // the zombie will tell it exactly
  Process& process = seen_[{pid, usage.started_at}];
  if (has_levels) {
    const std::uint64_t fast = usage.p_user_time + usage.p_system_time;
    const std::uint64_t all = usage.user_time + usage.system_time;
    process.times = {fast, all - std::min(all, fast)};
  } else {
    process.times = times_of_threads(pid, process, usage);
  }
}

/// The last seen of each thread, ended ones included. At exec the old thread's counts are copied to
/// the new one's; so much together is more than the process has, and the old ones go.
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
  // Read behind the threads: it is not below what they had.
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
