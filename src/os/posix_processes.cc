#include "os/platform.h"
#include "os/processes.h"

#include <csignal>
#include <ctime>

#include <unistd.h>

namespace lauka::os {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * kNsPerSecond + t.tv_nsec;
}

}  // namespace

bool descends_from(const ProcessTable& all, pid_t pid, pid_t root) {
  for (auto found = all.find(pid); found != all.end(); found = all.find(found->second.parent)) {
    if (found->second.parent == root) return true;
    if (found->second.parent == found->first) return false;
  }
  return false;
}

void kill_descendants(pid_t root, std::int64_t since_ns) {
  const std::int64_t give_up_ns = now_ns() + 2 * kNsPerSecond;
  bool found = true;
  while (found && now_ns() < give_up_ns) {
    found = false;
    const ProcessTable all = all_processes();
    for (const auto& [pid, facts] : all) {
      if (facts.is_zombie || facts.started_ns < since_ns || !descends_from(all, pid, root))
        continue;
      // One that may not be killed (another user's) is not tried for two seconds.
      found |= kill(pid, SIGKILL) == 0;
    }
    if (found) usleep(2000);
  }
}

}  // namespace lauka::os
