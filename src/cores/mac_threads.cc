#include "cores/mac_threads.h"

#include "core/text.h"
#include "cores/threads.h"
#include "os/mac_queries.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace lauka::cores {

namespace {

constexpr std::size_t kMaxThreads = 1U << 20U;

constexpr const char* kNoCountsNote =
    "there are no cycles and instructions, because the kernel of this virtual machine does not "
    "count them";

Error make_read_error(int error, int process) {
  if (error == EPERM)
    return {fmt::format("process {} belongs to another user", process),
            "run lauka as that user, or with sudo"};
  if (error == ENOTSUP)
    return {
        "this kernel does not count each kind of core separately, as is usual in a virtual machine",
        "use a Mac with Apple silicon and macOS 13 or later, and no virtual machine"};
  return {fmt::format("there is no process {}", process), "pgrep -l NAME finds it"};
}

Result<void> check_mac_process(const os::DarwinCalls& calls, int process, std::size_t levels) {
  std::vector<std::uint64_t> threads;
  int error = list_thread_ids(calls, process, threads);
  for (const std::uint64_t id : threads) {
    const int result = read_thread_counts(calls, process, id, levels).error;
    if (result == 0) return {};
    if (result != ESRCH) error = result;
  }
  if (error != 0) return make_read_error(error, process);
  return {};
}

/// Returns the names of the performance levels; an error if the threads of `processes` cannot be
/// read by level.
Result<std::vector<std::string>> find_levels(const os::DarwinCalls& calls,
                                             const std::vector<std::int32_t>& processes) {
  std::vector<std::string> levels = read_performance_levels(calls);
  if (levels.empty())
    return Error{"this system does not tell kinds of core apart", "leave out --threads"};
  for (const std::int32_t process : processes)
    if (auto able = check_mac_process(calls, process, levels.size()); !able) return able.error();
  return levels;
}

std::string thread_name(const os::DarwinCalls& calls, int process, std::uint64_t thread) {
  os::ThreadInfo info;
  if (calls.proc_pidinfo(process, os::kPidThreadId64Info, thread, &info, sizeof info) <= 0)
    return "";
  const char* const begin = info.name.data();
  return {begin, std::find(begin, begin + info.name.size(), '\0')};
}

using std::chrono::nanoseconds;

class MacStream final : public ThreadStream {
 public:
  /// `first_read_makes_samples`: true if the first read() returns the work of each thread since its
  /// start; false if it returns nothing.
  MacStream(const std::vector<std::int32_t>& processes, std::vector<std::string> levels,
            const os::DarwinCalls& calls, bool first_read_makes_samples = false)
      : ThreadStream(processes.size(), std::move(levels)),
        calls_(calls),
        timebase_(os::timebase_of(calls)),
        first_read_makes_samples_(first_read_makes_samples) {
    for (const std::int32_t process : processes) watched_.push_back({process, {}});
  }

  std::vector<std::string> notes() const override {
    if (was_counted_ || !previous_read_time()) return {};
    return {kNoCountsNote};
  }

  bool was_counted() const { return was_counted_; }

 private:
  struct Thread {
    std::string name;
    CountsByLevel counts;
    KindMoveCounter moves;
    nanoseconds read_at{};
    bool was_seen = true;
  };
  struct WatchedProcess {
    std::int32_t id;
    std::map<std::uint64_t, Thread> threads;
  };

  /// Adds a sample for each thread of a process: its work since the previous read. Returns false if
  /// the process has ended.
  bool read_process(std::size_t process_index, nanoseconds now,
                    std::vector<ThreadSample>& samples) override {
    WatchedProcess& process = watched_[process_index];
    for (auto& [id, thread] : process.threads) thread.was_seen = false;

    // The process could be read when the stream was opened, so an error means that it has ended.
    std::vector<std::uint64_t> ids;
    const bool exists = list_thread_ids(calls_, process.id, ids) == 0;
    for (const std::uint64_t id : ids) {
      CountsOfThread read = read_thread_counts(calls_, process.id, id, kinds().size());
      if (read.error != 0)
        keep_unless_ended(process, id, read.error);
      else if (auto sample = store_counts(process, id, std::move(read.counts), now))
        samples.push_back(*std::move(sample));
    }

    add_samples_of_ended(process, now, samples);
    return exists;
  }

  /// Keeps a thread that could not be read, unless `error` says that it has ended. It may be
  /// readable next time. Then a sample has its work of both intervals.
  static void keep_unless_ended(WatchedProcess& process, std::uint64_t id, int error) {
    const bool may_still_exist = error != ESRCH;
    const auto unreadable = process.threads.find(id);
    if (may_still_exist && unreadable != process.threads.end()) unreadable->second.was_seen = true;
  }

