#pragma once

#include "core/command.h"
#include "core/machine.h"
#include "core/record.h"
#include "core/result.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace lauka::os {

struct Output {
  OutputKind sink = OutputKind::Null;
  std::string path{};
  /// True: lauka stores the output, and passes it on to `sink` after the run.
  bool is_stored_during_run = false;
  bool has_listener = false;  ///< true: Launch::listener gets the output
};

enum class OutputStream : unsigned char { Output, Error };

/// Number of bytes that lauka always keeps at the end of a stored stream
/// (Output::is_stored_during_run). Earlier bytes may be dropped during the run.
inline constexpr std::uint64_t kStoredEndBytes = std::uint64_t{64} << 20U;

struct ProgramSpec {
  std::vector<std::string> words;
  std::optional<std::string> input_path{};  ///< nullopt: /dev/null
  Output output{};
  std::string folder{};  ///< working folder; empty: lauka's own
  std::optional<std::chrono::nanoseconds> timeout{};
  /// Entries NAME=VALUE; each replaces lauka's variable of that name.
  std::vector<std::string> environment_changes{};
  std::uint32_t jobs = 1;  ///< number of copies of the program in one run
  bool jobs_outlive_failure = false;
  std::string launch_variable{};
  bool has_region = false;     ///< true: the program may mark a region with lauka/region.h
  std::optional<User> user{};  ///< user who runs the program; nullopt: lauka's own
  /// Linux: CPUs for the program; empty: the CPUs that lauka was started with.
  std::vector<std::uint32_t> cpus{};
  CorePreference prefer = CorePreference::Any;  ///< macOS only
};

struct CounterRequest {
  std::array<std::byte, 136> attributes{};  ///< a perf_event_attr
  std::size_t leader = 0;                   ///< index of the group's leader in the set
  int cpu = -1;                             ///< number of the CPU to count on; -1: every CPU
  bool system_wide = false;         ///< true: counts all programs on `cpu`, not only the run
  bool counts_only_region = false;  ///< true: counts only in the program's region
  /// True: takes samples for Launch::sample_listener; the only counter in its set.
  bool takes_samples = false;
  /// True: if the counter cannot be opened, the run goes on without any optional counter. Required
  /// counters come first.
  bool optional = false;
};

struct Reading {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

inline constexpr std::size_t kMaxCounters = 128;

using ProgramId = std::uint32_t;
using CounterSetId = std::uint32_t;
inline constexpr CounterSetId kNoCounters = ~CounterSetId{0};

/// Follows a run. Only macOS's launcher calls it.
class RunObserver : NonCopyable {
 public:
  virtual ~RunObserver() = default;

  virtual void before_start() = 0;

  /// Called when the process exists but is suspended, before it runs anything.
  virtual void made(int pid) = 0;

  virtual void running(int pid) = 0;
  virtual std::chrono::nanoseconds interval() const = 0;
};

class OutputListener : NonCopyable {
 public:
  virtual ~OutputListener() = default;

  /// Takes a piece of standard output or error, perhaps after the end of the run. Returns false to
  /// end the run now, as a success.
  virtual bool receive(OutputStream which, std::string_view bytes) = 0;
};

class SampleListener : NonCopyable {
 public:
  virtual ~SampleListener() = default;

  /// Takes whole records in Linux's format (perf_event_header). The records of one CPU come in
  /// order.
  virtual void receive(std::span<const std::byte> records) = 0;

  /// Takes the counter's readings after the run, one for each CPU that is online.
  virtual void end(std::span<const Reading> counters) = 0;
};

/// The state of a process at its end.
struct ProcessState {
  /// A limit of setrlimit() by its name in lower case ("stack"); nullopt: unlimited.
  struct Limit {
    std::string name{};
    std::optional<std::uint64_t> value{};

    bool operator==(const Limit&) const = default;
  };

