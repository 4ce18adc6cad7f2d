#include "cores/run_poll.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

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

}  // namespace

RunPoll::RunPoll(const os::DarwinCalls& calls, std::size_t levels)
    : calls_(calls), levels_(levels) {
  if (calls_.mach_timebase_info(&base_) != 0 || base_.denominator == 0) base_ = {};
}

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
    return std::find(listed.ids.begin(), listed.ids.end(), one.first) == listed.ids.end();
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

std::uint64_t RunPoll::ns_of(std::uint64_t mach) const {
  return mach / base_.denominator * base_.numerator +
         mach % base_.denominator * base_.numerator / base_.denominator;
}

Polled RunPoll::result() const {
  Polled polled{LevelTimes(levels_), LevelTimes(levels_)};
  for (const auto& [known, process] : seen_) {
    LevelTimes& sum = known.pid == root_ ? polled.own : polled.descendants;
    for (std::size_t level = 0; level < process.times.size(); ++level)
      sum[level] += ns_of(process.times[level]);
    os::ProcessUsage usage;
    bool has_levels = false;
    const bool lives =
        read_usage(known.pid, usage, has_levels) && usage.started_at == known.started_at;
    if (known.pid != root_ && !lives) polled.of_reaped_ns += ns_of(sum_of(process.times));
  }
  return polled;
}

}  // namespace lauka::cores
