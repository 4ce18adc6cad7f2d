#pragma once

#include "core/command.h"
#include "core/machine.h"
#include "core/record.h"
#include "core/result.h"
#include "os/descriptor.h"

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

/// The source of standard input: a file that is opened again for each run, or /dev/null.
struct Input {
  std::optional<std::string> path;  ///< nullopt: /dev/null
};

/// The destination of standard output and error.
struct Output {
  OutputKind sink = OutputKind::Null;
  std::string path{};  ///< path for OutputKind::File; the file is emptied before each run
  bool kept = false;   ///< true: output goes to unnamed files (Launcher::kept_bytes), so that no
                       ///< reader slows the run, and to its destination at the end
  bool has_listener =
      false;  ///< true: Launch::listener gets the output first; not together with `kept`
};

/// A stream whose output is kept.
enum class Kept : unsigned char { Output, Error };

/// The number of bytes at the end of each of a run's streams that are certainly kept.
inline constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{64} << 20U;

/// A program to run.
struct ProgramSpec {
  std::vector<std::string> words;  ///< argv, at least one word
  Input input{};
  Output output{};
  std::string folder{};                               ///< working folder; empty: lauka's own
  std::optional<std::chrono::nanoseconds> timeout{};  ///< nullopt: no limit
  std::vector<std::string>
      environment{};  ///< NAME=VALUE entries that are added to lauka's environment or replace its
                      ///< entries; their PATH finds the program
  std::uint32_t jobs = 1;  ///< number of copies that make up one run, numbered from 0 in LAUKA_JOB
  bool jobs_outlive_failure =
      false;  ///< true: if one copy fails, the other copies go on; false: they are killed
  std::string launch_variable{};  ///< name of a variable that each launch sets; empty if missing
  bool has_region = false;        ///< true: the program gets memory for its region (lauka/region.h)
  std::optional<User>
      user{};  ///< user that runs the program and opens its files; nullopt: lauka's own
  std::vector<std::uint32_t> cpus{};  ///< Linux: the only CPUs on which the program runs, while
                                      ///< use_own_cpus() allows; empty: any
  CorePreference prefer =
      CorePreference::Any;  ///< macOS: core kind that the quality-of-service class asks for
};

/// A kernel counter that the launcher opens just before a run. The command inherits the counter,
/// and execve starts it.
struct CounterRequest {
  std::array<std::byte, 136>
      attributes{};        ///< attributes in the engine's format (Linux: a perf_event_attr)
  std::size_t leader = 0;  ///< index of the group's leader in the set; a leader has its own index
  int cpu = -1;  ///< -1: counts on every CPU; else only on this one, and 0 if it is offline (an
                 ///< error if `system_wide`). Needs no guard, because the set has a counter of the
                 ///< same type on all CPUs
  bool system_wide = false;  ///< true: counts all programs on `cpu`, from opening to reading
  bool of_region =
      false;  ///< true: the program switches the counter on in its region; execve does not start it
  bool samples = false;   ///< true: samples into rings, one per CPU, whose records and readings go
                          ///< to Launch::samples. Such a counter is alone in its set
  bool optional = false;  ///< true: optional counters follow all others in the set; if one cannot
                          ///< be opened, the run goes on without any of them
};

/// The value of a counter at the end of a run.
struct Reading {
  std::uint64_t value = 0;       ///< events counted
  std::uint64_t enabled_ns = 0;  ///< nanoseconds in which the counter was switched on
  std::uint64_t running_ns = 0;  ///< nanoseconds in which it really counted; less if counters were
                                 ///< shared, or if the run was on cores of another PMU
};

/// The largest number of counters for one run.
inline constexpr std::size_t kMaxCounters = 128;

/// The number of a registered program, in the order of registration.
using ProgramId = std::uint32_t;
/// The number of a registered set of counters, in the order of registration.
using CounterSetId = std::uint32_t;
/// A CounterSetId for runs that count nothing.
inline constexpr CounterSetId kNoCounters = ~CounterSetId{0};

