#pragma once

#include "core/choices.h"
#include "core/result.h"
#include "engine/engine.h"
#include "engine/kperf/kernel.h"
#include "engine/kperf/kperf_engine.h"
#include "os/process.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lauka::engine::kperf {

/// A reason why a run's records give no counts.
enum class TraceFault : unsigned char {
  LostRecords,         ///< records are missing, whether or not the kernel reported it
  NoThread,            ///< the command has no thread in the records
  BeganBefore,         ///< threads of the command ended, but none was seen to start
  ThreadNotEnded,      ///< the end of a thread of the command is missing
  EndedWithoutCounts,  ///< a thread ended without a sample, although threads are sampled as they
                       ///< end
  MalformedSample,     ///< a sample has a wrong number of values
};

/// Returns the fault as a sentence without a full stop.
std::string_view text_of(TraceFault fault);

/// The counts in a run's records: sums over threads, one for each value of a sample. A thread's
/// counts are in the sample at its end, else in its last one that is not all zero, as they count
/// from the thread's start.
struct TraceCounts {
  std::optional<TraceFault> fault{};   ///< nullopt if missing; else no other field may be used
  std::vector<std::uint64_t> command;  ///< counts of the command's own threads
  std::vector<std::uint64_t> tree;     ///< counts of the command and all its descendants
  std::size_t threads_command = 0;
  std::size_t threads_tree = 0;
  std::size_t processes_tree = 0;
  std::size_t threads_not_ended_command = 0;
  std::size_t threads_not_ended_tree = 0;
};

/// Reads the records of one run. Finds descendants by the threads that created theirs, and
/// distinguishes processes by unique id, because process ids are reused.
class TraceReader {
 public:
  /// `values` (1 to kMaxUserCounters) is the number of values in a sample. `at_exit`: each thread
  /// is sampled as it ends. `target` is the command's process id; its first thread must start
  /// within the records.
  TraceReader(std::size_t values, bool at_exit, std::int32_t target);

  /// Reads more records, in the order written; any contents are safe.
  void feed(std::span<const KdebugRecord> records);

  /// True if nothing more must be read for the command: it had threads, all that were seen have
  /// ended, and (if `at_exit`) each has its sample.
  bool target_is_complete() const;

  /// Returns the sums over the records so far.
  TraceCounts counts() const;

 private:
  using ProcessIndex = std::uint32_t;

  struct Process {
    std::int32_t pid = 0;
    bool in_tree = false;
  };

  enum class SampleState : unsigned char {
    None,     ///< no sample has begun
    Filling,  ///< the sample lacks records
    Full,     ///< the sample is complete; no more records may follow
    Empty,    ///< the sample is all zero, because the kernel had no counts for the thread; padding
              ///< follows
  };

  struct Thread {
    ProcessIndex process = kUnknown;
    SampleState sample = SampleState::None;
    bool is_copy =
        false;  ///< true if created for an exec that has not succeeded yet; not counted as a thread
    bool has_made_outsiders =
        false;  ///< true if it created others outside the tree before its own process was known
    bool has_ended = false;
    bool has_counts = false;
    bool has_final_counts = false;  ///< true if a sample after the thread's end gave its counts
    bool is_malformed = false;
    std::uint32_t filled = 0;  ///< number of values of the current sample that have been read
    /// Index into values_ of the current sample, then of the last good sample.
    std::size_t values_at = kNoPlace;
  };

  static constexpr ProcessIndex kUnknown = 0xffffffff;
  static constexpr std::size_t kNoPlace = ~std::size_t{0};

  Thread& find_thread(std::uint64_t tid);
  ProcessIndex find_process(std::int32_t pid, std::uint64_t unique_id, bool in_tree);
  bool in_tree(const Thread& thread) const;
  void new_thread(const KdebugRecord& record);
  void thread_ended(const KdebugRecord& record);
  void sample(const KdebugRecord& record);
  void close_sample(Thread& thread, bool ends_as_expected);
  void add(const Thread& thread, TraceCounts& counts) const;

  std::size_t value_count_;
  bool at_exit_;
  bool began_before_ =
      false;  ///< true if a thread of the target ended before one was seen to start
  std::vector<Process> processes_;  ///< the target comes first
  std::unordered_map<std::uint64_t, ProcessIndex> by_key_;
  std::unordered_map<std::uint64_t, Thread> threads_;
  std::vector<std::uint64_t> values_;
  std::uint64_t last_tid_ = 0;
  Thread* last_thread_ = nullptr;  ///< thread of last_tid_, cached because most records follow a
                                   ///< record of the same thread
  std::optional<std::uint64_t>
      unique_id_{};  ///< unique id of the target, once its first thread has started
  bool lost_ = false;
};

