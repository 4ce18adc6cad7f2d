#include "os/clock.h"
#include "os/darwin_calls.h"
#include "os/descriptor.h"
#include "os/files.h"
#include "os/launcher_process.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/program_files.h"
#include "os/run_files.h"
#include "os/sample_rings.h"
#include "os/signals.h"
#include "os/spawning_launcher.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <system_error>
#include <utility>

#include <link.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {

// lauka's side of the launcher: writes requests into shared memory, wakes the launcher process and
// waits. While waiting, lauka reads the runs' pipes and sample rings, and can cancel the run.

namespace {

constexpr std::size_t kArenaBytes = std::size_t{64} << 20;  // address space; used only as needed
constexpr timespec kTickTime{0, 200'000'000};

/// Returns the error that no shared memory is left. The arguments of commands take most of it.
Error make_too_many_arguments_error() {
  return Error{"the arguments of the commands take more than 64 MB",
               "compare fewer commands at once"};
}

/// Allocates shared memory, which has the same addresses in the launcher and is never freed. Throws
/// std::bad_alloc if no memory is left.
class Arena {
 public:
  Arena(std::byte* begin, std::size_t bytes)
      : memory_(begin, bytes, std::pmr::null_memory_resource()) {}

  template <typename T>
  T* make(std::size_t count) {
    auto* const first = static_cast<T*>(memory_.allocate(sizeof(T) * count, alignof(T)));
    std::uninitialized_value_construct_n(first, count);
    return first;
  }

  char* copy(const std::string& text) {
    char* const place = make<char>(text.size() + 1);
    std::memcpy(place, text.c_str(), text.size() + 1);
    return place;
  }

 private:
  std::pmr::monotonic_buffer_resource memory_;
};

bool has_same_environment(const ProgramSpec& a, const ProgramSpec& b) {
  const bool has_same_user = a.user && b.user
                                 ? a.user->name == b.user->name && a.user->home == b.user->home
                                 : a.user.has_value() == b.user.has_value();
  return has_same_user && a.environment_changes == b.environment_changes && a.folder == b.folder &&
         a.launch_variable == b.launch_variable && a.has_region == b.has_region &&
         (a.jobs > 1) == (b.jobs > 1);
}

/// Finds variables among lauka's own. The variables that are looked for come in the same order, so
/// each search goes on after the previous match.
class OwnVariables {
 public:
  /// Returns lauka's own string of the variable `text` (NAME=VALUE); null if there is none.
  char* find(const std::string& text) {
    char** match = next_;
    while (*match != nullptr && text != *match) ++match;
    if (*match != nullptr) next_ = match + 1;
    return *match;
  }

 private:
  char** next_ = environ;
};

class SharedPrograms {
 public:
  explicit SharedPrograms(Arena& arena) : arena_(arena) {}

  Result<ProgramId> add(const ProgramSpec& spec) {
    const Result<std::string> path = find_program(spec);
    if (!path) return path.error();
    try {
      programs_.push_back({make_program(spec, *path), spec.launch_variable});
    } catch (const std::bad_alloc&) {
      return make_too_many_arguments_error();
    }
    return static_cast<ProgramId>(programs_.size() - 1);
  }

  const SharedProgram* at(ProgramId id) const { return programs_.at(id).shared; }

  /// Writes the variable of a launch into shared memory. Returns its text NAME=VALUE, or null if
  /// the program has no variable for launches. `place`: index of the launch in its batch.
  char* write_launch_variable(const Launch& launch, std::size_t place) {
    const std::string& name = programs_.at(launch.program).launch_variable;
    if (name.empty()) return nullptr;
    const std::string& value = launch.launch_variable_value;
    const std::size_t size = name.size() + value.size() + 2;  // with '=' and the final null
    VariableBuffer& buffer = variable_buffers_.at(place);
    if (size > buffer.size) {
      constexpr std::size_t min_bytes = 64;
      buffer = {arena_.make<char>(std::max(min_bytes, size)), std::max(min_bytes, size)};
    }
    name.copy(buffer.bytes, name.size());
    buffer.bytes[name.size()] = '=';
    std::memcpy(buffer.bytes + name.size() + 1, value.c_str(), value.size() + 1);
    return buffer.bytes;
  }

