#pragma once

#include "core/command.h"
#include "core/functions.h"
#include "core/result.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lauka {

struct Exited {
  int status = 0;  ///< 0..255
};

struct Signalled {
  int signal = 0;
  bool core_dumped = false;
};

/// Took longer than --timeout, and was killed with all its descendants.
struct TimedOut {
  std::chrono::nanoseconds limit{};
  bool began = true;  ///< false: it waited for the other end of a named pipe all that time
  int survivor = 0;   ///< a process of it that could not be killed; 0 if none
};

/// Stopped by job control instead of ending, and killed: it would have waited forever.
struct Stopped {
  int signal = 0;    ///< SIGTTIN and SIGTTOU: it wants the terminal
  int survivor = 0;  ///< a process of it that could not be killed; 0 if none
};

/// The step of the launcher at which a run could not be started.
enum class LaunchStep : unsigned char {
  Execute,
  OpenInput,
  OpenOutput,
  Fork,
  Prepare,
  BecomeUser,
  EnterFolder,
  Ask,  ///< the launcher could not be asked
};

struct NotStarted {
  LaunchStep step = LaunchStep::Execute;
  int error = 0;  ///< errno
};

/// Killed because the user interrupted lauka; such a run is never counted.
struct Cancelled {};

/// The ending of one run.
using Outcome = std::variant<Exited, Signalled, TimedOut, Stopped, NotStarted, Cancelled>;

/// True if the run ended by itself with exit status 0.
inline bool succeeded(const Outcome& outcome) {
  const auto* exited = std::get_if<Exited>(&outcome);
  return exited != nullptr && exited->status == 0;
}

/// True if the run ended by itself, or by another process's signal.
inline bool ended_by_itself(const Outcome& outcome) {
  return std::holds_alternative<Exited>(outcome) || std::holds_alternative<Signalled>(outcome);
}

/// Returns the exit status of a run as a shell reports it: 128 + N if signal N ended it, lauka's
/// own included. nullopt if it was not started.
std::optional<int> shell_status(const Outcome& outcome);

/// The ending of a run, in one word.
enum class Ending : unsigned char {
  Unknown,    ///< the session does not say it
  Succeeded,  ///< status 0, or one that counts as success
  Failed,     ///< another exit status
  Signalled,
  TimedOut,
  Stopped,
  NotStarted,
};

/// The words of exports, in the order of Ending.
inline constexpr auto kEndingWords = std::to_array<std::string_view>(
    {"unknown", "succeeded", "failed", "signalled", "timed_out", "stopped", "not_started"});

constexpr std::string_view ending_word(Ending ending) {
  return kEndingWords.at(static_cast<std::size_t>(ending));
}

/// Returns the ending of a word; Unknown for another text.
constexpr Ending parse_ending(std::string_view word) {
  for (std::size_t i = 0; i < kEndingWords.size(); ++i)
    if (kEndingWords.at(i) == word) return static_cast<Ending>(i);
  return Ending::Unknown;
}

constexpr bool is_failure(Ending ending) {
  return ending != Ending::Unknown && ending != Ending::Succeeded;
}

/// Returns it. `ignored`: the statuses that count as success, if it has any.
Ending ending_of(const Outcome& outcome, const std::optional<IgnoreFailure>& ignored);

/// True if `ignored` names the status of a run that ended by itself or by a signal.
bool is_named(const Outcome& outcome, const std::optional<IgnoreFailure>& ignored);

/// True if -i may go on after it: not after a run that never began or would never end, nor while a
/// process that could not be killed goes on.
inline bool can_be_ignored(const Outcome& outcome) {
  const auto* timed_out = std::get_if<TimedOut>(&outcome);
  return ended_by_itself(outcome) || (timed_out != nullptr && timed_out->survivor == 0);
}

/// The kernel's accounts of one run: of the command and the descendants it waited for.
struct Usage {
  std::uint64_t wall_ns = 0;  ///< nanoseconds from just before execve to the end seen by waitid
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;
  std::uint64_t peak_rss_bytes = 0;        ///< the most that a single process had
  std::uint64_t peak_rss_floor_bytes = 0;  ///< up to this the peak may be the launcher's
  std::uint64_t tree_peak_bytes = 0;  ///< all processes', with the kernel's part; 0: not measured
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t block_reads = 0;   ///< units of 512 bytes
  std::uint64_t block_writes = 0;  ///< units of 512 bytes

