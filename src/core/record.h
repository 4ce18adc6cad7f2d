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
  int status = 0;  ///< 0..255; 0 if --until ended the run
};

struct Signalled {
  int signal = 0;
  bool core_dumped = false;
};

/// The run took longer than --timeout, or could not be killed when --until ended it; lauka killed
/// it and its descendants, except `survivor`.
struct TimedOut {
  std::chrono::nanoseconds limit{};
  bool began = true;  ///< false: a named pipe had no process at its other end until the limit
  int survivor = 0;   ///< id of a descendant that could not be killed; 0 if none
};

/// Job control stopped the run; lauka killed it, as it would have waited forever.
struct Stopped {
  int signal = 0;    ///< stopping signal; SIGTTIN and SIGTTOU mean that the run wanted the terminal
  int survivor = 0;  ///< id of a descendant that could not be killed; 0 if none
};

/// The step at which the launcher failed to start a run.
enum class LaunchStep : unsigned char {
  Execute,
  OpenInput,
  OpenOutput,
  Fork,
  Prepare,
  BecomeUser,
  EnterFolder,
  Ask,  ///< no answer came from the launcher
};

struct NotStarted {
  LaunchStep step = LaunchStep::Execute;
  int error = 0;  ///< errno; 0 if unknown
};

/// lauka was asked to end, which ended the run or kept it from starting; such a run is never
/// counted.
struct Cancelled {};

/// The ending of a run.
using Outcome = std::variant<Exited, Signalled, TimedOut, Stopped, NotStarted, Cancelled>;

/// True if the run ended by itself with exit status 0.
inline bool succeeded(const Outcome& outcome) {
  const auto* exited = std::get_if<Exited>(&outcome);
  return exited != nullptr && exited->status == 0;
}

/// True if the run exited, or if a signal that lauka did not send ended it.
inline bool ended_by_itself(const Outcome& outcome) {
  return std::holds_alternative<Exited>(outcome) || std::holds_alternative<Signalled>(outcome);
}

/// Returns the exit status as a shell reports it: 128 + N if signal N ended or stopped the run,
/// even if lauka sent it. nullopt if the run was not started.
std::optional<int> shell_status(const Outcome& outcome);

/// The ending of a run, as exports write it in one word.
enum class Ending : unsigned char {
  Unknown,    ///< the session file does not say
  Succeeded,  ///< status 0, or a status that -i names
  Failed,     ///< another exit status
  Signalled,  ///< also of a cancelled run
  TimedOut,
  Stopped,
  NotStarted,
};

/// The words for Ending, in its order.
inline constexpr auto kEndingWords = std::to_array<std::string_view>(
    {"unknown", "succeeded", "failed", "signalled", "timed_out", "stopped", "not_started"});

constexpr std::string_view ending_word(Ending ending) {
  return kEndingWords.at(static_cast<std::size_t>(ending));
}

/// Reads the ending that `word` names; Unknown if it names no ending.
constexpr Ending parse_ending(std::string_view word) {
  for (std::size_t i = 0; i < kEndingWords.size(); ++i)
    if (kEndingWords.at(i) == word) return static_cast<Ending>(i);
  return Ending::Unknown;
}

constexpr bool is_failure(Ending ending) {
  return ending != Ending::Unknown && ending != Ending::Succeeded;
}

/// Returns how a run ended. `ignored`: failures that -i ignores; nullopt without -i.
Ending ending_of(const Outcome& outcome, const std::optional<IgnoreFailure>& ignored);

/// True if the run ended by itself, or by a signal, with a status that `ignored` lists.
bool is_named(const Outcome& outcome, const std::optional<IgnoreFailure>& ignored);

/// True if -i may ignore this ending: the run ended by itself, or lauka killed all of it at its
/// time limit.
inline bool can_be_ignored(const Outcome& outcome) {
  const auto* timed_out = std::get_if<TimedOut>(&outcome);
  return ended_by_itself(outcome) || (timed_out != nullptr && timed_out->survivor == 0);
}

