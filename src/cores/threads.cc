#include "cores/threads.h"

#include "core/text.h"
#include "cores/cores.h"
#include "cores/mac_threads.h"
#include "engine/perf/counters.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace lauka::cores {

namespace {

namespace perf = engine::perf;

struct ThreadCounting {
  ThreadCounting(CoreKinds core_kinds, const os::LinuxCalls& linux_calls)
      : calls(linux_calls),
        kinds(std::move(core_kinds)),
        conditions(perf::read_conditions(linux_calls)) {
    const bool has_counts = find_counters();
    if (kinds.size() < 2) {
      columns.push_back({"", true, false, has_counts});
      return;
    }
    if (!kinds_are_pmus) clocks.emplace(kinds);
    columns.push_back({"ALL", true, false, has_counts && !kinds_are_pmus});
    for (const CoreKind& kind : kinds) columns.push_back({kind.name, false, true, kinds_are_pmus});
  }

  /// Finds how each PMU (the counting unit of a kind of core) counts cycles and instructions. Sets
  /// `pmus` and `kinds_are_pmus`. Returns false, and adds a note, if none can count them.
  bool find_counters() {
    constexpr bool user_only = false;
    const perf::Prober prober(calls, user_only);
    auto all_cycles = prober.find("cycles");
    auto all_instructions = prober.find("instructions");
    if (!all_cycles || !all_instructions) {
      const Error& why = all_cycles ? all_instructions.error() : all_cycles.error();
      notes.push_back("there are no cycles and instructions: " + why.line());
      return false;
    }
    if (all_cycles->lacks_wanted_kernel_part)
      notes.emplace_back("cycles and instructions cover user space only");

    for (const perf::Counter& cycles : all_cycles->counters)
      pmus.push_back(pair_counters(cycles, all_instructions->counters));
    kinds_are_pmus = do_pmus_match_kinds();
    return true;
  }

  struct PmuCounterPair {
    os::PerfEventAttr cycles;
    std::optional<os::PerfEventAttr> instructions{};
    /// Index of the PMU's core kind; number of kinds if the PMU has no core kind.
    std::ptrdiff_t kind = 0;
  };

  /// Returns the counters of a PMU. Each PMU has its own events, so its instructions are looked for
  /// among those of all PMUs.
  PmuCounterPair pair_counters(const perf::Counter& cycles,
                               const std::vector<perf::Counter>& all_instructions) const {
    PmuCounterPair pmu{cycles.attributes};
    pmu.kind = std::ranges::find(kinds, cycles.pmu, &CoreKind::pmu) - kinds.begin();
    const auto of_same_pmu = std::ranges::find(all_instructions, cycles.pmu, &perf::Counter::pmu);
    if (of_same_pmu != all_instructions.end()) pmu.instructions = of_same_pmu->attributes;
    return pmu;
  }

  /// True if PMUs and kinds of core match one to one. Then the counts of a PMU are those of its
  /// kind.
  bool do_pmus_match_kinds() const {
    const bool all_have_kinds = std::ranges::all_of(
        pmus, [&](const PmuCounterPair& pmu) { return pmu.kind < std::ssize(kinds); });
    return kinds.size() > 1 && kinds.size() == pmus.size() && all_have_kinds;
  }

  const os::LinuxCalls& calls;
  CoreKinds kinds;
  perf::PerfConditions conditions;
  std::vector<PmuCounterPair> pmus{};
  bool kinds_are_pmus = false;
  std::optional<KindClocks> clocks{};
  std::vector<ColumnGroup> columns{};
  std::vector<std::string> notes{};
};

class AttachedThread : NonCopyable {
 public:
  explicit AttachedThread(const ThreadCounting& counting)
      : counting_(counting), open_(counting.calls) {}

