#include "engine/kperf/strategy.h"

#include "core/text.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::engine::kperf {

namespace {

constexpr std::uint32_t kFunctionBits = kFunctionStart | kFunctionEnd;
constexpr std::size_t kValuesOfRecord = 4;
constexpr std::uint64_t kPidMark = std::uint64_t{1} << 63U;

/// Returns the key of a process: its unique id, or without one its process id with kPidMark, which
/// no unique id has.
std::uint64_t make_process_key(std::int32_t pid, std::uint64_t unique_id) {
  return unique_id != 0 ? unique_id : kPidMark | static_cast<std::uint32_t>(pid);
}

std::int32_t pid_in(std::uint64_t argument) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(argument));
}

constexpr std::uint32_t kFirstTraceRecords = 1U << 18U;  // 16 MB
constexpr std::uint32_t kTraceGrowth = 4;
constexpr std::uint32_t kMaxTraceRecords = 1U << 22U;  // 256 MB
// Largest number of reads after a command's end. A read may miss the newest records.
constexpr int kMaxReadsAfterEnd = 4;

constexpr double kMinCoverage = 0.95;

RunValues make_uncounted_run(const std::string& why, std::uint32_t redo) {
  RunValues run;
  run.uncounted_reason = Error{"a run was not counted: " + why, ""};
  if (redo > 0) run.redo = RepeatRequest{RedoReason::Counting, why, redo};
  return run;
}

std::optional<double> coverage_of(std::uint64_t instructions,
                                  const std::optional<os::AccountedTotals>& totals) {
  if (!totals || totals->instructions == 0) return std::nullopt;
  return static_cast<double>(instructions) / static_cast<double>(totals->instructions);
}

class ThreadStrategy final : public CountingStrategy {
 public:
  ThreadStrategy(Claim& claim, Trace& trace, KperfStrategyChoice sampled,
                 std::chrono::nanoseconds period)
      : CountingStrategy(claim),
        trace_(trace),
        may_begin_to_sample_running_threads_(sampled == KperfStrategyChoice::Auto),
        period_was_raised_(period.count() < static_cast<std::int64_t>(kMinPetPeriodNs)),
        period_ns_(std::max(static_cast<std::uint64_t>(period.count()), kMinPetPeriodNs)) {
    sampling_.samples_ending_threads = sampled != KperfStrategyChoice::SampleRunningThreads;
    if (!sampling_.samples_ending_threads) sampling_.period_ns = period_ns_;
    sampling_.trace_records = kFirstTraceRecords;
  }

  int begin() override { return claim().start_sampling(sampling_); }

  void before_start() override {
    reader_.reset();
    has_wrapped_ = false;
    must_restart_sampling_ = must_restart_sampling_ || !claim().is_held();
    take_counters();
    if (error() == 0 && must_restart_sampling_)
      note_step("sampling could not be started", restart());
    must_restart_sampling_ = error() != 0;
    program(true);
    bool before = false;
    if (error() == 0) read([](std::span<const KdebugRecord>) {}, before);
  }

  void made(int pid) override {
    if (error() != 0) return;
    reader_.emplace(claim().values_per_sample(), sampling_.samples_ending_threads, pid);
  }

  void running(int /*pid*/) override {
    if (error() == 0 && trace_.is_half_full()) read();
  }

  /// A check of the trace may delay the notice of the run's end by a millisecond, so checks are
  /// rare until the buffer has grown.
  std::chrono::nanoseconds interval() const override {
    return sampling_.trace_records == kFirstTraceRecords ? CountingStrategy::interval()
                                                         : std::chrono::milliseconds(50);
  }

