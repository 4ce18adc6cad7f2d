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

/// Where standard input comes from: /dev/null, or a file that is opened anew for each run.
struct Input {
  std::optional<std::string> path;
};

/// Capture: both together are kept for error_output_end.
enum class Sink : unsigned char { Null, Pipe, Inherit, File, Capture };

/// Where standard output and error go.
struct Output {
  Sink sink = Sink::Null;
  std::string path{};  ///< of Sink::File: emptied before each run
  bool kept = false;   ///< what a run writes goes to files without a name first, so that nobody's
                       ///< reading slows it (Launcher::kept_bytes), and where it belongs when it
                       ///< has ended
  bool heard = false;  ///< what a run writes goes through pipes to Launch::listener, and on from
                       ///< there to where it belongs; not with `kept`
};

/// What is kept of a run.
enum class Kept : unsigned char { Output, Error };

/// The last so many bytes of what a run wrote are kept, at least.
inline constexpr std::uint64_t kMostKept = std::uint64_t{64} << 20U;

/// What is run.
struct ProgramSpec {
  std::vector<std::string> words;  ///< argv, at least one
  Input input{};
  Output output{};
  std::string folder{};  ///< where it is run, as by cd: with PWD, and paths in its words begin
                         ///< there; empty: where lauka is
  std::optional<std::chrono::nanoseconds> timeout{};
  std::vector<std::string> environment{};  ///< NAME=VALUE, besides what lauka was started with, or
                                           ///< instead; its PATH is where the program is looked for
  std::uint32_t jobs = 1;  ///< copies that are run at once, as one run; each finds its number, from
                           ///< 0, in LAUKA_JOB. Where one fails, the others are killed
  bool jobs_outlive_failure = false;  ///< they are not
  std::string launch_variable{};      ///< NAME that each launch gives a value; empty: none
  bool has_region = false;            ///< it is told where to note its region (lauka/region.h)
  std::optional<User> user{};  ///< whom it is run as, and whose rights open its files: lauka must
                               ///< be root; none: lauka's own
  std::vector<std::uint32_t>
      cpus{};  ///< Linux: it may run on these only; empty: on all that lauka may
  CorePreference prefer = CorePreference::Any;  ///< macOS: by its quality-of-service class
};

/// One kernel counter to be opened on the launcher just before a run: inherited by the command and
/// started by its execve. The bytes are the engine's business (Linux: a perf_event_attr).
struct CounterRequest {
  std::array<std::byte, 136> attributes{};
  std::size_t leader = 0;  ///< index of its group's leader in the same set; its own index: it leads
  int cpu = -1;  ///< counts on that CPU only, and nothing while that is switched off; -1: on all.
                 ///< One of the same type in its set counts on all: this one has no guard
  bool system_wide = false;  ///< counts whatever runs on `cpu`, from its opening to its reading
  bool of_region = false;    ///< of a program with a region: its execve does not start it, the
                             ///< program switches it on and off
  bool optional = false;     ///< where one of these cannot be opened, none is, and the run goes on
                             ///< without them. They stand behind the others
};

/// What a counter showed when the run had ended.
struct Reading {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

/// At most so many counters are opened for a run.
inline constexpr std::size_t kMaxCounters = 128;

/// What is registered with the launcher, in order of registration.
using ProgramId = std::uint32_t;
using CounterSetId = std::uint32_t;
inline constexpr CounterSetId kNoCounters = ~CounterSetId{0};

/// Follows one run from lauka's side, where lauka itself is the launcher (macOS). A launcher with a
/// process of its own (Linux) calls nothing of it.
class RunWatch : NonCopyable {
 public:
  virtual ~RunWatch() = default;

  /// Just before the process is made. What is switched on here is on when its first thread is born.
  virtual void before_start() = 0;

  /// The process is there, suspended: it has run nothing yet. Not called where it could not be
  /// made.
  virtual void made(int pid) = 0;

  /// About every `interval()` while it runs.
  virtual void running(int pid) = 0;
  virtual std::chrono::nanoseconds interval() const = 0;
};

/// Hears what a run writes while it goes on.
class OutputListener : NonCopyable {
 public:
  virtual ~OutputListener() = default;