  int nice = 0;
  std::string scheduling_policy{};    ///< as in Priority; empty if unknown
  std::vector<std::uint32_t> cpus{};  ///< CPU affinity; empty if unknown
  std::vector<Limit> limits{};
};

struct Launch {
  ProgramId program = 0;
  CounterSetId counters = kNoCounters;
  std::vector<RunObserver*> run_observers{};
  bool counts_calling_threads = false;  ///< true: threads note their counts in the region (macOS)
  bool reads_end_state = false;  ///< true: Ended::end_state is read, after the run's time has ended
  std::string launch_variable_value{};
  OutputListener* listener = nullptr;  ///< may be null; with a listener, the batch has no other run
  /// May be null; with a listener, the batch has no other run.
  SampleListener* sample_listener = nullptr;
  /// Path of a file with which the run joins a control group; may be empty. All runs of a batch
  /// join the first run's group.
  std::string control_group_file{};
  bool goes_on_after_interrupt = false;  ///< true: the run goes on even if lauka is asked to end
  /// Time from the beginning of the batch after which this run does not start any more; 0: no
  /// limit.
  std::chrono::nanoseconds latest_start{};
};

/// macOS: the kernel's accounts of the run's first process, without its descendants. Counts may be
/// 0 on a virtual machine. Optional values are missing on an old macOS.
struct AccountedTotals {
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;
  std::optional<std::uint64_t> energy_nj{};
  std::optional<std::uint64_t> on_performance_cores_ns{};
};

/// Facts that a program notes about its region. They may be wrong, because the program can write
/// any value.
struct RegionUse {
  std::uint64_t entries = 0;  ///< number of times that the region was opened, without nested begins
  std::uint64_t time_ns = 0;
  std::uint64_t unmatched_ends = 0;    ///< number of ends without a begin
  std::uint64_t counter_failures = 0;  ///< number of failures to switch a counter on or off
  std::uint64_t lock_timeouts = 0;     ///< number of waits for a lock that took over a second
  bool is_open = false;

  /// Instructions that all threads executed between outermost begins and their ends; 0 without
  /// Launch::counts_calling_threads.
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::uint64_t uncounted_threads = 0;
};

/// The part of its input file that a run read, according to the final file position, which mmap
/// does not move. Unknown for an empty file and for a pipe, for example.
enum class InputRead : unsigned char { Unknown, Nothing, Part, All };

struct Ended {
  Outcome outcome;
  Usage usage;
  /// Time of the run with preparation and clean-up.
  std::chrono::nanoseconds time_with_preparation{};
  std::vector<Reading> readings{};  ///< one per counter of Launch::counters; empty if not read
  int counter_error = 0;            ///< errno because of which `readings` is empty; 0: no error
  /// errno because of which all optional counters read 0; 0: no error.
  int optional_counter_error = 0;
  /// Number of processes that executed the program of the launch: the copies of --jobs, else 1.
  std::uint32_t started_count = 1;
  /// Number of ended processes that no parent waited for; 0 on macOS.
  std::size_t unawaited_processes = 0;
  /// Number of processes known to have outlived the run; 0 if the run was killed, and on macOS.
  std::size_t outlived = 0;
  InputRead input = InputRead::Unknown;
  bool ended_by_listener = false;
  std::optional<RegionUse> region{};        ///< nullopt if unknown
  std::optional<AccountedTotals> totals{};  ///< nullopt if unknown, and on Linux
  /// State of the process that executed the program; nullopt without Launch::reads_end_state, with
  /// --jobs and on macOS.
  std::optional<ProcessState> end_state{};
};

/// The longest time between SIGTERM and SIGKILL for a run that its listener ends.
inline constexpr std::chrono::nanoseconds kTerminateTimeout = std::chrono::seconds(2);

/// A function that a launcher calls at most five times a second during runs.
using ProgressCallback = std::function<void()>;

/// What a batch does after a run that fails.
enum class AfterFailure : unsigned char { Stop, GoOn };

/// Runs programs one after the other, and measures them.
class Launcher : NonCopyable {
 public:
  virtual ~Launcher() = default;

  /// Registers a program. Refuses a program whose file find_program() does not find.
  virtual Result<ProgramId> add_program(const ProgramSpec& spec) = 0;