  RunValues finish(const os::Ended& ended) override {
    if (!reader_ && error() == 0) return make_uncounted_run("the command was not started", 0);
    for (int i = 0; i < kMaxReadsAfterEnd && error() == 0; ++i) {
      read();
      if (reader_->target_is_complete()) break;
    }
    if (auto failed = make_failed_run()) {
      must_restart_sampling_ = must_restart_sampling_ || (error() != 0 && error() != EAGAIN);
      return *std::move(failed);
    }
    const TraceCounts counts = reader_->counts();
    reader_.reset();
    if (has_wrapped_ || counts.fault)
      return make_lost_run(has_wrapped_ ? TraceFault::LostRecords : *counts.fault);
    if (counts.processes_tree == 1 && has_children(ended))
      return make_lost_run(TraceFault::LostRecords);
    return make_counted_run(counts, ended.totals);
  }

  void pause() override {
    CountingStrategy::pause();
    must_restart_sampling_ = true;
  }

  /// Tells users what the samples of threads' counters do not cover.
  std::vector<Note> notes() const override {
    std::vector<Note> notes;
    if (sampling_.period_ns && period_was_raised_)
      notes.push_back(
          {"period_raised",
           "--period was raised to 1 ms, because the kernel does not sample more often"});
    if (!sampling_.samples_ending_threads) notes.push_back(make_sampled_note());
    if (most_threads_not_ended_ > 0) notes.push_back(make_orphans_note());
    return notes;
  }

 private:
  Note make_sampled_note() const {
    const double period_ms = static_cast<double>(period_ns_) * 1e-6;
    return {"sampled", fmt::format("counts are sampled every {:.3g} ms, so they lack what "
                                   "each thread did after its last sample",
                                   period_ms)};
  }

  Note make_orphans_note() const {
    return {"orphans",
            fmt::format("{} {} not ended with the command; {}", most_threads_not_ended_,
                        most_threads_not_ended_ == 1 ? "thread had" : "threads had",
                        sampling_.period_ns ? "what they did after their last sample is not counted"
                                            : "what they did is not counted")};
  }

  void read(const Trace::RecordSink& take, bool& wrapped) {
    note_step("the kernel's trace could not be read", trace_.read(wrapped, take));
  }

  void read() {
    if (error() != 0 || !reader_) return;
    read([this](std::span<const KdebugRecord> records) { reader_->feed(records); }, has_wrapped_);
  }

  /// Starts sampling again. If the kernel refuses, asks for less: first a smaller buffer, then no
  /// sampling of running threads.
  int restart() {
    int error = claim().start_sampling(sampling_);
    if (error != 0 && sampling_.trace_records > kFirstTraceRecords) {
      sampling_.trace_records /= kTraceGrowth;
      error = claim().start_sampling(sampling_);
    }
    if (error != 0 && sampling_.samples_ending_threads && sampling_.period_ns) {
      sampling_.period_ns.reset();
      may_begin_to_sample_running_threads_ = false;
      error = claim().start_sampling(sampling_);
    }
    return error;
  }

  /// True if the kernel accounts more time to the run than to its first process.
  static bool has_children(const os::Ended& ended) {
    return ended.totals && ended.usage.user_ns + ended.usage.system_ns >
                               ended.totals->user_ns + ended.totals->system_ns;
  }

  /// Returns a run without counts, which is repeated with a larger buffer.
  RunValues make_lost_run(TraceFault why) {
    if (sampling_.trace_records < kMaxTraceRecords) sampling_.trace_records *= kTraceGrowth;
    must_restart_sampling_ = true;
    return make_uncounted_run(std::string(describe_fault(why)), kMaxRepetitions);
  }

