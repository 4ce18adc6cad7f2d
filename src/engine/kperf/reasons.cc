#include "engine/kperf/reasons.h"

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

/// "Instruments (process 77)", as far as the kernel tells; empty: it has no owner.
std::string owner_of_tracing(const Kernel& kernel) {
  const auto owner = static_cast<std::int32_t>(kernel.number("ktrace.owning_pid").value_or(0));
  if (owner <= 0) return "";
  std::string name = kernel.process_name(owner);
  if (name.empty()) name = kernel.text("ktrace.configured_by");
  return name.empty() ? fmt::format("process {}", owner)
                      : fmt::format("{} (process {})", name, owner);
}

}  // namespace

Unavailable reason_of(Asked asked, int error, const Kernel& kernel) {
  switch (error) {
    case EPERM:
      return {"counting events needs root", "run 'sudo lauka ...'; the commands still run as you"};
    case ENOENT:
    case ENOTSUP:
      return {"this kernel has no counters, as in a virtual machine", ""};
    case EACCES:
      if (asked != Asked::Force) break;
      return {"another process, such as Instruments, holds the counters", "quit it"};
    case EBUSY:
      if (asked != Asked::Trace)
        return {"a service of the system holds the counters", "try later, or restart the Mac"};
      {
        const std::string owner = owner_of_tracing(kernel);
        if (owner.empty())
          return {"the kernel's tracing is busy", "quit what traces, such as Instruments"};
        return {fmt::format("{} has the kernel's tracing", owner), fmt::format("quit {}", owner)};
      }
    default:
      break;
  }
  return {fmt::format("the kernel refused to count: {}", std::generic_category().message(error)),
          "please report it"};
}

std::string forbidden_event(const std::string& name, std::uint64_t word) {
  return fmt::format("not counted: {} (this kernel does not allow its selector {:#x} here)", name,
                     word & kSelectorBits);
}

}  // namespace lauka::engine::kperf