 private:
  struct Entry {
    SharedProgram* shared;
    std::string launch_variable;
  };
  struct VariableBuffer {
    char* bytes = nullptr;
    std::size_t size = 0;
  };

  SharedProgram* make_program(const ProgramSpec& spec, const std::string& path) {
    auto* const program = arena_.make<SharedProgram>(1);
    auto** const argv = arena_.make<char*>(spec.words.size() + 1);
    for (std::size_t i = 0; i < spec.words.size(); ++i) argv[i] = arena_.copy(spec.words[i]);
    program->argv = argv;
    program->path = arena_.copy(path);
    program->sink = spec.output.has_listener ? OutputKind::Pipe : spec.output.sink;
    program->is_output_stored = spec.output.is_stored_during_run;
    program->jobs = spec.jobs;
    program->jobs_outlive_failure = spec.jobs_outlive_failure;
    program->timeout_ns = spec.timeout ? spec.timeout->count() : 0;
    program->environment = find_or_make_environment(spec);
    if (!spec.cpus.empty()) copy_cpus(spec.cpus, *program);
    if (spec.user) program->user = make_user(*spec.user);
    if (spec.input_path) program->input_path = arena_.copy(*spec.input_path);
    if (program->sink == OutputKind::File) program->output_path = arena_.copy(spec.output.path);
    if (!spec.folder.empty()) program->folder = arena_.copy(spec.folder);
    return program;
  }

  SharedEnvironment find_or_make_environment(const ProgramSpec& spec) {
    if (inherits_environment_unchanged(spec)) return {};
    if (!latest_spec_ || !has_same_environment(*latest_spec_, spec)) {
      latest_environment_ = make_environment(spec);
      latest_spec_ = spec;
    }
    return latest_environment_;
  }

  /// Writes a program's environment into the shared memory, and notes the entries that change from
  /// run to run.
  SharedEnvironment make_environment(const ProgramSpec& spec) {
    const std::string later_value;  // each run sets its own value of the launch variable
    const std::vector<std::string> variables = program_environment(spec, later_value);
    SharedEnvironment environment{.variables = arena_.make<char*>(variables.size() + 1)};

    OwnVariables own_variables;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      // Most variables are lauka's own. Using lauka's strings for them saves shared memory.
      char* const own = own_variables.find(variables[i]);
      environment.variables[i] = own != nullptr ? own : arena_.copy(variables[i]);
      note_changing_entry(spec, variables[i], environment.variables[i], environment);
    }
    return environment;
  }

  /// Notes the entry of a variable (`text`, NAME=VALUE) if the launcher changes it before each run.
  static void note_changing_entry(const ProgramSpec& spec, const std::string& text, char*& entry,
                                  SharedEnvironment& environment) {
    const auto is_variable = [&](const std::string& name) {
      return !name.empty() && text.starts_with(name + "=");
    };
    if (is_variable(spec.launch_variable)) environment.launch_entry = &entry;
    if (spec.has_region && is_variable(kRegionVariable)) environment.region_entry = &entry;
    if (spec.jobs > 1 && text.starts_with(kJobEntryPrefix))
      environment.job_digits = entry + kJobEntryPrefix.size();
  }

  const SharedUser* make_user(const User& user) {
    auto* const groups = arena_.make<std::uint32_t>(std::max<std::size_t>(user.groups.size(), 1));
    std::ranges::copy(user.groups, groups);
    auto* const shared = arena_.make<SharedUser>(1);
    *shared = SharedUser{
        .id = user.id, .group = user.group, .group_count = user.groups.size(), .groups = groups};
    return shared;
  }

  void copy_cpus(const std::vector<std::uint32_t>& cpus, SharedProgram& program) {
    constexpr std::size_t bits_of_word = 8 * sizeof(unsigned long);
    const std::size_t words = *std::ranges::max_element(cpus) / bits_of_word + 1;
    auto* const bits = arena_.make<unsigned long>(words);
    for (const std::uint32_t cpu : cpus) bits[cpu / bits_of_word] |= 1UL << cpu % bits_of_word;
    program.cpus = bits;
    program.cpus_bytes = words * sizeof(unsigned long);
  }