  /// Makes the result of a run from its counts. They are known for the command's own process, and
  /// for its tree, which is this process with its descendants. The result asks to repeat the run if
  /// too much of it was not counted. `totals`: what the kernel itself counted for the command's own
  /// process.
  RunValues make_counted_run(const TraceCounts& counts,
                             const std::optional<os::AccountedTotals>& totals) {
    RunValues run;
    run.values = counts.tree_sums;

    const bool has_descendants = counts.threads_tree != counts.threads_command;
    if (has_descendants) run.own_process_counts = counts.command_sums;

    run.instruction_coverage = coverage_of(counts.command_sums[kInstructionsIndex], totals);
    if (run.instruction_coverage && *run.instruction_coverage < kMinCoverage)
      run.redo = RepeatRequest{.reason = RedoReason::Counting,
                               .why = "less than 95% of its instructions were counted",
                               .max_repetitions = 1};

    if (counts.threads_not_ended_tree > 0) respond_to_missing_ends(counts, run);
    return run;
  }

  /// A thread's counts come at its end, so those of a thread that outlives the command are missing.
  /// If allowed, the next runs also sample running threads, and `run` is to be repeated. Otherwise,
  /// notes() says that something is missing.
  void respond_to_missing_ends(const TraceCounts& counts, RunValues& run) {
    const bool samples_running_threads = sampling_.period_ns.has_value();
    if (may_begin_to_sample_running_threads_ && !samples_running_threads)
      run.redo = begin_to_sample_running_threads();
    else
      most_threads_not_ended_ = std::max(most_threads_not_ended_, counts.threads_not_ended_tree);
  }

  /// Lets the next runs sample running threads, too. Returns the request to repeat the present run.
  RepeatRequest begin_to_sample_running_threads() {
    sampling_.period_ns = period_ns_;
    must_restart_sampling_ = true;
    return {
        .reason = RedoReason::Counting,
        .why = "threads outlived the command, so lauka samples threads while they run from now on",
        .max_repetitions = 1};
  }

  Trace& trace_;
  bool may_begin_to_sample_running_threads_;
  bool period_was_raised_;
  std::uint64_t period_ns_;
  Sampling sampling_;
  bool must_restart_sampling_ = false;
  std::optional<TraceReader> reader_;
  bool has_wrapped_ = false;
  std::size_t most_threads_not_ended_ = 0;
};

class MachineStrategy final : public CountingStrategy {
 public:
  MachineStrategy(Claim& claim, const Kernel& kernel) : CountingStrategy(claim), kernel_(kernel) {}

  int begin() override {
    cpus_ = kernel_.read_sysctl_number("hw.logicalcpu_max")
                .value_or(kernel_.read_sysctl_number("hw.ncpu").value_or(1));
    counters_ = kernel_.counter_count(kBothClasses);
    return counters_ < kFixedCounterCount ? ENOTSUP : 0;
  }

  void before_start() override {
    values_at_begin_.clear();
    take_counters();
    program(false);
  }

  void made(int /*pid*/) override { read(values_at_begin_); }

  RunValues finish(const os::Ended& run_ended) override {
    std::vector<std::uint64_t> ended;
    read(ended);
    if (auto failed = make_failed_run()) return *std::move(failed);
    if (values_at_begin_.empty()) return make_uncounted_run("the command was not started", 0);
    if (values_at_begin_.size() != cpus_ * counters_ || ended.size() != values_at_begin_.size())
      return make_uncounted_run("a CPU was switched off", 1);
    RunValues run;
    run.values.resize(counters_);
    for (std::size_t i = 0; i < ended.size(); ++i) {
      if (ended[i] < values_at_begin_[i])
        return make_uncounted_run("a counter of a CPU went backwards", 1);
      run.values[i % counters_] += ended[i] - values_at_begin_[i];
    }
    run.instruction_coverage = coverage_of(run.values[kInstructionsIndex], run_ended.totals);
    if (run.instruction_coverage)
      most_coverage_ = std::max(most_coverage_, *run.instruction_coverage);
    return run;
  }

  std::vector<Note> notes() const override {
    constexpr double quiet_factor = 1.05;
    std::vector<Note> notes = {
        {"whole_machine", "the counts include everything else that ran on the machine"}};
    if (most_coverage_ > quiet_factor)
      notes.push_back(
          {"whole_machine", fmt::format("up to {:.2f} times as many instructions ran on the "
                                        "machine as in the command itself",
                                        most_coverage_)});
    return notes;
  }

