#include "os/platform.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace lauka::os {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t ns_of_clock(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * kNsPerSecond + t.tv_nsec;
}

struct ProcessFacts {
  pid_t parent = 0;
  bool is_zombie = false;
  std::int64_t started_ticks = 0;  ///< since boot
};

/// Fields 3, 4 and 22 of /proc/PID/stat; the name before them may hold anything, hence from the
/// last bracket on.
bool read_facts(pid_t pid, ProcessFacts& facts) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  std::array<char, 2048> text{};
  const std::size_t got = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  const std::string line(text.data(), got);
  const std::size_t bracket = line.rfind(')');
  if (bracket == std::string::npos) return false;
  char state = 0;
  int parent = 0;
  long long started = 0;
  const int found =
      std::sscanf(line.c_str() + bracket + 1,
                  " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %lld",
                  &state, &parent, &started);  // NOLINT(cert-err34-c): the kernel's own format
  if (found != 3) return false;
  facts = {parent, state == 'Z' || state == 'X', started};
  return true;
}

std::map<pid_t, ProcessFacts> all_processes() {
  std::map<pid_t, ProcessFacts> all;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return all;
  while (const dirent* entry = readdir(folder)) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    ProcessFacts facts;
    if (pid > 0 && read_facts(pid, facts)) all.emplace(pid, facts);
  }
  closedir(folder);
  return all;
}

bool descends_from(const std::map<pid_t, ProcessFacts>& all, pid_t pid, pid_t root) {
  for (auto found = all.find(pid); found != all.end(); found = all.find(found->second.parent)) {
    if (found->second.parent == root) return true;
    if (found->second.parent == pid) return false;
  }
  return false;
}

}  // namespace

int open_anonymous_file() {
  const int fd = memfd_create("lauka-standard-error", MFD_CLOEXEC);
  if (fd >= 0) fcntl(fd, F_SETFL, O_APPEND);  // each run appends, wherever it was emptied to
  return fd;
}

void drop_front(int fd, off_t size, off_t keep) {
  if (size <= keep) return;
  fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size - keep);
}

void become_reaper(int signal_number) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, signal_number);
}

void die_with_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

std::uint64_t rss_bytes(long ru_maxrss) {
  return static_cast<std::uint64_t>(ru_maxrss) * 1024;
}

int poll_with_mask(pollfd* fds, nfds_t count, int timeout_ms, const sigset_t& mask) {
  const timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
  return ppoll(fds, count, timeout_ms < 0 ? nullptr : &timeout, &mask);
}

void kill_descendants(pid_t root, std::int64_t since_ns) {
  // Start times are kept in clock ticks since boot, asleep or not.
  const std::int64_t ticks_per_second = sysconf(_SC_CLK_TCK);
  const std::int64_t boot_minus_monotonic_ns =
      ns_of_clock(CLOCK_BOOTTIME) - ns_of_clock(CLOCK_MONOTONIC);
  const std::int64_t since_ticks =
      (since_ns + boot_minus_monotonic_ns) / (kNsPerSecond / ticks_per_second);
  const std::int64_t give_up_ns = ns_of_clock(CLOCK_MONOTONIC) + 2 * kNsPerSecond;
  bool found = true;
  while (found && ns_of_clock(CLOCK_MONOTONIC) < give_up_ns) {
    found = false;
    const auto all = all_processes();
    for (const auto& [pid, facts] : all) {
      if (facts.is_zombie || facts.started_ticks < since_ticks || !descends_from(all, pid, root))
        continue;
      found |= kill(pid, SIGKILL) ==
               0;  // one that may not be killed (another user's) is not tried for two seconds
    }
    if (found) usleep(2000);
  }
}

}  // namespace lauka::os
