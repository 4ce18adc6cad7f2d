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

/// The source of standard input: /dev/null, or a file that is opened again for each run.
struct Input {
  std::optional<std::string> path;
};

using Sink = OutputKind;

/// The destination of standard output and error.
struct Output {
  Sink sink = Sink::Null;
  std::string path{};  ///< path of Sink::File, emptied before each run
  bool kept = false;   ///< output goes to unnamed files first (Launcher::kept_bytes), so that no
                       ///< reader slows the run, and to its destination at the end
  bool has_listener = false;  ///< Launch::listener gets output first; not with `kept`
};

/// The kept parts of a run.
enum class Kept : unsigned char { Output, Error };

/// Bytes that are kept at least of the end of a run's output.
inline constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{64} << 20U;

/// A program to run.
struct ProgramSpec {
  std::vector<std::string> words;  ///< argv, at least one
  Input input{};
  Output output{};
  std::string folder{};  ///< folder that the program runs in, as after cd; empty: lauka's own
  std::optional<std::chrono::nanoseconds> timeout{};
  std::vector<std::string> environment{};  ///< NAME=VALUE, added to lauka's own or instead of it;
                                           ///< its PATH finds the program
  std::uint32_t jobs = 1;             ///< copies that are one run, numbered from 0 in LAUKA_JOB
  bool jobs_outlive_failure = false;  ///< if one fails, the others go on; else they are killed
  std::string launch_variable{};      ///< NAME that each launch gives a value; empty: none
  bool has_region = false;     ///< true: the program gets memory for its region (lauka/region.h)
  std::optional<User> user{};  ///< runs it and opens its files; nullopt: lauka's own
  std::vector<std::uint32_t> cpus{};            ///< Linux: it runs on these only; empty: on any
  CorePreference prefer = CorePreference::Any;  ///< macOS: by its quality-of-service class
};

/// A kernel counter that the launcher opens just before a run: the command inherits it, and its
/// execve starts it. The bytes are the engine's business (Linux: a perf_event_attr).
struct CounterRequest {
  std::array<std::byte, 136> attributes{};
  std::size_t leader = 0;  ///< index of its group's leader in the set; its own index: it leads
  int cpu = -1;  ///< -1: counts on all CPUs; else on this one only, and 0 while that is off. It
                 ///< has no guard of its own, as its set has another of its type on all CPUs
  bool system_wide = false;  ///< counts whatever runs on `cpu`, from its opening to its reading
  bool of_region = false;    ///< the program switches it on in its region; execve does not start it
  bool samples = false;      ///< samples into rings, one for each CPU, whose records go to
                             ///< Launch::samples; alone in its set, and has no reading
  bool optional = false;     ///< comes after all others; if one of these cannot be opened, the
                             ///< run goes on without any of them
};

/// The value of a counter when the run had ended.
struct Reading {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

/// The most counters that are opened for a run.
inline constexpr std::size_t kMaxCounters = 128;

/// A registered program, by the order of registration.
using ProgramId = std::uint32_t;
using CounterSetId = std::uint32_t;
inline constexpr CounterSetId kNoCounters = ~CounterSetId{0};

/// Follows a run from lauka's side. Called only if lauka itself is the launcher (macOS).
class RunWatch : NonCopyable {
 public:
  virtual ~RunWatch() = default;

  /// Called just before the process is made: counters switched on here count its first thread.
  virtual void before_start() = 0;

  /// Called when the process exists, suspended, before it has run anything.
  virtual void made(int pid) = 0;

  /// About every `interval()` while it runs.
  virtual void running(int pid) = 0;
  virtual std::chrono::nanoseconds interval() const = 0;
};

/// Receives a run's output while it runs.
class OutputListener : NonCopyable {
 public:
  virtual ~OutputListener() = default;

  /// Takes a piece of standard output or error; some may come after the run's end. Returns false
  /// when it has enough: the run has succeeded, its wall time is up to now, and its process group
  /// gets SIGTERM and two seconds later SIGKILL.
  virtual bool receive(Kept which, std::string_view bytes) = 0;
};

/// Receives the records of a run's sampling counter while the run goes on.
class SampleListener : NonCopyable {
 public:
  virtual ~SampleListener() = default;

