#include "os/descriptor.h"
#include "os/launcher_process.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/run_files.h"
#include "os/signals.h"
#include "os/spawning_launcher.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {

Error SharedPrograms::too_large() {
  return Error{"the arguments of the commands take more than 64 MB", "compare fewer at once"};
}

Result<ProgramId> SharedPrograms::add(const ProgramSpec& spec) {
  const Result<std::string> path = find_program_of(spec);
  if (!path) return path.error();
  auto* program = arena_.make<SharedProgram>(1);
  if (program == nullptr || !copy_words(spec, *program)) return too_large();
  program->path = arena_.copy(*path);
  program->sink = spec.output.heard ? Sink::Pipe : spec.output.sink;
  program->is_kept = spec.output.kept;
  program->jobs = spec.jobs;
  program->jobs_outlive_failure = spec.jobs_outlive_failure;
  program->timeout_ns = spec.timeout ? spec.timeout->count() : 0;
  bool whole = program->path != nullptr && copy_environment(spec, *program);
  whole = whole && copy_cpus(spec.cpus, *program);
  if (spec.user) whole = whole && copy_user(*spec.user, *program);
  if (spec.input.path)
    whole = whole && (program->input_path = arena_.copy(*spec.input.path)) != nullptr;
  if (program->sink == Sink::File)
    whole = whole && (program->output_path = arena_.copy(spec.output.path)) != nullptr;
  if (!spec.folder.empty())
    whole = whole && (program->folder = arena_.copy(spec.folder)) != nullptr;
  if (!whole) return too_large();
  programs_.push_back({program, spec.launch_variable});
  return static_cast<ProgramId>(programs_.size() - 1);
}

bool SharedPrograms::set_variable(const Launch& launch, std::size_t place, char*& variable) {
  const std::string& name = programs_.at(launch.program).launch_variable;
  variable = nullptr;
  if (name.empty()) return true;
  const std::string text = name + "=" + launch.value;
  Slot& slot = slots_.at(place);
  if (text.size() >= slot.size) {
    constexpr std::size_t roomy = 64;
    slot.size = std::max(roomy, text.size() + 1);
    slot.bytes = arena_.make<char>(slot.size);
    if (slot.bytes == nullptr) return false;
  }
  std::copy(text.c_str(), text.c_str() + text.size() + 1, slot.bytes);
  variable = slot.bytes;
  return true;
}

bool SharedPrograms::copy_words(const ProgramSpec& spec, SharedProgram& program) {
  auto** argv = arena_.make<char*>(spec.words.size() + 1);
  if (argv == nullptr) return false;
  for (std::size_t i = 0; i < spec.words.size(); ++i) {
    argv[i] = arena_.copy(spec.words[i]);
    if (argv[i] == nullptr) return false;
  }
  program.argv = argv;
  return true;
}

/// Where nothing is to be changed, programs get lauka's own as it is: its size shifts the stack,
/// and thereby times.
bool SharedPrograms::copy_environment(const ProgramSpec& spec, SharedProgram& program) {
  if (is_own_environment(spec)) return true;
  const std::vector<std::string> all = environment_of(spec, "");
  auto** environment = arena_.make<char*>(all.size() + 1);
  if (environment == nullptr) return false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    environment[i] = copy_once(all[i]);
    if (environment[i] == nullptr) return false;
    const auto is = [&](const std::string& name) {
      return !name.empty() && all[i].starts_with(name + "=");
    };
    if (is(spec.launch_variable)) program.variable = environment + i;
    if (spec.has_region && is(kRegionVariable)) program.region = environment + i;
    if (spec.jobs > 1 && all[i].starts_with(kJobVariable))
      program.job_digits = environment[i] + kJobVariable.size();
  }
  program.environment = environment;
  return true;
}

bool SharedPrograms::copy_user(const User& user, SharedProgram& program) {
  auto* shared = arena_.make<SharedUser>(1);
  auto* groups = arena_.make<std::uint32_t>(std::max<std::size_t>(user.groups.size(), 1));
  if (shared == nullptr || groups == nullptr) return false;
  std::ranges::copy(user.groups, groups);
  *shared = SharedUser{user.id, user.group, user.groups.size(), groups};
  program.user = shared;
  return true;
}

bool SharedPrograms::copy_cpus(const std::vector<std::uint32_t>& cpus, SharedProgram& program) {
  if (cpus.empty()) return true;
  constexpr std::size_t bits_of_word = 8 * sizeof(unsigned long);
  const std::size_t words = *std::ranges::max_element(cpus) / bits_of_word + 1;
  auto* bits = arena_.make<unsigned long>(words);
  if (bits == nullptr) return false;
  for (const std::uint32_t cpu : cpus) bits[cpu / bits_of_word] |= 1UL << cpu % bits_of_word;
  program.cpus = bits;
  program.cpus_bytes = words * sizeof(unsigned long);
  return true;
}

