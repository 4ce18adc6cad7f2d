#include "os/platform.h"
#include "os/processes.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include <dirent.h>
#include <unistd.h>

namespace lauka::os {
namespace {

constexpr std::int64_t kNsASecond = 1'000'000'000;

std::int64_t ns_of_clock(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * kNsASecond + t.tv_nsec;
}

/// Start times are kept in clock ticks since boot, asleep or not, rounded down.
struct Ticks {
  std::int64_t length_ns = kNsASecond / sysconf(_SC_CLK_TCK);
  std::int64_t boot_minus_monotonic_ns = ns_of_clock(CLOCK_BOOTTIME) - ns_of_clock(CLOCK_MONOTONIC);

  std::int64_t end_ns(std::int64_t tick) const {
    return (tick + 1) * length_ns - boot_minus_monotonic_ns;
  }
};

/// Fields 3, 4 and 22 of /proc/PID/stat; the name before them may hold anything, hence from the
/// last bracket on.
bool read_facts(pid_t pid, const Ticks& ticks, ProcessFacts& facts) {
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
  facts = {parent, state == 'Z' || state == 'X', ticks.end_ns(started)};
  return true;
}

}  // namespace

ProcessTable all_processes() {
  ProcessTable all;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return all;
  const Ticks ticks;
  while (const dirent* entry = readdir(folder)) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    ProcessFacts facts;
    if (pid > 0 && read_facts(pid, ticks, facts)) all.emplace(pid, facts);
  }
  closedir(folder);
  return all;
}

bool descends_from(const ProcessTable& all, pid_t pid, pid_t root) {
  // Read while processes come and go, a table may show a number that was used again as its own
  // ancestor: no search is longer than the table.
  auto found = all.find(pid);
  for (std::size_t i = 0; i < all.size() && found != all.end(); ++i) {
    if (found->second.parent == root) return true;
    found = all.find(found->second.parent);
  }
  return false;
}

pid_t kill_descendants(pid_t root, std::int64_t since_ns) {
  const std::int64_t give_up_ns = ns_of_clock(CLOCK_MONOTONIC) + 2 * kNsASecond;
  for (;;) {
    bool is_dying = false;
    pid_t survivor = 0;
    const ProcessTable all = all_processes();
    for (const auto& [pid, facts] : all) {
      if (facts.is_zombie || facts.started_ns < since_ns || !descends_from(all, pid, root))
        continue;
      // One that may not be killed (another user's) is not tried for two seconds.
      is_dying |= kill(pid, SIGKILL) == 0;
      survivor = pid;
    }
    if (!is_dying || ns_of_clock(CLOCK_MONOTONIC) > give_up_ns) return survivor;
    usleep(2000);
  }
}

}  // namespace lauka::os