  /// Attaches counters to a thread; attaches nothing if the thread has ended.
  Result<void> attach_counters(int thread) {
    int error = open_pmus(thread);
    if (error == 0) error = open_clocks(thread);
    if (error == ESRCH) {
      leaders_.clear();
      clocks_.clear();
    } else if (error != 0) {
      return perf::why_not_opened(error, {}, counting_.conditions)
          .prefixed(fmt::format("thread {} cannot be counted", thread));
    }
    return {};
  }

  struct CountedWork {
    std::vector<ThreadWork> parts;
    bool was_shared = false;  ///< true if the hardware counters did not run all the time; `parts`
                              ///< then lacks their values
  };

  CountedWork read() const {
    CountedWork counted{std::vector<ThreadWork>(counting_.columns.size())};
    read_pmus(counted);
    read_clocks(counted.parts);
    return counted;
  }

 private:
  /// What the kernel returns for a group of at most two counters: number of counters, time enabled,
  /// time running, then one count for each counter. All 0 if reading failed.
  using Words = std::array<std::uint64_t, 5>;
  static constexpr std::size_t kCounterCount = 0;
  static constexpr std::size_t kTimeEnabled = 1;
  static constexpr std::size_t kTimeRunning = 2;
  static constexpr std::size_t kFirstValue = 3;
  static constexpr std::size_t kSecondValue = 4;

  int open(os::PerfEventAttr attributes, std::size_t leader, os::CounterPlace place) {
    attributes.flags &= ~(os::kPerfInherit | os::kPerfDisabled | os::kPerfEnableOnExec);
    return open_.open(attributes, leader, place);
  }

  int open_pmus(int thread) {
    for (const auto& on : counting_.pmus) {
      const std::size_t leader = open_.size();
      leaders_.push_back(leader);
      int error = open(on.cycles, leader, {thread, -1});
      if (error == 0 && on.instructions) error = open(*on.instructions, leader, {thread, -1});
      if (error != 0) return error;
    }
    return 0;
  }

  int open_clocks(int thread) {
    if (!counting_.clocks) return 0;
    for (const os::CounterRequest& request : counting_.clocks->clock_requests(0)) {
      os::PerfEventAttr attributes;
      std::memcpy(&attributes, request.attributes.data(), sizeof attributes);
      const std::size_t index = open_.size();
      const int error = open(attributes, index, {thread, request.cpu});
      const bool is_off = error == ENODEV && request.cpu >= 0;
      if (error != 0 && !is_off) return error;
      clocks_.push_back(is_off ? std::nullopt : std::optional(index));
    }
    return 0;
  }

  Words read_words(std::size_t index) const {
    Words words{};
    const int descriptor = open_.descriptor(index);
    if (counting_.calls.read_counter(descriptor, words.data(), words.size()) < 4) return {};
    return words;
  }

  /// True if other programs use the counters, too, so that the kernel lets them take turns. Then
  /// counts are too small.
  static bool were_shared(const std::vector<Words>& groups) {
    // A group counts only while the thread is on cores of its PMU, so the times for which the
    // groups ran add up to the time of the thread. All groups were enabled for this time.
    std::uint64_t running = 0;
    std::uint64_t enabled = ~std::uint64_t{0};
    for (const Words& words : groups) {
      running += words[kTimeRunning];
      enabled = std::min(enabled, words[kTimeEnabled]);
    }
    const bool has_several_pmus = groups.size() > 1;
    return !groups.empty() && !perf::ran_all_the_time(running, enabled, has_several_pmus);
  }

  /// Adds the counts of a PMU to its column. The first column is for all kinds of core. If the PMUs
  /// are the kinds, each has its own.
  void add_counts(const Words& words, const ThreadCounting::PmuCounterPair& pmu,
                  std::vector<ThreadWork>& parts) const {
    const bool has_own_column = counting_.kinds_are_pmus;
    const std::size_t column = has_own_column ? static_cast<std::size_t>(pmu.kind) + 1 : 0;
    ThreadWork& part = parts[column];

    if (has_own_column) part.cpu_seconds = to_seconds(words[kTimeRunning]);
    part.cycles = part.cycles.value_or(0) + words[kFirstValue];
    const bool has_instructions = pmu.instructions && words[kCounterCount] >= 2;
    if (has_instructions) part.instructions = part.instructions.value_or(0) + words[kSecondValue];
  }