 private:
  void read(std::vector<std::uint64_t>& counters) {
    if (error() == 0)
      note_step("the counters could not be read", kernel_.machine_counters(cpus_, counters));
  }

  const Kernel& kernel_;
  std::size_t cpus_ = 1;
  std::size_t counters_ = 0;
  std::vector<std::uint64_t> values_at_begin_;
  double most_coverage_ = 0.0;
};

/// What a shell runs so that lauka sees how much of it a strategy counts.
constexpr const char* kKnownWork = "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done";

/// Smallest sufficient coverage of kKnownWork with AtExit or Machine.
constexpr double kMinCoverageOfKnownWork = 0.9;
/// Smallest sufficient coverage of kKnownWork with Pet, which misses much of a short command.
constexpr double kMinCoverageWhenSampled = 0.5;

/// A kind of strategy that users can choose.
struct StrategyKind {
  KperfStrategyChoice choice;
  std::string_view name;
  double min_coverage;
};

/// The best kind of strategy comes first.
constexpr std::array<StrategyKind, 3> kStrategyKinds = {
    {{KperfStrategyChoice::AtExit, "sampling threads as they end", kMinCoverageOfKnownWork},
     {KperfStrategyChoice::SampleRunningThreads, "sampling running threads",
      kMinCoverageWhenSampled},
     {KperfStrategyChoice::Machine, "counting the whole machine", kMinCoverageOfKnownWork}}};

/// The kinds of strategy that failed for the same reason.
struct FailedKinds {
  std::vector<std::string> names;
  Error reason;
};

void add_failure(std::vector<FailedKinds>& all, const StrategyKind& kind, const Error& reason) {
  const auto same = std::ranges::find_if(
      all, [&reason](const FailedKinds& failed) { return failed.reason.what == reason.what; });
  if (same != all.end())
    same->names.emplace_back(kind.name);
  else
    all.push_back({{std::string(kind.name)}, reason});
}

std::string describe_failure(const FailedKinds& failed) {
  return fmt::format("{} {} not work here: {}", listed(failed.names),
                     failed.names.size() == 1 ? "does" : "do", failed.reason.what);
}

Error join_failures(const std::vector<FailedKinds>& all) {
  std::vector<std::string> reasons;
  std::vector<std::string> remedies;
  for (const FailedKinds& failed : all) {
    reasons.push_back(describe_failure(failed));
    if (!failed.reason.remedy.empty()) remedies.push_back(failed.reason.remedy);
  }
  return {fmt::format("{}", fmt::join(reasons, "; ")),
          fmt::format("{}", fmt::join(remedies, ", or "))};
}

/// Returns nullopt if the known command cannot be run, which says nothing about the strategy.
std::optional<RunValues> run_known_work(CountingStrategy& strategy, os::Launcher& launcher) {
  os::ProgramSpec spec;
  spec.words = {"/bin/sh", "-c", kKnownWork};
  const auto program = launcher.add_program(spec);
  if (!program) return std::nullopt;
  strategy.use_words({});
  const os::Launch launch{*program, os::kNoCounters, {&strategy}};
  const auto ended = launcher.run({&launch, 1}, os::AfterFailure::GoOn, {});
  if (!ended || ended->empty() || !succeeded(ended->front().outcome)) return std::nullopt;
  return strategy.finish(ended->front());
}

