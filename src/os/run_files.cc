#include "os/run_files.h"

#include "os/platform.h"
#include "os/users.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <lauka/region.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

namespace lauka::os {

namespace {

using std::chrono::nanoseconds;

constexpr off_t kErrorFileLimit = 1 << 20;
constexpr off_t kErrorFileKept = 1 << 16;

constexpr nanoseconds kAlarmInterval = std::chrono::milliseconds(100);
/// A delay of 0 would switch the alarm off.
constexpr nanoseconds kMinAlarmDelay = std::chrono::microseconds(100);

/// Returns the file's size in bytes; 0 on failure. Moves the file position.
off_t seek_to_end(int fd) {
  return std::max<off_t>(lseek(fd, 0, SEEK_END), 0);
}

timeval to_timeval(nanoseconds time) {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  return {microseconds / 1'000'000, static_cast<suseconds_t>(microseconds % 1'000'000)};
}

/// Lowest number to try for a descriptor that RegionPage hands down. Scripts usually use lower
/// numbers.
constexpr int kFirstDescriptor = 100;
/// Lowest number to try if no number from kFirstDescriptor on can be used.
constexpr int kFirstDescriptorOfFew = 10;

/// Reads memory that a program may be writing.
template <typename T>
T load(const T& shared) {
  return __atomic_load_n(&shared, __ATOMIC_RELAXED);
}

/// Opens files for a run. Opening a named pipe waits for its other end. The wait fails with EINTR
/// when the run is no longer wanted, and with ETIMEDOUT when `limit` has passed since construction.
/// The alarm repeats, because an alarm may come just before a wait.
class PatientOpener : NonCopyable {
 public:
  PatientOpener(nanoseconds limit, const std::function<bool()>& is_unwanted)
      : is_unwanted_(is_unwanted) {
    const auto now = std::chrono::steady_clock::now();
    deadline_ = now + std::min<nanoseconds>(limit, nanoseconds::max() - now.time_since_epoch());
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigfillset(&action.sa_mask);
    sigaction(SIGALRM, &action, &saved_action_);
    const sigset_t alarm = signal_set({SIGALRM});
    sigprocmask(SIG_UNBLOCK, &alarm, &saved_mask_);
    const itimerval timer{to_timeval(kAlarmInterval),
                          to_timeval(std::clamp(limit, kMinAlarmDelay, kAlarmInterval))};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  ~PatientOpener() {
    const int saved = errno;
    const itimerval none{};
    setitimer(ITIMER_REAL, &none, nullptr);
    sigprocmask(SIG_SETMASK, &saved_mask_, nullptr);
    sigaction(SIGALRM, &saved_action_, nullptr);
    errno = saved;
  }

  int open(const char* path, int flags) const {
    while (!is_unwanted_()) {
      const int fd = ::open(path, flags | O_CLOEXEC, 0666);
      if (fd >= 0 || errno != EINTR) return fd;
      if (std::chrono::steady_clock::now() < deadline_) continue;
      errno = ETIMEDOUT;
      return -1;
    }
    errno = EINTR;
    return -1;
  }

 private:
  std::chrono::steady_clock::time_point deadline_;
  const std::function<bool()>& is_unwanted_;
  struct sigaction saved_action_ {};
  sigset_t saved_mask_{};
};

std::string last_lines_of_file(int fd) {
  struct stat file {};
  if (fstat(fd, &file) != 0) return "";
  constexpr off_t most = 2 * OutputTail::kShown;
  std::string text(static_cast<std::size_t>(most), '\0');
  const off_t from = std::max<off_t>(file.st_size - most, 0);
  const ssize_t got = pread(fd, text.data(), text.size(), from);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return last_lines_of(std::move(text));
}

/// Returns how many threads have not added their counts to the region's sums. A thread's entry
/// holds its id until the thread adds its counts.
std::uint64_t count_uncounted_threads(const lauka_region_memory_& memory) {
  std::uint64_t count = load(memory.page.uncounted);
  for (const lauka_region_thread_& thread : memory.threads)
    if (load(thread.id) != 0) ++count;
  return count;
}

}  // namespace

std::optional<Outcome> open_named(const PathsToOpen& named,
                                  const std::function<bool()>& is_unwanted, OpenedRunFiles& own) {
  const PatientOpener opener(named.timeout, is_unwanted);
  const auto make_failure = [&](LaunchStep step) -> Outcome {
    if (errno == EINTR) return Cancelled{};
    if (errno == ETIMEDOUT) return TimedOut{named.timeout, false};
    return NotStarted{step, errno};
  };
  if (named.input != nullptr) {
    own.input = Descriptor(opener.open(named.input, O_RDONLY));
    if (!own.input) return make_failure(LaunchStep::OpenInput);
  }
  if (named.output != nullptr) {
    own.output = Descriptor(opener.open(named.output, O_WRONLY | O_CREAT | O_TRUNC));
    if (!own.output) return make_failure(LaunchStep::OpenOutput);
  }
  return std::nullopt;
}

std::optional<Outcome> open_named(const ProgramSpec& spec, NamedFiles which,
                                  const std::function<bool()>& is_unwanted, OpenedRunFiles& own) {
  PathsToOpen named{.timeout = spec.timeout.value_or(nanoseconds::max())};
  if (spec.input_path && which == NamedFiles::InputAndOutput)
    named.input = spec.input_path->c_str();
  if (spec.output.sink == OutputKind::File) named.output = spec.output.path.c_str();
  if (named.input == nullptr && named.output == nullptr) return std::nullopt;
  const ActAs user(spec.user);
  if (user.error()) return NotStarted{LaunchStep::BecomeUser, EPERM};
  return open_named(named, is_unwanted, own);
}

InputRead check_input_read(int fd) {
  struct stat file {};
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size == 0)
    return InputRead::Unknown;
  const off_t position = lseek(fd, 0, SEEK_CUR);
  if (position < 0) return InputRead::Unknown;
  if (position == 0) return InputRead::Nothing;
  return position < file.st_size ? InputRead::Part : InputRead::All;
}

bool RunFiles::open_all() {
  null_input_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null_input_) return false;
  null_output_ = Descriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!null_output_) return false;
  error_file_ = open_anonymous_file();
  output_file_ = open_anonymous_file();
  return error_file_ && output_file_ && output_.open() && error_.open();
}

