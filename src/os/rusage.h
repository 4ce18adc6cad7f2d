#pragma once

#include "core/record.h"

#include <cstdint>

#include <sys/resource.h>
#include <sys/time.h>

namespace lauka::os {

inline std::uint64_t ns_of(const timeval& t) {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_usec) * 1'000;
}

/// What the kernel accounts to a reaped process, but for its peak memory: the unit of that is the
/// system's.
inline void note_usage(const rusage& used, Usage& usage) {
  usage.user_ns = ns_of(used.ru_utime);
  usage.system_ns = ns_of(used.ru_stime);
  usage.minor_faults = static_cast<std::uint64_t>(used.ru_minflt);
  usage.major_faults = static_cast<std::uint64_t>(used.ru_majflt);
  usage.voluntary_switches = static_cast<std::uint64_t>(used.ru_nvcsw);
  usage.involuntary_switches = static_cast<std::uint64_t>(used.ru_nivcsw);
  usage.block_reads = static_cast<std::uint64_t>(used.ru_inblock);
  usage.block_writes = static_cast<std::uint64_t>(used.ru_oublock);
}

}  // namespace lauka::os
