#include "os/spawning_launcher.h"

#include "os/darwin_calls.h"
#include "os/descriptor.h"
#include "os/files.h"
#include "os/mac_queries.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/program_files.h"
#include "os/run_files.h"
#include "os/signals.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <unistd.h>

namespace lauka::os {

namespace {

using std::chrono::nanoseconds;

class EventQueue {
 public:
  explicit EventQueue(const DarwinCalls& calls) : calls_(calls) {}

  bool open(std::span<const int> readable) {
    queue_ = Descriptor(calls_.kqueue());
    if (!queue_) return false;
    for (const int fd : readable) {
      if (!add({static_cast<std::uint64_t>(fd), kFilterRead, kEventAdd})) return false;
    }
    for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) {
      const auto ident = static_cast<std::uint64_t>(signal_number);
      if (!add({ident, kFilterSignal, static_cast<std::uint16_t>(kEventAdd | kEventClear)}))
        return false;
    }
    return true;
  }

  void expect_end_of(pid_t pid) {
    expected_ = pid;
    const auto flags = static_cast<std::uint16_t>(kEventAdd | kEventOneShot);
    // Fails if the process has already ended.
    has_ended_ = !add({static_cast<std::uint64_t>(pid), kFilterProcess, flags, kNoteExit});
  }

  struct QueueEvents {
    bool ended = false;  ///< true: the awaited process has ended, but may not be a zombie yet
    bool child_signal = false;
    bool readable = false;
  };

  QueueEvents wait(nanoseconds at_most) {
    QueueEvents happened{has_ended_, false, false};
    if (has_ended_) return happened;
    const timespec timeout = to_timespec(std::max(at_most, nanoseconds(0)));
    std::array<Kevent, 8> events;
    const int count = calls_.kevent(queue_.get(), nullptr, 0, events.data(),
                                    static_cast<int>(events.size()), &timeout);
    for (int i = 0; i < count; ++i) {
      const Kevent& event = events.at(static_cast<std::size_t>(i));
      // The end of an earlier run that was killed may be reported late.
      happened.ended |=
          event.filter == kFilterProcess && event.ident == static_cast<std::uint64_t>(expected_);
      happened.readable |= event.filter == kFilterRead;
      happened.child_signal |= event.filter == kFilterSignal && event.ident == SIGCHLD;
    }
    return happened;
  }

 private:
  bool add(const Kevent& event) {
    return calls_.kevent(queue_.get(), &event, 1, nullptr, 0, nullptr) == 0;
  }

  const DarwinCalls& calls_;
  Descriptor queue_;
  pid_t expected_ = 0;
  bool has_ended_ = false;
};

/// Kills `leader`, its process group and its descendants. May miss a descendant that is not in the
/// process group.
void kill_with_descendants(const DarwinCalls& calls, pid_t leader) {
  std::vector<pid_t> found = {leader};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const pid_t child : find_children(calls, found[i])) {
      if (std::ranges::find(found, child) == found.end()) found.push_back(child);
    }
  }
  calls.kill(-leader, SIGKILL);
  for (const pid_t pid : found) calls.kill(pid, SIGKILL);
}

/// Returns the open descriptors from 3 to 1023 without close-on-exec.
std::vector<int> inherited_descriptors() {
  constexpr int descriptors_end = 1024;
  std::vector<int> inherited;
  for (int fd = STDERR_FILENO + 1; fd < descriptors_end; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) inherited.push_back(fd);
  }
  return inherited;
}

class UsageReader {
 public:
  explicit UsageReader(const DarwinCalls& calls) : calls_(calls), timebase_(timebase_of(calls)) {}

  nanoseconds now() const { return nanoseconds(ns(calls_.mach_absolute_time())); }

  struct Read {
    /// User time of the process and of the child processes that the process waited for.
    std::uint64_t user_ns = 0;
    std::uint64_t system_ns = 0;
    AccountedTotals totals{};
  };
  /// Reads the times and totals that the kernel accounts to a process and its children; nullopt if
  /// they cannot be read.
  std::optional<Read> read(pid_t pid) {
    ProcessUsage usage;
    if (!fill_usage(pid, usage)) return std::nullopt;

    // The kernel's `child` times are those of children that the process waited for.
    Read read{.user_ns = ns(usage.user_time + usage.child_user_time),
              .system_ns = ns(usage.system_time + usage.child_system_time)};
    read.totals.instructions = usage.instructions;
    read.totals.cycles = usage.cycles;
    read.totals.user_ns = ns(usage.user_time);
    read.totals.system_ns = ns(usage.system_time);

    // Only the newest structure has the energy and the time on performance cores.
    if (!has_newest_usage_) return read;
    read.totals.energy_nj = usage.energy_nj;
    read.totals.on_performance_cores_ns =
        ns(usage.performance_core_user_time) + ns(usage.performance_core_system_time);
    return read;
  }