  /// False if the reading may be the launcher's own size: then it is only an upper bound.
  bool peak_rss_is_known() const { return peak_rss_bytes > peak_rss_floor_bytes; }
};

/// All fields: writers and readers of a run use this list.
inline constexpr auto kUsageFields = std::to_array<std::uint64_t Usage::*>(
    {&Usage::wall_ns, &Usage::user_ns, &Usage::system_ns, &Usage::peak_rss_bytes,
     &Usage::peak_rss_floor_bytes, &Usage::tree_peak_bytes, &Usage::minor_faults,
     &Usage::major_faults, &Usage::voluntary_switches, &Usage::involuntary_switches,
     &Usage::block_reads, &Usage::block_writes});
static_assert(sizeof(Usage) == kUsageFields.size() * sizeof(std::uint64_t),
              "kUsageFields lacks a field");

/// The purpose of the runs of a round.
enum class RoundKind : unsigned char {
  Warmup,     ///< rounds before all others, whose results are dropped
  Timed,      ///< times, memory and other accounts of the kernel
  Counting,   ///< counts of events, and never times, which counting changes
  Simulated,  ///< counting runs under a simulator
  Settling,   ///< between counting and timed rounds, as counting slows the next runs; thrown away
  Untuned,    ///< rounds like timed ones, on a machine that is not tuned; for --tune=compare alone
};

/// One place in the order of runs.
struct Step {
  std::uint32_t command = 0;
  std::uint32_t round = 0;  ///< counts from 0, separately for each kind
  std::uint32_t pass = 0;   ///< index into EventSet::passes; 0 if nothing is counted
  RoundKind kind = RoundKind::Timed;
  std::uint32_t layout = 0;  ///< layout of the command's program, from 0; 0 without --layouts

  bool is_thrown_away() const { return kind == RoundKind::Warmup || kind == RoundKind::Settling; }
  bool gives_counts_only() const {
    return kind == RoundKind::Counting || kind == RoundKind::Simulated;
  }
};

/// One run. `counts` has one entry per event of its pass, in the pass's order; nullopt: not counted
/// exactly.
struct RunRecord {
  Step step;
  Outcome outcome;
  Usage usage;
  std::vector<std::optional<std::uint64_t>> counts;

  /// The part of the command's instructions, as the kernel accounts them, that the engine saw;
  /// nullopt: not known. 1 is all of them.
  std::optional<double> coverage{};
  /// The part of `counts` in the command's own process, without descendants; empty: not known, or
  /// all of it.
  std::vector<std::optional<std::uint64_t>> own_process_counts{};
  bool below_overhead = false;  ///< took no longer than its shell alone: a time became 0
  std::uint32_t order = 0;      ///< among the runs of all benchmarks of a suite, from 1; 0: alone
  std::uint32_t outlived = 0;   ///< processes that went on after the run; 0 if unknown
  /// Values that the program reported, in the order of Plan::reported; may be shorter.
  std::vector<std::optional<double>> reported{};
};

/// Runs in the order they were added. A session may have a million, most of whose fields are zero
/// or small: a run takes as many bytes as its numbers need, some 50 where nothing is counted.
class RunList {
 public:
  /// For loops over all runs.
  struct Iterator {
    const RunList& list;
    std::size_t index;

    RunRecord operator*() const { return list[index]; }
    void operator++() { ++index; }
    bool operator==(const Iterator& other) const { return index == other.index; }
  };

  RunList() = default;
  RunList(std::initializer_list<RunRecord> runs) {
    for (const RunRecord& run : runs) push_back(run);
  }

  void push_back(const RunRecord& run);
  void clear() { *this = RunList(); }

  std::size_t size() const { return places_.size(); }
  bool empty() const { return places_.empty(); }
  RunRecord operator[](std::size_t index) const;
  /// Reads into `run`, whose vectors keep their memory.
  void read(std::size_t index, RunRecord& run) const;
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  struct Place {
    std::uint32_t block;
    std::uint32_t begin;
  };