/// Follows a run from lauka's process. Called only if lauka itself is the launcher (macOS).
class RunWatch : NonCopyable {
 public:
  virtual ~RunWatch() = default;

  /// Called just before the process is created: counters switched on here count its first thread.
  virtual void before_start() = 0;

  /// Called when the process exists but is suspended and has not run anything.
  virtual void made(int pid) = 0;

  /// Called about every `interval()` while the process runs.
  virtual void running(int pid) = 0;
  virtual std::chrono::nanoseconds interval() const = 0;
};

/// Receives a run's output while the run goes on.
class OutputListener : NonCopyable {
 public:
  virtual ~OutputListener() = default;

  /// Takes a piece of standard output or error, perhaps after the end of the run. Returns false to
  /// end the run as a success: its wall time ends now, and its process group gets SIGTERM and,
  /// after two seconds, SIGKILL.
  virtual bool receive(Kept which, std::string_view bytes) = 0;
};

/// Receives the records of a run's sampling counter while the run goes on.
class SampleListener : NonCopyable {
 public:
  virtual ~SampleListener() = default;

  /// Takes whole records as Linux writes them (perf_event_header). The records of one CPU come in
  /// order.
  virtual void receive(std::span<const std::byte> records) = 0;

  /// Takes the reading of the counter on each CPU once the run has ended.
  virtual void end(std::span<const Reading> counters) = 0;
};

/// A request for one run.
struct Launch {
  ProgramId program = 0;
  CounterSetId counters = kNoCounters;
  std::vector<RunWatch*> watches{};  ///< not null; they outlive the run
  bool counts_calling_threads =
      false;            ///< macOS: true if threads that enter the region count themselves
  std::string value{};  ///< value of the program's launch_variable
  OutputListener* listener = nullptr;  ///< listener for Output::has_listener, which outlives the
                                       ///< run; the run must be alone in its batch
  SampleListener* samples = nullptr;   ///< listener for a sampling counter, which outlives the run;
                                       ///< the run must be alone in its batch
  std::string group{};             ///< path of the file with which the run joins a control group
                                   ///< (setting_files.h), alone in its batch; empty if missing
  bool ignores_interrupt = false;  ///< true: the run (Linux: its whole batch) goes on to its end
                                   ///< even if lauka is asked to end (cleanup hooks)
};

/// macOS: the kernel's final accounts of the command's own process, without descendants.
struct KernelTotals {
  std::uint64_t instructions =
      0;                     ///< instructions in user space and kernel; 0 on a virtual machine
  std::uint64_t cycles = 0;  ///< cycles in user space and kernel; 0 on a virtual machine
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;
  std::optional<std::uint64_t> energy_nj{};                ///< nullopt before macOS 13
  std::optional<std::uint64_t> on_performance_cores_ns{};  ///< CPU time; nullopt before macOS 13
};

/// A program's notes about its region. Any value is possible, because the program writes them.
struct RegionUse {
  std::uint64_t entries = 0;     ///< number of regions begun; nested regions count once
  std::uint64_t time_ns = 0;     ///< nanoseconds in regions that have ended
  std::uint64_t stray = 0;       ///< number of ends without a begin
  std::uint64_t failures = 0;    ///< number of times that a counter could not be switched
  std::uint64_t lost_locks = 0;  ///< number of times that a begin or end waited more than a second
                                 ///< for another begin or end
  bool is_open = false;  ///< true if the last region has not ended, or a begin or end goes on

  /// Instructions from each thread's first begin to its last end, with
  /// Launch::counts_calling_threads (macOS); else 0, like the next two.
  std::uint64_t instructions = 0;
  /// Cycles from each thread's first begin to its last end, with Launch::counts_calling_threads.
  std::uint64_t cycles = 0;
  std::uint64_t uncounted_threads = 0;  ///< number of threads whose counts are unknown
};

/// The part of standard input that a run read, judged by the final file position; reading through
/// mmap does not count. Unknown: standard input is empty or not a regular file, the run has several
/// copies, or it did not start.
enum class InputRead : unsigned char { Unknown, Nothing, Part, All };

