#pragma once

#include "core/choices.h"
#include "core/result.h"
#include "engine/engine.h"
#include "engine/kperf/kernel.h"
#include "os/process.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lauka::engine::kperf {

/// The reason why the trace of a run gives no counts.
enum class TraceFault : unsigned char {
  LostRecords,
  NoThread,
  BeganBefore,  ///< threads of the command end in the trace, but none begins in it
  ThreadNotEnded,
  EndedWithoutCounts,
  MalformedSample,
};

std::string_view describe_fault(TraceFault fault);

/// The counts in the trace of a run: sums over threads, one sum for each value of a sample.
struct TraceCounts {
  std::optional<TraceFault> fault{};        ///< nullopt: the fields below are valid
  std::vector<std::uint64_t> command_sums;  ///< counts of the command's own process
  std::vector<std::uint64_t> tree_sums;     ///< counts of the command and all its descendants
  std::size_t threads_command = 0;
  std::size_t threads_tree = 0;
  std::size_t processes_tree = 0;
  std::size_t threads_not_ended_command = 0;
  std::size_t threads_not_ended_tree = 0;
};

/// Reads the trace of one run, and adds up the counts of the command and its descendants.
class TraceReader {
 public:
  /// `values`: number of values in a sample, 1 to kMaxCountersPerCpu. `at_exit`: true if each
  /// thread is sampled as it ends. `target`: id of the command's process, which must begin in the
  /// trace.
  TraceReader(std::size_t values, bool at_exit, std::int32_t target);

  /// Reads the next records of the trace, which may have any contents.
  void feed(std::span<const KdebugRecord> records);

  /// True if the command's own process had a thread, and all its threads have ended and, with
  /// `at_exit`, were sampled at their end.
  bool target_is_complete() const;

  TraceCounts counts() const;

 private:
  using ProcessIndex = std::uint32_t;

  struct Process {
    std::int32_t pid = 0;
    bool in_tree = false;
  };

  enum class SampleState : unsigned char { None, Filling, Full, Empty };

  struct Thread {
    ProcessIndex process = kUnknown;
    SampleState sample = SampleState::None;
    bool is_exec_copy = false;  ///< true if made by an exec that has not succeeded yet
    bool has_made_outsiders = false;
    bool has_ended = false;
    bool has_counts = false;
    bool has_final_counts = false;
    bool is_malformed = false;
    std::uint32_t values_filled = 0;
    /// Index into values_ of the latest sample's values, after which the values of the last good
    /// sample are stored; kNoPlace: no sample.
    std::size_t values_at = kNoPlace;
  };

  static constexpr ProcessIndex kUnknown = 0xffffffff;
  static constexpr std::size_t kNoPlace = ~std::size_t{0};

  Thread& find_or_add_thread(std::uint64_t tid);
  ProcessIndex find_or_add_process(std::int32_t pid, std::uint64_t unique_id, bool in_tree);
  bool in_tree(const Thread& thread) const {
    return thread.process != kUnknown && processes_[thread.process].in_tree;
  }
  bool is_counted(const Thread& thread) const {
    // An exec makes a copy of the thread, which vanishes if the exec fails.
    return in_tree(thread) && !thread.is_exec_copy;
  }
  void add_new_thread(const KdebugRecord& record);
  void note_thread_end(const KdebugRecord& record);
  void add_sample_record(const KdebugRecord& record);
  void begin_sample(Thread& thread);
  void append_values(const KdebugRecord& record, Thread& thread);
  void close_sample(Thread& thread, bool is_well_formed);
  void add(const Thread& thread, TraceCounts& counts) const;
  std::optional<TraceFault> find_fault(const TraceCounts& counts) const;

  std::size_t value_count_;
  bool samples_at_thread_end_;
  bool target_began_before_trace_ = false;
  std::vector<Process> processes_;
  std::unordered_map<std::uint64_t, ProcessIndex> by_key_;
  std::unordered_map<std::uint64_t, Thread> threads_;
  std::vector<std::uint64_t> values_;
  std::uint64_t last_tid_ = 0;
  Thread* last_thread_ = nullptr;
  std::optional<std::uint64_t> target_unique_id_{};
  bool has_lost_records_ = false;
};

/// The result of counting one run. `values` has the counts of the fixed counters, then perhaps of
/// the usable configurable counters; empty if the run was not counted.
struct RunValues {
  std::vector<std::uint64_t> values;
  /// Values of the command's own process; empty if unknown, or if no descendants were seen.
  std::vector<std::uint64_t> own_process_counts{};
  std::optional<Error> uncounted_reason{};
  std::optional<RepeatRequest> redo{};
  std::optional<double> instruction_coverage{};
};

/// Counts the runs that it observes.
class CountingStrategy : public os::RunObserver {
 public:
  /// Prepares for counting, once before the first run. Returns 0 or an errno.
  virtual int begin() = 0;

  /// Sets the configuration words for the next runs.
  void use_words(const std::vector<std::uint64_t>& words) {
    is_programmed_ = is_programmed_ && words == words_;
    words_ = words;
  }

  void running(int /*pid*/) override {}
  virtual RunValues finish(const os::Ended& ended) = 0;

  /// Switches off counting and sampling, which slow runs, until the next before_start().
  virtual void pause() {
    claim_.pause();
    is_programmed_ = false;
  }

  std::chrono::nanoseconds interval() const override { return std::chrono::seconds(1); }

  virtual std::vector<Note> notes() const = 0;

 protected:
  explicit CountingStrategy(Claim& claim) : claim_(claim) {}

  /// Records the result of a step: `error` is an errno (0: success), `failed` the message for an
  /// error.
  void note_step(const char* failed, int error) {
    error_ = error;
    failed_ = failed;
  }

  void take_counters();

  /// Programs the counters, if necessary and if no step of the run has failed.
  void program(bool by_thread);

  /// Returns the result of a run that could not be counted; nullopt if nothing failed.
  std::optional<RunValues> make_failed_run();

  Claim& claim() const { return claim_; }

  int error() const { return error_; }

 private:
  Claim& claim_;
  int error_ = 0;
  bool is_programmed_ = false;
  const char* failed_ = "";
  std::vector<std::uint64_t> words_;
};

/// Makes a strategy that samples the counts of threads: as threads end (AtExit), once per `period`
/// while threads run (Pet), or like AtExit and, once a thread has outlived a command, also like Pet
/// (Auto). `period` is raised to kMinPetPeriodNs.
std::unique_ptr<CountingStrategy> make_thread_strategy(Claim& claim, Trace& trace,
                                                       KperfStrategyChoice sampled,
                                                       std::chrono::nanoseconds period);

/// Makes a strategy that counts what the whole machine does while the command runs.
std::unique_ptr<CountingStrategy> make_machine_strategy(Claim& claim, const Kernel& kernel);

struct ChosenStrategy {
  std::unique_ptr<CountingStrategy> strategy;
  bool counts_machine = false;  ///< true if the counts are of all programs on the machine
  std::vector<Note> notes;
};

/// Tries the strategy that `options` chooses (Auto: all strategies, the best first) on a short
/// command of its launcher, which must not be null. Returns the first strategy that does not fail.
/// The error explains why each strategy failed.
Result<ChosenStrategy> try_strategies(const MacosEngineOptions& options, Claim& claim,
                                      const Kernel& kernel, Trace& trace);

}  // namespace lauka::engine::kperf
