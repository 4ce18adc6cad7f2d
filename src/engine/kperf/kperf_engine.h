#pragma once

#include "core/result.h"
#include "engine/engine.h"
#include "engine/kperf/kpep.h"
#include "os/process.h"

#include <optional>
#include <string>

namespace lauka::engine::kperf {

/// Makes an engine for the events of `database`. If `options` has a launcher, takes the system's
/// counters; the error explains why the counters cannot be used.
Result<OwnedEngine> make_kperf_engine(const MacosEngineOptions& options, bool user_only,
                                      KpepDatabase database);

/// Makes an engine for the events that the kernel counts for each process, without root. `why`:
/// reason why other events cannot be counted. `database`: the processor's events, for lists and
/// explanations; nullopt if unknown.
OwnedEngine make_totals_engine(Error why, std::optional<KpepDatabase> database);

/// Makes an engine that counts with `kperf`. If `kperf` cannot count the default events (for other
/// reasons than --single-pass), counts with an engine of make_totals_engine() instead. `database`:
/// the database of `kperf`.
OwnedEngine make_kperf_or_totals(OwnedEngine kperf, KpepDatabase database);

/// Makes an engine that lists and explains the events of the database in the file `path` on any
/// system (--kpep). The engine counts nothing.
Result<OwnedEngine> open_database_engine(const std::string& path, bool user_only);

/// Returns why counts of cycles and instructions that are all 0 are no counts.
inline Error no_counts_at_all() {
  return {"the kernel counts no cycles and instructions, as is usual in a virtual machine", ""};
}

inline constexpr AccountedEvent kEnergy{
    "energy", "",
    "energy of the command's own process, without its children, as recorded by the kernel",
    [](const os::Ended& ended) { return ended.totals ? ended.totals->energy_nj : std::nullopt; }};

}  // namespace lauka::engine::kperf
