#pragma once

#include "core/machine.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"

#include <optional>
#include <string>
#include <string_view>

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

MachineFacts darwin_facts(const DarwinCalls& calls);

MachineFacts machine_facts();

}  // namespace lauka::os
