#include "cores/thread_counters.h"

#include "engine/perf/counting.h"
#include "engine/perf/resolve.h"
#include "os/sysfs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace lauka::cores {
namespace {

namespace perf = engine::perf;

constexpr double kNs = 1e9;

/// What counts from the moment it is opened, this thread only.
os::PerfEventAttr attached(os::PerfEventAttr attributes) {
  attributes.flags &= ~(os::kPerfInherit | os::kPerfDisabled | os::kPerfEnableOnExec);
  return attributes;
}

Result<perf::Source> find_event(std::string_view name, const perf::Prober& prober,
                                const os::Sysfs& sysfs) {
  const auto resolved = perf::resolve(name, sysfs);
  if (!resolved) return resolved.error();
  return prober.probe(*resolved);
}

}  // namespace

ThreadCounting::ThreadCounting(CoreKinds kinds, const os::LinuxCalls& calls)
    : calls_(calls), kinds_(std::move(kinds)), situation_(perf::situation_of(calls)) {
  const bool has_counts = find_counters();
  if (kinds_.size() < 2) {
    columns_.push_back({"", true, false, has_counts});
    return;
  }
  if (!kinds_are_pmus_) clocks_.emplace(kinds_);
  columns_.push_back({"ALL", true, false, has_counts && !kinds_are_pmus_});
  for (const CoreKind& kind : kinds_) columns_.push_back({kind.name, false, true, kinds_are_pmus_});
}

/// Whether cycles and instructions can be counted.
bool ThreadCounting::find_counters() {
  const os::Sysfs sysfs(calls_);
  const perf::Prober prober(calls_, false, situation_);
  auto cycles = find_event("cycles", prober, sysfs);
  auto instructions = find_event("instructions", prober, sysfs);
  if (!cycles || !instructions) {
    const Error& why = cycles ? instructions.error() : cycles.error();
    notes_.push_back("no cycles and instructions: " + why.line());
    return false;
  }
  if (cycles->kernel_left_out)
    notes_.emplace_back("cycles and instructions are of user space only");
  cycles_ = std::move(cycles->counters);
  instructions_ = std::move(instructions->counters);
  const auto is_counted = [&](const CoreKind& kind) {
    return std::ranges::any_of(
        cycles_, [&](const perf::Counter& counter) { return counter.pmu == kind.pmu; });
  };
  kinds_are_pmus_ = kinds_.size() > 1 && kinds_.size() == cycles_.size() &&
                    std::ranges::all_of(kinds_, is_counted);
  return true;
}

Result<AttachedThread> AttachedThread::attach(const ThreadCounting& counting, int thread) {
  AttachedThread it(counting);
  int error = it.open_pmus(thread);
  if (error == 0) error = it.open_clocks(thread);
  if (error == ESRCH) {
    it.pmus_.clear();
    it.clocks_.clear();
  } else if (error != 0) {
    return perf::why_not_opened(error, {}, counting.situation_)
        .of(fmt::format("thread {} cannot be counted", thread));
  }
  return it;
}

AttachedThread::AttachedThread(AttachedThread&& other) noexcept
    : counting_(other.counting_),
      open_(std::exchange(other.open_, {})),
      pmus_(std::move(other.pmus_)),
      clocks_(std::move(other.clocks_)) {}

AttachedThread::~AttachedThread() {
  while (!open_.empty()) {
    counting_->calls_.close_counter(open_.back());
    open_.pop_back();
  }
}

/// The descriptor, or minus errno.
int AttachedThread::open(os::PerfEventAttr attributes, int thread, int cpu, int group) {
  const int opened = counting_->calls_.open_counter(attached(attributes), {thread, cpu}, group);
  if (opened >= 0) open_.push_back(opened);
  return opened;
}

/// 0 or errno.
int AttachedThread::open_pmus(int thread) {
  for (const perf::Counter& cycles : counting_->cycles_) {
    const int leader = open(cycles.attributes, thread, -1, -1);
    if (leader < 0) return -leader;
    pmus_.push_back({leader, cycles.pmu, false});
    for (const perf::Counter& other : counting_->instructions_) {
      if (other.pmu != cycles.pmu) continue;
      if (const int member = open(other.attributes, thread, -1, leader); member < 0) return -member;
      pmus_.back().has_instructions = true;
    }
  }
  return 0;
}