/// A run that has ended. Times, usage and counts are this run's alone.
struct Ended {
  Outcome outcome;
  Usage usage;
  std::chrono::nanoseconds whole{};  ///< time of the run and of all that the launcher did for it
  std::vector<Reading> readings{};   ///< readings of the counters of its set; empty if there is a
                                     ///< counter_error, or if it did not start or was sampled
  int counter_error = 0;   ///< errno of a counter that could not be opened or read; 0: no error
  int optional_error = 0;  ///< errno of an optional counter that could not be opened, in which case
                           ///< all of them read 0; 0: none
  std::size_t orphans = 0;  ///< number of processes of this run or earlier ones that had ended by
                            ///< its end, and that no process waited for: counters include this
                            ///< run's, rusage does not; 0: none, or unknown (macOS)
  /// Number of processes that are known to have gone on after it; 0 if it was killed, or on macOS.
  std::size_t outlived = 0;
  InputRead input = InputRead::Unknown;
  bool ended_by_listener = false;        ///< true if the listener ended the run
  std::optional<RegionUse> region{};     ///< nullopt: the program has no region or did not start
  std::optional<KernelTotals> totals{};  ///< nullopt: not reported (Linux), or it did not start
};

/// The time between SIGTERM and SIGKILL.
inline constexpr std::chrono::nanoseconds kGrace = std::chrono::seconds(2);

/// A function called up to five times a second during runs, less often during much output.
using Tick = std::function<void()>;

/// Runs programs one after the other, so that neither lauka's size nor its work affects a result. A
/// run that failed, was stopped, timed out or was cancelled is an outcome, never an error.
class Launcher : NonCopyable {
 public:
  virtual ~Launcher() = default;

  /// Registers a program and finds its file (find_program). Refuses a program that could not be
  /// run or whose user cannot get lauka's pipes, and any when the memory for arguments is full.
  virtual Result<ProgramId> add_program(const ProgramSpec& spec) = 0;

  /// Registers a set of at most kMaxCounters counters. Refuses a larger set, any set when the
  /// memory is full, and any on macOS.
  virtual Result<CounterSetId> add_counters(std::span<const CounterRequest> requests) = 0;

  /// Runs `launches` (1 to kMaxBatch) in order. Returns an Ended for each run that began, at least
  /// one. Ends early after a run that failed (unless `go_on_after_failure`), did not start, was
  /// stopped, timed out or could not be counted, and if a signal asks lauka to end (then the last
  /// outcome is Cancelled, unless that run was just over). An error: the launcher process is gone,
  /// or memory is full.
  virtual Result<std::vector<Ended>> run(std::span<const Launch> launches, bool go_on_after_failure,
                                         const Tick& tick) = 0;

  /// Returns the last lines of the latest run's standard error (OutputTail), for OutputKind Capture
  /// of both streams. Unless Output::kept, empty for Inherit and File without a listener, and
  /// perhaps empty with one.
  virtual std::string error_output_end() const = 0;

  /// Returns how many bytes the latest run wrote to a stream. Needs Output::kept.
  virtual std::uint64_t kept_bytes(Kept /*which*/) const { return 0; }
  /// Reads kept output from offset `from` until `into` is full, the output ends or reading fails.
  /// Returns the number of bytes. Bytes before the last kMaxKeptBytes may read as 0.
  virtual std::size_t read_kept(Kept /*which*/, std::uint64_t /*from*/,
                                std::span<char> /*into*/) const {
    return 0;
  }

  /// True: runs of programs with CPUs of their own use these CPUs. False: they run on lauka's. They
  /// join the control group whose file is `group`, unless that is empty or the run has a group.
  virtual void use_own_cpus(bool /*are_used*/, const std::string& /*group*/) {}

  /// True if a run can consist of several copies of a program (ProgramSpec::jobs).
  virtual bool runs_copies() const { return true; }

  /// Ends the launcher while lauka goes on: no run is possible afterwards. Does nothing on macOS.
  virtual void dismiss() {}