/// Tries a strategy on a known command. Returns why it does not count enough of the command;
/// nullopt if it does, or if that cannot be found out.
std::optional<Error> try_on_known_work(const StrategyKind& kind, CountingStrategy& strategy,
                                       const Kernel& kernel, os::Launcher& launcher) {
  const KernelRequest asked =
      kind.choice == KperfStrategyChoice::Machine ? KernelRequest::Count : KernelRequest::Trace;
  if (const int error = strategy.begin(); error != 0) return explain_refusal(asked, error, kernel);
  auto run = run_known_work(strategy, launcher);
  for (std::uint32_t again = 0; run && run->redo && again < run->redo->max_repetitions; ++again)
    run = run_known_work(strategy, launcher);
  if (!run) return std::nullopt;
  if (run->uncounted_reason) return run->uncounted_reason;
  if (!run->instruction_coverage || *run->instruction_coverage >= kind.min_coverage)
    return std::nullopt;
  return Error{fmt::format("it counted {:.0f}% of the instructions of a known command",
                           *run->instruction_coverage * 100),
               ""};
}

}  // namespace

// The meaning of the records. Source: XNU osfmk/kperf/{action,kperf_kpc}.c, osfmk/kern/thread.c and
// bsd/kern/kern_{fork,exec}.c.
// - An ending thread writes THREAD_TERMINATE_PID. The thread's last sample follows, perhaps after
//   records of other threads.
// - A sample of n values is ceil(n / 4) records of four values. The first record has the flag
//   START, the last has END; a single record has only START.
// - For a thread without counts, the kernel writes as many zeros as it has counters, not n.
// - An exec gives the process a new thread, a copy, which writes EXEC if the exec succeeds.
//   The copy of a failed exec vanishes without a record.

TraceReader::TraceReader(std::size_t values, bool at_exit, std::int32_t target)
    : value_count_(std::clamp<std::size_t>(values, 1, kMaxCountersPerCpu)),
      samples_at_thread_end_(at_exit) {
  processes_.push_back({target, true});
}

/// Reads records of the kernel's trace: which threads begin and end, and the samples of their
/// counters. Records of other kinds are ignored.
void TraceReader::feed(std::span<const KdebugRecord> records) {
  for (const KdebugRecord& record : records) {
    switch (record.debugid) {
      // A sample may need several records, of which the first and the last have a mark in their id.
      case kThreadCountersDebugid:
      case kThreadCountersDebugid | kFunctionStart:
      case kThreadCountersDebugid | kFunctionEnd:
        add_sample_record(record);
        break;

      case kNewThreadDebugid:
        add_new_thread(record);
        break;

      case kExecDebugid:
        // An exec gives the process a new thread, which writes this record if the exec succeeds.
        find_or_add_thread(record.thread).is_exec_copy = false;
        break;

      case kThreadTerminateDebugid:
        note_thread_end(record);
        break;

      case kLostEventsDebugid:
        has_lost_records_ = true;
        break;

      default:
        break;
    }
  }
}

TraceReader::Thread& TraceReader::find_or_add_thread(std::uint64_t tid) {
  if (last_thread_ == nullptr || last_tid_ != tid) {
    last_tid_ = tid;
    last_thread_ = &threads_[tid];
  }
  return *last_thread_;
}

TraceReader::ProcessIndex TraceReader::find_or_add_process(std::int32_t pid,
                                                           std::uint64_t unique_id, bool in_tree) {
  const auto next = static_cast<ProcessIndex>(processes_.size());
  const auto [known, is_new] = by_key_.emplace(make_process_key(pid, unique_id), next);
  if (is_new) processes_.push_back({pid, in_tree});
  return known->second;
}

void TraceReader::add_new_thread(const KdebugRecord& record) {
  const auto& [tid, pid_argument, is_exec_copy, unique_id] = record.arguments;
  const std::int32_t pid = pid_in(pid_argument);
  if (!target_unique_id_ && pid == processes_.front().pid) {
    target_unique_id_ = unique_id;
    by_key_.emplace(make_process_key(pid, unique_id), 0);
  }
  Thread& maker = find_or_add_thread(record.thread);
  const bool child_of_tree = in_tree(maker);
  const ProcessIndex process = find_or_add_process(pid, unique_id, child_of_tree);
  if (maker.process == kUnknown && !processes_[process].in_tree) maker.has_made_outsiders = true;
  Thread& made = find_or_add_thread(tid);
  made.process = process;
  made.is_exec_copy = is_exec_copy != 0;
}

