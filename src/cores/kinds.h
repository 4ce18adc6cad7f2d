#pragma once

#include "core/core_kind.h"
#include "core/result.h"
#include "os/linux_calls.h"

#include <string>

namespace lauka::cores {

/// The kinds of core of a Linux machine, the fastest first; none where it has one, or where nobody
/// can tell which of several is the fast one (then `why_none` says so). From the PMUs of the cores
/// (Intel: cpu_core, cpu_atom, cpu_lowpower; Arm: one PMU for each type of core), else from the
/// capacity that the kernel gives each CPU; never from frequencies alone, which differ between
/// equal cores. Three kinds are P, M and E; of more, those in the middle are M1, M2 and so on.
struct FoundKinds {
  CoreKinds kinds;
  std::string why_none{};  ///< one line; empty where there is nothing to tell
};
FoundKinds find_kinds(const os::LinuxCalls& calls);

/// The kinds that the user named, if they hold every CPU that is switched on and none that is not
/// there; one that is switched off may be among them. In their order, but P is the first.
Result<CoreKinds> check_kinds(const CoreKinds& by_hand, const os::LinuxCalls& calls);

/// The CPUs of the wanted kind (P is the first; E the one called so, else the last) that this
/// program may run on.
Result<std::vector<std::uint32_t>> cpus_of(CorePreference prefer, const CoreKinds& kinds,
                                           const os::LinuxCalls& calls);

/// P for the first and E for the last of at least two; between them M, or M1, M2 and so on.
void name_by_rank(CoreKinds& kinds);

}  // namespace lauka::cores
