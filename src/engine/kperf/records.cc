#include "engine/kperf/records.h"

#include <algorithm>

// Source of what the records mean: XNU osfmk/kperf/{action,kperf_kpc}.c, osfmk/kern/thread.c and
// bsd/kern/kern_{fork,exec}.c. What decides here:
// - A thread ends by THREAD_TERMINATE_PID, which it writes itself; the sample that this triggers
//   follows on the same thread. Records of other threads may come between them.
// - A sample of n values is ceil(n / 4) records of four: the first carries START, the last END, and
//   one that is alone only START. Arguments after the n-th value are what was there before.
// - Where a thread has no counts yet, the kernel writes as many zeros as it has counters, whatever
// n.
// - An exec gives the process a new thread, first as a copy. It is a thread once EXEC is written on
//   it; a failed exec's copy vanishes without a word. PROC_EXIT is written at each exec and is no
//   end.

namespace lauka::engine::kperf {
namespace {

constexpr std::uint32_t kFunctionBits = kStart | kEnd;
constexpr std::size_t kValuesOfRecord = 4;
/// A process without a unique id is known by its pid.
constexpr std::uint64_t kByPid = std::uint64_t{1} << 63U;

/// Returns the key of a process. Kernels give unique ids from 1 up.
std::uint64_t key_of(std::int32_t pid, std::uint64_t unique_id) {
  return unique_id != 0 ? unique_id : kByPid | static_cast<std::uint32_t>(pid);
}

std::int32_t pid_of(std::uint64_t argument) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(argument));
}

}  // namespace

std::string words_of(TraceFault fault) {
  switch (fault) {
    case TraceFault::LostRecords:
      return "the trace lost records";
    case TraceFault::NoThread:
      return "the trace has no thread of the command";
    case TraceFault::ThreadNotEnded:
      return "the end of a thread of the command is missing in the trace";
    case TraceFault::EndedWithoutCounts:
      return "the counts of a thread that ended are missing in the trace";
    case TraceFault::MalformedSample:
      break;
  }
  return "a sample in the trace has another number of values than was programmed";
}

TraceReader::TraceReader(const Programmed& programmed, const TraceTarget& target)
    : programmed_(programmed),
      unique_id_(target.unique_id),
      target_is_bound_(target.unique_id != 0) {
  programmed_.values = std::clamp<std::size_t>(programmed.values, 1, kMaxUserCounters);
  processes_.push_back({target.pid, true});
  if (target_is_bound_) by_key_.emplace(key_of(target.pid, target.unique_id), 0);
}

void TraceReader::feed(std::span<const KdebugRecord> records) {
  for (const KdebugRecord& record : records) {
    switch (record.debugid) {
      case kThreadCountersData:
      case kThreadCountersData | kStart:
      case kThreadCountersData | kEnd:
        sample(record);
        break;
      case kNewThread:
        new_thread(record);
        break;
      case kExec:
        thread_of(record.thread).is_copy = false;
        break;
      case kThreadTerminatePid:
        thread_ended(record);
        break;
      case kLostEvents:
        lost_ = true;
        break;
      default:
        break;
    }
  }
}

TraceReader::Thread& TraceReader::thread_of(std::uint64_t tid) {
  if (last_thread_ == nullptr || last_tid_ != tid) {
    last_tid_ = tid;
    last_thread_ = &threads_[tid];  // stable: nodes of a map do not move
  }
  return *last_thread_;
}

TraceReader::ProcessIndex TraceReader::process_of(std::int32_t pid, std::uint64_t unique_id,
                                                  bool in_tree) {
  const auto next = static_cast<ProcessIndex>(processes_.size());
  const auto [known, is_new] = by_key_.emplace(key_of(pid, unique_id), next);
  if (is_new) processes_.push_back({pid, in_tree});
  return known->second;
}

bool TraceReader::in_tree(const Thread& thread) const {
  return thread.process != kUnknown && processes_[thread.process].in_tree;
}

void TraceReader::new_thread(const KdebugRecord& record) {
  const auto& [tid, pid_argument, is_copy, unique_id] = record.arguments;
  const std::int32_t pid = pid_of(pid_argument);
  if (!target_is_bound_ && pid == processes_.front().pid) {
    target_is_bound_ = true;
    unique_id_ = unique_id;
    by_key_.emplace(key_of(pid, unique_id), 0);
  }
  Thread& maker = thread_of(record.thread);
  const bool child_of_tree = in_tree(maker);
  const ProcessIndex process = process_of(pid, unique_id, child_of_tree);
  if (maker.process == kUnknown && !processes_[process].in_tree) maker.has_made_outsiders = true;
  Thread& made = thread_of(tid);
  made.process = process;
  made.is_copy = is_copy != 0;
}

