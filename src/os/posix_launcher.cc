#include "os/descriptor.h"
#include "os/launcher_process.h"
#include "os/launcher_shared.h"
#include "os/output_tail.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/shared_programs.h"
#include "os/signals.h"
#include "os/standard_descriptors.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// lauka's side of the launcher: it writes requests into the shared memory, wakes the launcher and
// waits, drains the pipes of
// --output pipe meanwhile, and passes on the user's wish to end.

namespace lauka::os {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{64} << 20;  // reserved, not used
constexpr int kTickMs = 200;

Error system_error(std::string what) {
  what += ": " + std::generic_category().message(errno);
  return Error{std::move(what), ""};
}

Outcome outcome_of(const SharedEnded& ended, std::int64_t timeout_ns) {
  switch (ended.kind) {
    case EndKind::Exited:
      return Exited{ended.number};
    case EndKind::Signalled:
      return Signalled{ended.number, ended.core_dumped};
    case EndKind::TimedOut:
      return TimedOut{std::chrono::nanoseconds(timeout_ns)};
    case EndKind::Stopped:
      return Stopped{ended.number};
    case EndKind::NotStarted:
      return NotStarted{ended.step, ended.number};
    case EndKind::Cancelled:
      break;
  }
  return Cancelled{};
}

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

bool make_pipe(Pipe& made) {
  std::array ends = {-1, -1};
  if (pipe(ends.data()) != 0) return false;
  made.read_end = Descriptor(ends[0]);
  made.write_end = Descriptor(ends[1]);
  for (const int fd : ends) fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return true;
}

/// All that is made before the fork.
struct Channels {
  Descriptor socket;
  Descriptor launcher_socket;
  Descriptor null_input;
  Descriptor null_output;
  Descriptor error_file;
  Pipe output;
  Pipe error;

  bool open_all() {
    std::array ends = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return false;
    socket = Descriptor(ends[0]);
    launcher_socket = Descriptor(ends[1]);
    for (const int fd : ends) fcntl(fd, F_SETFD, FD_CLOEXEC);
    null_input = Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
    null_output = Descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
    error_file = Descriptor(open_anonymous_file());
    return null_input && null_output && error_file && make_pipe(output) && make_pipe(error);
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
  PosixLauncher(const PosixLauncher&) = delete;
  PosixLauncher& operator=(const PosixLauncher&) = delete;

  ~PosixLauncher() override {
    channels_.socket = Descriptor();  // the launcher ends when its socket does
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  Result<ProgramId> add_program(const ProgramSpec& spec) override {
    auto program = programs_.add(spec);
    if (!program) return program.error();
    if (spec.user &&
        (fchown(channels_.output.write_end.get(), spec.user->id, spec.user->group) |
         fchown(channels_.error.write_end.get(), spec.user->id, spec.user->group)) != 0)
      return system_error("lauka cannot hand its pipes to the user " + spec.user->name);
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
    launches = launches.first(std::min(launches.size(), kMaxBatch));
    state_->cancel = false;
    state_->go_on_after_failure = go_on_after_failure;
    state_->launch_count = launches.size();
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Launch& launch = launches[i];
      char* variable = nullptr;
      if (!programs_.set_variable(launch, i, variable)) return SharedPrograms::too_large();
      state_->launches[i] = {
          programs_.at(launch.program),
          launch.counters == kNoCounters ? nullptr : counter_sets_.at(launch.counters), variable};
    }
    const bool heeds_interrupts = std::none_of(
        launches.begin(), launches.end(), [](const Launch& one) { return one.despite_interrupt; });
    error_tail_.clear();
    {
      const HoldSignals hold;
      if (!converse(hold, heeds_interrupts, tick)) {
        return Error{"the launcher process has ended",
                     "it may have been killed from outside; run lauka again"};
      }
    }
    drain();
    return collect();
  }

  std::string error_output_end() const override {
    if (last_sink_ == Sink::Pipe) return error_tail_.last_lines();
    const bool is_kept = last_sink_ == Sink::Null || last_sink_ == Sink::Capture;
    return is_kept ? last_lines_of_file(channels_.error_file.get()) : "";
  }

 private:
  /// Wakes the launcher and waits for its answer. False when it is gone.
  bool converse(const HoldSignals& hold, bool heeds_interrupts, const Tick& tick) {
    char byte = 'r';
    if (write(channels_.socket.get(), &byte, 1) != 1) return false;
    bool told = false;
    for (;;) {
      std::array fds = {pollfd{channels_.socket.get(), POLLIN, 0},
                        pollfd{channels_.output.read_end.get(), POLLIN, 0},
                        pollfd{channels_.error.read_end.get(), POLLIN, 0}};
      if (heeds_interrupts && !told && interrupt() != 0) {
        state_->cancel = true;
        kill(pid_, kPokeSignal);
        told = true;
      }
      const int ready =
          poll_with_mask(fds.data(), fds.size(), tick ? kTickMs : -1, hold.mask_for_waiting());
      if (ready < 0 && errno != EINTR) return false;
      if (ready == 0) tick();
      if (ready <= 0) continue;
      if ((fds[1].revents | fds[2].revents) != 0) drain();
      if (fds[0].revents != 0) return read(channels_.socket.get(), &byte, 1) == 1;
    }
  }

  void drain() {
    std::array<char, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): read fills it
    while (read(channels_.output.read_end.get(), bytes.data(), bytes.size()) > 0) {
    }
    for (;;) {
      const ssize_t got = read(channels_.error.read_end.get(), bytes.data(), bytes.size());
      if (got <= 0) return;
      error_tail_.add(bytes.data(), static_cast<std::size_t>(got));
    }
  }