  /// Reads the cycles and instructions of a thread into `counted`. Each PMU (the counting unit of a
  /// kind of core) has a group of two counters, one for cycles and one for instructions.
  void read_pmus(CountedWork& counted) const {
    std::vector<Words> groups;
    for (const std::size_t leader : leaders_) groups.push_back(read_words(leader));
    counted.was_shared = were_shared(groups);
    if (counted.was_shared) return;

    for (std::size_t i = 0; i < groups.size(); ++i) {
      const bool was_read = groups[i][kCounterCount] > 0;
      if (was_read) add_counts(groups[i], counting_.pmus[i], counted.parts);
    }
  }

  void read_clocks(std::vector<ThreadWork>& parts) const {
    if (clocks_.empty()) return;
    std::vector<os::Reading> readings;
    for (const auto& clock : clocks_) {
      const Words words = clock ? read_words(*clock) : Words{};
      readings.push_back({words[kFirstValue], words[kTimeEnabled], words[kTimeRunning]});
    }
    CoreTimes times{std::vector<std::uint64_t>(counting_.kinds.size())};
    // The clocks of a thread that slept all the time were never enabled.
    if (readings.front().enabled_ns > 0)
      times = counting_.clocks->times_by_kind(readings, 0, counting_.conditions);
    for (std::size_t kind = 0; kind < times.ns.size(); ++kind)
      parts[kind + 1].cpu_seconds = to_seconds(times.ns[kind]);
  }