StandardFiles RunFiles::standard_files(OutputKind sink, bool is_stored) const {
  if (is_stored) return {null_input_.get(), output_file_.get(), error_file_.get()};
  switch (sink) {
    case OutputKind::Null:
      return {null_input_.get(), null_output_.get(), error_file_.get()};
    case OutputKind::Pipe:
      return {null_input_.get(), output_.write_end.get(), error_.write_end.get()};
    case OutputKind::Capture:
      return {null_input_.get(), error_file_.get(), error_file_.get()};
    case OutputKind::Inherit:
    case OutputKind::File:
      break;
  }
  return {null_input_.get(), -1, -1};
}

void RunFiles::truncate_output() const {
  for (const int fd : {error_file_.get(), output_file_.get()}) {
    if (seek_to_end(fd) == 0) continue;
    while (ftruncate(fd, 0) != 0 && errno == EINTR) {
    }
  }
}

void RunFiles::drop_old_output(bool is_stored) const {
  const auto drop_above = [](off_t limit, int fd, off_t kept) {
    constexpr off_t block_bytes = 512;  // the unit of st_blocks
    struct stat file {};
    if (fstat(fd, &file) == 0 && file.st_blocks * block_bytes > limit)
      free_front_space(fd, file.st_size, kept);
  };
  if (!is_stored) return drop_above(kErrorFileLimit, error_file_.get(), kErrorFileKept);
  constexpr auto kept = static_cast<off_t>(kStoredEndBytes);
  for (const int fd : {error_file_.get(), output_file_.get()}) drop_above(2 * kept, fd, kept);
}

void RunFiles::pass_on(OutputKind sink, int named) const {
  if (sink == OutputKind::File && copy_all(output_file_.get(), named))
    copy_all(error_file_.get(), named);
  if (sink != OutputKind::Inherit) return;
  copy_all(output_file_.get(), STDOUT_FILENO);
  copy_all(error_file_.get(), STDERR_FILENO);
}

bool RunFiles::hand_pipes_to(const User& user) const {
  return fchown(output_.write_end.get(), user.id, user.group) == 0 &&
         fchown(error_.write_end.get(), user.id, user.group) == 0;
}

void RunFiles::drain_at_most(int most_pieces) {
  read_pipe(OutputStream::Output, output_.read_end.get(), output_copy_, most_pieces);
  read_pipe(OutputStream::Error, error_.read_end.get(), error_copy_, most_pieces);
}