void TraceReader::thread_ended(const KdebugRecord& record) {
  Thread& thread = thread_of(record.thread);
  // Unique ids only grow: the threads of a process that is younger than the target were made within
  // these records. If the creation of one was not seen, its process, or one that it created, may
  // belong to the tree.
  const bool was_seen = thread.process != kUnknown;
  thread.process = process_of(pid_of(record.arguments[0]), record.arguments[1], false);
  const bool is_younger = unique_id_ != 0 && record.arguments[1] > unique_id_;
  lost_ = lost_ || (!was_seen && (in_tree(thread) ? thread.has_made_outsiders : is_younger));
  thread.is_copy = false;
  thread.has_ended = true;
  thread.has_final_counts = false;
  thread.sample = SampleState::None;
}

void TraceReader::sample(const KdebugRecord& record) {
  Thread& thread = thread_of(record.thread);
  if (thread.process != kUnknown && !processes_[thread.process].in_tree) return;
  const std::size_t count = programmed_.values;
  const std::uint32_t function = record.debugid & kFunctionBits;
  if (function == kStart) {
    if (thread.values_at == kNoPlace) {
      thread.values_at = values_.size();
      values_.resize(values_.size() + 2 * count);
    }
    thread.sample = SampleState::Filling;
    thread.filled = 0;
  } else if (thread.sample != SampleState::Filling) {
    if (thread.sample == SampleState::Full) thread.is_malformed = true;
    return;
  }
  const std::size_t taken = std::min(kValuesOfRecord, count - thread.filled);
  std::copy_n(record.arguments.begin(), taken,
              values_.begin() + static_cast<std::ptrdiff_t>(thread.values_at + thread.filled));
  thread.filled += static_cast<std::uint32_t>(taken);
  if (thread.filled == count)
    close_sample(thread, function == (count <= kValuesOfRecord ? kStart : kEnd));
  else if (function == kEnd)
    close_sample(thread, false);
}

void TraceReader::close_sample(Thread& thread, bool ends_as_expected) {
  const auto begun = values_.begin() + static_cast<std::ptrdiff_t>(thread.values_at);
  const auto begun_end = begun + static_cast<std::ptrdiff_t>(thread.filled);
  if (std::all_of(begun, begun_end, [](std::uint64_t value) { return value == 0; })) {
    thread.sample = SampleState::Empty;
    return;
  }
  thread.sample = SampleState::Full;
  if (!ends_as_expected) {
    thread.is_malformed = true;
    return;
  }
  // The sample at a thread's end is final: a periodic sample may come even in the kernel's work
  // after it.
  if (thread.has_final_counts) return;
  std::copy(begun, begun_end, begun + static_cast<std::ptrdiff_t>(programmed_.values));
  thread.has_counts = true;
  thread.has_final_counts = thread.has_ended;
}

bool TraceReader::target_is_complete() const {
  bool any = false;
  for (const auto& [tid, thread] : threads_) {
    if (thread.process != 0 || thread.is_copy) continue;
    if (!thread.has_ended || (programmed_.at_exit && !thread.has_final_counts)) return false;
    any = true;
  }
  return any;
}

/// Adds a thread of the tree.
void TraceReader::add(const Thread& thread, TraceCounts& counts) const {
  const bool of_command = thread.process == 0;
  ++counts.threads_tree;
  if (of_command) ++counts.threads_command;
  if (!thread.has_ended) {
    ++counts.threads_not_ended_tree;
    if (of_command) ++counts.threads_not_ended_command;
  }
  if (!thread.has_counts) {
    ++counts.threads_without_counts_tree;
    return;
  }
  for (std::size_t i = 0; i < programmed_.values; ++i) {
    const std::uint64_t value = values_[thread.values_at + programmed_.values + i];
    counts.tree[i] += value;
    if (of_command) counts.command[i] += value;
  }
}

TraceCounts TraceReader::counts() const {
  TraceCounts counts;
  counts.command.resize(programmed_.values);
  counts.tree.resize(programmed_.values);
  bool without_counts = false;
  bool malformed = false;
  for (const auto& [tid, thread] : threads_) {
    if (!in_tree(thread) || thread.is_copy) continue;
    add(thread, counts);
    malformed = malformed || thread.is_malformed;
    without_counts =
        without_counts || (programmed_.at_exit && thread.has_ended && !thread.has_final_counts);
  }
  for (const Process& process : processes_) counts.processes_tree += process.in_tree ? 1U : 0U;
  if (lost_)
    counts.fault = TraceFault::LostRecords;
  else if (counts.threads_command == 0)
    counts.fault = TraceFault::NoThread;
  else if (counts.threads_not_ended_command != 0)
    counts.fault = TraceFault::ThreadNotEnded;
  else if (malformed)
    counts.fault = TraceFault::MalformedSample;
  else if (without_counts)
    counts.fault = TraceFault::EndedWithoutCounts;
  return counts;
}

}  // namespace lauka::engine::kperf
