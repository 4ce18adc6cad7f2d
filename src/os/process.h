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

struct Input {
  std::optional<std::string> path;  ///< nullopt: /dev/null
};

struct Output {
  OutputKind sink = OutputKind::Null;
  std::string path{};
  bool kept = false;          ///< true: the output goes to its destination after the run
  bool has_listener = false;  ///< true: Launch::listener gets the output
};

enum class OutputStream : unsigned char { Output, Error };

/// Bytes at the end of a kept stream that are certain to be there after the run.
inline constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{64} << 20U;

struct ProgramSpec {
  std::vector<std::string> words;
  Input input{};
  Output output{};
  std::string folder{};  ///< working folder; empty: lauka's own
  std::optional<std::chrono::nanoseconds> timeout{};
  std::vector<std::string> environment{};  ///< NAME=VALUE; replace variables with the same name
  std::uint32_t jobs = 1;  ///< copies that make up one run; numbered from 0 in LAUKA_JOB
  bool jobs_outlive_failure = false;
  std::string launch_variable{};
  bool has_region = false;            ///< true: the program marks a region with lauka/region.h
  std::optional<User> user{};         ///< nullopt: lauka's own
  std::vector<std::uint32_t> cpus{};  ///< Linux only; empty: lauka's own
  CorePreference prefer = CorePreference::Any;  ///< macOS only
};

struct CounterRequest {
  std::array<std::byte, 136> attributes{};  ///< a perf_event_attr
  std::size_t leader = 0;                   ///< index of the group's leader in the set
  int cpu = -1;                             ///< number of the CPU to count on; -1: every CPU
  bool system_wide = false;  ///< true: counts all programs on `cpu`, from opening to reading
  bool of_region = false;    ///< true: counts only in the program's region
  bool samples = false;      ///< true: samples for Launch::samples; the only counter in its set
  bool optional = false;     ///< true: the run can do without; follows all required counters
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

/// Follows a run. Called only if lauka itself is the launcher (macOS).
class RunObserver : NonCopyable {
 public:
  virtual ~RunObserver() = default;

  virtual void before_start() = 0;

  /// Called when the process exists, suspended, and has not run anything.
  virtual void made(int pid) = 0;

  virtual void running(int pid) = 0;
  virtual std::chrono::nanoseconds interval() const = 0;
};

class OutputListener : NonCopyable {
 public:
  virtual ~OutputListener() = default;

  /// Takes a piece of standard output or error, perhaps after the end of the run. Returns false if
  /// the run must end now; it then counts as a success.
  virtual bool receive(OutputStream which, std::string_view bytes) = 0;
};

class SampleListener : NonCopyable {
 public:
  virtual ~SampleListener() = default;

  /// Takes whole records in Linux's format (perf_event_header). The records of one CPU come in
  /// order.
  virtual void receive(std::span<const std::byte> records) = 0;

  /// Takes the readings of the counter, one per CPU, after the run.
  virtual void end(std::span<const Reading> counters) = 0;
};

struct Launch {
  ProgramId program = 0;
  CounterSetId counters = kNoCounters;
  std::vector<RunObserver*> watches{};
  bool counts_calling_threads = false;  ///< macOS: threads that enter the region count themselves
  std::string value{};
  OutputListener* listener = nullptr;  ///< the run must be alone in its batch
  SampleListener* samples = nullptr;   ///< the run must be alone in its batch
  std::string group{};             ///< file with which the run joins a control group; empty: none
  bool ignores_interrupt = false;  ///< true: the run goes on if lauka is asked to end
};

/// macOS: the kernel's final accounts of the command's own process, without descendants. Counts are
/// 0 on a virtual machine. Optional values need macOS 13.
struct KernelTotals {
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;
  std::optional<std::uint64_t> energy_nj{};
  std::optional<std::uint64_t> on_performance_cores_ns{};
};

/// The facts that a program notes about its region. The program may write any value.
struct RegionUse {
  std::uint64_t entries = 0;  ///< regions begun; nested regions count once
  std::uint64_t time_ns = 0;
  std::uint64_t stray = 0;          ///< ends without a begin
  std::uint64_t failures = 0;       ///< failed attempts to switch a counter on or off
  std::uint64_t lock_timeouts = 0;  ///< begins and ends that waited over a second for a lock
  bool is_open = false;

  /// Counts of each thread from its first begin to its last end; 0 without
  /// Launch::counts_calling_threads.
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::uint64_t uncounted_threads = 0;
};

/// The part of standard input that a run read, judged by the final file position. Reading through
/// mmap does not count. Unknown if it cannot be judged.
enum class InputRead : unsigned char { Unknown, Nothing, Part, All };

struct Ended {
  Outcome outcome;
  Usage usage;
  std::chrono::nanoseconds whole{};  ///< time of the run and of all that the launcher did for it
  std::vector<Reading> readings{};   ///< of Launch::counters, in their order; empty if not read
  int counter_error = 0;             ///< errno of a required counter; 0: no error
  int optional_error = 0;            ///< errno; if not 0, all optional counters read 0
  std::size_t orphans = 0;           ///< ended processes that no process waited for; 0 on macOS
  /// Number of processes that are known to outlive the run; 0 if the run was killed, and on macOS.
  std::size_t outlived = 0;
  InputRead input = InputRead::Unknown;
  bool ended_by_listener = false;
  std::optional<RegionUse> region{};     ///< nullopt if unknown
  std::optional<KernelTotals> totals{};  ///< nullopt if unknown, and on Linux
};

/// The time between SIGTERM and SIGKILL for a run that its listener ends.
inline constexpr std::chrono::nanoseconds kTerminateTimeout = std::chrono::seconds(2);

/// A function that a launcher calls at most five times a second during runs.
using ProgressCallback = std::function<void()>;

/// Runs programs one after the other, so that neither lauka's size nor its work affects a result.
class Launcher : NonCopyable {
 public:
  virtual ~Launcher() = default;