 private:
  /// Returns false if the usage cannot be read.
  bool fill_usage(pid_t pid, ProcessUsage& usage) {
    auto** buffer = reinterpret_cast<void**>(&usage);
    const auto fill = [&](int structure_version) {
      return calls_.proc_pid_rusage(pid, structure_version, buffer) == 0;
    };

    // Older systems do not know the newest structure and refuse it with EINVAL. The reader then
    // stays with the older structure, whose fields are the first ones of the newest.
    if (has_newest_usage_ && !fill(kRusageV6)) {
      if (errno != EINVAL) return false;
      has_newest_usage_ = false;
    }
    return has_newest_usage_ || fill(kRusageV4);
  }

  std::uint64_t ns(std::uint64_t ticks) const { return ns_of_mach(ticks, timebase_); }

  const DarwinCalls& calls_;
  Timebase timebase_;
  bool has_newest_usage_ = true;
};

struct Program {
  ProgramSpec spec;
  std::string path;
};

struct DueWork {
  nanoseconds at{};
  nanoseconds interval{};
  RunObserver* observer = nullptr;  ///< what is due; null: the launcher's own work

  bool is_due(nanoseconds now) {
    if (now < at) return false;
    at = now + interval;
    return true;
  }
};

constexpr nanoseconds kTickInterval = std::chrono::milliseconds(200);
constexpr nanoseconds kHousekeepingInterval = std::chrono::milliseconds(100);

struct InitialSettings {
  sigset_t mask{};
  bool ignored_child = false;
  bool ignored_pipe = false;
  bool ignored_file_size = false;
  std::vector<int> descriptors{};
};

class SpawningLauncher final : public Launcher {
 public:
  SpawningLauncher(const DarwinCalls& calls, InitialSettings started_with)
      : calls_(calls), started_with_(std::move(started_with)), events_(calls), usage_(calls) {}

  bool open() { return files_.open_all() && events_.open(files_.pipe_read_ends()); }

  Result<ProgramId> add_program(const ProgramSpec& spec) override {
    Result<std::string> path = find_program(spec);
    if (!path) return path.error();
    if (spec.user) static_cast<void>(files_.hand_pipes_to(*spec.user));
    // The path is relative to the program's folder; the kernel resolves it in lauka's folder.
    programs_.push_back({spec, path_seen_from(spec.folder, *path)});
    return static_cast<ProgramId>(programs_.size() - 1);
  }

  Result<CounterSetId> add_counters(std::span<const CounterRequest> /*requests*/) override {
    return Error{"the launcher of this system opens no counters", "please report it"};
  }

  /// Runs a batch of launches one after the other, until one of them ends the batch. Calls `tick`
  /// at intervals.
  Result<std::vector<Ended>> run(std::span<const Launch> launches, AfterFailure after_failure,
                                 const ProgressCallback& tick) override {
    std::vector<Ended> ended_runs;

    // Delays the suspension by Ctrl-Z to the end of the batch. The hold also blocks signals. These
    // are unblocked at once, so that a request to end lauka is noticed during a run.
    SignalHold hold;
    sigprocmask(SIG_SETMASK, &hold.mask_for_waiting(), nullptr);

    // These members are used only during this call.
    hold_ = &hold;
    tick_ = &tick;
    const nanoseconds batch_began = now();
    tick_due_ = {.at = batch_began + kTickInterval, .interval = kTickInterval};

    for (const Launch& launch : launches.first(std::min(launches.size(), kMaxBatch))) {
      const nanoseconds run_began = now();
      const bool has_limit = launch.latest_start.count() > 0;
      const bool is_late = has_limit && run_began - batch_began > launch.latest_start;

      // The first run starts however late it is, because a batch has at least one result.
      const bool is_first = ended_runs.empty();
      if (is_late && !is_first) break;

      ended_runs.push_back(run_unless_interrupted(launch, run_began));
      if (ends_batch(ended_runs.back().outcome, after_failure)) break;
    }

    return ended_runs;
  }