  /// A piece of standard output or error that has just been read; some may come after the run's
  /// end. False: this is enough. The run is to be ended, by SIGTERM to its process group and two
  /// seconds later by SIGKILL, and has succeeded; its wall time is up to now.
  virtual bool hear(Kept which, std::string_view bytes) = 0;
};

/// One run that is asked for.
struct Launch {
  ProgramId program = 0;
  CounterSetId counters = kNoCounters;
  std::vector<RunWatch*> watches{};     ///< not null; they outlive the run
  bool counts_calling_threads = false;  ///< of a program with a region, on macOS: threads that
                                        ///< call in count themselves (RegionUse::instructions)
  std::string value{};                  ///< of the program's launch_variable
  OutputListener* listener = nullptr;   ///< of a program whose output is heard, which is alone in
                                        ///< its request; it outlives the run
  std::string group{};  ///< file by which its processes join a control group (memory_groups.h);
                        ///< empty: none. Such a launch is alone in its request
  bool despite_interrupt = false;  ///< runs to its end when lauka is asked to end (a cleanup)
};

/// What the kernel accounted to the command's own process, without its descendants: final, read
/// when it had ended and before it was reaped (macOS).
struct KernelTotals {
  /// The part on performance cores; kernels before macOS 13 do not tell.
  struct OnPerformanceCores {
    std::uint64_t instructions = 0;
    std::uint64_t cycles = 0;
    std::uint64_t user_ns = 0;
    std::uint64_t system_ns = 0;
    std::uint64_t energy_nj = 0;
  };

  int pid = 0;
  std::uint64_t instructions = 0;  ///< user and kernel; 0 on a virtual machine, as are cycles
  std::uint64_t cycles = 0;
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;
  std::optional<std::uint64_t> energy_nj{};
  std::optional<OnPerformanceCores> on_performance_cores{};
};

/// What a program noted of its region. It may note anything.
struct RegionUse {
  std::uint64_t entries = 0;   ///< that have begun; nested ones are one
  std::uint64_t time_ns = 0;   ///< of those that have ended
  std::uint64_t stray = 0;     ///< ends without a begin
  std::uint64_t failures = 0;  ///< counters that could not be switched
  bool is_open = false;        ///< the last one has not ended

  // Where Launch::counts_calling_threads (macOS), from each thread's first begin to its last end:
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::uint64_t uncounted_threads = 0;  ///< of which these are not known
};

/// How far the position of the file that was a run's standard input had come when it ended. One
/// that maps the file into memory leaves it where it was. Unknown: it was no regular file.
enum class InputRead : unsigned char { Unknown, Nothing, Part, All };

/// One run that has ended. Times, rusage and counters belong to it alone.
struct Ended {
  Outcome outcome;
  Usage usage;
  std::chrono::nanoseconds whole{};  ///< with everything the launcher did for this run
  std::vector<Reading>
      readings{};           ///< one per counter of its set; empty where counter_error is not 0
  int counter_error = 0;    ///< errno of the counter that could not be opened or read
  int optional_error = 0;   ///< errno of the optional counter that could not be opened: their
                            ///< readings are all 0
  std::size_t orphans = 0;  ///< processes it left behind that had ended when it did: in the
                            ///< counters, and not in rusage
  InputRead input = InputRead::Unknown;
  bool was_enough = false;               ///< its listener ended it
  std::optional<RegionUse> region{};     ///< of a program that has one
  std::optional<KernelTotals> totals{};  ///< none where the kernel does not tell
};

/// How long a run has that was asked to end, before it is killed.
inline constexpr std::chrono::nanoseconds kGrace = std::chrono::seconds(2);

/// Called about five times a second while runs go on.
using Tick = std::function<void()>;

/// Runs programs one after the other, so that neither lauka's size nor its work shows in a number:
/// on Linux from a small process of its own, on macOS from lauka itself (start_spawning_launcher).
/// A failed, stopped, timed out or cancelled run is an outcome, never an error.
class Launcher : NonCopyable {
 public:
  virtual ~Launcher() = default;

  /// Registers a program and finds its file (find_program). Refused where there is none that could
  /// be run, or when the memory for arguments is full.
  virtual Result<ProgramId> add_program(const ProgramSpec& spec) = 0;

  /// Registers a set of counters of at most kMaxCounters.
  virtual Result<CounterSetId> add_counters(std::span<const CounterRequest> requests) = 0;

  /// Runs `launches` in order, at most kMaxBatch of them, and gives one Ended for each that was
  /// begun. Ends early after a run that did not exit with 0 (unless `go_on_after_failure`), that
  /// took too long, that could not be counted, or when a signal to end lauka came (then the last
  /// outcome is Cancelled).
  virtual Result<std::vector<Ended>> run(std::span<const Launch> launches, bool go_on_after_failure,
                                         const Tick& tick) = 0;

  /// The last lines the latest run wrote to standard error, at most 20 and about 4 KB; empty where
  /// it was not captured.
  virtual std::string error_output_end() const = 0;