void TraceReader::note_thread_end(const KdebugRecord& record) {
  Thread& thread = find_or_add_thread(record.thread);
  // Unique ids only grow, so a process with a higher id than the target's began after the target.
  // If the trace lacks the beginning of such a process, the process may belong to the tree.
  const bool was_seen = thread.process != kUnknown;
  const std::int32_t pid = pid_in(record.arguments[0]);
  target_began_before_trace_ = target_began_before_trace_ ||
                               (!was_seen && !target_unique_id_ && pid == processes_.front().pid);
  thread.process = find_or_add_process(pid, record.arguments[1], false);
  const bool is_younger =
      target_unique_id_.value_or(0) != 0 && record.arguments[1] > *target_unique_id_;
  has_lost_records_ = has_lost_records_ ||
                      (!was_seen && (in_tree(thread) ? thread.has_made_outsiders : is_younger));
  thread.is_exec_copy = false;
  thread.has_ended = true;
  thread.has_final_counts = false;
  thread.sample = SampleState::None;
}

/// Adds the values in a record to the present sample of its thread, and closes the sample after its
/// last record.
void TraceReader::add_sample_record(const KdebugRecord& record) {
  Thread& thread = find_or_add_thread(record.thread);

  // Only the command and its descendants are counted. A thread whose process is not known yet may
  // belong to them.
  const bool belongs_to_others = thread.process != kUnknown && !in_tree(thread);
  if (belongs_to_others) return;

  // A record has up to four values. If a sample has more values, it comes in several records, of
  // which the first has the mark START, the last has END, and those between have none. A single
  // record has only START.
  const std::uint32_t mark = record.debugid & kFunctionBits;
  const std::uint32_t expected_last_mark =
      value_count_ <= kValuesOfRecord ? kFunctionStart : kFunctionEnd;

  if (mark == kFunctionStart) {
    begin_sample(thread);
  } else if (thread.sample != SampleState::Filling) {
    // This record continues no sample. A sample that is already full has too many values. In the
    // other states, the beginning of the sample was not seen, or the sample has only zeros.
    if (thread.sample == SampleState::Full) thread.is_malformed = true;
    return;
  }

  append_values(record, thread);
  const bool is_full = thread.values_filled == value_count_;
  const bool is_last_record = is_full || mark == kFunctionEnd;
  const bool is_well_formed = is_full && mark == expected_last_mark;
  if (is_last_record) close_sample(thread, is_well_formed);
}

/// Adds the values of a record to the present sample of its thread, as many as are missing.
void TraceReader::append_values(const KdebugRecord& record, Thread& thread) {
  const std::size_t values_taken = std::min(kValuesOfRecord, value_count_ - thread.values_filled);
  const std::size_t first_index = thread.values_at + thread.values_filled;
  std::copy_n(record.arguments.begin(), values_taken,
              values_.begin() + static_cast<std::ptrdiff_t>(first_index));
  thread.values_filled += static_cast<std::uint32_t>(values_taken);
}

/// Begins a sample of a thread. An unfinished sample of the thread is dropped.
void TraceReader::begin_sample(Thread& thread) {
  // The first half is for the present sample, the second half for a copy of the last good one.
  if (thread.values_at == kNoPlace) {
    thread.values_at = values_.size();
    values_.resize(values_.size() + 2 * value_count_);
  }
  thread.sample = SampleState::Filling;
  thread.values_filled = 0;
}

