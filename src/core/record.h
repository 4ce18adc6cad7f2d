#pragma once

#include "core/command.h"
#include "core/result.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lauka {

struct Exited {
  int status = 0;  ///< exit status, 0..255; 0 if --until ended the run
};

struct Signalled {
  int signal = 0;
  bool core_dumped = false;
};

/// The run took longer than its time limit, or a process of the run could not be killed.
struct TimedOut {
  std::chrono::nanoseconds limit{};
  bool has_started = true;  ///< false: opening a file (a named pipe) took until the limit
  int survivor = 0;         ///< id of a process that could not be killed; 0 if none
};

/// A signal (such as SIGSTOP or SIGTTIN) stopped the run, so lauka sent SIGKILL to the run.
struct Stopped {
  int signal = 0;
  int survivor = 0;  ///< id of a process that could not be killed; 0 if none
};

enum class LaunchStep : unsigned char {
  Execute,
  OpenInput,
  OpenOutput,
  Fork,
  Prepare,
  BecomeUser,
  EnterFolder,
  ReachLauncher,
};

struct NotStarted {
  LaunchStep step = LaunchStep::Execute;
  int error = 0;  ///< errno; 0 if unknown
};

/// The run was ended or not started because lauka was asked to end.
struct Cancelled {};

using Outcome = std::variant<Exited, Signalled, TimedOut, Stopped, NotStarted, Cancelled>;

/// True if the run exited with status 0.
inline bool succeeded(const Outcome& outcome) {
  const auto* exited = std::get_if<Exited>(&outcome);
  return exited != nullptr && exited->status == 0;
}

inline bool has_exited_or_signalled(const Outcome& outcome) {
  return std::holds_alternative<Exited>(outcome) || std::holds_alternative<Signalled>(outcome);
}

/// Returns the exit status as a shell reports it: 128 + N for signal N. TimedOut and Cancelled
/// count as SIGKILL. Returns nullopt for NotStarted.
std::optional<int> shell_status(const Outcome& outcome);

enum class Ending : unsigned char {
  Unknown,
  Succeeded,  ///< exit status 0, or an exit status or signal listed with -i
  Failed,
  Signalled,
  TimedOut,
  Stopped,
  NotStarted,
};

/// The words for Ending in exports, in the order of the enumeration.
inline constexpr auto kWordsOfEnding = std::to_array<std::string_view>(
    {"unknown", "succeeded", "failed", "signalled", "timed_out", "stopped", "not_started"});

constexpr std::string_view ending_word(Ending ending) {
  return kWordsOfEnding.at(static_cast<std::size_t>(ending));
}

/// Returns the ending whose word is `word`; Unknown if there is no such ending.
constexpr Ending parse_ending(std::string_view word) {
  for (std::size_t i = 0; i < kWordsOfEnding.size(); ++i)
    if (kWordsOfEnding.at(i) == word) return static_cast<Ending>(i);
  return Ending::Unknown;
}

constexpr bool is_failure(Ending ending) {
  return ending != Ending::Unknown && ending != Ending::Succeeded;
}

/// Returns the ending of a run. An exit status or signal listed in `ignored` is a success.
Ending ending_of(const Outcome& outcome, const std::optional<IgnoreFailure>& ignored);

/// True if the list of `ignored` has the run's exit status, or 128 + N if signal N ended the run.
bool is_listed_status(const Outcome& outcome, const std::optional<IgnoreFailure>& ignored);

/// True if -i without a list of statuses can ignore the outcome.
inline bool can_be_ignored(const Outcome& outcome) {
  const auto* timed_out = std::get_if<TimedOut>(&outcome);
  return has_exited_or_signalled(outcome) || (timed_out != nullptr && timed_out->survivor == 0);
}

/// Resources used by a run's command, and by the descendants that the command waited for. The times
/// may be without the shell's overhead.
struct Usage {
  std::uint64_t wall_ns = 0;  ///< wall time until the end of the run, or until the line for --until
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;
  std::uint64_t peak_rss_bytes = 0;  ///< largest resident memory of a single process
  /// Largest peak_rss_bytes that may be the memory of the launcher.
  std::uint64_t peak_rss_floor_bytes = 0;
  std::uint64_t tree_peak_bytes = 0;  ///< largest memory of all processes together; 0: not measured
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t block_reads = 0;
  std::uint64_t block_writes = 0;

  /// False if peak_rss_bytes may be the memory of the launcher, and so is only an upper bound.
  bool peak_rss_is_known() const { return peak_rss_bytes > peak_rss_floor_bytes; }
};

inline constexpr auto kUsageFields = std::to_array<std::uint64_t Usage::*>(
    {&Usage::wall_ns, &Usage::user_ns, &Usage::system_ns, &Usage::peak_rss_bytes,
     &Usage::peak_rss_floor_bytes, &Usage::tree_peak_bytes, &Usage::minor_faults,
     &Usage::major_faults, &Usage::voluntary_switches, &Usage::involuntary_switches,
     &Usage::block_reads, &Usage::block_writes});
static_assert(sizeof(Usage) == kUsageFields.size() * sizeof(std::uint64_t),
              "kUsageFields lacks a field");

enum class RoundKind : unsigned char {
  Warmup,  ///< prepares rounds of other kinds; its results are dropped
  Timed,
  Counting,   ///< counts events; gives no wall_time, because counting may slow the program
  Simulated,  ///< counts events in a simulator; gives no wall_time
  Settling,   ///< lets effects of earlier rounds fade; its results are dropped
  Untuned,    ///< runs without --tune's settings, for --tune=compare
};