/// The result of one run. `values` has the fixed counters, then the usable configurable counters;
/// empty if the run was not counted (see `missing`).
struct RunValues {
  std::vector<std::uint64_t> values;
  /// Values of the command's own process; empty if unknown, or if there was no other process.
  std::vector<std::uint64_t> own_process_counts{};
  std::optional<Error> missing{};
  std::optional<Redo> redo{};
  std::optional<double> coverage{};
};

/// A way to count runs. Its Claim owns what it takes from the system.
class Strategy : NonCopyable {
 public:
  virtual ~Strategy() = default;

  /// Prepares for counting, once before the first run. Returns 0 or an errno.
  virtual int begin() = 0;

  /// Prepares a run, like os::RunWatch::before_start. `words`: configuration words of the run's
  /// pass.
  virtual void before_start(const std::vector<std::uint64_t>& words) = 0;
  /// Called when the process exists but is suspended, as os::RunWatch::made.
  virtual void made(int pid) = 0;
  /// Called from time to time during the run, as os::RunWatch::running.
  virtual void running() {}
  /// Returns the counts of the run that has ended.
  virtual RunValues finish(const os::Ended& ended) = 0;

  /// Switches off what slows runs that are not counted, until the next before_start().
  virtual void pause();

  /// Returns the time between two calls of running().
  virtual std::chrono::nanoseconds interval() const { return std::chrono::seconds(1); }

  /// Returns notes that every user of these counts must know, one line each.
  virtual std::vector<Note> notes() const = 0;

 protected:
  explicit Strategy(Claim& claim) : claim_(claim) {}

  /// Records the `error` of a run's latest step (0: no error), and `failed`, which explains it.
  /// After an error the run's other steps must be left out.
  void try_to(const char* failed, int error);

  /// The first step of a run: takes the counters again if they were released meanwhile.
  void hold();

  /// Programs the counters with `words`, unless they already count them or a step failed.
  void program(const std::vector<std::uint64_t>& words, bool by_thread);

  /// Returns why the run has no counts, if a step failed or another program took the counters; else
  /// nullopt.
  std::optional<RunValues> failed_run();

  Claim& claim() const { return claim_; }

  /// Returns the errno of the step that failed in this run; 0: no error.
  int error() const { return error_; }

 private:
  Claim& claim_;
  int error_ = 0;
  bool is_programmed_ = false;
  const char* failed_ = "";  // step that gave error_
  std::vector<std::uint64_t> words_;
};

/// Counts by thread, from the kernel's trace. AtExit is exact; Pet gives a lower bound; Auto is
/// AtExit, and both together once a thread has outlived a command.
std::unique_ptr<Strategy> make_thread_strategy(Claim& claim, Trace& trace, StrategyChoice sampled,
                                               std::chrono::nanoseconds period);

/// Counts what the whole machine does while the command runs.
std::unique_ptr<Strategy> make_machine_strategy(Claim& claim, const Kernel& kernel);

/// Passes the calls for a run on to a strategy.
class StrategyWatch final : public os::RunWatch {
 public:
  StrategyWatch(Strategy& strategy, std::vector<std::uint64_t> words)
      : strategy_(strategy), words_(std::move(words)) {}

  void before_start() override { strategy_.before_start(words_); }
  void made(int pid) override { strategy_.made(pid); }
  void running(int /*pid*/) override { strategy_.running(); }
  std::chrono::nanoseconds interval() const override { return strategy_.interval(); }

 private:
  Strategy& strategy_;
  std::vector<std::uint64_t> words_;
};

/// A strategy that works on this machine.
struct TriedStrategy {
  std::unique_ptr<Strategy> strategy;
  bool counts_machine =
      false;                ///< true if it counts all programs of the machine, not only the command
  std::vector<Note> notes;  ///< notes for users about the choice
};

/// Tries strategies, the best first, on a command with a known total. Returns the first that counts
/// enough of it, or that cannot be tried without a run; the error says why none does, or why
/// the user's choice does not.
Result<TriedStrategy> try_strategies(StrategyChoice choice, std::chrono::nanoseconds period,
                                     Claim& claim, const Kernel& kernel, Trace& trace,
                                     os::Launcher& launcher);

}  // namespace lauka::engine::kperf
