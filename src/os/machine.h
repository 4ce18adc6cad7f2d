#pragma once

#include "core/machine.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace lauka::os {

/// Returns the machine that this process runs on, without the facts of this_machine_whole().
Machine this_machine();

/// Returns a random UUID (version 4, RFC 9562) that identifies a session in whichever file it is.
std::string new_session_id();

/// Returns the machine with all facts that decide its class (class_of), for which a few more files
/// are read.
Machine this_machine_whole();

/// Returns the processor's name; empty if unknown. Implemented in linux_platform.cc and
/// darwin_platform.cc, like os_name().
std::string cpu_model();
std::string os_name();

/// Returns the processor's name from the text of /proc/cpuinfo: its model name, else (ARM) the
/// numbers of its maker and part; empty if it has none of them.
std::string parse_cpu_model(std::string_view cpuinfo);

/// Returns PRETTY_NAME, without quotes, from the text of /etc/os-release; empty if missing.
std::string parse_os_name(std::string_view os_release);

/// Reads facts from Linux's /proc and /sys; changes nothing and runs nothing.
MachineFacts linux_facts(const LinuxCalls& calls);

/// Adds the facts that decide a machine's class: governors, hypervisor and the CPU's model.
void add_linux_class(const LinuxCalls& calls, MachineFacts& facts);
/// Adds the fact that decides a machine's class: the hypervisor.
void add_darwin_class(const DarwinCalls& calls, MachineFacts& facts);

/// Returns the limits of this process: its CPU affinity, and the smallest limits of its control
/// groups and the groups above them (cgroup v1 and v2). Ignores a memory limit beyond the machine's
/// memory.
Allowance read_allowance(const LinuxCalls& calls);

/// Returns the counters of the CPU quotas of this process's control group and the groups above it,
/// the innermost first; groups without a quota have none.
std::vector<Throttling> read_throttling(const LinuxCalls& calls);

/// Reads facts from macOS; changes nothing and runs nothing.
MachineFacts darwin_facts(const DarwinCalls& calls);

/// Returns the facts of this machine; only portable facts if it runs neither Linux nor macOS.
MachineFacts machine_facts();

// Linux's processes and their parents. Internal to os/.

struct ProcessFacts {
  pid_t parent = 0;
  bool is_zombie = false;       ///< true if the process has ended and is not reaped
  std::int64_t started_ns = 0;  ///< latest possible start, CLOCK_MONOTONIC
};

using ProcessTable = std::map<pid_t, ProcessFacts>;

/// Returns all processes that lauka may see.
ProcessTable all_processes();

/// True if `root` is an ancestor of `pid` in `all`: its parent, its parent's parent, and so on.
bool descends_from(const ProcessTable& all, pid_t pid, pid_t root);

}  // namespace lauka::os