  // Deques: growing copies nothing, which keeps the peak memory low.
  std::deque<std::vector<unsigned char>> blocks_;
  std::deque<Place> places_;
  std::map<std::size_t, Outcome> other_outcomes_;  // of runs that have not exited, by their index
};

/// Why a run was run again.
enum class RedoReason : unsigned char {
  Other,      ///< the file does not tell
  Counting,   ///< counts were lost or are doubtful
  CoreShare,  ///< too little of it was on the fast cores
  Throttled,  ///< the processor was
};

/// A run that was run again, and does not count.
struct RedoneRun {
  RunRecord run;
  RedoReason reason = RedoReason::Other;
  std::string why;  ///< completes "was repeated because"
};

/// A run that ended the benchmark.
struct RunFailed {
  Step step;
  Outcome outcome;
  std::string error_output_end;  ///< the last lines of its standard error; may be empty
  std::string awaited{};         ///< output that lacked the line of --until
};

/// A hook that failed.
struct HookFailed {
  HookKind kind = HookKind::Setup;
  std::uint32_t command = 0;
  std::optional<Step> step{};  ///< step of the run; nullopt for setup and cleanup
  Outcome outcome{};
  std::string output_end{};  ///< the last lines of what it wrote; may be empty
};

struct Interrupted {
  int signal = 0;
};

/// Why a session ended before its plan was carried out.
using CutShort = std::variant<RunFailed, Interrupted, Error, HookFailed>;

/// The cost of starting the shell, without a command.
struct ShellOverhead {
  std::uint64_t wall_ns = 0;
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;

  bool operator==(const ShellOverhead&) const = default;
};

/// The outcome of a plan, in the order run. All runs in it count: run/steps.cc keeps neither
/// warm-up runs nor the run that ended the session.
struct Session {
  RunList runs;
  RunList untuned{};             ///< the runs of --tune=compare that were not tuned
  std::deque<RedoneRun> redone;  ///< kept separately, in the order run
  std::optional<CutShort> cut_short;
  std::vector<HookFailed> also_failed{};   ///< hooks that failed after the session was cut short
  std::vector<ShellOverhead> overheads{};  ///< one per command, subtracted; empty without a shell
  std::vector<Note> notes;
  std::vector<Fingerprint> programs{};                    ///< one per command; empty if not needed
  std::vector<std::optional<UncountedFile>> uncounted{};  ///< one per command: Command::uncounted
  std::vector<FunctionTable> functions{};                 ///< one per command; empty if not known
};

/// The difference of a candidate from the reference so far, a fraction with a 95% interval.
struct DifferenceSoFar {
  std::string_view candidate;
  double change = 0.0;
  double low = 0.0;
  double high = 0.0;
  /// Layouts that would answer where more runs of the present ones would not (--layouts).
  std::optional<std::size_t> layouts_to_answer{};
};

/// The progress of a session.
struct Progress {
  std::string_view command;  ///< name of the current command
  RoundKind kind = RoundKind::Timed;
  double done = 0.0;  ///< fraction of the session, 0..1, estimated where time decides
  std::chrono::nanoseconds elapsed{};
  std::optional<std::chrono::nanoseconds> remaining;
  std::optional<double>
      mean_wall_seconds;  ///< mean of the command's timed runs so far; nullopt before the first
  std::optional<DifferenceSoFar>
      difference{};  ///< difference of that command, or of the first candidate, from the reference
};

/// Receives progress between runs and a few times a second during long ones.
class Observer : NonCopyable {
 public:
  virtual ~Observer() = default;

  /// True if progress is shown; otherwise the runner does not wake up for it.
  virtual bool wants_progress() const = 0;
  virtual void progress(const Progress& progress) = 0;
  /// Shows that a program is being built: "./new: layout 3 of 8".
  virtual void building(std::string_view /*what*/) {}
  /// Called before the first run of a command that loses its counters.
  virtual void counts_lost(const Command& /*command*/, const UncountedFile& /*file*/) {}
  /// Erases the drawing: the session is over.
  virtual void finished() = 0;
};

/// An observer that ignores everything.
class NoObserver final : public Observer {
 public:
  bool wants_progress() const override { return false; }
  void progress(const Progress& /*progress*/) override {}
  void finished() override {}
};

}  // namespace lauka