  const ThreadCounting& counting_;
  perf::OpenCounters open_;
  std::vector<std::size_t> leaders_{};
  /// Index into open_ of each clock; nullopt: the CPU is offline.
  std::vector<std::optional<std::size_t>> clocks_{};
};

/// Ticks per second (USER_HZ) of the times in /proc/PID/stat.
constexpr double kProcTicksPerSecond = 100.0;

struct TimesInProc {
  double user = 0.0;
  double system = 0.0;
  double exact = 0.0;  ///< seconds of CPU time by the scheduler's clock; user + system if schedstat
                       ///< cannot be read
};

std::string task_path(std::int32_t process, const std::string& thread, std::string_view file) {
  return fmt::format("/proc/{}/task/{}/{}", process, thread, file);
}

/// Returns the words of /proc/PID/stat after the thread's name, which may contain brackets and
/// blanks.
std::vector<std::string_view> split_after_name(std::string_view stat) {
  const std::size_t bracket = stat.rfind(')');
  if (bracket == std::string_view::npos) return {};
  return split(trimmed(stat.substr(bracket + 1)), ' ');
}

std::optional<TimesInProc> read_times(const os::LinuxCalls& calls, std::int32_t process,
                                      const std::string& thread) {
  // Field 14 of proc(5), before that of the system's time. split_after_name() begins with field 3.
  constexpr std::size_t user_field = 11;
  const auto stat = calls.read_file(task_path(process, thread, "stat"));
  if (!stat) return std::nullopt;
  const auto words = split_after_name(*stat);
  if (words.size() <= user_field + 1) return std::nullopt;
  const auto user = parse_number(words[user_field]);
  const auto system = parse_number(words[user_field + 1]);
  if (!user || !system) return std::nullopt;
  TimesInProc times{static_cast<double>(*user) / kProcTicksPerSecond,
                    static_cast<double>(*system) / kProcTicksPerSecond};
  times.exact = times.user + times.system;
  if (const auto text = calls.read_file(task_path(process, thread, "schedstat")))
    if (const auto ns = parse_number(split(*text, ' ').front())) times.exact = to_seconds(*ns);
  return times;
}

using TimesByThread = std::map<std::string, TimesInProc>;

TimesByThread read_all_times(const os::LinuxCalls& calls, std::int32_t process) {
  TimesByThread all;
  for (const std::string& thread : calls.list_folder(fmt::format("/proc/{}/task", process)))
    if (const auto times = read_times(calls, process, thread)) all.emplace(thread, *times);
  return all;
}

std::string read_name(const os::LinuxCalls& calls, std::int32_t process,
                      const std::string& thread) {
  return std::string(trimmed(calls.read_file(task_path(process, thread, "comm")).value_or("")));
}

std::optional<std::uint64_t> read_user_id(const os::LinuxCalls& calls, const std::string& process) {
  const auto status = calls.read_file("/proc/" + process + "/status").value_or("");
  const std::string uids = find_value(status, "Uid", ':').value_or("");
  const auto words = blank_separated(uids);
  constexpr std::size_t effective_at = 1;  // after the real id
  return words.size() <= effective_at ? std::nullopt : parse_number(words[effective_at]);
}

ThreadRow make_row(const std::string& thread, const std::string& name, const TimesInProc& times,
                   std::vector<ThreadWork> parts) {
  parts.front().user_seconds = times.user;
  parts.front().system_seconds = times.system;
  return {parse_number(thread).value_or(0), name, times.exact, std::move(parts)};
}

/// Adds a row for each thread of which only the times are known.
void add_rows_of_uncounted(const TimesByThread& all_times, std::int32_t process,
                           const os::LinuxCalls& calls, ThreadTable& table) {
  for (const auto& [thread, times] : all_times)
    table.thread_rows.push_back(make_row(thread, read_name(calls, process, thread), times,
                                         std::vector<ThreadWork>(table.column_groups.size())));
}

ThreadTable list_work_since_start(std::int32_t process, const os::LinuxCalls& calls) {
  ThreadTable threads;
  threads.column_groups = {{.title = "", .has_user_and_system = true}};
  threads.notes = {
      "cycles, instructions and kinds of core are counted only from now on; add -d 2s to wait for "
      "them"};
  add_rows_of_uncounted(read_all_times(calls, process), process, calls, threads);
  return threads;
}

Result<void> check_may_read_process(const os::LinuxCalls& calls, std::int32_t process) {
  const auto user = read_user_id(calls, std::to_string(process));
  if (!user) return Error{fmt::format("there is no process {}", process), "pgrep -l NAME finds it"};
  const auto own = read_user_id(calls, "self");
  if (own && *own != 0 && *own != *user)
    return Error{fmt::format("process {} belongs to another user (uid {})", process, *user),
                 "run lauka as that user, or with sudo"};
  return {};
}

/// A thread with its name, and counters that count its work from now on.
struct CountedThread {
  CountedThread(std::string thread_name, const ThreadCounting& counting)
      : name(std::move(thread_name)), counters(counting) {}