  Arena& arena_;
  std::vector<Entry> programs_;
  std::array<VariableBuffer, Launcher::kMaxBatch> variable_buffers_{};
  std::optional<ProgramSpec> latest_spec_{};
  SharedEnvironment latest_environment_{};
};

/// What lauka waits for during a batch: the launcher's answer, the runs' output and samples.
class BatchEvents {
 public:
  BatchEvents(int launcher, std::span<const int> pipes, std::span<const int> rings) {
    fds_.push_back({launcher, POLLIN, 0});
    for (const int pipe : pipes) fds_.push_back({pipe, POLLIN, 0});
    for (const int ring : rings) fds_.push_back({ring, POLLIN, 0});
  }

  /// Waits as ppoll() does.
  int wait(const timespec* max_wait, const sigset_t& mask) {
    return ppoll(fds_.data(), fds_.size(), max_wait, &mask);
  }

  bool has_answer() const { return fds_[kLauncherAt].revents != 0; }
  bool has_output() const { return (fds_[kOutputAt].revents | fds_[kErrorAt].revents) != 0; }

 private:
  static constexpr std::size_t kLauncherAt = 0;
  static constexpr std::size_t kOutputAt = 1;
  static constexpr std::size_t kErrorAt = 2;
  std::vector<pollfd> fds_;  // those of the samples come last
};

/// The launcher's process, and what lauka shares with it.
struct ForkedLauncher {
  pid_t pid = 0;
  SharedState* state = nullptr;
  std::byte* arena = nullptr;
  Descriptor socket{};
};

class PosixLauncher final : public Launcher {
 public:
  PosixLauncher(ForkedLauncher process, RunFiles files, const LinuxCalls* counters)
      : pid_(process.pid),
        state_(process.state),
        arena_(process.arena, kArenaBytes),
        programs_(arena_),
        socket_(std::move(process.socket)),
        files_(std::move(files)),
        sampling_calls_(counters) {}

  ~PosixLauncher() override {
    dismiss();
    if (!launcher_error_) static_cast<void>(reap());
  }

  void dismiss() override {
    socket_ = Descriptor();  // the launcher ends when its socket closes
    state_->cancel = true;
  }

  Result<ProgramId> add_program(const ProgramSpec& spec) override {
    auto program = programs_.add(spec);
    if (!program) return program.error();
    if (spec.output.has_listener) listened_programs_.emplace(*program, spec);
    if (spec.user && !files_.hand_pipes_to(*spec.user))
      return system_error("lauka cannot give its pipes to the user " + spec.user->name, errno);
    return *program;
  }

  Result<CounterSetId> add_counters(std::span<const CounterRequest> requests) override {
    if (requests.size() > kMaxCounters) {
      return Error{"a pass has more than " + std::to_string(kMaxCounters) + " counters",
                   "count fewer events"};
    }
    try {
      auto* const copies = arena_.make<CounterRequest>(requests.size());
      auto* const guards = arena_.make<int>(requests.size());
      auto* const descriptors = arena_.make<int>(requests.size());
      std::ranges::copy(requests, copies);
      std::fill_n(guards, requests.size(), -1);
      std::fill_n(descriptors, requests.size(), -1);
      counter_sets_.push_back(arena_.make<SharedCounters>(1));
      *counter_sets_.back() = SharedCounters{requests.size(), copies, guards, descriptors};
    } catch (const std::bad_alloc&) {
      return Error{"no shared memory is left for counters", "count fewer events"};
    }
    return static_cast<CounterSetId>(counter_sets_.size() - 1);
  }

