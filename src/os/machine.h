#pragma once

#include "core/machine.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace lauka::os {

Machine this_machine();

/// Returns the priority of this process; nullopt if unknown.
std::optional<Priority> own_priority();

/// Returns a random UUID (version 4, RFC 9562) for a session.
std::string new_session_id();

/// Returns this_machine() with governors and hypervisor, on which class_of() depends.
Machine this_machine_with_class_facts();

/// Sets what `machine` says about the processor.
void describe_cpu(Machine& machine);
std::string os_name();

std::string parse_cpu_model(std::string_view cpuinfo);

/// Sets what `machine` says about the processor, from the text of /proc/cpuinfo.
void take_cpuinfo(std::string_view cpuinfo, Machine& machine);

std::string parse_os_name(std::string_view os_release);

MachineFacts linux_facts(const LinuxCalls& calls);

/// Adds the governors, the hypervisor and the CPU's model to `facts`, for class_of().
void add_linux_class_facts(const LinuxCalls& calls, MachineFacts& facts);
void add_darwin_class_facts(const DarwinCalls& calls, MachineFacts& facts);

/// Returns the limits of this process: its CPU affinity, and the smallest limits of CPU time and of
/// memory that its control groups and their ancestors have (cgroup v1 and v2). Ignores a memory
/// limit that is not below the machine's memory.
Allowance read_allowance(const LinuxCalls& calls);

/// Returns the throttling so far of this process's control group and of the group's ancestors, the
/// innermost group first. Leaves out groups without a CPU quota.
std::vector<QuotaWait> read_throttling(const LinuxCalls& calls);

MachineFacts darwin_facts(const DarwinCalls& calls);

MachineFacts machine_facts();

struct ProcessFacts {
  pid_t parent = 0;
  bool is_zombie = false;
  std::int64_t started_ns = 0;  ///< latest possible start of the process, CLOCK_MONOTONIC
  /// Signal that has stopped the process, SIGSTOP if unknown; 0 if the process is not stopped.
  int stop_signal = 0;
};

using ProcessTable = std::map<pid_t, ProcessFacts>;

ProcessTable all_processes();

/// True if `all` shows `root` as an ancestor of `pid`.
bool descends_from(const ProcessTable& all, pid_t pid, pid_t root);

}  // namespace lauka::os