  std::string name;
  AttachedThread counters;
};

/// The counted threads by their ids.
using CountedThreads = std::map<std::string, CountedThread>;

TimesInProc times_between(const TimesInProc& start, const TimesInProc& end) {
  return {.user = end.user - start.user,
          .system = end.system - start.system,
          .exact = end.exact - start.exact};
}

/// Returns the row of a thread that has ended. /proc no longer has its times, but its counters can
/// still be read.
ThreadRow make_row_of_ended(const std::string& id, const std::string& name,
                            std::vector<ThreadWork> parts) {
  ThreadRow row = make_row(id, name, TimesInProc{}, std::move(parts));
  row.work_by_column_group.front().user_seconds.reset();
  row.work_by_column_group.front().system_seconds.reset();
  return row;
}

/// Adds a row for each thread that was counted between `before` and `after`, and a note if other
/// programs used the counters.
void add_rows_of_counted(const CountedThreads& counted_threads, const TimesByThread& before,
                         const TimesByThread& after, ThreadTable& table) {
  std::size_t uncounted_threads = 0;
  for (const auto& [id, thread] : counted_threads) {
    auto counted = thread.counters.read();
    if (counted.was_shared) ++uncounted_threads;
    const auto end = after.find(id);
    const bool has_ended = end == after.end();
    table.thread_rows.push_back(
        has_ended ? make_row_of_ended(id, thread.name, std::move(counted.parts))
                  : make_row(id, thread.name, times_between(before.at(id), end->second),
                             std::move(counted.parts)));
  }

  if (uncounted_threads > 0)
    table.notes.push_back(
        "other programs used the counters, so there are no cycles and instructions of " +
        plural(uncounted_threads, "thread"));
}

/// Attaches counters to each thread of which `times` are known.
Result<CountedThreads> attach_to_threads(const TimesByThread& times, std::int32_t process,
                                         const ThreadCounting& counting) {
  CountedThreads threads;
  for (const auto& [id, ignored] : times) {
    const std::string name = read_name(counting.calls, process, id);
    CountedThread& thread = threads.try_emplace(id, name, counting).first->second;
    const auto id_number = static_cast<int>(parse_number(id).value_or(0));
    if (auto able = thread.counters.attach_counters(id_number); !able) return able.error();
  }
  return threads;
}

/// Returns the times of the threads that have no counters, because they began in the meantime.
TimesByThread leave_out_counted(TimesByThread all_times, const CountedThreads& counted_threads) {
  std::erase_if(all_times,
                [&](const auto& entry) { return counted_threads.contains(entry.first); });
  return all_times;
}

/// Makes a table of what the threads of a process do in a given time (`during`), for which it
/// waits. If no time is given, the table has what the threads have done since they began.
Result<ThreadTable> sample_linux_threads(const ThreadSampling& sampling,
                                         const os::LinuxCalls& calls) {
  const std::int32_t process = sampling.process;
  if (auto able = check_may_read_process(calls, process); !able) return able.error();
  if (!sampling.during) return list_work_since_start(process, calls);

  // /proc has the threads' times since their start, so it is read before and after the wait. Cycles
  // and instructions come from counters, which are attached to each thread.
  const ThreadCounting counting(sampling.kinds, calls);
  const TimesByThread times_before = read_all_times(calls, process);
  const auto counted_threads = attach_to_threads(times_before, process, counting);
  if (!counted_threads) return counted_threads.error();

  sampling.wait(*sampling.during);
  TimesByThread times_after = read_all_times(calls, process);

  ThreadTable table{.column_groups = counting.columns, .notes = counting.notes};
  if (times_after.empty()) table.notes.emplace_back("the process ended in the meantime");
  add_rows_of_counted(*counted_threads, times_before, times_after, table);
  add_rows_of_uncounted(leave_out_counted(std::move(times_after), *counted_threads), process, calls,
                        table);
  return table;
}

using std::chrono::nanoseconds;

struct SchedulerTimes {
  std::uint64_t on_cpu_ns = 0;
  std::uint64_t waiting_ns = 0;
};

std::optional<SchedulerTimes> parse_schedstat(std::string_view schedstat) {
  const auto words = split(schedstat, ' ');
  if (words.size() < 2) return std::nullopt;
  const auto on_cpu = parse_number(words[0]);
  const auto waiting = parse_number(words[1]);
  if (!on_cpu || !waiting) return std::nullopt;
  return SchedulerTimes{*on_cpu, *waiting};
}

std::optional<std::uint64_t> parse_last_cpu(std::string_view stat) {
  constexpr std::size_t cpu_at = 36;  // field 39 of proc(5); split_after_name() begins with field 3
  const auto words = split_after_name(stat);
  return words.size() > cpu_at ? parse_number(words[cpu_at]) : std::nullopt;
}

/// Returns 0 if the value has fallen, and nullopt if it is unknown now.
template <typename T>
std::optional<T> subtract(const std::optional<T>& now, const std::optional<T>& before) {
  if (!now) return std::nullopt;
  const T start = before.value_or(T{});
  return *now >= start ? *now - start : T{};
}

ThreadWork subtract(const ThreadWork& now, const ThreadWork& before) {
  return {.cpu_seconds = subtract(now.cpu_seconds, before.cpu_seconds),
          .cycles = subtract(now.cycles, before.cycles),
          .instructions = subtract(now.instructions, before.instructions)};
}

/// A file in /proc that stays open, because reading it again is faster than opening it again.
class OpenProcFile : NonCopyable {
 public:
  OpenProcFile(std::string path, const os::LinuxCalls& calls)
      : calls_(calls), path_(std::move(path)), descriptor_(calls.open_file(path_)) {}
  ~OpenProcFile() {
    if (descriptor_ >= 0) calls_.close_descriptor(descriptor_);
  }