  /// Hands a batch to the launcher process, reads output and samples of its runs until it has
  /// ended, and returns the results.
  Result<std::vector<Ended>> run(std::span<const Launch> launches, AfterFailure after_failure,
                                 const ProgressCallback& tick) override {
    if (launcher_error_) return *launcher_error_;  // the launcher process has died
    const auto batch = launches.first(std::min(launches.size(), kMaxBatch));
    if (auto written = write_request(batch, after_failure); !written) return written.error();

    // A launch with a listener for output or samples is alone in its batch, so it is the first.
    const Launch& first = batch.front();
    OpenedRunFiles named_files;
    SampleRings rings(sampling_calls_);
    if (const auto not_started = open_files_and_rings(first, named_files, rings))
      return std::vector{*not_started};

    const std::int64_t batch_began_ns = now_ns();
    const bool heeds_interrupts = std::ranges::none_of(batch, &Launch::goes_on_after_interrupt);
    const int error = run_batch(heeds_interrupts, tick, rings, first.sample_listener);
    const bool is_launcher_lost = error != 0;
    if (is_launcher_lost) return clean_up_after_launcher(error, batch_began_ns);

    // The rings and pipes still hold what came last, just before the launcher's answer.
    if (first.sample_listener != nullptr) end_sampling(rings, *first.sample_listener);
    files_.drain();
    return collect(after_failure);
  }

  void use_program_cpus(const std::string& group) override {
    state_->ignores_program_cpus = false;
    copy_path(group, state_->control_group_file_on_program_cpus);
  }

  void ignore_program_cpus() override {
    state_->ignores_program_cpus = true;
    copy_path("", state_->control_group_file_on_program_cpus);
  }

  std::string error_output_end() const override { return files_.error_output_end(last_sink_); }

  std::uint64_t stored_stream_bytes(OutputStream which) const override {
    return files_.stored_stream_bytes(which);
  }

  std::size_t read_kept(OutputStream which, std::uint64_t from,
                        std::span<char> into) const override {
    return files_.read_kept(which, from, into);
  }

 private:
  /// Writes a batch of at most kMaxBatch launches into the shared memory, from which the launcher
  /// reads it. Returns an error if no shared memory is left.
  Result<void> write_request(std::span<const Launch> launches, AfterFailure after_failure) {
    state_->cancel = false;
    state_->listener_ended_run = false;
    state_->after_failure = after_failure;
    state_->launch_count = launches.size();

    // All runs of a batch join the control group of the first launch.
    copy_path(launches.front().control_group_file, state_->control_group_file);

    // A program may get an environment variable with another value for each launch. If no shared
    // memory is left for this variable, std::bad_alloc is thrown.
    try {
      for (std::size_t i = 0; i < launches.size(); ++i)
        state_->launches[i] = make_shared_launch(launches[i], i);
    } catch (const std::bad_alloc&) {
      return make_too_many_arguments_error();
    }

    return {};
  }

  /// Returns what the launcher reads of a launch. `place`: index of the launch in its batch.
  SharedLaunch make_shared_launch(const Launch& launch, std::size_t place) {
    // open_rings() opens the counters of a sampled run; the launcher must not open them, too.
    const bool launcher_opens_counters =
        launch.counters != kNoCounters && launch.sample_listener == nullptr;
    return {.program = programs_.at(launch.program),
            .counters = launcher_opens_counters ? counter_sets_.at(launch.counters) : nullptr,
            .variable_entry = programs_.write_launch_variable(launch, place),
            .latest_start_ns = launch.latest_start.count(),
            .reads_end_state = launch.reads_end_state};
  }

  /// Copies a path to shared memory, which keeps at most the beginning of a longer path.
  static void copy_path(const std::string& path, std::array<char, 4096>& into) {
    const std::size_t length = std::min(path.size(), into.size() - 1);
    std::copy_n(path.begin(), length, into.begin());
    into.at(length) = '\0';
  }

  /// Prepares the reading of the pipes, and opens the output file of a run with a listener, whose
  /// output lauka copies to that file. Returns the outcome of a run that cannot start; else
  /// nullopt.
  std::optional<Outcome> open_files_of_listened(const Launch& launch, OpenedRunFiles& named) {
    const auto program = listened_programs_.find(launch.program);
    if (program == listened_programs_.end()) {
      files_.begin();
      return std::nullopt;
    }
    const ProgramSpec& spec = program->second;
    const auto is_unwanted = [] { return first_interrupt_signal() != 0; };
    if (auto failed = open_named(spec, NamedFiles::Output, is_unwanted, named)) return failed;
    files_.begin(launch.listener, spec.output.sink, named.output.get(), now_ns);
    return std::nullopt;
  }