  /// Takes whole records as Linux writes them (perf_event_header), each CPU's in their order.
  virtual void receive(std::span<const std::byte> records) = 0;
};

/// One requested run.
struct Launch {
  ProgramId program = 0;
  CounterSetId counters = kNoCounters;
  std::vector<RunWatch*> watches{};     ///< watches, not null; they outlive the run
  bool counts_calling_threads = false;  ///< macOS: threads that enter its region count themselves
  std::string value{};                  ///< value of the program's launch_variable
  OutputListener* listener = nullptr;   ///< listener of Output::has_listener; outlives the run,
                                        ///< which is alone in its request
  SampleListener* samples = nullptr;    ///< listener of a sampling counter; outlives the run, which
                                        ///< is alone in its request
  std::string group{};  ///< file by which it joins a control group (setting_files.h), alone in its
                        ///< request; empty: none
  bool ignores_interrupt = false;  ///< runs to its end when lauka is asked to end (a cleanup)
};

/// The kernel's final accounts of the command's own process, without its descendants (macOS).
struct KernelTotals {
  std::uint64_t instructions = 0;  ///< user and kernel; 0 on a virtual machine, as are cycles
  std::uint64_t cycles = 0;
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;
  std::optional<std::uint64_t> energy_nj{};
  std::optional<std::uint64_t> on_performance_cores_ns{};  ///< CPU time; unknown before macOS 13
};

/// A program's notes about its region. They may be anything.
struct RegionUse {
  std::uint64_t entries = 0;     ///< regions begun; nested ones are one
  std::uint64_t time_ns = 0;     ///< time in regions that have ended
  std::uint64_t stray = 0;       ///< ends without a begin
  std::uint64_t failures = 0;    ///< counters that could not be switched
  std::uint64_t lost_locks = 0;  ///< begins or ends that waited a second for one that was going on
  bool is_open = false;          ///< the last one has not ended

  /// Counts with Launch::counts_calling_threads (macOS), from each thread's first begin to its last
  /// end.
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::uint64_t uncounted_threads = 0;  ///< number of threads whose counts are unknown
};

/// Part of its standard input that a run read, judged by the final file position; reading through
/// mmap does not count. Unknown: not a regular file.
enum class InputRead : unsigned char { Unknown, Nothing, Part, All };

/// One run that has ended. Times, rusage and counters belong to it alone.
struct Ended {
  Outcome outcome;
  Usage usage;
  std::chrono::nanoseconds whole{};  ///< time of the run with all that the launcher did for it
  std::vector<Reading> readings{};   ///< one per counter of its set; empty with a counter_error
  int counter_error = 0;             ///< errno of the counter that could not be opened or read
  int optional_error = 0;   ///< errno of an optional counter that could not be opened: all read 0
  std::size_t orphans = 0;  ///< processes of the run that ended before it did: the counters have
                            ///< them, rusage does not
  /// Processes of a run that ended by itself that went on after it; 0 where it is not known
  /// (macOS).
  std::size_t outlived = 0;
  InputRead input = InputRead::Unknown;
  bool was_enough = false;               ///< true if the listener ended the run
  std::optional<RegionUse> region{};     ///< use of the region; nullopt: the program has none
  std::optional<KernelTotals> totals{};  ///< nullopt if the kernel does not report them
};

/// The time that a run has after it was asked to end, before it is killed.
inline constexpr std::chrono::nanoseconds kGrace = std::chrono::seconds(2);

/// Called about five times a second while runs go on.
using Tick = std::function<void()>;

/// Runs programs one after the other, so that neither lauka's size nor its work shows in a number.
/// A failed, stopped, timed out or cancelled run is an outcome, never an error.
class Launcher : NonCopyable {
 public:
  virtual ~Launcher() = default;

  /// Registers a program and finds its file (find_program). Refused if no such program could be
  /// run, or when the memory for arguments is full.
  virtual Result<ProgramId> add_program(const ProgramSpec& spec) = 0;

  /// Registers a set of counters of at most kMaxCounters.
  virtual Result<CounterSetId> add_counters(std::span<const CounterRequest> requests) = 0;

  /// Runs `launches` in order, 1 to kMaxBatch of them, and gives an Ended for each that was begun,
  /// at least one. Ends early after a run that failed (unless `go_on_after_failure`), took too long
  /// or could not be counted, and when a signal asks lauka to end (the last outcome is Cancelled).
  virtual Result<std::vector<Ended>> run(std::span<const Launch> launches, bool go_on_after_failure,
                                         const Tick& tick) = 0;

  /// Returns the last lines of the latest run's standard error (OutputTail); empty if not captured.
  virtual std::string error_output_end() const = 0;