/// Ends the present sample of a thread, and keeps a copy of its values if they are valid. Each
/// thread has room for two samples in `values_`: for the present one, and then for this copy.
void TraceReader::close_sample(Thread& thread, bool is_well_formed) {
  const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(thread.values_at);
  const auto end = begin + static_cast<std::ptrdiff_t>(thread.values_filled);
  const auto copy_begin = begin + static_cast<std::ptrdiff_t>(value_count_);

  // For a thread without counts, the kernel writes zeros, and perhaps not as many as were asked
  // for. So a sample of zeros may have any form.
  const bool has_only_zeros =
      std::all_of(begin, end, [](std::uint64_t value) { return value == 0; });
  if (has_only_zeros) {
    thread.sample = SampleState::Empty;
    return;
  }

  thread.sample = SampleState::Full;
  if (!is_well_formed) {
    thread.is_malformed = true;
    return;
  }

  // Each valid sample replaces the previous one, until the sample after the thread's end, which is
  // final.
  if (thread.has_final_counts) return;
  std::copy(begin, end, copy_begin);
  thread.has_counts = true;
  thread.has_final_counts = thread.has_ended;
}

bool TraceReader::target_is_complete() const {
  bool any = false;
  for (const auto& [tid, thread] : threads_) {
    if (thread.process != 0 || thread.is_exec_copy) continue;
    if (!thread.has_ended || (samples_at_thread_end_ && !thread.has_final_counts)) return false;
    any = true;
  }
  return any;
}

void TraceReader::add(const Thread& thread, TraceCounts& counts) const {
  const bool of_command = thread.process == 0;
  ++counts.threads_tree;
  if (of_command) ++counts.threads_command;
  if (!thread.has_ended) {
    ++counts.threads_not_ended_tree;
    if (of_command) ++counts.threads_not_ended_command;
  }
  if (!thread.has_counts) return;
  for (std::size_t i = 0; i < value_count_; ++i) {
    const std::uint64_t value = values_[thread.values_at + value_count_ + i];
    counts.tree_sums[i] += value;
    if (of_command) counts.command_sums[i] += value;
  }
}

std::string_view describe_fault(TraceFault fault) {
  switch (fault) {
    case TraceFault::LostRecords:
      return "the trace lost records";
    case TraceFault::NoThread:
      return "the trace has no thread of the command";
    case TraceFault::BeganBefore:
      return "in the trace, all threads of the command began before the trace did";
    case TraceFault::ThreadNotEnded:
      return "the end of a thread of the command is missing in the trace";
    case TraceFault::EndedWithoutCounts:
      return "the counts of a thread that ended are missing in the trace";
    case TraceFault::MalformedSample:
      break;
  }
  return "a sample in the trace has fewer or more values than lauka asked for";
}

/// Returns what is wrong with the trace; nullopt if it is complete. Of several faults, returns the
/// one that explains the others.
std::optional<TraceFault> TraceReader::find_fault(const TraceCounts& counts) const {
  if (has_lost_records_) return TraceFault::LostRecords;
  if (counts.threads_command == 0)
    return target_began_before_trace_ ? TraceFault::BeganBefore : TraceFault::NoThread;
  if (counts.threads_not_ended_command != 0) return TraceFault::ThreadNotEnded;

  bool any_ended_without_counts = false;
  for (const auto& [tid, thread] : threads_) {
    if (!is_counted(thread)) continue;
    if (thread.is_malformed) return TraceFault::MalformedSample;
    if (samples_at_thread_end_ && thread.has_ended && !thread.has_final_counts)
      any_ended_without_counts = true;
  }
  return any_ended_without_counts ? std::optional(TraceFault::EndedWithoutCounts) : std::nullopt;
}

/// Adds up the counts of all threads of the command and its descendants (its tree), and finds out
/// whether the trace was complete.
TraceCounts TraceReader::counts() const {
  TraceCounts counts;
  counts.command_sums.resize(value_count_);
  counts.tree_sums.resize(value_count_);
  for (const auto& [tid, thread] : threads_)
    if (is_counted(thread)) add(thread, counts);
  for (const Process& process : processes_)
    if (process.in_tree) ++counts.processes_tree;
  counts.fault = find_fault(counts);
  return counts;
}