  std::string error_output_end() const override { return files_.error_output_end(last_sink_); }

  bool runs_copies() const override { return false; }

  std::uint64_t stored_stream_bytes(OutputStream which) const override {
    return files_.stored_stream_bytes(which);
  }

  std::size_t read_kept(OutputStream which, std::uint64_t from,
                        std::span<char> into) const override {
    return files_.read_kept(which, from, into);
  }

 private:
  nanoseconds now() const { return usage_.now(); }

  bool is_interrupted() const { return heeds_interrupts_ && first_interrupt_signal() != 0; }

  /// Returns a run with the time since `began`; Cancelled if lauka was asked to end before.
  Ended run_unless_interrupted(const Launch& launch, nanoseconds began) {
    heeds_interrupts_ = !launch.goes_on_after_interrupt;
    Ended ended{.outcome = Cancelled{}, .usage = {}};
    if (!is_interrupted()) ended = run_one(launch);
    ended.time_with_preparation = now() - began;
    return ended;
  }

  /// Returns what a program gets as its standard streams. A listener hears it through lauka's
  /// pipes.
  StandardFiles choose_streams(const ProgramSpec& spec, const OpenedRunFiles& named_files) const {
    const bool is_stored = spec.output.is_stored_during_run;
    const bool has_listener = spec.output.has_listener;
    const OutputKind sink_of_program = has_listener ? OutputKind::Pipe : spec.output.sink;
    StandardFiles streams = files_.standard_files(sink_of_program, is_stored);
    if (named_files.input) streams.input = named_files.input.get();

    // Output that is stored or listened to reaches the named file through lauka.
    const bool writes_file_itself = !is_stored && !has_listener;
    if (named_files.output && writes_file_itself)
      streams.output = streams.error = named_files.output.get();
    return streams;
  }

  /// Runs the program with its opened files, and its listener if it has one.
  void execute_with_files(const Program& program, const OpenedRunFiles& named_files,
                          const Launch& launch, Ended& ended) {
    const ProgramSpec& spec = program.spec;
    if (spec.output.has_listener)
      files_.begin(launch.listener, spec.output.sink, named_files.output.get(),
                   [this] { return now().count(); });
    execute(program, choose_streams(spec, named_files), launch, ended);
    if (named_files.input) ended.input = check_input_read(named_files.input.get());
  }

  /// Opens the files of a run, runs the program, and passes on its output.
  Ended run_one(const Launch& launch) {
    const Program& program = programs_.at(launch.program);
    const ProgramSpec& spec = program.spec;
    const bool is_stored = spec.output.is_stored_during_run;
    last_sink_ = is_stored ? OutputKind::Null : spec.output.sink;
    files_.truncate_output();  // drops what the previous run stored
    files_.begin();            // forgets the previous run's listener

    Ended ended;
    OpenedRunFiles named_files;
    const auto is_unwanted = [this] { return is_interrupted(); };
    if (const auto failed = open_named(spec, NamedFiles::InputAndOutput, is_unwanted, named_files))
      ended.outcome = *failed;
    else
      execute_with_files(program, named_files, launch, ended);

    // Stored output reaches its destination only now, so that nothing can slow down the run.
    files_.drain();
    if (is_stored) files_.pass_on(spec.output.sink, named_files.output.get());

    return ended;
  }

  /// Starts a program, watches it to its end, and notes its outcome and usage in `ended`.
  void execute(const Program& program, const StandardFiles& streams, const Launch& launch,
               Ended& ended) {
    RegionPage region;  // memory in which the program notes the use of its region
    const bool has_region = program.spec.has_region;

    if (has_region && !region.hand_down()) {
      ended.outcome = NotStarted{LaunchStep::Prepare, errno};
      return;
    }
    if (has_region && launch.counts_calling_threads) region.request_thread_counts();

    for (RunObserver* observer : launch.run_observers) observer->before_start();

    const Spawned spawned = spawn(program, streams, launch.launch_variable_value, region);
    if (spawned.error != 0) {
      ended.outcome = make_start_failure(program.spec, spawned.error);
      return;
    }

    const WatchedRun run = watch(spawned.pid, program.spec, launch.run_observers);
    ended.usage.wall_ns = static_cast<std::uint64_t>(run.wall_time.count());
    reap(run.pid, ended);  // sets the outcome to the exit status or signal
    if (has_region) ended.region = region.use();

    // What the listener waits for may still be in the pipes.
    files_.drain();
    correct_outcome(run, program.spec, ended);
  }

