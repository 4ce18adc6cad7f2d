#pragma once

#include "core/choices.h"
#include "core/event.h"
#include "core/result.h"
#include "engine/engine.h"
#include "engine/kperf/kpep.h"
#include "os/darwin_calls.h"
#include "os/process.h"

#include <memory>
#include <optional>
#include <string>

namespace lauka::engine::kperf {

/// Makes an engine for the events of `database`. If `here` has a launcher, takes the system's
/// counters; the error explains why the counters cannot be used.
Result<std::unique_ptr<CounterEngine>> make_kperf_engine(const MacosEngineOptions& here,
                                                         bool user_only, KpepDatabase database);

/// Makes an engine for the events that the kernel counts for each process, without root. `why`:
/// reason why other events cannot be counted. `database`: the processor's events, for lists and
/// explanations; nullopt if unknown.
std::unique_ptr<CounterEngine> make_totals_engine(Error why, std::optional<KpepDatabase> database);

/// Makes an engine that counts with `kperf`. If `kperf` cannot count the default events (for other
/// reasons than --single-pass), counts with an engine of make_totals_engine() instead. `database`:
/// the database of `kperf`.
std::unique_ptr<CounterEngine> make_kperf_or_totals(std::unique_ptr<CounterEngine> kperf,
                                                    KpepDatabase database);

/// Makes an engine that lists and explains the events of `database` on any system (--kpep). The
/// engine counts nothing.
std::unique_ptr<CounterEngine> make_database_engine(KpepDatabase database, bool user_only);

/// Makes an engine of make_database_engine() for the database in the file `path`.
Result<std::unique_ptr<CounterEngine>> open_database_engine(const std::string& path,
                                                            bool user_only);

inline constexpr AccountedEvent kEnergy{
    "energy", "",
    "energy of the command's own process, without its children, by the kernel's accounting",
    [](const os::Ended& ended) { return ended.totals ? ended.totals->energy_nj : std::nullopt; }};

}  // namespace lauka::engine::kperf