  /// The largest number of runs in one batch.
  static constexpr std::size_t kMaxBatch = 128;
};

/// A function that a launcher process (not on macOS) calls last, when lauka has ended or dismissed
/// it; it gets lauka's process id.
using AfterLauka = void (*)(int lauka);

/// Starts this system's launcher. Must be called first in main, before lauka grows or changes its
/// signals.
Result<std::unique_ptr<Launcher>> start_launcher(AfterLauka after_lauka = nullptr);

struct DarwinCalls;

/// Starts the launcher of macOS: lauka itself starts runs, suspended, with posix_spawn, so that
/// counters know a run before it executes anything. It needs no process of its own: a spawned
/// process does not inherit lauka's size, and the kernel keeps separate totals for each run. Must
/// be called first in main, before lauka changes its signals. `calls` outlives the launcher.
Result<std::unique_ptr<Launcher>> start_spawning_launcher(const DarwinCalls& calls);

/// Finds the file for `word` like a shell in `folder` (empty: lauka's own): `word` itself if it
/// contains a slash, else by searching `path` (nullopt: lauka's own PATH). The error reads like a
/// shell's: "nosuch: command not found".
Result<std::string> find_program(const std::string& word,
                                 const std::optional<std::string>& path = std::nullopt,
                                 const std::string& folder = {});

/// Finds the file of a program, with its user's rights and its own PATH if it has one.
Result<std::string> find_program(const ProgramSpec& spec);

struct LinuxCalls;

/// Finds the file that makes `spec`'s process lose its counters on Linux: the program's file, or
/// its interpreter if it is a script. nullopt if the counters stay, or if that is unknown. Does
/// not look at programs of child processes.
std::optional<UncountedFile> find_uncounted(const ProgramSpec& spec, const LinuxCalls& calls);

/// True if runs of `spec` get exactly the environment that lauka was started with.
inline bool is_own_environment(const ProgramSpec& spec) {
  return spec.environment.empty() && spec.launch_variable.empty() && spec.folder.empty() &&
         !spec.has_region && spec.jobs == 1 && !spec.user;
}

/// The beginning of the environment entry that holds a copy's number.
inline constexpr std::string_view kJobVariable = "LAUKA_JOB=";

/// The variable that holds the descriptor of a program's RegionPage.
inline constexpr const char* kRegionVariable = "LAUKA_REGION";

/// Returns the complete environment of a launch: lauka's original environment, the user's HOME,
/// USER and LOGNAME, PWD if it has a folder, the program's own variables, kJobVariable with zeros
/// if it has copies, `value` for launch_variable, and an empty kRegionVariable if it has a region.
std::vector<std::string> program_environment(const ProgramSpec& spec, const std::string& value);

/// A program that lauka runs for itself, without measuring it.
class ProgramAside : NonCopyable {
 public:
  ~ProgramAside() { kill_it(); }

  /// Starts `spec` as its user and in its folder, if possible; a child that cannot do so exits with
  /// 127. The program must end within `timeout`. Its standard input and error are /dev/null.
  void begin(const ProgramSpec& spec, std::chrono::nanoseconds timeout);

  struct Answer {
    Outcome outcome;       ///< Exited, Signalled, TimedOut (also if interrupted) or NotStarted
    std::string output{};  ///< the requested part of standard output
  };

  enum class Part : unsigned char { Beginning, End };

  /// Waits for the end of the program. Returns up to `most_bytes` of the beginning or end of its
  /// output. Kills its process group at the timeout; if lauka is asked to end, sends SIGTERM, and
  /// kills the group soon after.
  Answer wait(std::size_t most_bytes, Part part = Part::Beginning);

 private:
  class Patience;

  bool reads(Patience& patience, std::size_t most_bytes, Part part, std::string& output) const;
  bool is_over() const;
  bool has_ended(Patience& patience) const;
  void kill_it();

  pid_t pid_ = 0;      // 0: not started
  Descriptor output_;  // read end of the pipe from the program
  std::chrono::nanoseconds deadline_{};
};

}  // namespace lauka::os