  /// Stores what a thread has done since its start (`counts`). Returns a sample of the work that is
  /// new since the previous read. Returns nullopt at the stream's first read if that makes no
  /// samples.
  std::optional<ThreadSample> store_counts(WatchedProcess& process, std::uint64_t id,
                                           CountsByLevel counts, nanoseconds now) {
    const auto [id_and_thread, is_new] = process.threads.try_emplace(id);
    Thread& thread = id_and_thread->second;
    thread.was_seen = true;
    if (is_new) {
      thread.name = thread_name(calls_, process.id, id);
      // The work of a new thread counts from its start, at which all counts were 0.
      thread.counts.resize(kinds().size());
    }

    // Every read counts moves between kinds of core, even one that makes no samples.
    const std::uint64_t core_kind_moves = count_moves(thread, counts);

    std::optional<ThreadSample> sample;
    const bool is_first_read = !previous_read_time();
    const bool makes_sample = !is_first_read || first_read_makes_samples_;
    if (makes_sample) {
      sample = begin_sample(process.id, id, thread.name, now);
      add_work(thread.counts, counts, *sample);
      sample->is_new = is_new;
      // The thread may be missing in the stream's previous read, so its own previous read counts.
      if (!is_new) sample->since_previous_read = now - thread.read_at;
      const bool has_several_kinds = kinds().size() > 1;
      if (has_several_kinds) sample->core_kind_moves = core_kind_moves;
    }

    thread.counts = std::move(counts);
    thread.read_at = now;
    return sample;
  }

  /// Adds a final sample of each ended thread, which is then forgotten. The work in the sample is
  /// unknown.
  void add_samples_of_ended(WatchedProcess& process, nanoseconds now,
                            std::vector<ThreadSample>& samples) const {
    for (const auto& [id, thread] : process.threads) {
      if (thread.was_seen) continue;
      samples.push_back(begin_sample(process.id, id, thread.name, now));
      samples.back().has_ended = true;
    }
    std::erase_if(process.threads, [](const auto& entry) { return !entry.second.was_seen; });
  }

  static std::uint64_t count_moves(Thread& thread, const CountsByLevel& now) {
    std::uint32_t kinds = 0;
    for (std::size_t level = 0; level < now.size() && level < 32; ++level) {
      const os::ThreadCounts& then = thread.counts[level];
      const bool was_there =
          now[level].user_time + now[level].system_time > then.user_time + then.system_time;
      if (was_there) kinds |= 1U << level;
    }
    return thread.moves.count_kind_moves(kinds);
  }

  double seconds(std::uint64_t mach) const {
    return static_cast<double>(mach) * timebase_.numerator / timebase_.denominator / 1e9;
  }

  /// Adds the work between two reads of a thread to its sample.
  void add_work(const CountsByLevel& before, const CountsByLevel& now, ThreadSample& sample) {
    for (const os::ThreadCounts& level : now) was_counted_ = was_counted_ || level.cycles > 0;
    for (std::size_t level = 0; level < kinds().size(); ++level) {
      const os::ThreadCounts& then = before[level];
      ThreadWork& part = sample.work_by_kind[level];
      part.user_seconds = seconds(now[level].user_time - then.user_time);
      part.system_seconds = seconds(now[level].system_time - then.system_time);
      part.cpu_seconds = *part.user_seconds + *part.system_seconds;
      if (was_counted_) {
        part.cycles = now[level].cycles - then.cycles;
        part.instructions = now[level].instructions - then.instructions;
        part.joules = static_cast<double>(now[level].energy_nj - then.energy_nj) / 1e9;
      }
      sample.work_on_all_kinds.add(part);
    }
  }

  const os::DarwinCalls& calls_;
  os::Timebase timebase_;
  bool first_read_makes_samples_;
  std::vector<WatchedProcess> watched_;
  bool was_counted_ = false;
};

/// Waits for the time `during`, and returns samples of what the threads did in it. If there is no
/// such time, returns samples of their work since their start.
std::vector<ThreadSample> wait_and_take_samples(MacStream& stream, const ThreadSampling& sampling) {
  // Samples count from the previous read, so the first read only sets where they begin. The stream
  // gets times since this read.
  if (sampling.during) {
    static_cast<void>(stream.read(nanoseconds{0}));
    sampling.wait(*sampling.during);
  }
  return stream.read(sampling.during.value_or(nanoseconds{0}));
}

/// Returns a table without rows, with a group of columns for each performance level.
ThreadTable make_empty_table(const std::vector<std::string>& levels, const MacStream& stream) {
  ThreadTable threads;
  for (const std::string& name : levels)
    threads.column_groups.push_back({.title = upper_case(name),
                                     .has_user_and_system = true,
                                     .has_cycle_columns = stream.was_counted()});
  if (!stream.was_counted()) threads.notes.emplace_back(kNoCountsNote);
  return threads;
}

ThreadRow make_row(const ThreadSample& sample, const MacStream& stream) {
  ThreadRow row{.id = sample.thread_id,
                .name = sample.name,
                .cpu_seconds = sample.work_on_all_kinds.cpu_seconds.value_or(0.0),
                .work_by_column_group = sample.work_by_kind};
  if (!stream.was_counted()) return row;

  // If cycles are counted at all, missing ones mean that the thread did no work on this kind.
  for (ThreadWork& work : row.work_by_column_group) {
    work.cycles = work.cycles.value_or(0);
    work.instructions = work.instructions.value_or(0);
  }
  return row;
}

}  // namespace

