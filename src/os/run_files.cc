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

constexpr nanoseconds kAlarm = std::chrono::milliseconds(100);
constexpr nanoseconds kSoon = std::chrono::microseconds(100);  // 0 would switch the alarm off

/// Returns the file's size in bytes; 0 on failure. Moves the file position.
off_t size_of(int fd) {
  return std::max<off_t>(lseek(fd, 0, SEEK_END), 0);
}

timeval to_timeval(nanoseconds time) {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  return {microseconds / 1'000'000, static_cast<suseconds_t>(microseconds % 1'000'000)};
}

/// Lowest number to try for a descriptor that RegionPage hands down. Scripts usually use lower
/// numbers.
constexpr int kFirstNumber = 100;
/// Lowest number to try if no number from kFirstNumber on can be used.
constexpr int kFirstNumberOfFew = 10;

template <typename T>
T read(const T& shared) {
  return __atomic_load_n(&shared, __ATOMIC_RELAXED);
}

/// Opens files for a run. Opening a named pipe waits for its other end. The wait fails with EINTR
/// when the run is no longer wanted, and with ETIMEDOUT when `limit` has passed since construction.
/// The alarm repeats, because an alarm may come just before a wait.
class OpensPatiently : NonCopyable {
 public:
  OpensPatiently(nanoseconds limit, const std::function<bool()>& is_unwanted)
      : is_unwanted_(is_unwanted) {
    const auto now = std::chrono::steady_clock::now();
    deadline_ = now + std::min<nanoseconds>(limit, nanoseconds::max() - now.time_since_epoch());
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigfillset(&action.sa_mask);
    sigaction(SIGALRM, &action, &handled_);
    const sigset_t alarm = signal_set({SIGALRM});
    sigprocmask(SIG_UNBLOCK, &alarm, &blocked_);
    const itimerval timer{to_timeval(kAlarm), to_timeval(std::clamp(limit, kSoon, kAlarm))};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  ~OpensPatiently() {
    const int saved = errno;
    const itimerval none{};
    setitimer(ITIMER_REAL, &none, nullptr);
    sigprocmask(SIG_SETMASK, &blocked_, nullptr);
    sigaction(SIGALRM, &handled_, nullptr);
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
  struct sigaction handled_ {};
  sigset_t blocked_{};
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

}  // namespace

std::optional<Outcome> open_named(const PathsToOpen& named,
                                  const std::function<bool()>& is_unwanted, OpenedRunFiles& own) {
  const OpensPatiently opens(named.timeout, is_unwanted);
  const auto why_not = [&](LaunchStep step) -> Outcome {
    if (errno == EINTR) return Cancelled{};
    if (errno == ETIMEDOUT) return TimedOut{named.timeout, false};
    return NotStarted{step, errno};
  };
  if (named.input != nullptr) {
    own.input = Descriptor(opens.open(named.input, O_RDONLY));
    if (!own.input) return why_not(LaunchStep::OpenInput);
  }
  if (named.output != nullptr) {
    own.output = Descriptor(opens.open(named.output, O_WRONLY | O_CREAT | O_TRUNC));
    if (!own.output) return why_not(LaunchStep::OpenOutput);
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
    if (size_of(fd) == 0) continue;
    while (ftruncate(fd, 0) != 0 && errno == EINTR) {
    }
  }
}

void RunFiles::drop_old_output(bool is_stored) const {
  const auto bound = [](int fd, off_t limit, off_t kept) {
    struct stat file {};
    if (fstat(fd, &file) == 0 && file.st_blocks * 512 > limit)
      free_front_space(fd, file.st_size, kept);
  };
  if (!is_stored) return bound(error_file_.get(), kErrorFileLimit, kErrorFileKept);
  constexpr auto most = static_cast<off_t>(kStoredEndBytes);
  for (const int fd : {error_file_.get(), output_file_.get()}) bound(fd, 2 * most, most);
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
  copy(OutputStream::Output, output_.read_end.get(), output_copy_, most_pieces);
  copy(OutputStream::Error, error_.read_end.get(), error_copy_, most_pieces);
}

void RunFiles::copy(OutputStream which, int from, int to, int most_pieces) {
  for (int i = 0; i < most_pieces; ++i) {
    const ssize_t got = ::read(from, room_->data(), room_->size());
    if (got <= 0) return;
    const std::string_view bytes(room_->data(), static_cast<std::size_t>(got));
    if (listener_ != nullptr && !ended_by_listener_ns_) {
      const std::int64_t now = now_();
      if (!listener_->receive(which, bytes)) ended_by_listener_ns_ = now;
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
      size_of(which == OutputStream::Output ? output_file_.get() : error_file_.get()));
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
  for (std::size_t i = 0; i < handed_count_; ++i) close(handed_.at(i));
  if (memory_ != nullptr) munmap(memory_, sizeof *memory_);
}

/// Duplicates `descriptor` for the program. Returns the duplicate, which stays open across exec, or
/// -1 with errno.
int RegionPage::hand_down(int descriptor) {
  if (handed_count_ == handed_.size()) {
    errno = EMFILE;
    return -1;
  }
  int number = fcntl(descriptor, F_DUPFD, kFirstNumber);                   // NOLINT: fcntl is so
  if (number < 0) number = fcntl(descriptor, F_DUPFD, kFirstNumberOfFew);  // NOLINT: as above
  if (number >= 0) handed_.at(handed_count_++) = number;
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

RegionUse RegionPage::use() const {
  RegionUse use;
  if (memory_ == nullptr) return use;
  const lauka_region_page_& page = memory_->page;
  use.entries = read(page.entries);
  use.time_ns = read(page.time_ns);
  use.unmatched_ends = read(page.stray);
  use.counter_failures = read(page.failures) & 0xffffffffU;
  use.lock_timeouts = read(page.failures) >> 32U;
  use.is_open = read(page.depth) != 0 || read(page.lock) != 0;
  use.instructions = read(page.instructions);
  use.cycles = read(page.cycles);
  use.uncounted_threads = read(page.uncounted);
  for (const lauka_region_thread_& thread : memory_->threads)
    if (read(thread.id) != 0) ++use.uncounted_threads;
  return use;
}

}  // namespace lauka::os