struct Step {
  std::uint32_t command = 0;
  std::uint32_t round = 0;
  std::uint32_t pass = 0;  ///< index into EventSet::passes; 0 if nothing is counted
  RoundKind kind = RoundKind::Timed;
  std::uint32_t layout = 0;  ///< number of the program's layout, from 0

  bool is_thrown_away() const { return kind == RoundKind::Warmup || kind == RoundKind::Settling; }
  bool gives_counts_only() const {
    return kind == RoundKind::Counting || kind == RoundKind::Simulated;
  }
};

/// What else is known about a run.
struct RunDetails {
  bool below_overhead = false;  ///< true if the run took less wall or CPU time than the shell alone
  std::uint32_t number_in_suite = 0;  ///< number of the run in the suite, from 1; 0: not numbered
  std::uint32_t outlived = 0;  ///< number of processes that outlived the run, as far as known

  bool operator==(const RunDetails&) const = default;
};

/// Calls take(key, detail) for each detail. The keys are those of lauka's JSON, which lacks details
/// that are 0. The log for --resume has the details in this order.
template <typename Details, typename Take>
void for_each_detail(Details& of, Take&& take) {
  take("below_overhead", of.below_overhead);
  take("order", of.number_in_suite);
  take("outlived", of.outlived);
}

struct RunRecord {
  Step step;
  Outcome outcome;
  Usage usage;
  /// Counts of the pass's events, in the order of Pass::event_indices; nullopt: unknown. May be
  /// empty.
  std::vector<std::optional<std::uint64_t>> counts;

  /// Counted instructions, divided by the instructions that the kernel reports for the command's
  /// own process; nullopt: unknown.
  std::optional<double> instruction_coverage{};
  /// Counts of the command's own process, without descendants, in the order of `counts`; may be
  /// empty.
  std::vector<std::optional<std::uint64_t>> own_process_counts{};
  RunDetails details{};
  /// Values of the reported metrics, by ReportedValue::place; may be shorter than the number of
  /// metrics. nullopt: missing.
  std::vector<std::optional<double>> reported{};
};

enum class RedoReason : unsigned char {
  Other,
  Counting,  ///< counts were lost or are doubtful
  CoreShare,
  Throttled,
};

struct RedoneRun {
  RunRecord run;
  RedoReason reason = RedoReason::Other;
  std::string why;
};

struct RunFailed {
  Step step;
  Outcome outcome;
  std::string error_output_end;  ///< last lines of the run's output or standard error; may be empty
  std::string unmatched_pattern{};  ///< pattern of --until, if the run ended before a line matched;
                                    ///< else empty
};

struct HookFailed {
  HookKind kind = HookKind::Setup;
  std::uint32_t command = 0;
  std::optional<Step> step{};  ///< step of the run that the hook belongs to; nullopt for setup and
                               ///< cleanup
  Outcome outcome{};
  std::string output_end{};  ///< last lines of the hook's output, or the reason why the hook could
                             ///< not be run; may be empty
};

struct Interrupted {
  int signal = 0;
};

using EarlyEnd = std::variant<RunFailed, Interrupted, Error, HookFailed>;

struct ShellOverhead {
  std::uint64_t wall_ns = 0;
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;

  bool operator==(const ShellOverhead&) const = default;
};

/// The preliminary difference of a candidate's wall time from the reference's, as a fraction with a
/// 95% interval.
struct DifferenceSoFar {
  std::string_view candidate;
  double change = 0.0;
  double low = 0.0;
  double high = 0.0;
  /// Number of layouts to advise because more runs would not reach --precision or decide a gate;
  /// nullopt: no advice.
  std::optional<std::size_t> layouts_to_answer{};
};

/// The place of a run among the session's runs of its kind, counted from 1.
struct RunNumber {
  std::uint64_t number = 1;
  std::optional<std::uint64_t> count{};  ///< number of all runs of the kind; nullopt if unknown
};

/// The number of commands that are left in a race.
struct RaceSoFar {
  std::size_t left = 0;
  std::size_t all = 0;
};

struct Progress {
  std::string_view command;
  RoundKind kind = RoundKind::Timed;
  double elapsed_share = 0.0;  ///< estimated fraction of the whole time that has passed, 0..1
  std::chrono::nanoseconds elapsed{};
  std::optional<std::chrono::nanoseconds> remaining;
  std::optional<double> mean_wall_seconds;
  std::optional<DifferenceSoFar> difference{};
  /// Number of the run that is under way; nullopt for timed runs, whose number depends on the time.
  std::optional<RunNumber> run{};
  bool are_samples_taken = false;   ///< true if runs of this kind are sampled (--profile)
  std::optional<RaceSoFar> race{};  ///< nullopt without a race
  /// True if `remaining` is a limit, because gates or a race may end the session earlier.
  bool may_end_earlier = false;
};

/// The state of the builds of --build.
struct BuildProgress {
  std::string_view latest;  ///< build that began last: "./new: layout 3 of 8"
  std::size_t begun = 0;
  std::size_t ended = 0;
  std::size_t count = 0;
  std::chrono::nanoseconds elapsed{};
  std::optional<std::chrono::nanoseconds> remaining{};  ///< nullopt until a build has ended
};

/// The receiver of a session's reports while it runs. This base class ignores all reports.
class Observer : NonCopyable {
 public:
  virtual ~Observer() = default;

  virtual bool wants_progress() const { return false; }
  virtual void progress(const Progress& /*progress*/) {}
  virtual void building(const BuildProgress& /*progress*/) {}
  /// Reports that `file` makes `command` lose its counters.
  virtual void counts_lost(const Command& /*command*/, const CounterLossFile& /*file*/) {}
  /// Reports that no more progress follows for now: the progress line can be erased.
  virtual void finished() {}
};

}  // namespace lauka