std::vector<std::string> read_performance_levels(const os::DarwinCalls& calls) {
  const std::int64_t count = os::sysctl_number(calls, "hw.nperflevels").value_or(0);
  std::vector<std::string> names;
  for (std::int64_t level = 0; level < count; ++level) {
    names.push_back(os::sysctl_text(calls, fmt::format("hw.perflevel{}.name", level)).value_or(""));
    if (names.back().empty()) names.back() = fmt::format("Level {}", level);
  }
  return names;
}

int list_thread_ids(const os::DarwinCalls& calls, int process, std::vector<std::uint64_t>& ids) {
  for (std::size_t room = 64; room <= kMaxThreads; room *= 2) {
    ids.assign(room, 0);
    const auto size = static_cast<int>(room * sizeof ids[0]);
    const int bytes = calls.proc_pidinfo(process, os::kPidListThreadIds, 0, ids.data(), size);
    ids.resize(static_cast<std::size_t>(std::max(bytes, 0)) / sizeof ids[0]);
    if (bytes <= 0) return errno == 0 ? ESRCH : errno;
    if (bytes < size) return 0;
  }
  ids.clear();
  return ENOMEM;
}

CountsOfThread read_thread_counts(const os::DarwinCalls& calls, int process, std::uint64_t thread,
                                  std::size_t levels) {
  std::vector<std::byte> buffer(sizeof(os::ThreadCountsHeader) + levels * sizeof(os::ThreadCounts));
  const int bytes = calls.proc_pidinfo(process, os::kPidThreadCounts, thread, buffer.data(),
                                       static_cast<int>(buffer.size()));
  if (bytes <= 0) return {.error = errno == 0 ? ESRCH : errno};
  os::ThreadCountsHeader header;
  if (static_cast<std::size_t>(bytes) < sizeof header) return {.error = EIO};
  std::memcpy(&header, buffer.data(), sizeof header);

  CountsByLevel counts(levels);
  for (std::size_t i = 0; i < std::min<std::size_t>(levels, header.kinds); ++i) {
    const std::size_t at = sizeof header + i * sizeof counts[i];
    if (at + sizeof counts[i] > static_cast<std::size_t>(bytes)) break;
    std::memcpy(&counts[i], buffer.data() + at, sizeof counts[i]);
  }
  return {.counts = std::move(counts)};
}

/// Makes a table of what the threads of a process do in a given time (`during`), for which it
/// waits. If no time is given, the table has what the threads have done since they began.
Result<ThreadTable> sample_darwin_threads(const ThreadSampling& sampling,
                                          const os::DarwinCalls& calls) {
  const std::int32_t process = sampling.process;
  // macOS calls the kinds of core performance levels.
  const auto levels = find_levels(calls, {process});
  if (!levels) return levels.error();

  const bool first_read_makes_samples = !sampling.during;
  MacStream stream({process}, *levels, calls, first_read_makes_samples);
  const std::vector<ThreadSample> samples = wait_and_take_samples(stream, sampling);
  if (!stream.has_live_process())
    return Error{fmt::format("process {} ended before --duration was over", process),
                 "use a shorter --duration"};

  ThreadTable threads = make_empty_table(*levels, stream);
  // An ended thread gets no row, because its last work is unknown.
  for (const ThreadSample& sample : samples)
    if (!sample.has_ended) threads.thread_rows.push_back(make_row(sample, stream));
  return threads;
}

Result<std::unique_ptr<ThreadStream>> open_darwin_thread_stream(
    const std::vector<std::int32_t>& processes, const os::DarwinCalls& calls) {
  auto levels = find_levels(calls, processes);
  if (!levels) return levels.error();
  return std::unique_ptr<ThreadStream>(
      std::make_unique<MacStream>(processes, *std::move(levels), calls));
}

}  // namespace lauka::cores