  /// Opens the rings of a sampled run. Returns 0 or errno. The counters are opened on the launcher,
  /// from which the run inherits the counters. lauka reads the rings, because reading would make
  /// the launcher larger, which would raise peak_rss.
  int open_rings(const Launch& launch, SampleRings& rings) {
    if (launch.sample_listener == nullptr) return 0;
    const CounterRequest& request = *counter_sets_.at(launch.counters)->requests;
    return rings.open(std::bit_cast<PerfEventAttr>(request.attributes), pid_, ++sampled_runs_);
  }

  /// Opens what lauka reads of a run while it goes on: its output, and the rings of its samples.
  /// Returns the run as it ended if it cannot start; else nullopt.
  std::optional<Ended> open_files_and_rings(const Launch& launch, OpenedRunFiles& named_files,
                                            SampleRings& rings) {
    Ended not_started;
    if (const auto failed = open_files_of_listened(launch, named_files)) {
      not_started.outcome = *failed;
      return not_started;
    }
    not_started.counter_error = open_rings(launch, rings);
    if (not_started.counter_error != 0) return not_started;
    return std::nullopt;
  }

  static void end_sampling(SampleRings& rings, SampleListener& listener) {
    rings.move_to(listener);
    listener.end(rings.read_counters());
  }

  /// Waits until something happens, or does the regular work if nothing has happened for a while.
  /// Returns what ppoll() returns. `samples`: who gets samples meanwhile (may be null).
  static int wait_or_work(BatchEvents& events, SignalHold& hold, const ProgressCallback& tick,
                          const SampleListener* samples) {
    // Without regular work, lauka sleeps until something happens, and so disturbs the run least.
    const bool has_regular_work = tick || samples != nullptr || hold.must_report_suspension();
    const timespec* const max_wait = has_regular_work ? &kTickTime : nullptr;
    const int ready = events.wait(max_wait, hold.mask_for_waiting());

    const bool timed_out = ready == 0;
    if (timed_out && hold.must_report_suspension()) hold.report_suspension();
    if (timed_out && tick) tick();
    return ready;
  }

  /// Makes the launcher run the batch, and waits until it reports the batch's end. Meanwhile reads
  /// the runs' pipes and moves samples from `rings` to `samples` (may be null). Returns 0, or errno
  /// if the launcher cannot be reached.
  int run_batch(bool heeds_interrupts, const ProgressCallback& tick, SampleRings& rings,
                SampleListener* samples) {
    // With the hold, signals arrive only while lauka waits. Ctrl-Z suspends lauka after the batch,
    // and the user is told so meanwhile.
    SignalHold hold;
    const char any_byte = 'r';
    const bool was_asked = send(socket_.get(), &any_byte, 1, MSG_NOSIGNAL) == 1;
    if (!was_asked) return errno;

    BatchEvents events(socket_.get(), files_.pipe_read_ends(), rings.descriptors());
    bool was_cancelled = false;
    for (;;) {
      if (heeds_interrupts && !was_cancelled && first_interrupt_signal() != 0) {
        cancel();
        was_cancelled = true;
      }

      const int ready_count = wait_or_work(events, hold, tick, samples);
      if (ready_count < 0 && errno != EINTR) return errno;
      if (samples != nullptr) rings.move_to(*samples);

      const bool has_event = ready_count > 0;
      if (!has_event) continue;

      if (events.has_output()) {
        read_pipes();

        // While there is always something to read, ppoll may let no signals in.
        hold.let_through();
      }
      if (events.has_answer()) return read_answer();
    }
  }

  /// Reads the launcher's answer: one byte when the batch has ended, and none if the launcher has
  /// died. Returns 0, or errno if it has died.
  int read_answer() const {
    char byte = 0;
    const ssize_t count = read(socket_.get(), &byte, 1);
    if (count == 1) return 0;
    return count == 0 ? ECONNRESET : errno;
  }

  /// Reads the runs' pipes, and asks the launcher to end the run if its listener has enough.
  void read_pipes() {
    files_.drain_during_run();
    if (!files_.ended_by_listener_ns() || state_->listener_ended_run) return;
    state_->listener_ended_run = true;
    kill(pid_, kWakeSignal);
  }