/// 0 or errno.
int AttachedThread::open_clocks(int thread) {
  if (!counting_->clocks_) return 0;
  for (const os::CounterRequest& request : counting_->clocks_->requests(0)) {
    os::PerfEventAttr attributes;
    std::memcpy(&attributes, request.attributes.data(), sizeof attributes);
    const int clock = open(attributes, thread, request.cpu, -1);
    const bool is_off = clock == -ENODEV && request.cpu >= 0;
    if (clock < 0 && !is_off) return -clock;
    clocks_.push_back(is_off ? -1 : clock);
  }
  return 0;
}

std::vector<ThreadPart> AttachedThread::read() const {
  std::vector<ThreadPart> parts(counting_->columns_.size());
  read_pmus(parts);
  read_clocks(parts);
  return parts;
}

os::Reading AttachedThread::read_alone(int descriptor) const {
  std::array<std::uint64_t, 4> words{};
  if (descriptor < 0 || counting_->calls_.read_counter(descriptor, words.data(), words.size()) < 4)
    return {};
  return {words[3], words[1], words[2]};
}

/// What each of pmus_ reads: number, enabled, running and the counts; all 0 where it cannot be
/// read.
std::vector<std::array<std::uint64_t, 5>> AttachedThread::read_groups() const {
  std::vector<std::array<std::uint64_t, 5>> groups(pmus_.size());
  for (std::size_t i = 0; i < pmus_.size(); ++i)
    if (counting_->calls_.read_counter(pmus_[i].leader, groups[i].data(), groups[i].size()) < 4)
      groups[i] = {};
  return groups;
}

bool AttachedThread::held_its_counters() const {
  std::uint64_t running = 0;
  std::uint64_t enabled = ~std::uint64_t{0};  // the last that was opened was on for the least time
  for (const auto& group : read_groups()) {
    running += group[2];
    enabled = std::min(enabled, group[1]);
  }
  return pmus_.empty() || perf::held_all_the_time(running, enabled, pmus_.size() > 1);
}

void AttachedThread::read_pmus(std::vector<ThreadPart>& parts) const {
  const CoreKinds& kinds = counting_->kinds_;
  const auto groups = read_groups();
  const bool held = held_its_counters();
  for (std::size_t i = 0; i < pmus_.size(); ++i) {
    const auto& words = groups[i];
    if (words[0] == 0) continue;
    std::size_t column = 0;
    if (counting_->kinds_are_pmus_) {
      while (column < kinds.size() && kinds[column].pmu != pmus_[i].pmu) ++column;
      ++column;  // behind the group for all kinds
      if (held) parts[column].cpu_seconds = static_cast<double>(words[2]) / kNs;
    }
    if (!held) continue;  // a part of the time, and never a guess at the rest
    parts[column].cycles = parts[column].cycles.value_or(0) + words[3];
    if (pmus_[i].has_instructions && words[0] >= 2)
      parts[column].instructions = parts[column].instructions.value_or(0) + words[4];
  }
}

void AttachedThread::read_clocks(std::vector<ThreadPart>& parts) const {
  if (clocks_.empty()) return;
  std::vector<os::Reading> readings;
  readings.reserve(clocks_.size());
  for (const int clock : clocks_) readings.push_back(read_alone(clock));
  CoreTimes times{std::vector<std::uint64_t>(counting_->kinds_.size())};
  // A clock that was never on belongs to a thread that slept all the time.
  if (readings.front().enabled_ns > 0)
    times = counting_->clocks_->times(readings, Usage{}, 0, counting_->situation_);
  for (std::size_t kind = 0; kind < times.ns.size(); ++kind)
    parts[kind + 1].cpu_seconds = static_cast<double>(times.ns[kind]) / kNs;
}

}  // namespace lauka::cores
