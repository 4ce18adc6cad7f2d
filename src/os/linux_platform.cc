#include "core/numbers.h"
#include "core/text.h"
#include "os/clock.h"
#include "os/descriptor.h"
#include "os/helper_program.h"
#include "os/launcher_process.h"
#include "os/linux_calls.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/sample_rings.h"
#include "os/setting_files.h"
#include "os/this_machine.h"
#include "os/users.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <span>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <grp.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace lauka::os {
namespace {

static_assert(offsetof(perf_event_attr, type) == offsetof(PerfEventAttr, type));
static_assert(offsetof(perf_event_attr, size) == offsetof(PerfEventAttr, size));
static_assert(offsetof(perf_event_attr, config) == offsetof(PerfEventAttr, config));
static_assert(offsetof(perf_event_attr, sample_period) == offsetof(PerfEventAttr, sample_period));
static_assert(offsetof(perf_event_attr, sample_type) == offsetof(PerfEventAttr, sample_type));
static_assert(offsetof(perf_event_attr, wakeup_watermark) == offsetof(PerfEventAttr, wakeup_bytes));
static_assert(PERF_COUNT_HW_CPU_CYCLES == 0 && PERF_COUNT_SW_CPU_CLOCK == 0);
static_assert(PERF_SAMPLE_IP == kPerfSampleIp && PERF_SAMPLE_TID == kPerfSampleTid);
static_assert(PERF_SAMPLE_TIME == kPerfSampleTime && PERF_SAMPLE_PERIOD == kPerfSamplePeriod);
static_assert(offsetof(perf_event_mmap_page, data_head) == kRingHeadOffset);
static_assert(offsetof(perf_event_mmap_page, data_tail) == kRingTailOffset);
static_assert(offsetof(perf_event_attr, read_format) == offsetof(PerfEventAttr, read_format));
static_assert(offsetof(perf_event_attr, config1) == offsetof(PerfEventAttr, config1));
static_assert(offsetof(perf_event_attr, config2) == offsetof(PerfEventAttr, config2));
static_assert(PERF_ATTR_SIZE_VER0 == kPerfSizeWithConfig1);
static_assert(PERF_ATTR_SIZE_VER1 == kPerfSizeWithConfig2);
static_assert(PERF_TYPE_HARDWARE == kPerfTypeHardware && PERF_TYPE_SOFTWARE == kPerfTypeSoftware);
static_assert(PERF_TYPE_HW_CACHE == kPerfTypeCache && PERF_TYPE_RAW == kPerfTypeRaw);
static_assert(PERF_FORMAT_TOTAL_TIME_ENABLED == kPerfReadEnabled);
static_assert(PERF_FORMAT_TOTAL_TIME_RUNNING == kPerfReadRunning);
static_assert(PERF_FORMAT_GROUP == kPerfReadGroup);

constexpr std::size_t kMaxReadBytes = 65536;
constexpr std::size_t kWordBits = 8 * sizeof(unsigned long);

std::optional<std::string> read_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file ? read_rest(file.get(), kMaxReadBytes) : std::nullopt;
}