  void cancel() const {
    state_->cancel = true;
    kill(pid_, kWakeSignal);
  }

  /// Waits for the end of the launcher process. Returns its status, as of waitpid; 0 if unknown.
  int reap() const {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0) {
      if (errno != EINTR) return 0;
    }
    return status;
  }

  /// Cleans up after the end of the launcher process, and returns the error for this run and all
  /// later runs. Kills the processes of the run, which have become lauka's descendants.
  Error clean_up_after_launcher(int error, std::int64_t began_ns) {
    cancel();
    socket_ = Descriptor();
    const int status = reap();
    kill_descendants(getpid(), began_ns);
    std::string what = "the launcher process ";
    if (WIFSIGNALED(status)) {
      what += "was killed by " + signal_name(WTERMSIG(status));
    } else {
      what += "cannot be reached: " + std::generic_category().message(error);
    }
    launcher_error_ = Error{
        what,
        "another program may have ended it, or the kernel when memory ran out; run lauka again"};
    return *launcher_error_;
  }

  /// Sets the id of a process that could not be killed, in the outcomes that have one.
  static void set_survivor(int survivor, Outcome& outcome) {
    if (auto* late = std::get_if<TimedOut>(&outcome)) late->survivor = survivor;
    if (auto* stopped = std::get_if<Stopped>(&outcome)) stopped->survivor = survivor;
  }

  /// Returns the outcome of a run that its listener ended: success, or a timeout if the run's
  /// process survived SIGKILL.
  static Outcome outcome_by_listener(const SharedEnded& shared) {
    if (shared.surviving_pid == 0) return Exited{0};
    return TimedOut{kTerminateTimeout, true, shared.surviving_pid};
  }

  std::vector<Ended> collect(AfterFailure after_failure) {
    std::vector<Ended> all;
    all.reserve(state_->ended_count);
    for (std::size_t i = 0; i < state_->ended_count; ++i)
      all.push_back(collect_run(i, after_failure));
    return all;
  }

  /// Returns what the launcher says of a run, without its readings.
  static Ended make_ended(const SharedEnded& shared) {
    return {.outcome = shared.outcome,
            .usage = shared.usage,
            .time_with_preparation = shared.time_with_preparation,
            .counter_error = shared.counter_error,
            .optional_counter_error = shared.optional_counter_error,
            .started_count = shared.started_count,
            .unawaited_processes = shared.unawaited_processes,
            .outlived = shared.outlived,
            .input = shared.input};
  }

  /// True if the user has cancelled a run, which then did not fail. A signal that killed the run
  /// may have been sent to all of the terminal's processes, so lauka may be about to get it, too.
  static bool is_cancelled_by_signal(const Ended& ended, AfterFailure after_failure) {
    const auto* signalled = std::get_if<Signalled>(&ended.outcome);
    if (signalled == nullptr) return false;
    // Where failures do not end the batch, this does not wait for lauka's signal after each of
    // them.
    if (after_failure == AfterFailure::Stop) await_signal_like(signalled->signal);
    return was_meant_for_lauka(signalled->signal);
  }

  struct EndCause {
    bool was_killed = false;
    /// When the listener ended the run; nullopt if it did not, or the run has no status or signal.
    std::optional<std::int64_t> listener_ns{};
  };

  EndCause find_end_cause(const SharedEnded& shared) const {
    // Only a run that ended by itself, or was ended for its listener, has an exit status or signal.
    const bool has_status = has_exited_or_signalled(shared.outcome);
    const bool was_started = !std::holds_alternative<NotStarted>(shared.outcome);
    EndCause cause{.was_killed = was_started && !has_status};
    if (has_status) cause.listener_ns = files_.ended_by_listener_ns();
    if (cause.listener_ns) cause.was_killed = true;
    return cause;
  }

  /// Returns a run's wall time. A run that its listener ended is measured until the listener had
  /// enough.
  static std::uint64_t find_wall_ns(const SharedEnded& shared, const EndCause& cause) {
    const std::int64_t ended_at_ns =
        std::min(shared.ended_at_ns, cause.listener_ns.value_or(shared.ended_at_ns));
    const std::int64_t wall_ns = ended_at_ns - shared.executed_at_ns;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(wall_ns, 0));
  }

  /// Returns a run of the last batch, as the launcher has left it in the shared memory. If the run
  /// was killed, first kills the processes that it left.
  Ended collect_run(std::size_t run_index, AfterFailure after_failure) {
    const SharedEnded& shared = state_->ended[run_index];
    const SharedProgram& program = *state_->launches[run_index].program;

    // error_output_end() needs to know where the output of this run went.
    last_sink_ = program.is_output_stored ? OutputKind::Null : program.sink;

    // Some processes may have left the killed run's process group. They must not use the CPU during
    // the next run. A run that was cancelled before it began has no processes.
    const EndCause cause = find_end_cause(shared);
    int surviving_descendant = 0;
    if (cause.was_killed && shared.began_ns != 0)
      surviving_descendant = kill_descendants(pid_, shared.began_ns);

    Ended ended = make_ended(shared);
    ended.ended_by_listener = cause.listener_ns.has_value();
    if (cause.was_killed) ended.outlived = 0;  // what the run left has been killed
    ended.usage.wall_ns = find_wall_ns(shared, cause);

    // The process that survived SIGKILL is the program's own, or one of its descendants. 0: none.
    const int survivor = std::max(shared.surviving_pid, surviving_descendant);
    set_survivor(survivor, ended.outcome);

    if (is_cancelled_by_signal(ended, after_failure)) ended.outcome = Cancelled{};
    add_readings(run_index, ended);

    // The signal that ended a run for its listener is no failure of the run.
    if (ended.ended_by_listener) ended.outcome = outcome_by_listener(shared);
    return ended;
  }

  /// Adds what was read of a run besides its end: its region, its counters and its process's state.
  void add_readings(std::size_t run_index, Ended& ended) const {
    const SharedEnded& shared = state_->ended[run_index];
    const SharedLaunch& launch = state_->launches[run_index];
    if (launch.program->environment.region_entry != nullptr) ended.region = shared.region;

    const Reading* readings = state_->readings.data() + shared.first_reading_index;
    ended.readings.assign(readings, readings + shared.reading_count);
    if (launch.reads_end_state && has_exited_or_signalled(ended.outcome))
      ended.end_state = make_process_state(state_->end_states[run_index]);
  }

  pid_t pid_;
  SharedState* state_;
  Arena arena_;
  SharedPrograms programs_;
  Descriptor socket_;
  RunFiles files_;
  std::vector<SharedCounters*> counter_sets_;
  std::map<ProgramId, ProgramSpec> listened_programs_;
  const LinuxCalls* sampling_calls_;
  std::uint32_t sampled_runs_ = 0;
  OutputKind last_sink_ = OutputKind::Null;
  std::optional<Error> launcher_error_;
};