  /// Returns how much the latest run wrote, if that is kept, and reads a part of it, as many bytes
  /// as there are. Bytes before the last kMaxKeptBytes may read as 0.
  virtual std::uint64_t kept_bytes(Kept /*which*/) const { return 0; }
  virtual std::size_t read_kept(Kept /*which*/, std::uint64_t /*from*/,
                                std::span<char> /*into*/) const {
    return 0;
  }

  /// Has programs with CPUs of their own run there, and join the control group of `group`, unless
  /// it is empty or they are in another one. If not `are_used`, they run anywhere.
  virtual void use_own_cpus(bool /*are_used*/, const std::string& /*group*/) {}

  /// True if programs can be run in several copies (ProgramSpec::jobs).
  virtual bool runs_copies() const { return true; }

  /// Lets the launcher end while lauka goes on: nothing runs after this.
  virtual void dismiss() {}

  /// Runs that one request may hold.
  static constexpr std::size_t kMaxBatch = 128;
};

/// The last act of a launcher process when lauka, whose process id it gets, has ended.
using AfterLauka = void (*)(int lauka);

/// The launcher of this system. To be called first in main, before anything else makes lauka larger
/// or changes its signals.
Result<std::unique_ptr<Launcher>> start_launcher(AfterLauka after_lauka = nullptr);

struct DarwinCalls;

/// Starts the launcher of macOS: lauka itself starts runs with posix_spawn, suspended, so that
/// counters know a run before it has run anything. It needs no process of its own: a spawned
/// process does not inherit lauka's size, and the kernel's totals of a run are the run's alone. To
/// be called first in main, before anything changes lauka's signals. `calls` outlives the launcher.
Result<std::unique_ptr<Launcher>> start_spawning_launcher(const DarwinCalls& calls);

/// Finds the file for `word` as a shell does: itself if it has a slash, else in `path` (none:
/// lauka's own PATH), by a process in `folder` (empty: lauka's own). The error reads as a shell's:
/// "nosuch: command not found".
Result<std::string> find_program(const std::string& word,
                                 const std::optional<std::string>& path = std::nullopt,
                                 const std::string& folder = {});

/// Finds the file of a program, with the rights of its user, in its own PATH if it has one.
Result<std::string> find_program(const ProgramSpec& spec);

struct LinuxCalls;

/// Finds the file at whose start Linux would take the counters of `spec`'s process away; nullopt if
/// they stay, or if the program cannot be found. It is the program's file, or of a script its
/// interpreter. A child's program is not looked at.
std::optional<UncountedFile> find_uncounted(const ProgramSpec& spec, const LinuxCalls& calls);

/// True if a launch of `spec` gets exactly the environment that lauka was started with.
inline bool is_own_environment(const ProgramSpec& spec) {
  return spec.environment.empty() && spec.launch_variable.empty() && spec.folder.empty() &&
         !spec.has_region && spec.jobs == 1 && !spec.user;
}

/// The prefix of a copy's number in its environment.
inline constexpr std::string_view kJobVariable = "LAUKA_JOB=";

/// The variable with the descriptor of a program's RegionPage.
inline constexpr const char* kRegionVariable = "LAUKA_REGION";

/// Returns a launch's whole environment: lauka's original one with the user's HOME, USER and
/// LOGNAME, PWD, the program's own variables, `value` of launch_variable, and an empty
/// kRegionVariable if it has a region.
std::vector<std::string> program_environment(const ProgramSpec& spec, const std::string& value);

/// A program that lauka itself runs aside, not measured.
class ProgramAside : NonCopyable {
 public:
  ~ProgramAside() { kill_it(); }

  /// Starts `spec` as its user, in its folder, if possible; it has `timeout` from now on. Standard
  /// input and error are /dev/null.
  void begin(const ProgramSpec& spec, std::chrono::nanoseconds timeout);

  struct Answer {
    Outcome outcome;       ///< Exited, Signalled, TimedOut (also by an interruption) or NotStarted
    std::string output{};  ///< the beginning of its standard output, or its end
  };

  enum class Part : unsigned char { Beginning, End };

  /// Waits for its end, and takes up to `most_bytes` of its output. Its process group is killed
  /// when its time is over; once lauka was asked to end, it gets SIGTERM and is killed soon after.
  Answer wait(std::size_t most_bytes, Part part = Part::Beginning);

 private:
  class Patience;

  bool reads(Patience& patience, std::size_t most_bytes, Part part, std::string& output) const;
  bool is_over() const;
  bool has_ended(Patience& patience) const;
  void kill_it();

  pid_t pid_ = 0;      // 0: not started
  Descriptor output_;  // the end of a pipe to read from
  std::chrono::nanoseconds deadline_{};
};

}  // namespace lauka::os