  /// Returns the outcome of a run whose process could not be made. One call changes the user and
  /// executes the program, so the errno must tell which failed.
  static NotStarted make_start_failure(const ProgramSpec& spec, int error) {
    const bool cannot_change_user = spec.user && (error == ENOSYS || error == EPERM);
    return {cannot_change_user ? LaunchStep::BecomeUser : LaunchStep::Execute, error};
  }

  /// The work that is due at intervals during a run, besides tick_due_.
  struct DueInRun {
    std::vector<DueWork> observer_calls{};
    DueWork housekeeping{};
  };

  /// A run whose process was not waited for.
  struct WatchedRun {
    pid_t pid = 0;
    nanoseconds began{};
    nanoseconds deadline = nanoseconds::max();
    bool was_asked_to_end = false;        ///< true if its listener has enough
    std::optional<Outcome> why_killed{};  ///< nullopt if it was not killed, or for its listener
    nanoseconds wall_time{};
  };

  /// Lets a suspended process run. Returns the run after its end.
  WatchedRun watch(pid_t pid, const ProgramSpec& spec, std::span<RunObserver* const> observers) {
    // The process is suspended until SIGCONT, so neither the observers nor the queue miss anything.
    for (RunObserver* observer : observers) observer->made(pid);
    events_.expect_end_of(pid);

    WatchedRun run{.pid = pid, .began = now()};
    calls_.kill(pid, SIGCONT);
    if (spec.timeout) run.deadline = run.began + *spec.timeout;
    DueInRun due = make_due_work(observers, run.began);
    while (!is_over_at_next_look(spec, run, due)) {
    }
    run.wall_time = await_zombie(pid) - run.began;
    return run;
  }

  /// Replaces the outcome if how the process ended is not the outcome: if lauka or the user caused
  /// the end, or if the process ended by itself, but after its time limit.
  void correct_outcome(const WatchedRun& run, const ProgramSpec& spec, Ended& ended) {
    const auto* signalled = std::get_if<Signalled>(&ended.outcome);
    if (run.why_killed) {
      ended.outcome = *run.why_killed;
    } else if (const auto listener_end_ns = files_.ended_by_listener_ns()) {
      end_early(run.pid, nanoseconds(*listener_end_ns) - run.began, ended);
    } else if (const auto& limit = spec.timeout; limit && run.wall_time > *limit) {
      ended.outcome = TimedOut{*limit};
    } else if (signalled != nullptr && was_meant_for_lauka(signalled->signal)) {
      ended.outcome = Cancelled{};
    }
  }

  /// Sets the outcome (success) and the wall time of a run that its listener ended. Waits up to
  /// kTerminateTimeout until the run's process group ends, then kills the group. `took`: time from
  /// the start until the listener ended the run.
  void end_early(pid_t pid, nanoseconds took, Ended& ended) {
    constexpr nanoseconds pause = std::chrono::milliseconds(2);
    const nanoseconds deadline = now() + kTerminateTimeout;
    while (calls_.kill(-pid, 0) == 0 && now() < deadline && !is_interrupted())
      static_cast<void>(events_.wait(pause));
    calls_.kill(-pid, SIGKILL);
    ended.ended_by_listener = true;
    ended.outcome = Exited{0};
    const auto wall_ns = static_cast<std::uint64_t>(std::max(took, nanoseconds{}).count());
    ended.usage.wall_ns = std::min(ended.usage.wall_ns, wall_ns);
  }

  struct Spawned {
    pid_t pid = 0;
    int error = 0;  ///< 0 if the process was made
  };

  /// Returns the signals that lauka ignores, but a program does not. It ignores one only if lauka
  /// was started so, too.
  sigset_t list_default_signals() const {
    sigset_t signals;
    sigemptyset(&signals);
    if (!started_with_.ignored_pipe) sigaddset(&signals, SIGPIPE);
    if (!started_with_.ignored_file_size) sigaddset(&signals, SIGXFSZ);
    return signals;
  }

  /// Returns a program's environment; empty if it inherits lauka's unchanged.
  static std::vector<std::string> list_variables(const ProgramSpec& spec,
                                                 const std::string& launch_value,
                                                 RegionPage& region) {
    std::vector<std::string> variables;
    if (!inherits_environment_unchanged(spec)) variables = program_environment(spec, launch_value);

    // The region's variable still lacks its value, the number of the memory's descriptor.
    if (spec.has_region)
      std::ranges::replace(variables, std::string(kRegionVariable) + "=",
                           std::string(region.variable_entry()));
    return variables;
  }

