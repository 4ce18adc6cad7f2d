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

/// Finds the kinds of core of a Linux machine, the fastest first; empty if it has one kind, or if
/// it is unknown which of several is the fast one (then `why_none` says so). From the PMUs of the
/// cores (Intel: cpu_core, cpu_atom, cpu_lowpower; Arm: one PMU for each type of core), else from
/// the capacity that the kernel gives each CPU; never from frequencies alone, which differ between
/// equal cores. Three kinds are P, M and E; of more, those in the middle are M1, M2 and so on.
struct FoundKinds {
  CoreKinds kinds;
  std::string why_none{};  ///< one line; empty if no reason is needed
};
FoundKinds find_kinds(const os::LinuxCalls& calls);

/// Returns the kinds that the user named, P first and else in their order. Refused unless they have
/// every CPU that is switched on and no CPU that does not exist.
Result<CoreKinds> check_kinds(const CoreKinds& by_hand, const os::LinuxCalls& calls);

/// Returns the CPUs of the wanted kind (P is the first; E the one called so, else the last) that
/// this program may run on.
Result<std::vector<std::uint32_t>> cpus_of(CorePreference prefer, const CoreKinds& kinds,
                                           const os::LinuxCalls& calls);

/// The user's wishes about kinds of core.
struct CoreRequest {
  CoreKinds by_hand{};  ///< empty: as the system says
  CorePreference prefer = CorePreference::Any;
  std::optional<double> min_share{};  ///< a fraction
  bool apart = true;                  ///< costly counters stay out of the timed runs
};

/// A session's decisions about them.
struct Decided {
  CoreKinds kinds{};
  CoreUse use{};
  std::string note{};  ///< one line: why times are missing although there are several kinds
};

/// Decides it. Refuses wishes that cannot be met here. Null: this is not that system.
Result<Decided> decide(const CoreRequest& wanted, const os::LinuxCalls* linux,
                       const os::DarwinCalls* darwin = nullptr);

/// Explains why the time by kind of core cannot be measured on this Linux; nullopt if it can.
std::optional<Error> why_no_core_time(const os::LinuxCalls& calls);

/// Adds to the counts of `engine`, after them in each pass, the time that a run that is not
/// simulated spent on each kind of core (EventSet::core_times), exactly and without looking while
/// it goes on. If the counters of all kinds of core are in use anyway, it is the time that they
/// ran; else a task-clock counter for each CPU of all kinds but the largest, and one for all CPUs,
/// are opened with every run. On macOS it is what the kernel says of the ended command, and what
/// was seen of its descendants; then comes the time on unknown kinds (CoreUse::has_unsplit). A run
/// that spent too little of its time on the first kind (CoreUse::min_share) is repeated, at most
/// three times; then the results warn of it. Returns the engine itself if no times are wanted.
std::unique_ptr<engine::CounterEngine> with_core_time(std::unique_ptr<engine::CounterEngine> engine,
                                                      const Decided& decided,
                                                      const os::LinuxCalls* linux,
                                                      const os::DarwinCalls* darwin = nullptr);

}  // namespace lauka::cores