  /// How much the latest run wrote, where that is kept (Output::kept); and a part of it, as many
  /// bytes as there are. What stands before the last kMostKept bytes may read as 0.
  virtual std::uint64_t kept_bytes(Kept /*which*/) const { return 0; }
  virtual std::size_t read_kept(Kept /*which*/, std::uint64_t /*from*/,
                                std::span<char> /*into*/) const {
    return 0;
  }

  /// Has programs with CPUs of their own run there and join a control group (Launch::group), unless
  /// it is empty or they are in another one. With `are_used` false they run anywhere.
  virtual void use_own_cpus(bool /*are_used*/, const std::string& /*group*/) {}

  /// Whether programs can be run in several copies (ProgramSpec::jobs).
  virtual bool runs_copies() const { return true; }

  /// Lets the launcher end while lauka goes on: nothing runs after this. The destructor waits for
  /// its end.
  virtual void dismiss() {}

  /// Runs that one request may hold.
  static constexpr std::size_t kMaxBatch = 64;
};

/// What a launcher process does at last when lauka has ended, with lauka's process id: by then it
/// may be killed. All else that the launcher had to do is done.
using AfterLauka = void (*)(int lauka);

/// The launcher of this system. To be called first in main, before anything else makes lauka larger
/// or changes its signals.
Result<std::unique_ptr<Launcher>> start_launcher(AfterLauka after_lauka = nullptr);

struct DarwinCalls;

/// The launcher of macOS: runs are started by lauka's own process, with posix_spawn. To be called
/// first in main, before anything changes lauka's signals. What Linux needs a process of its own
/// for, macOS does not: a spawned process does not inherit lauka's size, the kernel's totals of a
/// run are the run's alone, and wall time ends when the kernel tells of the end. A run is spawned
/// suspended, so that counters know it before it has run anything; it belongs to a process group of
/// its own. `calls` outlives the launcher.
Result<std::unique_ptr<Launcher>> start_spawning_launcher(const DarwinCalls& calls);

/// The file that execve is to get for `word`, found as a shell does: itself if it has a slash, else
/// in `path` (none: lauka's own PATH), by a process in `folder` (empty: lauka's own). The error
/// reads as a shell's: "nosuch: command not found", "./x: Permission denied", "/tmp: Is a
/// directory".
Result<std::string> find_program(const std::string& word,
                                 const std::optional<std::string>& path = std::nullopt,
                                 const std::string& folder = {});

/// The file of a program: looked for with the rights of its user, in its own PATH where it has one.
Result<std::string> find_program_of(const ProgramSpec& spec);

/// Whether a launch of `spec` finds in its environment just what lauka was started with.
inline bool is_own_environment(const ProgramSpec& spec) {
  return spec.environment.empty() && spec.launch_variable.empty() && spec.folder.empty() &&
         !spec.has_region && spec.jobs == 1 && !spec.user;
}

/// What the number of a copy stands behind, in its environment.
inline constexpr std::string_view kJobVariable = "LAUKA_JOB=";

/// The variable that tells a program the descriptor of its RegionPage.
inline constexpr const char* kRegionVariable = "LAUKA_REGION";

/// NAME=VALUE for all that a launch of `spec` finds in its environment: what lauka was started
/// with, HOME, USER and LOGNAME of its user, PWD of its folder, its own variables, `value` of its
/// launch_variable, and an empty kRegionVariable where it has a region.
std::vector<std::string> environment_of(const ProgramSpec& spec, const std::string& value);

/// One program that goes on while lauka does something else: lauka's own child, not the launcher's,
/// and nothing of it is measured.
class ProgramAside : NonCopyable {
 public:
  ~ProgramAside() { kill_it(); }

  /// Starts `spec` as its user; it has `timeout` from now on. Standard input and error are
  /// /dev/null. Where it cannot be started, there is nothing to take.
  void begin(const ProgramSpec& spec, std::chrono::nanoseconds timeout);

  /// Waits until it has ended and gives what it wrote to standard output, up to `most_bytes`; empty
  /// where it failed, took too long, or was begun by nobody. It is killed when its time is over, or
  /// soon after lauka was asked to end; it is no more when this returns.
  std::string take(std::size_t most_bytes);

 private:
  bool has_ended_until(std::chrono::nanoseconds deadline) const;
  void kill_it();

  pid_t pid_ = 0;  // 0: there is none
  Descriptor output_;
  std::chrono::nanoseconds deadline_{};
};

}  // namespace lauka::os