/// The kernel's accounts of one run, that is of the command and the descendants that it waited for.
struct Usage {
  std::uint64_t wall_ns = 0;    ///< nanoseconds from just before execve until waitid reported the
                                ///< end, or --until's line came
  std::uint64_t user_ns = 0;    ///< CPU time in user space
  std::uint64_t system_ns = 0;  ///< CPU time in the kernel
  std::uint64_t peak_rss_bytes = 0;  ///< largest resident memory of a single process
  std::uint64_t peak_rss_floor_bytes =
      0;  ///< peak_rss_bytes up to this value may be the launcher's own
  std::uint64_t tree_peak_bytes =
      0;  ///< peak memory of all processes together, including kernel memory; 0: not measured
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t block_reads = 0;   ///< blocks of 512 bytes
  std::uint64_t block_writes = 0;  ///< blocks of 512 bytes

  /// False if peak_rss_bytes may be the launcher's own memory: then it is only an upper bound.
  bool peak_rss_is_known() const { return peak_rss_bytes > peak_rss_floor_bytes; }
};

/// All fields of Usage, for code that writes and reads runs.
inline constexpr auto kUsageFields = std::to_array<std::uint64_t Usage::*>(
    {&Usage::wall_ns, &Usage::user_ns, &Usage::system_ns, &Usage::peak_rss_bytes,
     &Usage::peak_rss_floor_bytes, &Usage::tree_peak_bytes, &Usage::minor_faults,
     &Usage::major_faults, &Usage::voluntary_switches, &Usage::involuntary_switches,
     &Usage::block_reads, &Usage::block_writes});
static_assert(sizeof(Usage) == kUsageFields.size() * sizeof(std::uint64_t),
              "kUsageFields lacks a field");

/// A kind of round, by its purpose.
enum class RoundKind : unsigned char {
  Warmup,     ///< precedes a command's timed and counting rounds, also after --resume; is dropped
  Timed,      ///< measures times, memory and the kernel's other accounts
  Counting,   ///< counts events; gives no times, because counting slows the program
  Simulated,  ///< counts events in a simulator; gives no times
  Settling,   ///< follows counting rounds, which slow the next runs; its results are dropped
  Untuned,    ///< is like Timed on a machine that is not tuned, for --tune=compare
};

/// One run's place in the order of runs.
struct Step {
  std::uint32_t command = 0;  ///< index of the command
  std::uint32_t round = 0;    ///< number of the round, from 0 in each kind of round
  std::uint32_t pass = 0;     ///< index into EventSet::passes; 0 if nothing is counted
  RoundKind kind = RoundKind::Timed;
  std::uint32_t layout =
      0;  ///< number of the layout of the command's program, from 0; 0 without --layouts

  bool is_thrown_away() const { return kind == RoundKind::Warmup || kind == RoundKind::Settling; }
  bool gives_counts_only() const {
    return kind == RoundKind::Counting || kind == RoundKind::Simulated;
  }
};

/// One run and its results.
struct RunRecord {
  Step step;
  Outcome outcome;
  Usage usage;
  /// Counts of the pass's events, in their order; nullopt: not counted exactly. Empty: none.
  std::vector<std::optional<std::uint64_t>> counts;

  /// Fraction of the command's instructions that the engine counted, by comparison with the
  /// kernel's account; nullopt: unknown.
  std::optional<double> coverage{};
  /// The part of `counts` that the command's own process had, without descendants; empty: unknown,
  /// or equal to `counts`.
  std::vector<std::optional<std::uint64_t>> own_process_counts{};
  bool below_overhead = false;  ///< true if a run that gives times took no longer than its shell
                                ///< alone, so that a time became 0
  std::uint32_t order =
      0;  ///< number of the run among all runs of a suite, from 1; 0 outside suites
  std::uint32_t outlived =
      0;  ///< number of known processes that still ran after the run; 0 if lauka killed it
  /// Values that the program reported, in the order of Plan::reported; missing ones at the end are
  /// left out.
  std::vector<std::optional<double>> reported{};
};

/// Stores runs in the order added, in few bytes: a session may have a million runs, most of whose
/// fields are 0 or small. A run without counts takes about 50 bytes.
class RunList {
 public:
  /// Iterates over all runs and decodes each.
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
  /// Decodes a run into `run`, and reuses the memory of its vectors.
  void read(std::size_t index, RunRecord& run) const;
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  /// The place where an encoded run begins.
  struct Place {
    std::uint32_t block;  ///< index into blocks_
    std::uint32_t begin;  ///< offset in bytes
  };