  /// Reads the file's first `bytes` bytes into `buffer`. Reads by path if the file cannot stay
  /// open, as at the limit of open files.
  std::string_view read(std::string& buffer, std::size_t bytes = 256) const {
    buffer.resize(bytes);
    if (descriptor_ >= 0) {
      const long got = calls_.read_from_start(descriptor_, buffer.data(), buffer.size());
      return {buffer.data(), static_cast<std::size_t>(std::max(got, 0L))};
    }
    buffer = calls_.read_file(path_).value_or("");
    return buffer;
  }

 private:
  const os::LinuxCalls& calls_;
  std::string path_;
  int descriptor_;
};

class ProcStream final : public ThreadStream {
 public:
  ProcStream(const std::vector<std::int32_t>& processes, const CoreKinds& kinds,
             const os::LinuxCalls& calls)
      : ThreadStream(processes.size(), list_kind_names(kinds)),
        calls_(calls),
        counting_(kinds, calls) {
    for (const std::int32_t process : processes)
      watched_.push_back({process, fmt::format("/proc/{}/task", process), {}});
    for (std::size_t place = 0; place < this->kinds().size(); ++place)
      for (const std::uint32_t cpu : kinds[place].cpus) kind_of_cpu_[cpu] = place;
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = counting_.notes;
    if (why_not_attached_)
      notes.push_back("there are no cycles and instructions: " + *why_not_attached_);
    return notes;
  }

 private:
  struct Thread {
    std::optional<OpenProcFile> schedstat{};
    std::optional<OpenProcFile> stat{};
    KindMoveCounter moves{};
    std::string name;
    SchedulerTimes times{};
    std::optional<AttachedThread> counters{};
    std::vector<ThreadWork> latest_work{};
  };
  struct WatchedProcess {
    std::int32_t id;
    std::string folder;
    std::map<std::string, Thread> threads;
  };

  static std::vector<std::string> list_kind_names(const CoreKinds& kinds) {
    std::vector<std::string> names;
    for (const CoreKind& kind : kinds)
      if (kinds.size() > 1) names.push_back(kind.name);
    return names;
  }

  /// Adds a sample for each thread of a process: its work since the previous read. Begins to watch
  /// new threads, and forgets those that have ended. Returns false if the process has ended.
  bool read_process(std::size_t process_index, nanoseconds now,
                    std::vector<ThreadSample>& samples) override {
    WatchedProcess& process = watched_[process_index];
    add_samples_of_watched(process, now, samples);

    // To list the threads takes longer than to count them. The watched threads existed just now, so
    // if there are as many threads, there are usually no new ones.
    const long count = calls_.count_subfolders(process.folder);
    const bool is_count_known = count >= 0;
    if (is_count_known && static_cast<std::size_t>(count) == process.threads.size()) return true;

    const std::vector<std::string> ids = calls_.list_folder(process.folder);
    for (const std::string& id : ids)
      if (!process.threads.contains(id)) begin_watching(process, id, now, samples);
    return !ids.empty();
  }