char* SharedPrograms::copy_once(const std::string& text) {
  const auto found = texts_.find(text);
  if (found != texts_.end()) return found->second;
  char* copy = arena_.copy(text);
  if (copy != nullptr) texts_.emplace(text, copy);
  return copy;
}

// lauka's side of the launcher: it writes requests into the shared memory, wakes the launcher and
// waits, drains the pipes of
// --output pipe meanwhile, and passes on the user's wish to end.

namespace {

constexpr std::size_t kArenaBytes = std::size_t{64} << 20;  // reserved, not used
constexpr int kTickMs = 200;

Error system_error(std::string what) {
  what += ": " + std::generic_category().message(errno);
  return Error{std::move(what), ""};
}

Outcome outcome_of(const SharedEnded& ended, std::int64_t timeout_ns, int survivor) {
  switch (ended.kind) {
    case EndKind::Exited:
      return Exited{ended.number};
    case EndKind::Signalled:
      return Signalled{ended.number, ended.core_dumped};
    case EndKind::TimedOut:
      return TimedOut{std::chrono::nanoseconds(timeout_ns), ended.number != ETIMEDOUT, survivor};
    case EndKind::Stopped:
      return Stopped{ended.number, survivor};
    case EndKind::NotStarted:
      return NotStarted{ended.step, ended.number};
    case EndKind::Cancelled:
      break;
  }
  return Cancelled{};
}

/// All that is made before the fork.
struct Channels {
  Descriptor socket;
  Descriptor launcher_socket;
  RunFiles files;

  bool open_all() {
    std::array ends = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
    socket = Descriptor(ends[0]);
    launcher_socket = Descriptor(ends[1]);
    return files.open_all();
  }
};

class PosixLauncher final : public Launcher {
 public:
  PosixLauncher(pid_t pid, SharedState* state, Arena arena, Channels channels)
      : pid_(pid),
        state_(state),
        arena_(arena),
        programs_(arena_),
        channels_(std::move(channels)) {}

  ~PosixLauncher() override {
    dismiss();
    if (!why_gone_) static_cast<void>(reap());
  }

  void dismiss() override {
    channels_.socket = Descriptor();  // the launcher ends when its socket does
    state_->cancel = true;
  }

  Result<ProgramId> add_program(const ProgramSpec& spec) override {
    auto program = programs_.add(spec);
    if (!program) return program.error();
    if (spec.output.heard) heard_.emplace(*program, spec);
    if (spec.user && !channels_.files.hand_pipes_to(*spec.user))
      return system_error("lauka cannot pass its pipes to the user " + spec.user->name);
    return *program;
  }

  Result<CounterSetId> add_counters(std::span<const CounterRequest> requests) override {
    if (requests.size() > kMaxCounters) {
      return Error{"a pass has more than " + std::to_string(kMaxCounters) + " counters",
                   "ask for fewer events"};
    }
    auto* set = arena_.make<SharedCounters>(1);
    auto* copies = arena_.make<CounterRequest>(requests.size());
    auto* guards = arena_.make<int>(requests.size());
    auto* descriptors = arena_.make<int>(requests.size());
    if (set == nullptr || copies == nullptr || guards == nullptr || descriptors == nullptr) {
      return Error{"no shared memory is left for counters", "ask for fewer events"};
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      copies[i] = requests[i];
      guards[i] = -1;
      descriptors[i] = -1;
    }
    *set = SharedCounters{requests.size(), copies, guards, descriptors};
    counter_sets_.push_back(set);
    return static_cast<CounterSetId>(counter_sets_.size() - 1);
  }

  Result<std::vector<Ended>> run(std::span<const Launch> launches, bool go_on_after_failure,
                                 const Tick& tick) override {
    if (why_gone_) return *why_gone_;
    launches = launches.first(std::min(launches.size(), kMaxBatch));
    state_->cancel = false;
    state_->enough = false;
    state_->go_on_after_failure = go_on_after_failure;
    state_->launch_count = launches.size();
    keep_path(launches.empty() ? std::string() : launches.front().group, state_->group);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Launch& launch = launches[i];
      char* variable = nullptr;
      if (!programs_.set_variable(launch, i, variable)) return SharedPrograms::too_large();
      state_->launches[i] = {
          programs_.at(launch.program),
          launch.counters == kNoCounters ? nullptr : counter_sets_.at(launch.counters), variable};
    }
    const bool heeds_interrupts =
        std::ranges::none_of(launches, [](const Launch& one) { return one.despite_interrupt; });
    Descriptor named;
    if (const auto failed = open_heard(launches.front(), named)) {
      std::vector<Ended> one(1);
      one.front().outcome = *failed;
      return one;
    }
    const std::int64_t began_ns = now_ns();
    const int trouble = converse(heeds_interrupts, tick);
    if (trouble != 0) return end_of_launcher(trouble, began_ns);
    channels_.files.drain();
    return collect(go_on_after_failure);
  }

