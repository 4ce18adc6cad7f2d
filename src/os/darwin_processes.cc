#include "os/processes.h"

#include <ctime>
#include <vector>

#include <libproc.h>
#include <sys/proc.h>
#include <sys/proc_info.h>

namespace lauka::os {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t ns_of_clock(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * kNsPerSecond + t.tv_nsec;
}

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  int count = proc_listallpids(nullptr, 0);  // with room for some more than there are
  if (count <= 0) return pids;
  pids.resize(static_cast<std::size_t>(count));
  count = proc_listallpids(pids.data(), static_cast<int>(pids.size() * sizeof(pid_t)));
  pids.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return pids;
}

}  // namespace

ProcessTable all_processes() {
  ProcessTable all;
  // Start times are kept in microseconds of the calendar.
  const std::int64_t calendar_minus_monotonic_ns =
      ns_of_clock(CLOCK_REALTIME) - ns_of_clock(CLOCK_MONOTONIC);
  for (const pid_t pid : all_pids()) {
    proc_bsdinfo info{};
    if (proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof info) != sizeof info) continue;
    const std::int64_t started_ns = static_cast<std::int64_t>(info.pbi_start_tvsec) * kNsPerSecond +
                                    static_cast<std::int64_t>(info.pbi_start_tvusec + 1) * 1000 -
                                    calendar_minus_monotonic_ns;
    all.emplace(
        pid, ProcessFacts{static_cast<pid_t>(info.pbi_ppid), info.pbi_status == SZOMB, started_ns});
  }
  return all;
}

}  // namespace lauka::os