  /// Adds a sample for each watched thread, and forgets those that have ended. Such a thread gets a
  /// last sample, which says that it has ended.
  void add_samples_of_watched(WatchedProcess& process, nanoseconds now,
                              std::vector<ThreadSample>& samples) {
    for (auto watched = process.threads.begin(); watched != process.threads.end();) {
      auto& [id, thread] = *watched;
      const auto times = parse_schedstat(thread.schedstat->read(buffer_));
      ThreadSample& sample =
          samples.emplace_back(make_sample_from_counters(process.id, id, thread, now));
      sample.core_kind_moves = count_moves(thread, sample.work_by_kind);

      // A time smaller than before belongs to a new thread with the same id. read_process() finds
      // the new thread after the old one was erased here.
      const bool has_ended = !times || times->on_cpu_ns < thread.times.on_cpu_ns;
      if (has_ended) {
        sample.has_ended = true;
        sample.core_kind_moves.reset();  // the last moves were not seen
        watched = process.threads.erase(watched);
        continue;
      }

      set_times(sample, *times, thread.times);
      thread.times = *times;
      ++watched;
    }
  }

  /// Begins to watch a thread. Adds a sample if it is new since the previous read. Does nothing if
  /// it has already ended.
  void begin_watching(WatchedProcess& process, const std::string& id, nanoseconds now,
                      std::vector<ThreadSample>& samples) {
    Thread& thread = process.threads[id];
    if (!open_thread(process, id, thread)) {
      process.threads.erase(id);
      return;
    }

    // From here, later reads count the moves to other kinds.
    const auto moves = count_moves(thread, {});

    // A sample counts from the previous read, so the first read of all makes none.
    const bool is_first_read_of_all = !previous_read_time();
    if (is_first_read_of_all) return;
    samples.push_back(make_first_sample(process.id, parse_number(id).value_or(0), thread, now));
    samples.back().core_kind_moves = moves;
  }

  /// Opens a thread's files in /proc and its counters, and stores its times, from which the next
  /// sample counts. Returns false if it has ended.
  bool open_thread(const WatchedProcess& process, const std::string& id, Thread& thread) {
    const std::string folder = process.folder + "/" + id;
    thread.schedstat.emplace(folder + "/schedstat", calls_);
    const auto times = parse_schedstat(thread.schedstat->read(buffer_));
    if (!times) return false;
    thread.times = *times;
    thread.name = read_name(calls_, process.id, id);

    // One thread that cannot be counted is enough to give up counting. notes() says why.
    if (!why_not_attached_) attach_counters(thread, static_cast<int>(parse_number(id).value_or(0)));

    // The file `stat` tells on which kind of core the thread is (kinds() is empty if there is only
    // one kind).
    if (!kinds().empty()) thread.stat.emplace(folder + "/stat", calls_);
    return true;
  }

  /// Returns the sample of a new thread, of which all work was done since the previous read.
  ThreadSample make_first_sample(std::int32_t process, std::uint64_t id, const Thread& thread,
                                 nanoseconds now) const {
    ThreadSample sample = begin_sample(process, id, thread.name, now);
    sample.is_new = true;
    set_times(sample, thread.times, SchedulerTimes{});
    return sample;
  }

  /// Counts the moves between kinds of core since the last call: those that the kinds with work in
  /// `by_kind` show, and then one to the kind on which the thread is now. Returns nullopt if
  /// unknown.
  std::optional<std::uint64_t> count_moves(Thread& thread, const std::vector<ThreadWork>& by_kind) {
    if (!thread.stat) return std::nullopt;
    bool is_known = false;
    std::uint32_t kinds = 0;  // bit mask
    for (std::size_t kind = 0; kind < by_kind.size() && kind < 32; ++kind) {
      is_known = is_known || by_kind[kind].cpu_seconds || by_kind[kind].cycles;
      if (by_kind[kind].cpu_seconds.value_or(0.0) > 0.0 || by_kind[kind].cycles.value_or(0) > 0)
        kinds |= 1U << kind;
    }
    constexpr std::size_t max_line_bytes = 1024;
    const auto cpu = parse_last_cpu(thread.stat->read(buffer_, max_line_bytes));
    const auto kind =
        cpu ? kind_of_cpu_.find(static_cast<std::uint32_t>(*cpu)) : kind_of_cpu_.end();
    const bool is_seen = kind != kind_of_cpu_.end();
    if (!is_known && !is_seen) return std::nullopt;
    const std::uint64_t moves = thread.moves.count_kind_moves(kinds);
    return moves + thread.moves.count_kind_moves(is_seen ? 1U << kind->second : 0U);
  }