/// The two ends of the channel between lauka and the launcher; closed if it could not be made.
struct LauncherSockets {
  Descriptor lauka{};
  Descriptor launcher{};
};

LauncherSockets open_sockets() {
  std::array ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return {};
  return {.lauka = Descriptor(ends[0]), .launcher = Descriptor(ends[1])};
}

/// Returns memory for SharedState and the arena; MAP_FAILED with errno on failure. New shared
/// memory is zero. Nothing initialises it, because writing zeros would make every page resident.
void* reserve_shared_memory() {
  return mmap(nullptr, sizeof(SharedState) + kArenaBytes, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/// Returns a setup that still lacks the signal mask, the calls for counters and the exit handler.
/// `memory`: from reserve_shared_memory().
LauncherSetup make_setup(void* memory, const LauncherSockets& sockets, const RunFiles& files) {
  LauncherSetup setup;
  setup.state = static_cast<SharedState*>(memory);
  setup.started_with.ignored_sigchld = is_ignored(SIGCHLD);
  setup.parent = getpid();
  setup.socket = sockets.launcher.get();
  setup.files = &files;
  return setup;
}

/// Gives `advice` (of madvise) for every second megabyte of lauka's code and that of its libraries.
void advise_for_pieces_of_code(int advice) {
  const auto advise = [](dl_phdr_info* file, std::size_t /*size*/, void* given_advice) {
    using Segment = ElfW(Phdr);
    constexpr std::uintptr_t piece_bytes = std::uintptr_t{1} << 20U;
    for (const Segment& segment : std::span(file->dlpi_phdr, file->dlpi_phnum)) {
      const bool is_code = segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0;
      if (!is_code) continue;

      const std::uintptr_t begin = file->dlpi_addr + segment.p_vaddr;
      const std::uintptr_t end = begin + segment.p_memsz;
      const std::uintptr_t first_piece = (begin / piece_bytes + 1) * piece_bytes;
      for (std::uintptr_t at = first_piece; at < end; at += 2 * piece_bytes)
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the address is only known as a number
        madvise(reinterpret_cast<void*>(at), std::min(piece_bytes, end - at),
                *static_cast<const int*>(given_advice));
    }
    return 0;  // goes on with the next file
  };
  dl_iterate_phdr(advise, &advice);
}

/// Forks the launcher process, and sets the signal mask of `setup`. Returns the process's id; -1
/// with errno on failure. `own_socket`: lauka's end.
pid_t fork_launcher(LauncherSetup& setup, int own_socket) {
  // The launcher must start with all signals blocked, because it fetches signals while it waits.
  const AllSignalsBlocked blocked;
  setup.started_with.mask = blocked.mask_before();
  const pid_t pid = fork();
  if (pid == 0) {
    // If the launcher kept lauka's end of the socket open, it would not notice that lauka
    // closes it.
    close(own_socket);
    serve_as_launcher(setup);  // does not return
  }
  return pid;
}

/// Starts the launcher process by forking, after making everything that lauka shares with it: a
/// pair of sockets, the runs' files and pipes, and memory. `after_lauka`: what the launcher process
/// calls last (may be null).
Result<std::unique_ptr<Launcher>> start_forking_launcher(const LinuxCalls* counter_calls,
                                                         ExitHandler after_lauka) {
  if (access("/dev/null", R_OK | W_OK) != 0)
    return system_error("lauka cannot use /dev/null", errno, "mount /dev, as containers do");

  // If lauka was started without a standard stream, a socket could get the stream's number.
  fill_standard_descriptors();
  LauncherSockets sockets = open_sockets();
  RunFiles files;
  if (!sockets.lauka || !files.open_all())
    return system_error("lauka cannot open its channels to the launcher process", errno);

  void* memory = reserve_shared_memory();
  if (memory == MAP_FAILED) return system_error("lauka cannot reserve shared memory", errno);

  LauncherSetup setup = make_setup(memory, sockets, files);
  setup.counter_calls = counter_calls;
  setup.after_lauka = after_lauka;

  // Since 6.18, Linux maps a whole large page of the page cache (up to 2 MB) if one mapping
  // contains it. It would count as memory of the launcher, and raise the least peak memory that can
  // be measured of a program. So the launcher's code is cut into mappings of at most 1 MB: every
  // second megabyte gets a flag that only leaves it out of core dumps. lauka's own mappings are
  // joined again.
  advise_for_pieces_of_code(MADV_DONTDUMP);
  const pid_t pid = fork_launcher(setup, sockets.lauka.get());
  const int fork_error = errno;
  advise_for_pieces_of_code(MADV_DODUMP);
  if (pid < 0) return system_error("lauka cannot start its launcher process", fork_error);

  prctl(PR_SET_CHILD_SUBREAPER, 1);  // inherits children of a killed launcher
  signal(SIGCHLD, SIG_DFL);          // so that waitpid returns the launcher's status
  auto* arena = static_cast<std::byte*>(memory) + sizeof(SharedState);
  return std::unique_ptr<Launcher>(new PosixLauncher(
      {.pid = pid, .state = setup.state, .arena = arena, .socket = std::move(sockets.lauka)},
      std::move(files), counter_calls));
}

}  // namespace

Result<std::unique_ptr<Launcher>> start_launcher(ExitHandler after_lauka) {
  if (const DarwinCalls* model = darwin_calls()) return start_spawning_launcher(*model);
  return start_forking_launcher(linux_calls(), after_lauka);
}

}  // namespace lauka::os