  std::vector<Ended> collect() {
    std::vector<Ended> all;
    all.reserve(state_->ended_count);
    for (std::size_t i = 0; i < state_->ended_count; ++i) {
      const SharedEnded& shared = state_->ended[i];
      const SharedProgram& program = *state_->launches[i].program;
      last_sink_ = program.sink;
      Ended ended{outcome_of(shared, program.timeout_ns),
                  shared.usage,
                  std::chrono::nanoseconds(shared.whole_ns),
                  {},
                  shared.counter_error,
                  shared.optional_error};
      const Reading* readings = state_->readings.data() + shared.readings;
      ended.readings.assign(readings, readings + shared.reading_count);
      // Those that left the process group are still there; they must not go on burning under the
      // next run.
      const bool killed = shared.kind == EndKind::TimedOut || shared.kind == EndKind::Stopped ||
                          shared.kind == EndKind::Cancelled;
      if (killed && shared.began_ns != 0) kill_descendants(pid_, shared.began_ns);
      all.push_back(std::move(ended));
    }
    return all;
  }

  pid_t pid_;
  SharedState* state_;
  Arena arena_;
  SharedPrograms programs_;
  Channels channels_;
  std::vector<SharedCounters*> counter_sets_;
  Sink last_sink_ = Sink::Null;
  OutputTail error_tail_;
};

bool is_ignored(int signal_number) {
  struct sigaction action {};
  return sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Result<std::unique_ptr<Launcher>> start_launcher(const LinuxCalls* counters) {
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
  setup.started_with.ignored_poke = is_ignored(kPokeSignal);
  setup.started_with.ignored_alarm = is_ignored(SIGALRM);
  setup.parent = getpid();
  setup.socket = channels.launcher_socket.get();
  setup.null_input = channels.null_input.get();
  setup.null_output = channels.null_output.get();
  setup.error_file = channels.error_file.get();
  setup.output_pipe = channels.output.write_end.get();
  setup.error_pipe = channels.error.write_end.get();

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
  signal(SIGCHLD, SIG_DFL);  // the launcher's end is to be seen, whatever lauka's parent ignored
  channels.launcher_socket = Descriptor();
  auto* arena = static_cast<std::byte*>(memory) + sizeof(SharedState);
  return std::unique_ptr<Launcher>(
      new PosixLauncher(pid, setup.state, Arena(arena, kArenaBytes), std::move(channels)));
}

}  // namespace lauka::os