  void use_own_cpus(bool are_used, const std::string& group) override {
    state_->ignores_own_cpus = !are_used;
    keep_path(group, state_->group_on_own_cpus);
  }

  std::string error_output_end() const override {
    return channels_.files.error_output_end(last_sink_);
  }

  std::uint64_t kept_bytes(Kept which) const override { return channels_.files.kept_bytes(which); }

  std::size_t read_kept(Kept which, std::uint64_t from, std::span<char> into) const override {
    return channels_.files.read_kept(which, from, into);
  }

 private:
  static void keep_path(const std::string& path, std::array<char, 4096>& into) {
    const std::size_t length = std::min(path.size(), into.size() - 1);
    std::copy_n(path.begin(), length, into.begin());
    into.at(length) = '\0';
  }

  /// Begins to hear a run whose output is heard, and opens `named`, where it goes on to. Why the
  /// run cannot be started; none: it can.
  std::optional<Outcome> open_heard(const Launch& launch, Descriptor& named) {
    const auto program = heard_.find(launch.program);
    if (program == heard_.end()) {
      channels_.files.begin();
      return std::nullopt;
    }
    const ProgramSpec& spec = program->second;
    if (spec.output.sink == Sink::File) {
      if (auto failed = open_output(
              spec, [] { return interrupt() != 0; }, named))
        return failed;
    }
    channels_.files.begin(heard_by(launch.listener, spec.output.sink, named.get(), now_ns));
    return std::nullopt;
  }

  /// Wakes the launcher and waits for its answer. 0 or errno: the launcher is gone, or cannot be
  /// asked.
  // NOLINTNEXTLINE(readability-function-cognitive-complexity): one loop over all that may be heard
  int converse(bool heeds_interrupts, const Tick& tick) {
    HoldSignals hold;
    char byte = 'r';
    if (send(channels_.socket.get(), &byte, 1, MSG_NOSIGNAL) != 1) return errno;
    const auto [output, error] = channels_.files.readable();
    bool told = false;
    for (;;) {
      std::array fds = {pollfd{channels_.socket.get(), POLLIN, 0}, pollfd{output, POLLIN, 0},
                        pollfd{error, POLLIN, 0}};
      if (heeds_interrupts && !told && interrupt() != 0) {
        cancel();
        told = true;
      }
      const int timeout_ms = tick || hold.owes_a_word() ? kTickMs : -1;
      const int ready = poll_with_mask(fds.data(), fds.size(), timeout_ms, hold.mask_for_waiting());
      if (ready < 0 && errno != EINTR) return errno;
      if (ready == 0 && hold.owes_a_word()) hold.tell_of_suspension();
      if (ready == 0 && tick) tick();
      if (ready <= 0) continue;
      if ((fds[1].revents | fds[2].revents) != 0) {
        hear();
        hold.let_through();  // where there is always something to read, poll lets nothing through
      }
      if (fds[0].revents == 0) continue;
      const ssize_t got = read(channels_.socket.get(), &byte, 1);
      if (got == 1) return 0;
      return got == 0 ? ECONNRESET : errno;
    }
  }

  /// Takes what the run has written, and has it ended where that is enough.
  void hear() {
    channels_.files.drain_some();
    if (!channels_.files.enough_ns() || state_->enough) return;
    state_->enough = true;
    kill(pid_, kPokeSignal);
  }

  void cancel() const {
    state_->cancel = true;
    kill(pid_, kPokeSignal);
  }