  void attach_counters(Thread& thread, int id) {
    thread.counters.emplace(counting_);
    if (auto able = thread.counters->attach_counters(id); !able) {
      why_not_attached_ = able.error().line();
      thread.counters.reset();
    } else {
      thread.latest_work = thread.counters->read().parts;
    }
  }

  /// Returns a sample of what the counters of a thread have counted since the previous read, and
  /// stores their values for the next read.
  ThreadSample make_sample_from_counters(std::int32_t process, const std::string& id,
                                         Thread& thread, nanoseconds now) {
    ThreadSample sample = begin_sample(process, parse_number(id).value_or(0), thread.name, now);
    if (!thread.counters) return sample;
    std::vector<ThreadWork> counted = thread.counters->read().parts;
    sample.work_on_all_kinds = subtract(counted.front(), thread.latest_work.front());
    for (std::size_t kind = 0; kind < kinds().size() && kind + 1 < counted.size(); ++kind) {
      sample.work_by_kind[kind] = subtract(counted[kind + 1], thread.latest_work[kind + 1]);
      sample.work_on_all_kinds.add(sample.work_by_kind[kind]);
    }
    sample.work_on_all_kinds.cpu_seconds.reset();
    thread.latest_work = std::move(counted);
    return sample;
  }

  static void set_times(ThreadSample& sample, const SchedulerTimes& now,
                        const SchedulerTimes& before) {
    sample.work_on_all_kinds.cpu_seconds = to_seconds(now.on_cpu_ns - before.on_cpu_ns);
    sample.runnable_wait_seconds =
        to_seconds(now.waiting_ns - std::min(now.waiting_ns, before.waiting_ns));
  }

  const os::LinuxCalls& calls_;
  ThreadCounting counting_;
  std::map<std::uint32_t, std::size_t> kind_of_cpu_;
  std::vector<WatchedProcess> watched_;
  std::optional<std::string> why_not_attached_;
  std::string buffer_;
};

}  // namespace

Result<ThreadTable> sample_threads(const ThreadSampling& sampling, const os::LinuxCalls* linux,
                                   const os::DarwinCalls* darwin) {
  auto threads =
      darwin != nullptr ? sample_darwin_threads(sampling, *darwin)
      : linux != nullptr
          ? sample_linux_threads(sampling, *linux)
          : Result<ThreadTable>(Error{"--threads works only on Linux and macOS", "leave it out"});
  if (threads)
    std::ranges::stable_sort(threads->thread_rows, [](const ThreadRow& a, const ThreadRow& b) {
      return a.cpu_seconds != b.cpu_seconds ? a.cpu_seconds > b.cpu_seconds : a.id < b.id;
    });
  return threads;
}

Result<std::unique_ptr<ThreadStream>> stream_threads(const std::vector<std::int32_t>& processes,
                                                     const CoreKinds& kinds,
                                                     const os::LinuxCalls* linux,
                                                     const os::DarwinCalls* darwin) {
  if (darwin != nullptr) return open_darwin_thread_stream(processes, *darwin);
  if (linux == nullptr) return Error{"--threads works only on Linux and macOS", "leave it out"};
  for (const std::int32_t process : processes)
    if (auto able = check_may_read_process(*linux, process); !able) return able.error();
  if (!linux->read_file("/proc/self/schedstat"))
    return Error{"this kernel does not report the CPU time of each thread (/proc/PID/schedstat)",
                 "leave out --interval"};
  return std::unique_ptr<ThreadStream>(std::make_unique<ProcStream>(processes, kinds, *linux));
}

}  // namespace lauka::cores