void CountingStrategy::take_counters() {
  is_programmed_ = is_programmed_ && claim_.is_held();
  note_step("the counters could not be taken", claim_.ensure_held());
}

void CountingStrategy::program(bool by_thread) {
  if (error_ == 0 && (!is_programmed_ || !claim_.is_as_programmed()))
    note_step("the counters could not be programmed", claim_.program(words_, by_thread));
  is_programmed_ = error_ == 0;
}

std::optional<RunValues> CountingStrategy::make_failed_run() {
  // EAGAIN: another program changed the settings between two calls.
  const bool was_changed = error_ == EAGAIN || (error_ == 0 && !claim_.is_as_programmed());
  if (error_ == 0 && !was_changed) return std::nullopt;
  is_programmed_ = false;
  if (was_changed)
    return make_uncounted_run("another program changed the counters in the meantime",
                              kMaxRepetitions);
  return make_uncounted_run(fmt::format("{}: {}", failed_, std::generic_category().message(error_)),
                            1);
}

std::unique_ptr<CountingStrategy> make_thread_strategy(Claim& claim, Trace& trace,
                                                       KperfStrategyChoice sampled,
                                                       std::chrono::nanoseconds period) {
  return std::make_unique<ThreadStrategy>(claim, trace, sampled, period);
}

std::unique_ptr<CountingStrategy> make_machine_strategy(Claim& claim, const Kernel& kernel) {
  return std::make_unique<MachineStrategy>(claim, kernel);
}

namespace {

/// Returns what a strategy of threads samples. Given Auto, it samples threads as they end, and
/// begins to sample running threads if it has to. Only one kind of strategy samples running threads
/// from the start.
KperfStrategyChoice choose_sampling(const StrategyKind& kind, KperfStrategyChoice wanted) {
  const bool samples_from_start = kind.choice == KperfStrategyChoice::SampleRunningThreads;
  return samples_from_start ? kind.choice : wanted;
}

/// Returns notes that say why better kinds of strategy were not chosen.
std::vector<Note> make_failure_notes(const std::vector<FailedKinds>& all_failed) {
  std::vector<Note> notes;
  notes.reserve(all_failed.size());
  for (const FailedKinds& failed : all_failed)
    notes.push_back(
        {"other_strategy", Error{describe_failure(failed), failed.reason.remedy}.line()});
  return notes;
}

}  // namespace

/// macOS may refuse any way of counting, or count only a part. So each kind of strategy that
/// the user allows is tried on a known command. Returns the first that counts enough of it, or an
/// error that says why each kind failed.
Result<ChosenStrategy> try_strategies(const MacosEngineOptions& options, Claim& claim,
                                      const Kernel& kernel, Trace& trace) {
  const KperfStrategyChoice wanted = options.strategy;
  std::vector<FailedKinds> all_failed;

  for (const StrategyKind& kind : kStrategyKinds) {
    const bool is_allowed = wanted == KperfStrategyChoice::Auto || wanted == kind.choice;
    if (!is_allowed) continue;

    ChosenStrategy tried;
    tried.counts_machine = kind.choice == KperfStrategyChoice::Machine;
    tried.strategy = tried.counts_machine
                         ? make_machine_strategy(claim, kernel)
                         : make_thread_strategy(claim, trace, choose_sampling(kind, wanted),
                                                options.macos_sampling_period);

    const auto failure = try_on_known_work(kind, *tried.strategy, kernel, *options.launcher);
    if (!failure) {
      tried.notes = make_failure_notes(all_failed);
      return tried;
    }

    // The failed strategy must not go on sampling while the next one is tried.
    claim.end_sampling();
    add_failure(all_failed, kind, *failure);
  }

  return join_failures(all_failed);
}

}  // namespace lauka::engine::kperf