  /// Returns the descriptors that a program gets: those that lauka was started with, and the
  /// region's descriptor. A daemon that a command starts would keep lauka's other descriptors open.
  std::vector<int> list_inherited(const RegionPage& region) const {
    std::vector<int> inherited = started_with_.descriptors;
    if (region.descriptor() >= 0) inherited.push_back(region.descriptor());
    return inherited;
  }

  static SpawnIdentity make_identity(const User& user) {
    return {user.id, user.group, user.groups.data(),
            std::min(static_cast<int>(user.groups.size()), kMaxGroups)};
  }

  /// Makes the process of a request. posix_spawn cannot make the child ignore a signal, but the
  /// child inherits what lauka ignores. So lauka ignores SIGCHLD meanwhile. It misses no end,
  /// because the child is suspended.
  Spawned spawn_suspended(const SpawnRequest& request) const {
    if (started_with_.ignored_child) std::signal(SIGCHLD, SIG_IGN);
    Spawned spawned;
    spawned.error = calls_.spawn(request, &spawned.pid);
    if (started_with_.ignored_child) std::signal(SIGCHLD, SIG_DFL);
    return spawned;
  }

  /// What a request points to.
  struct RequestParts {
    ExecStrings strings;
    sigset_t default_signals{};
    std::vector<int> inherited{};
    SpawnIdentity identity{};
  };

  RequestParts make_parts(const ProgramSpec& spec, const std::string& launch_value,
                          RegionPage& region) const {
    return {.strings{spec.words, list_variables(spec, launch_value, region)},
            .default_signals = list_default_signals(),
            .inherited = list_inherited(region),
            .identity = spec.user ? make_identity(*spec.user) : SpawnIdentity{}};
  }

  SpawnRequest make_request(const Program& program, const StandardFiles& streams,
                            const RequestParts& parts) const {
    const ProgramSpec& spec = program.spec;
    return {.path = program.path.c_str(),
            .argv = parts.strings.argv(),
            .environment = parts.strings.environment(),
            .folder = spec.folder.empty() ? nullptr : spec.folder.c_str(),
            .input = streams.input,
            .output = streams.output,
            .error = streams.error,
            .inherited = parts.inherited.data(),
            .inherited_count = parts.inherited.size(),
            .flags = kSpawnSetProcessGroup | kSpawnSetDefaultSignals | kSpawnSetSignalMask |
                     kSpawnSuspended | kSpawnCloseOnExec,
            .default_signals = &parts.default_signals,
            .signal_mask = &started_with_.mask,
            .qos_clamp = spec.prefer == CorePreference::Efficiency ? kClampBackground : 0,
            .identity = spec.user ? &parts.identity : nullptr};
  }

  /// Makes the process of a program, which is suspended until it is continued. `launch_value`:
  /// value of the program's launch variable.
  Spawned spawn(const Program& program, const StandardFiles& streams,
                const std::string& launch_value, RegionPage& region) const {
    const RequestParts parts = make_parts(program.spec, launch_value, region);
    return spawn_suspended(make_request(program, streams, parts));
  }

  static DueInRun make_due_work(std::span<RunObserver* const> observers, nanoseconds began) {
    DueInRun due{
        .housekeeping = {.at = began + kHousekeepingInterval, .interval = kHousekeepingInterval}};
    for (RunObserver* observer : observers)
      due.observer_calls.push_back({.at = began + observer->interval(),
                                    .interval = observer->interval(),
                                    .observer = observer});
    return due;
  }

  nanoseconds find_next_due(const DueInRun& due) const {
    nanoseconds next = std::min(due.housekeeping.at, tick_due_.at);
    for (const DueWork& call : due.observer_calls) next = std::min(next, call.at);
    return next;
  }

  /// Does the work that is due at `woken_at` in the run of `pid`. is_due() also sets the next time.
  void do_due_work(pid_t pid, nanoseconds woken_at, const ProgramSpec& spec, DueInRun& due) {
    for (DueWork& call : due.observer_calls)
      if (call.is_due(woken_at)) call.observer->running(pid);
    if (due.housekeeping.is_due(woken_at)) files_.drop_old_output(spec.output.is_stored_during_run);

    if (tick_due_.is_due(woken_at)) {
      if (hold_->must_report_suspension()) hold_->report_suspension();
      if (*tick_) (*tick_)();
    }
  }