/// Reads a pipe, and copies what it reads to the descriptor `to` (-1: nowhere) and to the listener.
/// What comes after the listener has ended the run is not for the listener.
void RunFiles::read_pipe(OutputStream which, int from, int to, int most_pieces) {
  for (int i = 0; i < most_pieces; ++i) {
    const ssize_t got = ::read(from, buffer_->data(), buffer_->size());
    if (got <= 0) return;
    const std::string_view bytes(buffer_->data(), static_cast<std::size_t>(got));
    if (listener_ != nullptr && !ended_by_listener_ns_) {
      // The listener's own work is not a part of the run's time.
      const std::int64_t read_at_ns = now_();
      if (!listener_->receive(which, bytes)) ended_by_listener_ns_ = read_at_ns;
    }
    if (which == OutputStream::Error) tail_.add(bytes);
    if (to >= 0) static_cast<void>(write_all(to, bytes));
  }
}

std::string RunFiles::error_output_end(OutputKind sink) const {
  if (sink == OutputKind::Pipe) return tail_.last_lines();
  const bool is_kept = sink == OutputKind::Null || sink == OutputKind::Capture;
  return is_kept ? last_lines_of_file(error_file_.get()) : "";
}

std::uint64_t RunFiles::stored_stream_bytes(OutputStream which) const {
  return static_cast<std::uint64_t>(
      seek_to_end(which == OutputStream::Output ? output_file_.get() : error_file_.get()));
}

std::size_t RunFiles::read_kept(OutputStream which, std::uint64_t from,
                                std::span<char> into) const {
  const int fd = which == OutputStream::Output ? output_file_.get() : error_file_.get();
  return read_at(fd, from, into);
}

void fill_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) < 0) static_cast<void>(open("/dev/null", O_RDONLY));
}

RegionPage::~RegionPage() {
  for (std::size_t i = 0; i < handed_down_count_; ++i) close(handed_down_.at(i));
  if (memory_ != nullptr) munmap(memory_, sizeof *memory_);
}

/// Duplicates `descriptor` for the program. Returns the duplicate, which stays open across exec, or
/// -1 with errno.
int RegionPage::hand_down(int descriptor) {
  if (handed_down_count_ == handed_down_.size()) {
    errno = EMFILE;
    return -1;
  }
  int number = fcntl(descriptor, F_DUPFD, kFirstDescriptor);  // NOLINT: fcntl is so
  if (number < 0) number = fcntl(descriptor, F_DUPFD, kFirstDescriptorOfFew);  // NOLINT: as above
  if (number >= 0) handed_down_.at(handed_down_count_++) = number;
  return number;
}

bool RegionPage::hand_down() {
  const Descriptor file = open_shared_memory(sizeof *memory_);
  if (!file) return false;
  const int number = hand_down(file.get());
  void* memory = mmap(nullptr, sizeof *memory_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<lauka_region_memory_*>(memory);
  if (number < 0) return false;
  memory_->page.magic = LAUKA_REGION_MAGIC_;
  memory_->page.version = LAUKA_REGION_VERSION_;
  std::snprintf(variable_entry_.data(), variable_entry_.size(), "%s=%d",
                kRegionVariable,  // NOLINT: a number
                number);
  return true;
}

bool RegionPage::hand_down_counter(int descriptor) {
  lauka_region_page_& page = memory_->page;
  if (page.counters == LAUKA_REGION_MOST_COUNTERS_) {
    errno = EMFILE;
    return false;
  }
  const int number = hand_down(descriptor);
  if (number < 0) return false;
  page.descriptors[page.counters] = number;
  ++page.counters;
  return true;
}

void RegionPage::request_thread_counts() {
  memory_->page.counts_threads = 1;
}

// Reads what the program has noted about its region, with lauka/region.h, in the memory that lauka
// shares with it. The program may still be writing there.
RegionUse RegionPage::use() const {
  RegionUse use;
  const bool was_handed_down = memory_ != nullptr;
  if (!was_handed_down) return use;

  const lauka_region_page_& page = memory_->page;
  use.entries = load(page.entries);
  use.time_ns = load(page.time_ns);
  use.unmatched_ends = load(page.stray);

  // One word holds two counts. The lower half counts failures to switch a counter, and the upper
  // half counts waits for a lock that took too long.
  const std::uint64_t both_counts = load(page.failures);
  use.counter_failures = both_counts & 0xffffffffU;
  use.lock_timeouts = both_counts >> 32U;

  // A program that was killed while it entered or left the region still holds the lock.
  const bool is_inside = load(page.depth) != 0;
  use.is_open = is_inside || load(page.lock) != 0;
  use.instructions = load(page.instructions);
  use.cycles = load(page.cycles);

  use.uncounted_threads = count_uncounted_threads(*memory_);
  return use;
}

}  // namespace lauka::os