  std::vector<std::vector<unsigned char>> blocks_;
  std::deque<Place>
      places_;  // a deque does not copy its elements when it grows, which saves memory
  std::map<std::size_t, Outcome> other_outcomes_;  // by index of the run; exited runs are missing
};

/// The reason why a run was repeated.
enum class RedoReason : unsigned char {
  Other,      ///< the session file does not say
  Counting,   ///< counts were lost or are doubtful
  CoreShare,  ///< too little CPU time was spent on the fast cores
  Throttled,  ///< the processor was throttled
};

/// A run that was repeated, and is not counted.
struct RedoneRun {
  RunRecord run;
  RedoReason reason = RedoReason::Other;
  std::string why;  ///< completes the sentence "The run was repeated because ..."
};

/// A failed run that ended the benchmark.
struct RunFailed {
  Step step;
  Outcome outcome;
  std::string error_output_end;  ///< last lines of the run's standard error, or of its output if it
                                 ///< lacks `awaited`; may be empty
  std::string awaited{};  ///< text of --until that never appeared in the output; may be empty
};

/// A hook that failed.
struct HookFailed {
  HookKind kind = HookKind::Setup;
  std::uint32_t command = 0;
  std::optional<Step>
      step{};  ///< step of the run that the hook belonged to; nullopt for setup and cleanup
  Outcome outcome{};
  std::string
      output_end{};  ///< last lines of the hook's output, or why it could not be run; may be empty
};

struct Interrupted {
  int signal = 0;
};

/// The reason why a session ended before its plan was carried out.
using CutShort = std::variant<RunFailed, Interrupted, Error, HookFailed>;

/// The time that starting the shell takes, without a command.
struct ShellOverhead {
  std::uint64_t wall_ns = 0;
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;

  bool operator==(const ShellOverhead&) const = default;
};

/// The results of a plan, in the order run. run/steps.cc leaves out warm-up and settling runs and
/// the run that ended the session, so all of `runs` count.
struct Session {
  RunList runs;
  RunList untuned{};             ///< runs of --tune=compare on the untuned machine
  std::deque<RedoneRun> redone;  ///< runs that were repeated, in the order run
  std::optional<CutShort> cut_short;
  std::vector<HookFailed>
      also_failed{};  ///< hooks that failed after the session was already cut short
  std::vector<ShellOverhead> overheads{};  ///< time of the shell's start, subtracted from the runs
                                           ///< of each command; empty without a shell
  std::vector<Note> notes;
  std::vector<Fingerprint> programs{};  ///< identity of each command's program; empty if not needed
  std::vector<std::optional<UncountedFile>> uncounted{};  ///< Command::uncounted of each command
  std::vector<FunctionTable> functions{};  ///< values by function of each command; empty if unknown
};

/// The preliminary difference of a candidate's wall time from the reference's, as a fraction with a
/// 95% interval.
struct DifferenceSoFar {
  std::string_view candidate;
  double change = 0.0;
  double low = 0.0;
  double high = 0.0;
  /// --layouts: number of layouts that would give an answer, if more runs of the present layouts
  /// would not.
  std::optional<std::size_t> layouts_to_answer{};
};

/// The progress of a session.
struct Progress {
  std::string_view command;  ///< name of the current command
  RoundKind kind = RoundKind::Timed;
  double done =
      0.0;  ///< fraction of the session that is done, 0..1; an estimate if a time limit decides
  std::chrono::nanoseconds elapsed{};
  std::optional<std::chrono::nanoseconds> remaining;  ///< nullopt: unknown
  std::optional<double>
      mean_wall_seconds;  ///< mean of the command's timed runs so far; nullopt before the first
  std::optional<DifferenceSoFar> difference{};  ///< difference of the current command, or of the
                                                ///< first candidate that has one; else nullopt
};

/// Receives a session's progress between runs, and a few times a second during long runs.
class Observer : NonCopyable {
 public:
  virtual ~Observer() = default;

  /// True if progress must be reported; if false, the runner never wakes up to report it.
  virtual bool wants_progress() const = 0;
  virtual void progress(const Progress& progress) = 0;
  /// Reports that a program is being built: "./new: layout 3 of 8".
  virtual void building(std::string_view /*what*/) {}
  /// Reports, before a command's first run, that `file` makes it lose its counters.
  virtual void counts_lost(const Command& /*command*/, const UncountedFile& /*file*/) {}
  /// Reports the end of the session, so that the progress line can be erased.
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
