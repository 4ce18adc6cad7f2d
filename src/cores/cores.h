#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "engine/engine.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"

#include <memory>
#include <optional>
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

/// What the user wants of kinds of core.
struct CoreRequest {
  CoreKinds by_hand{};  ///< empty: as the system tells them
  CorePreference prefer = CorePreference::Any;
  std::optional<double> min_share{};  ///< a fraction
  bool apart = true;                  ///< what costs time is to be kept out of the timed runs
};

/// What a session does about them.
struct Decided {
  CoreKinds kinds{};
  CoreUse use{};
  std::string
      note{};  ///< one line: why no times are measured where there is something to tell apart
};

/// Decides it. Refused where what is wanted cannot be had here. Null: this is not that system.
Result<Decided> decide(const CoreRequest& wanted, const os::LinuxCalls* linux,
                       const os::DarwinCalls* darwin = nullptr);

/// Why the time by kind of core cannot be measured on this Linux; none where it can.
std::optional<Error> why_no_core_time(const os::LinuxCalls& calls);

/// An engine that counts what `engine` counts and, behind that in each pass, the time that a run
/// that is not simulated spent on each kind of core (EventSet::core_times), exactly and without
/// looking while it goes on. Where the counters of all kinds of core are in use anyway, it is the
/// time that they ran; else a task-clock counter for each CPU of all kinds but the largest, and one
/// for all CPUs, are opened with every run. On macOS it is what the kernel says of the ended
/// command, and what was seen of its descendants. A run that spent too little of its time on the
/// first kind (CoreUse::min_share) is asked to be run again, at most three times. The engine itself
/// where no times are wanted.
std::unique_ptr<engine::CounterEngine> with_core_time(std::unique_ptr<engine::CounterEngine> engine,
                                                      const Decided& decided,
                                                      const os::LinuxCalls* linux,
                                                      const os::DarwinCalls* darwin = nullptr);

}  // namespace lauka::cores