  /// Registers a program and finds its file (find_program). Refuses a program that cannot be run.
  virtual Result<ProgramId> add_program(const ProgramSpec& spec) = 0;

  /// Registers a set of at most kMaxCounters counters. macOS refuses all sets.
  virtual Result<CounterSetId> add_counters(std::span<const CounterRequest> requests) = 0;

  /// Runs `launches` (1 to kMaxBatch) in order. Stops after a run that did not end by itself or
  /// could not be counted; after a failed run, unless `go_on_after_failure`; and if lauka is asked
  /// to end. Returns the result of each run up to then, at least one. Returns an error if the
  /// launcher itself fails.
  virtual Result<std::vector<Ended>> run(std::span<const Launch> launches, bool go_on_after_failure,
                                         const ProgressCallback& tick) = 0;

  /// Returns the last lines of the latest run's standard error (OutputKind::Capture: of both
  /// streams); empty if lauka has not received them.
  virtual std::string error_output_end() const = 0;

  /// Returns how many bytes the latest run wrote to a stream. Needs Output::kept.
  virtual std::uint64_t kept_bytes(OutputStream /*which*/) const { return 0; }
  /// Reads a kept stream from offset `from` until `into` is full, the stream ends or reading fails.
  /// Returns the number of bytes. Bytes before the last kMaxKeptBytes may read as 0.
  virtual std::size_t read_kept(OutputStream /*which*/, std::uint64_t /*from*/,
                                std::span<char> /*into*/) const {
    return 0;
  }

  /// Makes programs with ProgramSpec::cpus run on these CPUs (`are_used`), or on lauka's. Their
  /// runs join the control group with the file `group` (empty: no group) if Launch::group is empty.
  virtual void use_own_cpus(bool /*are_used*/, const std::string& /*group*/) {}

  /// True if a run can consist of several copies of a program (ProgramSpec::jobs).
  virtual bool runs_copies() const { return true; }

  /// Ends the launcher process; no run is possible afterwards. Does nothing on macOS.
  virtual void dismiss() {}

  static constexpr std::size_t kMaxBatch = 128;
};

/// A function that a launcher process calls last, when lauka has ended or dismissed it. Gets
/// lauka's process id. Not used on macOS.
using ExitHandler = void (*)(int lauka);

/// Starts this system's launcher. Must be called first in main, before lauka grows or changes its
/// signals.
Result<std::unique_ptr<Launcher>> start_launcher(ExitHandler after_lauka = nullptr);

struct DarwinCalls;

/// Starts the launcher of macOS. lauka itself starts runs, suspended, with posix_spawn, so that
/// counters know a run before it executes anything. Must be called first in main, before lauka
/// changes its signals. `calls` outlives the launcher.
Result<std::unique_ptr<Launcher>> start_spawning_launcher(const DarwinCalls& calls);

/// Finds the file for `word` like a shell in `folder` (empty: lauka's own): `word` itself if it
/// contains a slash, else by searching `path` (nullopt: lauka's PATH). The error reads like a
/// shell's: "nosuch: command not found".
Result<std::string> find_program(const std::string& word,
                                 const std::optional<std::string>& path = std::nullopt,
                                 const std::string& folder = {});

/// Finds the file of a program, with its user's rights and its own PATH, if it has one.
Result<std::string> find_program(const ProgramSpec& spec);

struct LinuxCalls;

/// Finds the file because of which `spec`'s process loses its counters on Linux: the program's
/// file, or a script's interpreter. nullopt if the counters stay, or if that is unknown. Ignores
/// child processes.
std::optional<UncountedFile> find_uncounted(const ProgramSpec& spec, const LinuxCalls& calls);

/// True if runs of `spec` get exactly the environment that lauka was started with.
inline bool is_own_environment(const ProgramSpec& spec) {
  return spec.environment.empty() && spec.launch_variable.empty() && spec.folder.empty() &&
         !spec.has_region && spec.jobs == 1 && !spec.user;
}

inline constexpr std::string_view kJobVariable = "LAUKA_JOB=";

inline constexpr const char* kRegionVariable = "LAUKA_REGION";

/// Returns the environment of a launch: lauka's own, with the changes that `spec` needs. `value` is
/// for launch_variable. kJobVariable gets zeros and kRegionVariable an empty value.
std::vector<std::string> program_environment(const ProgramSpec& spec, const std::string& value);

/// A program that lauka runs for itself, without measuring it.
class HelperProgram : NonCopyable {
 public:
  ~HelperProgram() { kill_it(); }

  /// Starts `spec`, with standard input and error from and to /dev/null. The program must end
  /// within `timeout`.
  void begin(const ProgramSpec& spec, std::chrono::nanoseconds timeout);

  struct Answer {
    Outcome outcome;  ///< NotStarted, TimedOut (also if lauka is asked to end), Exited or Signalled
    std::string output{};
  };

  enum class Part : unsigned char { Beginning, End };

  /// Waits for the end of the program. Returns up to `most_bytes` of the beginning or end of its
  /// output. Kills the program's process group at the timeout, or soon after lauka is asked to end.
  Answer wait(std::size_t most_bytes, Part part = Part::Beginning);

 private:
  class Patience;

  bool reads(Patience& patience, std::size_t most_bytes, Part part, std::string& output) const;
  bool is_over() const;
  bool has_ended(Patience& patience) const;
  void kill_it();

  pid_t pid_ = 0;
  Descriptor output_;
  std::chrono::nanoseconds deadline_{};
};

}  // namespace lauka::os
