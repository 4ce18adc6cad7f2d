#pragma once

#include "core/record.h"
#include "core/result.h"
#include "engine/engine.h"
#include "os/linux_calls.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine {

/// A count that the kernel keeps for every process, without counters and without permission.
using UsageCount = std::uint64_t (*)(const Usage&);

/// An event that can be served from the kernel's accounting of a run.
struct AccountedEvent {
  std::string_view name;
  std::string_view other_name;  ///< perf's short one; may be empty
  std::string_view meaning;
  UsageCount read;
};

/// Shown beside these rows. The accounting of a process begins at its birth, so execve itself is in
/// it: a fault for each page of arguments and environment, and a switch where it changes the CPU.
/// Counters begin behind that; what it was cannot be told afterwards.
inline constexpr const char* kWithExec = "(with exec)";

/// What the note about missing hardware counters ends with.
inline constexpr std::string_view kSimulationHint =
    "or --engine cachegrind counts instructions by simulation";

/// Shown only to users who asked for counts, or for everything (--verbose).
inline constexpr std::string_view kNoCounters = "no hardware counters here; lauka --check says why";

/// What a session without hardware counters is told: one short line where --check has a remedy,
/// nothing where nobody asked for events and there is nothing to mend.
std::vector<std::string> notes_without_counters(const Error& why);

/// All there are.
std::span<const AccountedEvent> accounted_events();

/// The one of that name (either of its names, in any case); null where there is none.
const AccountedEvent* find_accounted(std::string_view name);

/// The entry of --list-events.
CatalogEntry catalog_entry_of(const AccountedEvent& event);

/// Reads it from what the kernel accounts to a run.
FreeReader reader_of(UsageCount read);

/// A pass of events that cost nothing, for runs without counters.
std::unique_ptr<Counting> count_free(std::vector<FreeReader> events);

/// Counts nothing but what the kernel accounts to every process anyway, and this only when asked
/// for. `why`: what keeps a real engine from working; none: the user wants this one.
std::unique_ptr<CounterEngine> make_none_engine(std::optional<Error> why);

/// An engine around another that adds what the power PMU of Linux (RAPL) tells: energy-pkg,
/// energy-cores and what else it has. That counts for whole processor packages, whoever uses them,
/// in runs of its own. `calls` null: this system has none, and nothing is added.
std::unique_ptr<CounterEngine> with_energy(std::unique_ptr<CounterEngine> engine,
                                           const os::LinuxCalls* calls);

}  // namespace lauka::engine
