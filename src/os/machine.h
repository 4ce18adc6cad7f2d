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

/// The machine that this process runs on.
Machine this_machine();

/// A random UUID (version 4, RFC 9562), by which a session is known wherever its file goes.
std::string new_session_id();

/// Returns the same with the facts that decide its class (class_of): a few more files are read.
Machine this_machine_whole();

/// Differs between systems: linux_platform.cc, darwin_platform.cc.
std::string cpu_model();
std::string os_name();

/// Returns the processor in /proc/cpuinfo: its model's name, else (ARM) the numbers of its maker
/// and part.
std::string parse_cpu_model(std::string_view cpuinfo);

/// PRETTY_NAME of the text of /etc/os-release, without its quotes; empty if missing.
std::string parse_os_name(std::string_view os_release);

/// Returns the facts in Linux's /proc and /sys; changes and runs nothing.
MachineFacts linux_facts(const LinuxCalls& calls);

/// Add the facts of a machine's class: governors, hypervisor, and on Linux the CPU's model.
void add_linux_class(const LinuxCalls& calls, MachineFacts& facts);
void add_darwin_class(const DarwinCalls& calls, MachineFacts& facts);

/// Returns the limits of this process: its affinity, and the smallest that its control groups and
/// those above them set (cgroup v1 and v2). A memory limit beyond the machine's memory is none.
Allowance read_allowance(const LinuxCalls& calls);

/// Returns the work so far of the CPU quotas of its control groups, the innermost first.
std::vector<Throttling> read_throttling(const LinuxCalls& calls);

/// Returns macOS's facts about its machine.
MachineFacts darwin_facts(const DarwinCalls& calls);

/// Returns the facts of this machine; on other systems, only the portable ones.
MachineFacts machine_facts();

// The processes of Linux and their parents. Internal to os/.

struct ProcessFacts {
  pid_t parent = 0;
  bool is_zombie = false;
  std::int64_t started_ns = 0;  ///< CLOCK_MONOTONIC; the latest it can have been
};

using ProcessTable = std::map<pid_t, ProcessFacts>;

/// Returns all processes that this one may see.
ProcessTable all_processes();

/// True if `root` is a parent of `pid`, or one of its parents' parents.
bool descends_from(const ProcessTable& all, pid_t pid, pid_t root);

}  // namespace lauka::os