  /// Waits for the next look at a run, and does the work that is due. Returns true if the run has
  /// ended or was killed.
  bool is_over_at_next_look(const ProgramSpec& spec, WatchedRun& run, DueInRun& due) {
    const nanoseconds wake_at = std::min(run.deadline, find_next_due(due));
    const EventQueue::QueueEvents events = events_.wait(wake_at - now());
    if (events.readable) files_.drain_during_run();
    if (events.ended) return true;

    // Once the listener has enough, the run gets some time to end, in place of its time limit.
    const nanoseconds woken_at = now();
    if (files_.ended_by_listener_ns() && !run.was_asked_to_end) {
      run.was_asked_to_end = true;
      calls_.kill(-run.pid, SIGTERM);
      run.deadline = woken_at + kTerminateTimeout;
    }

    std::optional<Outcome> stopped;
    if (events.child_signal) stopped = find_stop(run.pid);

    // A run that is late in ending for its listener is killed, too, but its outcome stays. For
    // other runs, the deadline is that of the time limit.
    const bool is_late_for_listener = run.was_asked_to_end && woken_at >= run.deadline;
    if (!is_late_for_listener)
      run.why_killed = stopped ? stopped : find_reason_to_kill(woken_at, run.deadline, spec);

    const bool must_be_killed = is_late_for_listener || run.why_killed;
    if (must_be_killed) {
      kill_with_descendants(calls_, run.pid);
      return true;
    }
    do_due_work(run.pid, woken_at, spec, due);
    return false;
  }

  /// Returns the outcome of a run that must be killed at `woken_at`; nullopt if it may go on.
  std::optional<Outcome> find_reason_to_kill(nanoseconds woken_at, nanoseconds deadline,
                                             const ProgramSpec& spec) const {
    if (is_interrupted()) return Cancelled{};
    if (woken_at >= deadline) return TimedOut{*spec.timeout};
    return std::nullopt;
  }

  std::optional<Outcome> find_stop(pid_t pid) {
    siginfo_t info{};
    const int waited = calls_.waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WNOHANG);
    if (waited != 0 || info.si_pid != pid || info.si_code != CLD_STOPPED) return std::nullopt;
    return Stopped{info.si_status};
  }

  nanoseconds await_zombie(pid_t pid) {
    siginfo_t info{};
    while (calls_.waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
    return now();
  }

  void reap(pid_t pid, Ended& ended) {
    auto known = usage_.read(pid);
    int status = 0;
    rusage used{};
    while (calls_.wait4(pid, &status, 0, &used) < 0) {
      if (errno == EINTR) continue;
      ended.outcome = NotStarted{LaunchStep::Fork, errno};
      return;
    }
    ended.outcome = to_outcome(status);
    note_usage(used, ended.usage);
    ended.usage.peak_rss_bytes = static_cast<std::uint64_t>(used.ru_maxrss);  // bytes on macOS
    if (!known) return;
    ended.usage.user_ns = known->user_ns;
    ended.usage.system_ns = known->system_ns;
    ended.totals = known->totals;
  }

  const DarwinCalls& calls_;
  InitialSettings started_with_;
  EventQueue events_;
  RunFiles files_;
  OutputKind last_sink_ = OutputKind::Null;
  UsageReader usage_;
  std::vector<Program> programs_;
  SignalHold* hold_ = nullptr;
  const ProgressCallback* tick_ = nullptr;
  DueWork tick_due_{};
  bool heeds_interrupts_ = true;
};

}  // namespace

Result<std::unique_ptr<Launcher>> start_spawning_launcher(const DarwinCalls& calls) {
  InitialSettings started_with;
  sigprocmask(SIG_SETMASK, nullptr, &started_with.mask);
  started_with.ignored_child = is_ignored(SIGCHLD);
  started_with.ignored_pipe = is_ignored(SIGPIPE);
  started_with.ignored_file_size = is_ignored(SIGXFSZ);
  std::signal(SIGCHLD, SIG_DFL);
  fill_standard_descriptors();
  started_with.descriptors = inherited_descriptors();
  auto launcher = std::make_unique<SpawningLauncher>(calls, std::move(started_with));
  if (!launcher->open())
    return system_error("lauka cannot open the files that it needs to start runs", errno);
  return std::unique_ptr<Launcher>(std::move(launcher));
}

}  // namespace lauka::os
