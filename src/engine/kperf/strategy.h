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

/// Why a run's records give no counts.
enum class TraceFault : unsigned char {
  LostRecords,         ///< reported by the kernel, or not
  NoThread,            ///< the command has none
  BeganBefore,         ///< threads of the command ended that were not seen being made
  ThreadNotEnded,      ///< the end of a thread of the command is missing
  EndedWithoutCounts,  ///< a thread of the tree, although threads are sampled as they end
  MalformedSample,     ///< sample with another number of values than was programmed
};

/// Returns it as a sentence without a full stop.
std::string_view text_of(TraceFault fault);

/// The contents of a run's records. Values are sums over threads, one for each value of a sample; a
/// thread's is its last sample that is not all zero, which counts from the thread's birth.
struct TraceCounts {
  std::optional<TraceFault> fault{};   ///< if there is one, nothing below may be used
  std::vector<std::uint64_t> command;  ///< the target's own threads
  std::vector<std::uint64_t> tree;     ///< process and all its descendants
  std::size_t threads_command = 0;
  std::size_t threads_tree = 0;
  std::size_t processes_tree = 0;
  std::size_t threads_not_ended_command = 0;
  std::size_t threads_not_ended_tree = 0;
};

/// Reads the records of one run, in the kernel's pieces. Descendants are found by the creators of
/// their threads; processes are distinguished by unique id, as pids are used again.
class TraceReader {
 public:
  /// Samples have `values` values (1 to kMaxUserCounters); `at_exit`: each thread is sampled as it
  /// ends. `target`: the pid of the command, whose first thread is made within the records.
  TraceReader(std::size_t values, bool at_exit, std::int32_t target);

  /// Takes more records, in the order read, whatever they hold.
  void feed(std::span<const KdebugRecord> records);

  /// True if the command needs no more reading: all of its threads that were seen have ended, there
  /// was one, and (at exit) each has its sample.
  bool target_is_complete() const;

  /// Sums up the records so far.
  TraceCounts counts() const;

 private:
  using ProcessIndex = std::uint32_t;

  struct Process {
    std::int32_t pid = 0;
    bool in_tree = false;
  };

  enum class SampleState : unsigned char {
    None,     ///< no sample has begun
    Filling,  ///< more records have to come
    Full,     ///< complete: nothing may follow
    Empty,    ///< all zero: the kernel had no counts for the thread; what follows is padding
  };

  struct Thread {
    ProcessIndex process = kUnknown;
    SampleState sample = SampleState::None;
    bool is_copy = false;  ///< made for an exec that has not succeeded yet: no thread so far
    bool has_made_outsiders = false;  ///< processes, before its thread's owner was known
    bool has_ended = false;
    bool has_counts = false;
    bool has_final_counts = false;  ///< true if a sample after the thread's end gave its counts
    bool is_malformed = false;
    std::uint32_t filled = 0;  ///< values of the sample that has begun
    /// Place in values_ of the sample that has begun, then of the last good sample.
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
  bool began_before_ = false;       ///< a thread of the target's pid ended that was not seen before
  std::vector<Process> processes_;  ///< the target first
  std::unordered_map<std::uint64_t, ProcessIndex> by_key_;
  std::unordered_map<std::uint64_t, Thread> threads_;
  std::vector<std::uint64_t> values_;
  std::uint64_t last_tid_ = 0;
  Thread* last_thread_ =
      nullptr;  ///< thread of last_tid_: most records follow a record of the same thread
  std::optional<std::uint64_t> unique_id_{};  ///< the target's, once its first thread is made
  bool lost_ = false;
};

/// The result of one run. `values` has the fixed counters first, then the usable configurable ones;
/// empty: it was not counted, and `missing` says why.
struct RunValues {
  std::vector<std::uint64_t> values;
  /// The part of the command's own process; empty if unknown, or if there was no other process.
  std::vector<std::uint64_t> own_process_counts{};
  std::optional<Error> missing{};
  std::optional<Redo> redo{};
  std::optional<double> coverage{};
};

/// A way to count runs. The claim holds what it takes of the system.
class Strategy : NonCopyable {
 public:
  virtual ~Strategy() = default;

  /// Called once before the first run; returns 0 or an errno.
  virtual int begin() = 0;

  /// Prepares a run, as os::RunWatch::before_start; `words`: register values for the run's pass.
  virtual void before_start(const std::vector<std::uint64_t>& words) = 0;
  /// The next three: as in os::RunWatch.
  virtual void made(int pid) = 0;
  virtual void running() {}
  virtual RunValues finish(const os::Ended& ended) = 0;

  /// Switches off all that slows runs which are not counted; before_start switches it on again.
  virtual void pause();

  /// Time between two calls of running.
  virtual std::chrono::nanoseconds interval() const { return std::chrono::seconds(1); }

  /// Returns what every user of these counts must know, one line each.
  virtual std::vector<Note> notes() const = 0;

 protected:
  explicit Strategy(Claim& claim) : claim_(claim) {}

  /// Keeps the error of a step, and its explanation.
  void try_to(const char* failed, int error);

  /// Takes the counters again if they were given back.
  void hold();

  /// Programs the counters with `words`, unless they have them already.
  void program(const std::vector<std::uint64_t>& words, bool by_thread);

  /// Returns why the run has no counts if a step failed, or another program took the counters.
  std::optional<RunValues> failed_run();

  Claim& claim() const { return claim_; }

  /// Returns 0, or the errno of the step that failed since the run began.
  int error() const { return error_; }

 private:
  Claim& claim_;
  int error_ = 0;
  bool is_programmed_ = false;
  const char* failed_ = "";  // what gave error_
  std::vector<std::uint64_t> words_;
};

/// Counts by thread, from the kernel's trace. `sampled`: AtExit is exact, Pet gives a lower bound;
/// Auto is AtExit until a thread was seen to outlive a command, then both.
std::unique_ptr<Strategy> make_thread_strategy(Claim& claim, Trace& trace, StrategyChoice sampled,
                                               std::chrono::nanoseconds period);

/// Counts whatever the whole machine did while the command ran.
std::unique_ptr<Strategy> make_machine_strategy(Claim& claim, const Kernel& kernel);

/// Passes a run on to the strategy that counts it.
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

/// A strategy that works here, and notes for users about the choice.
struct Tried {
  std::unique_ptr<Strategy> strategy;
  bool counts_machine = false;  ///< all programs that run meanwhile, not the command alone
  std::vector<Note> notes;
};

/// Tries strategies on a command whose total the kernel knows, the best first, and takes the first
/// that saw it whole. Refused if none does, or if the user's choice does not.
Result<Tried> try_strategies(StrategyChoice choice, std::chrono::nanoseconds period, Claim& claim,
                             const Kernel& kernel, Trace& trace, os::Launcher& launcher);

}  // namespace lauka::engine::kperf