std::vector<std::string> list_folder(const std::string& path) {
  return names_in(Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

int errno_unless(bool done) {
  return done ? 0 : errno;
}

constexpr LinuxCalls kLinuxCalls{
    .open_counter = [](const PerfEventAttr& attributes, const CounterPlace& place,
                       int group) -> int {
      PerfEventAttr copy = attributes;
      const long descriptor =
          syscall(SYS_perf_event_open, &copy, place.thread, place.cpu, group, PERF_FLAG_FD_CLOEXEC);
      return descriptor < 0 ? -errno : static_cast<int>(descriptor);
    },
    .enable_group = [](int leader) -> int {
      return -errno_unless(ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) == 0);
    },
    .disable_group = [](int leader) -> int {
      return -errno_unless(ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP) == 0);
    },
    .read_counter = [](int descriptor, std::uint64_t* words, std::size_t capacity) -> long {
      const ssize_t bytes = read(descriptor, words, capacity * sizeof *words);
      return bytes < 0 ? -errno : bytes / static_cast<long>(sizeof *words);
    },
    .close_descriptor = [](int descriptor) { close(descriptor); },

    .allowed_cpus = []() -> std::vector<std::uint32_t> {
      // The kernel refuses a mask that is smaller than its own, of which it does not tell the size.
      constexpr std::size_t max_words = 1U << 14U;
      std::vector<unsigned long> bits(16);
      long bytes = -1;
      for (; bits.size() <= max_words; bits.resize(bits.size() * 2)) {
        bytes = syscall(SYS_sched_getaffinity, 0, bits.size() * sizeof bits[0], bits.data());
        if (bytes >= 0 || errno != EINVAL) break;
      }

      std::vector<std::uint32_t> cpus;
      for (std::size_t cpu = 0; cpu / 8 < static_cast<std::size_t>(std::max(bytes, 0L)); ++cpu)
        if ((bits[cpu / kWordBits] >> cpu % kWordBits & 1U) != 0)
          cpus.push_back(static_cast<std::uint32_t>(cpu));
      return cpus;
    },

    .run_on = [](const std::vector<std::uint32_t>& cpus) -> int {
      std::vector<unsigned long> bits;
      for (const std::uint32_t cpu : cpus) {
        bits.resize(std::max<std::size_t>(bits.size(), cpu / kWordBits + 1));
        bits[cpu / kWordBits] |= 1UL << cpu % kWordBits;
      }
      return -errno_unless(
          syscall(SYS_sched_setaffinity, 0, bits.size() * sizeof bits[0], bits.data()) == 0);
    },

    .read_file = &read_file,
    .list_folder = &list_folder,
    .count_subfolders = [](const std::string& path) -> long {
      // A folder's links are its own name, its "." and the ".." of each subfolder.
      struct stat about {};
      return stat(path.c_str(), &about) != 0 ? -1 : static_cast<long>(about.st_nlink) - 2;
    },
    .open_file = [](const std::string& path) -> int {
      const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
      return descriptor < 0 ? -errno : descriptor;
    },
    .read_from_start = [](int descriptor, char* bytes, std::size_t capacity) -> long {
      const ssize_t got = pread(descriptor, bytes, capacity, 0);
      return got < 0 ? -errno : got;
    },
    .describe_program = [](const std::string& path) -> std::optional<ProgramFile> {
      struct stat about {};
      if (stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
      ProgramFile file{about.st_uid, about.st_gid, about.st_mode};

      struct statvfs mount {};
      file.is_on_nosuid = statvfs(path.c_str(), &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0;

      std::array<char, 64> attribute{};
      const ssize_t size =
          getxattr(path.c_str(), "security.capability", attribute.data(), attribute.size());
      if (size > 0) file.capabilities.assign(attribute.data(), static_cast<std::size_t>(size));

      const Descriptor opened(open(path.c_str(), O_RDONLY | O_CLOEXEC));
      if (opened) file.first_bytes = read_rest(opened.get(), kMaxHeadBytes);
      return file;
    },

    .map_ring = [](int descriptor, std::size_t bytes) -> void* {
      void* ring = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
      return ring == MAP_FAILED ? nullptr : ring;
    },
    .unmap_ring = [](void* ring, std::size_t bytes) { munmap(ring, bytes); },
};

/// Flags for a folder on the way to a file. With O_PATH, it need not be readable.
constexpr int kIntermediateFolder = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// Returns why a journal must not be used; "" if it may be. lauka writes the journal's values to
/// the system's settings, perhaps as root. So a journal that somebody else may have written is
/// refused.
std::string why_not_trusted(const struct stat& journal) {
  if (!S_ISREG(journal.st_mode)) return "it is not a regular file";
  const bool is_own = journal.st_uid == geteuid();
  const bool others_may_write = (journal.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return is_own && !others_may_write ? "" : "it belongs to another user, or others may write to it";
}

class FilesBelow final : public SettingFiles {
 public:
  explicit FilesBelow(const std::string& root)
      : root_(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

  std::optional<std::string> read(const std::string& path) override {
    const Descriptor file = open(path, O_RDONLY | O_NONBLOCK);
    return file ? read_rest(file.get(), kMaxReadBytes) : std::nullopt;
  }

  /// Reads the journal of a tuning, which holds the values that the system's settings get back.
  /// Returns nullopt if there is none.
  Result<std::optional<std::string>> read_journal(const std::string& path) override {
    constexpr std::size_t max_bytes = 64 << 20;  // far more than the settings of a large machine
    const auto make_refusal = [&](const std::string& why) {
      return Error{"cannot read " + path + ": " + why,
                   "restore by hand what was tuned, then remove this file"};
    };

    const auto make_system_refusal = [&] {
      return make_refusal(std::generic_category().message(errno));
    };

    const Descriptor file = open(path, O_RDONLY | O_NONBLOCK);
    const bool is_missing = !file && errno == ENOENT;
    if (is_missing) return std::optional<std::string>{};

    struct stat journal {};
    if (!file || fstat(file.get(), &journal) != 0) return make_system_refusal();
    if (const std::string why = why_not_trusted(journal); !why.empty()) return make_refusal(why);

    // A part of a journal would restore only some of the settings.
    auto text = read_rest(file.get(), max_bytes);
    if (!text) return make_system_refusal();
    const bool is_whole = static_cast<off_t>(text->size()) == journal.st_size;
    if (!is_whole) return make_refusal("it could not be read to its end");
    return text;
  }

  std::vector<std::string> list(const std::string& folder) override {
    return names_in(open(folder, O_RDONLY | O_DIRECTORY));
  }

  int check_writable(const std::string& path) override {
    return errno_unless(static_cast<bool>(open(path, O_WRONLY | O_NONBLOCK)));
  }

  int write(const std::string& path, std::string_view text) override {
    const Descriptor file = open(path, O_WRONLY | O_NONBLOCK);
    if (!file) return errno;
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0) return errno;
    return static_cast<std::size_t>(written) == text.size() ? 0 : EIO;
  }

  int append(const std::string& path, std::string_view text) override {
    constexpr mode_t read_by_all = 0644;
    std::string name;
    const Descriptor folder = open_parent(path, name);
    if (!folder) return errno;
    const Descriptor file(openat(folder.get(), name.c_str(),
                                 O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                                 read_by_all));
    return errno_unless(file && write_all(file.get(), text) && fsync(file.get()) == 0);
  }

  int make_folder(const std::string& path) override {
    // Other users may enter the folder, but may not open it, so that they cannot lock it.
    constexpr mode_t entered_by_all = 0711;
    std::string name;
    const Descriptor folder = open_parent(path, name);
    return errno_unless(folder && mkdirat(folder.get(), name.c_str(), entered_by_all) == 0);
  }

  int remove(const std::string& path) override {
    std::string name;
    const Descriptor folder = open_parent(path, name);
    if (!folder) return errno;
    if (unlinkat(folder.get(), name.c_str(), AT_REMOVEDIR) == 0) return 0;
    if (errno != ENOTDIR) return errno;
    return errno_unless(unlinkat(folder.get(), name.c_str(), 0) == 0);
  }

  int lock(const std::string& folder) override {
    Descriptor opened = open(folder, O_RDONLY | O_DIRECTORY);
    struct stat there {};
    if (!opened || flock(opened.get(), LOCK_EX | LOCK_NB) != 0 || fstat(opened.get(), &there) != 0)
      return errno;
    if (there.st_nlink == 0) return ENOENT;
    if (there.st_uid != geteuid() || (there.st_mode & (S_IWGRP | S_IWOTH)) != 0) return EPERM;
    lock_ = std::move(opened);
    return 0;
  }

  void unlock() override { lock_ = Descriptor(); }

  int hold_latency(const std::string& device, std::int32_t latency_us) override {
    Descriptor opened = open(device, O_WRONLY);
    std::array<char, sizeof latency_us> bytes{};
    std::memcpy(bytes.data(), &latency_us, bytes.size());
    if (!opened || !write_all(opened.get(), {bytes.data(), bytes.size()})) return errno;
    latency_ = std::move(opened);
    return 0;
  }

  void release_latency() override { latency_ = Descriptor(); }

  int own_pid() override { return getpid(); }

  bool is_alive(int pid) override { return kill(pid, 0) == 0 || errno == EPERM; }

  void pause() override {
    const timespec millisecond{0, 1'000'000};
    nanosleep(&millisecond, nullptr);
  }

 private:
  /// Opens the folder of `path`, and sets `name` to the last part of the path. Opens folder by
  /// folder, so that no symbolic link leads out of the root.
  Descriptor open_parent(const std::string& path, std::string& name) const {
    Descriptor folder(fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
    std::size_t begin = 1;
    for (std::size_t end = path.find('/', begin); folder && end != std::string::npos;
         begin = end + 1, end = path.find('/', begin))
      folder = Descriptor(
          openat(folder.get(), path.substr(begin, end - begin).c_str(), kIntermediateFolder));
    name = path.substr(begin);
    return folder;
  }

  Descriptor open(const std::string& path, int flags) const {
    std::string name;
    const Descriptor folder = open_parent(path, name);
    if (!folder) return {};
    return Descriptor(openat(folder.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  }

  Descriptor root_;
  Descriptor lock_;
  Descriptor latency_;
};

/// Runs a program of the system without lauka's environment. Returns what it printed; "" if it
/// failed.
std::string run_for_output(std::initializer_list<std::string> words) {
  ProgramSpec spec{.words = {"/usr/bin/env", "-i", "PATH=/usr/bin:/bin"}};
  spec.words.insert(spec.words.end(), words);
  HelperProgram program;
  program.begin(spec, std::chrono::hours(1));
  auto answer = program.wait(std::string::npos);
  return succeeded(answer.outcome) ? std::move(answer.output) : std::string();
}

/// Sets `user` from a line of /etc/passwd. Returns false if it is not the account `user.id`.
bool read_account_line(const std::string& line, User& user) {
  // NAME:PASSWORD:UID:GID:COMMENT:HOME:SHELL
  constexpr std::size_t name_at = 0;
  constexpr std::size_t id_at = 2;
  constexpr std::size_t home_at = 5;
  const auto fields = split(line, ':');
  if (fields.size() <= home_at || fields[id_at] != std::to_string(user.id)) return false;
  user.name = fields[name_at];
  user.home = fields[home_at];
  return true;
}

std::optional<std::uint32_t> parse_id(std::string_view text) {
  const auto id = parse_whole_number(text, 0, std::numeric_limits<std::uint32_t>::max() - 1);
  return id ? std::optional(static_cast<std::uint32_t>(*id)) : std::nullopt;
}

/// Returns the ids of the local groups that the user `user_name` is a member of.
std::vector<std::uint32_t> find_local_groups(const std::string& user_name) {
  std::vector<std::uint32_t> groups;
  // A line of the file is "GROUP:PASSWORD:GID:MEMBER,MEMBER".
  constexpr std::size_t id_at = 2;
  constexpr std::size_t members_at = 3;
  std::ifstream file("/etc/group");
  for (std::string line; std::getline(file, line);) {
    const auto fields = split(line, ':');
    if (fields.size() <= members_at) continue;
    for (const std::string_view member : split(fields[members_at], ',')) {
      const auto id = member == user_name ? parse_id(fields[id_at]) : std::nullopt;
      if (id) groups.push_back(*id);
    }
  }
  return groups;
}

/// Returns the ids of the groups that the user `user_name` is a member of.
std::vector<std::uint32_t> find_groups(const std::string& user_name) {
  std::vector<std::uint32_t> groups;

  // The program id also knows the groups of a directory service such as LDAP.
  std::istringstream printed_ids(run_for_output({"/usr/bin/id", "-G", "--", user_name}));
  for (std::string word; printed_ids >> word;) {
    if (const auto id = parse_id(word)) groups.push_back(*id);
  }
  return groups.empty() ? find_local_groups(user_name) : groups;
}

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t ns_since_boot() {
  timespec t{};
  clock_gettime(CLOCK_BOOTTIME, &t);
  return std::int64_t{t.tv_sec} * kNsPerSecond + t.tv_nsec;
}

/// Converts the start time of a process from clock ticks since boot to nanoseconds of
/// CLOCK_MONOTONIC. The kernel rounds start times down to whole ticks.
struct TickConverter {
  std::int64_t tick_ns = kNsPerSecond / sysconf(_SC_CLK_TCK);
  std::int64_t boot_minus_monotonic_ns = ns_since_boot() - now_ns();

  std::int64_t end_of_tick_ns(std::int64_t tick) const {
    return (tick + 1) * tick_ns - boot_minus_monotonic_ns;
  }
};

// Indices among the fields after the name in /proc/PID/stat. The manual, proc(5), numbers all
// fields from 1.
constexpr std::size_t kFirstField = 3;
constexpr std::size_t kStateAt = 3 - kFirstField;
constexpr std::size_t kParentAt = 4 - kFirstField;
constexpr std::size_t kStartAt = 22 - kFirstField;
constexpr std::size_t kExitCodeAt = 52 - kFirstField;

/// Returns the signal that has stopped a process, by the fields after its name. Linux 5.19 and
/// later show the signal as the exit code of a stopped process. If the signal is not shown, SIGSTOP
/// stands for it.
int find_stop_signal(std::span<const std::string_view> fields) {
  const auto code = fields.size() > kExitCodeAt ? parse_number(fields[kExitCodeAt]) : std::nullopt;
  const bool is_signal = code && *code > 0 && *code < NSIG;
  return is_signal ? static_cast<int>(*code) : SIGSTOP;
}

/// Reads the parent, the start and the state of a process from /proc/PID/stat into `facts`. Returns
/// false if the process is gone.
bool read_process_facts(pid_t pid, const TickConverter& ticks, ProcessFacts& facts) {
  const std::string line = read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");

  // Field 2 is the name in brackets. The name may contain brackets, so the last one ends the field.
  const std::size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return false;

  const auto fields = blank_separated(std::string_view(line).substr(end_of_name + 1));
  if (fields.size() <= kStartAt) return false;
  const auto parent = parse_number(fields[kParentAt]);
  const auto start_tick = parse_number(fields[kStartAt]);
  if (!parent || !start_tick) return false;

  const std::string_view state = fields[kStateAt];
  const bool has_ended = state == "Z" || state == "X";
  const bool is_stopped = state == "T";

  // The kernel tells only the tick in which the process started. Its end is the latest possible
  // start.
  facts = {.parent = static_cast<pid_t>(*parent),
           .is_zombie = has_ended,
           .started_ns = ticks.end_of_tick_ns(static_cast<std::int64_t>(*start_tick)),
           .stop_signal = is_stopped ? find_stop_signal(fields) : 0};
  return true;
}

}  // namespace

const LinuxCalls* linux_calls() {
  return &kLinuxCalls;
}

std::unique_ptr<SettingFiles> open_setting_files(const std::string& root) {
  return std::make_unique<FilesBelow>(root);
}

Descriptor open_anonymous_file() {
  Descriptor file(memfd_create("lauka-standard-error", MFD_CLOEXEC));
  if (file) fcntl(file.get(), F_SETFL, O_APPEND);
  return file;
}

Descriptor open_shared_memory(off_t size) {
  Descriptor file(memfd_create("lauka-region", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // The size is sealed: if the file became shorter, lauka would read memory that no longer exists.
  constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  const bool is_sealed =
      file && ftruncate(file.get(), size) == 0 && fcntl(file.get(), F_ADD_SEALS, seals) == 0;
  return is_sealed ? std::move(file) : Descriptor();
}

void free_front_space(int fd, off_t size, off_t keep) {
  if (size <= keep) return;
  fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size - keep);
}

int join_groups(const User& user) {
  return setgroups(user.groups.size(), user.groups.data());
}

int open_unnamed(const char* folder) {
  if (access("/proc/self/fd", X_OK) != 0) return -1;
  return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int name_unnamed(int fd, const char* path) {
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

bool is_mount_point(const char* path) {
  struct statx file {};
  return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &file) == 0 &&
         (file.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

void signal_after_parent_death(int signal_number) {
  prctl(PR_SET_PDEATHSIG, signal_number);
}

// Not inlined, because the child could damage the caller's frame, which it shares.
[[gnu::noinline]] pid_t start_child(void (*become)(void* data), void* data) {
  // The child must prepare itself between vfork and execve, which the analyzer forbids.
  // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork, clang-analyzer-unix.Vfork)
  const pid_t pid = vfork();
  if (pid == 0) become(data);
  return pid;
  // NOLINTEND(clang-analyzer-security.insecureAPI.vfork, clang-analyzer-unix.Vfork)
}

void unblock_signals_in_child(const sigset_t& mask) {
  // A pending signal could stop the child before execve, and its parent would wait for ever.
  sigset_t all_signals;
  sigfillset(&all_signals);
  constexpr timespec at_once{};
  while (sigtimedwait(&all_signals, nullptr, &at_once) > 0) {
  }
  sigprocmask(SIG_SETMASK, &mask, nullptr);
}

// A statically linked lauka may be unable to query name services (LDAP, sssd). So accounts and
// groups come from the programs getent and id, or else from files in /etc.

void take_account(User& user) {
  std::string line = run_for_output({"/usr/bin/getent", "passwd", std::to_string(user.id)});
  line.erase(std::min(line.find('\n'), line.size()));
  bool is_known = read_account_line(line, user);
  std::ifstream file("/etc/passwd");
  while (!is_known && std::getline(file, line)) is_known = read_account_line(line, user);
  if (is_known) user.groups = find_groups(user.name);
}

std::optional<std::chrono::nanoseconds> scheduler_tick() {
  // The coarse clock advances once per tick.
  timespec t{};
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &t) != 0) return std::nullopt;
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

std::optional<Priority> own_priority() {
  errno = 0;
  const int nice = getpriority(PRIO_PROCESS, 0);
  if (errno != 0) return std::nullopt;

  // musl's sched_getscheduler() always fails.
  return Priority{nice, scheduling_policy_name(syscall(SYS_sched_getscheduler, 0))};
}

void describe_cpu(Machine& machine) {
  take_cpuinfo(read_file("/proc/cpuinfo").value_or(""), machine);
}

std::string os_name() {
  return parse_os_name(read_file("/etc/os-release").value_or(""));
}

ProcessTable all_processes() {
  ProcessTable all;
  const TickConverter ticks;
  for (const std::string& name : list_folder("/proc")) {
    const auto pid = static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10));
    ProcessFacts facts;
    if (pid > 0 && read_process_facts(pid, ticks, facts)) all.emplace(pid, facts);
  }
  return all;
}

bool descends_from(const ProcessTable& all, pid_t pid, pid_t root) {
  // The table was read while processes started and ended. A reused id may therefore be its own
  // ancestor, and the search needs a limit.
  auto found = all.find(pid);
  for (std::size_t i = 0; i < all.size() && found != all.end(); ++i) {
    if (found->second.parent == root) return true;
    found = all.find(found->second.parent);
  }
  return false;
}

int stop_signal_of_descendant(pid_t root) {
  const ProcessTable all = all_processes();
  for (const auto& [pid, facts] : all)
    if (facts.stop_signal != 0 && descends_from(all, pid, root)) return facts.stop_signal;
  return 0;
}

pid_t kill_descendants(pid_t root, std::int64_t since_ns) {
  // Kills again and again, because processes may have been made after the table was read.
  const std::int64_t give_up_ns = now_ns() + 2 * kNsPerSecond;
  for (;;) {
    bool is_dying = false;
    pid_t survivor = 0;
    const ProcessTable all = all_processes();
    for (const auto& [pid, facts] : all) {
      if (facts.is_zombie || facts.started_ns < since_ns || !descends_from(all, pid, root))
        continue;
      is_dying |= kill(pid, SIGKILL) == 0;
      survivor = pid;
    }
    if (!is_dying || now_ns() > give_up_ns) return survivor;
    usleep(2000);
  }
}

}  // namespace lauka::os