  /// Registers a set of at most kMaxCounters counters. macOS refuses all sets.
  virtual Result<CounterSetId> add_counters(std::span<const CounterRequest> requests) = 0;

  /// Runs a batch of 1 to kMaxBatch launches in order. Ends the batch early after a run that does
  /// not start, does not end by itself or cannot be counted, with AfterFailure::Stop after a run
  /// that fails, and at Launch::latest_start. Without Launch::goes_on_after_interrupt, also ends
  /// the batch if lauka is asked to end. Returns the results, at least one. Returns an error if the
  /// launcher itself fails.
  virtual Result<std::vector<Ended>> run(std::span<const Launch> launches,
                                         AfterFailure after_failure,
                                         const ProgressCallback& tick) = 0;

  /// Returns the last lines of the latest run's standard error (OutputKind::Capture: of both
  /// streams); empty if lauka has not received them.
  virtual std::string error_output_end() const = 0;

  /// Returns the length in bytes of a stream of the latest run. Needs Output::is_stored_during_run.
  virtual std::uint64_t stored_stream_bytes(OutputStream /*which*/) const { return 0; }
  /// Reads a stream of the latest run from offset `from` until `into` is full, the stream ends or
  /// reading fails. Returns the number of bytes. Bytes before the last kStoredEndBytes may read as
  /// 0. Needs Output::is_stored_during_run.
  virtual std::size_t read_kept(OutputStream /*which*/, std::uint64_t /*from*/,
                                std::span<char> /*into*/) const {
    return 0;
  }

  /// Lets programs with ProgramSpec::cpus run on these CPUs, as they do at first. Without
  /// Launch::control_group_file, these programs join the control group of the file `group` (empty:
  /// no group). Does nothing on macOS.
  virtual void use_program_cpus(const std::string& /*group*/) {}

  /// Lets them run on the CPUs that lauka was started with, in no group. Does nothing on macOS.
  virtual void ignore_program_cpus() {}

  /// True if a run can consist of several copies of a program (ProgramSpec::jobs).
  virtual bool runs_copies() const { return true; }

  /// Ends the launcher process; no run is possible afterwards. Does nothing on macOS.
  virtual void dismiss() {}

  static constexpr std::size_t kMaxBatch = 128;
};

/// A function that the launcher process calls last, after lauka has ended or has called dismiss().
/// `lauka`: lauka's process id. Not used on macOS.
using ExitHandler = void (*)(int lauka);

/// Starts this system's launcher. Must be called before lauka changes its signals, and should be
/// called while lauka is small.
Result<std::unique_ptr<Launcher>> start_launcher(ExitHandler after_lauka = nullptr);

/// True if runs of `spec` get lauka's own environment without any change.
inline bool inherits_environment_unchanged(const ProgramSpec& spec) {
  return spec.environment_changes.empty() && spec.launch_variable.empty() && spec.folder.empty() &&
         !spec.has_region && spec.jobs == 1 && !spec.user;
}

inline constexpr std::string_view kJobEntryPrefix = "LAUKA_JOB=";

inline constexpr const char* kRegionVariable = "LAUKA_REGION";

/// Returns NAME of "NAME=VALUE".
std::string_view name_of_variable(std::string_view variable);

/// Returns lauka's environment with the changes for a launch of `spec`. `launch_value`: value of
/// `spec.launch_variable`. For --jobs and --region adds kJobEntryPrefix with zeros and
/// kRegionVariable with an empty value.
std::vector<std::string> program_environment(const ProgramSpec& spec,
                                             const std::string& launch_value);

/// The arguments and the environment of a program, as execve and posix_spawn need them.
class ExecStrings : NonCopyable {
 public:
  /// `variables`: empty if the program inherits lauka's environment unchanged.
  ExecStrings(std::vector<std::string> words, std::vector<std::string> variables);

  char* const* argv() const { return argv_.data(); }
  char* const* environment() const;

 private:
  std::vector<std::string> words_;
  std::vector<std::string> variables_;
  std::vector<char*> argv_;
  std::vector<char*> changed_environment_;
};

}  // namespace lauka::os