  int reap() const {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0) {
      if (errno != EINTR) return 0;
    }
    return status;
  }

  /// Without its launcher lauka can run nothing any more. The run's own process ended with it; what
  /// that had started has become lauka's.
  Error end_of_launcher(int trouble, std::int64_t began_ns) {
    cancel();
    channels_.socket = Descriptor();
    const int status = reap();
    kill_descendants(getpid(), began_ns);
    std::string what = "the launcher process ";
    if (WIFSIGNALED(status)) {
      what += std::string("was killed by SIG") + sigabbrev_np(WTERMSIG(status));
    } else {
      what += "cannot be reached: " + std::generic_category().message(trouble);
    }
    why_gone_ = Error{what, "someone, or the out-of-memory killer, ended it; run lauka again"};
    return *why_gone_;
  }

  std::vector<Ended> collect(bool go_on_after_failure) {
    std::vector<Ended> all;
    all.reserve(state_->ended_count);
    for (std::size_t i = 0; i < state_->ended_count; ++i) {
      const SharedEnded& shared = state_->ended[i];
      const SharedProgram& program = *state_->launches[i].program;
      last_sink_ = program.is_kept ? Sink::Null : program.sink;
      // Those that left the process group are still there; they must not go on burning under the
      // next run.
      const bool was_enough = channels_.files.enough_ns() && has_run_to_its_end(shared);
      const bool killed = shared.kind == EndKind::TimedOut || shared.kind == EndKind::Stopped ||
                          shared.kind == EndKind::Cancelled || was_enough;
      const int left = killed && shared.began_ns != 0 ? kill_descendants(pid_, shared.began_ns) : 0;
      const bool cancelled = shared.kind == EndKind::Signalled &&
                             was_meant_for_lauka(shared.number, !go_on_after_failure);
      Ended ended{cancelled
                      ? Cancelled{}
                      : outcome_of(shared, program.timeout_ns, std::max(shared.survivor, left)),
                  shared.usage,
                  std::chrono::nanoseconds(shared.whole_ns),
                  {},
                  shared.counter_error,
                  shared.optional_error,
                  shared.orphans,
                  shared.input};
      if (program.region != nullptr) ended.region = shared.region;
      const Reading* readings = state_->readings.data() + shared.readings;
      ended.readings.assign(readings, readings + shared.reading_count);
      if (was_enough) end_early(shared, ended);
      all.push_back(std::move(ended));
    }
    return all;
  }

  static bool has_run_to_its_end(const SharedEnded& shared) {
    return shared.kind == EndKind::Exited || shared.kind == EndKind::Signalled;
  }

  /// The run has succeeded, however its program took it that it was asked to end, unless it cannot
  /// be killed.
  void end_early(const SharedEnded& shared, Ended& ended) const {
    ended.was_enough = true;
    ended.outcome = Exited{0};
    if (shared.survivor != 0) ended.outcome = TimedOut{kGrace, true, shared.survivor};
    const std::int64_t wall_ns = *channels_.files.enough_ns() - shared.exec_ns;
    ended.usage.wall_ns = std::min(ended.usage.wall_ns,
                                   static_cast<std::uint64_t>(std::max<std::int64_t>(wall_ns, 0)));
  }

  pid_t pid_;
  SharedState* state_;
  Arena arena_;
  SharedPrograms programs_;
  Channels channels_;
  std::vector<SharedCounters*> counter_sets_;
  std::map<ProgramId, ProgramSpec> heard_;  // those whose output is
  Sink last_sink_ = Sink::Null;
  std::optional<Error> why_gone_;  // the launcher
};

/// `counters` null: this system has none that a launcher could open.
Result<std::unique_ptr<Launcher>> start_forking_launcher(const LinuxCalls* counters,
                                                         AfterLauka after_lauka) {
  fill_standard_descriptors();
  Channels channels;
  if (!channels.open_all())
    return system_error("lauka cannot open its channels to the launcher process");
  const std::size_t bytes = sizeof(SharedState) + kArenaBytes;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return system_error("lauka cannot reserve shared memory");

  LauncherSetup setup;
  // Not value-initialised: zeroing would make every page resident, and fresh shared memory is zero
  // already.
  setup.state = static_cast<SharedState*>(memory);
  setup.counters = counters;
  setup.started_with.ignored_child = is_ignored(SIGCHLD);
  setup.parent = getpid();
  setup.socket = channels.launcher_socket.get();
  setup.files = channels.files.common();
  setup.after_lauka = after_lauka;

  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &setup.started_with.mask);
  const pid_t pid = fork();
  if (pid == 0) {
    close(channels.socket.get());  // else the launcher would never see it end
    serve_as_launcher(setup);
  }
  const int fork_error = errno;
  sigprocmask(SIG_SETMASK, &setup.started_with.mask, nullptr);
  if (pid < 0) {
    errno = fork_error;
    return system_error("lauka cannot start its launcher process");
  }
  become_reaper();           // of what a launcher leaves that is killed
  signal(SIGCHLD, SIG_DFL);  // the launcher's end is to be seen, whatever lauka's parent ignored
  channels.launcher_socket = Descriptor();
  auto* arena = static_cast<std::byte*>(memory) + sizeof(SharedState);
  return std::unique_ptr<Launcher>(
      new PosixLauncher(pid, setup.state, Arena(arena, kArenaBytes), std::move(channels)));
}

}  // namespace

Result<std::unique_ptr<Launcher>> start_launcher(AfterLauka after_lauka) {
  if (const DarwinCalls* model = darwin_calls()) return start_spawning_launcher(*model);
  return start_forking_launcher(linux_calls(), after_lauka);
}

}  // namespace lauka::os
