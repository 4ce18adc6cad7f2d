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

/// Makes the engine for the processor of `database`, with the counters taken from the system until
/// it is destroyed (if OnMacos::launcher is not null). Refused if they are not available.
Result<std::unique_ptr<CounterEngine>> make_kperf_engine(const OnMacos& here, bool user_only,
                                                         KpepDatabase database);

/// Counts events that the kernel itself accounts to each process, exactly and without root: cycles,
/// instructions, energy. `why`: why no others can be counted here. `database`: the events that
/// could be, to answer questions about; nullopt: unknown.
std::unique_ptr<CounterEngine> make_totals_engine(Error why, std::optional<KpepDatabase> database);

/// Counts with `kperf`. If the user named no events and the kernel, which gave the counters away,
/// then refuses to count with them, all is given back, and the kernel's own totals are counted and
/// the reason reported. Named events are refused instead. `database`: the one of `kperf`.
std::unique_ptr<CounterEngine> make_kperf_or_totals(std::unique_ptr<CounterEngine> kperf,
                                                    KpepDatabase database);

/// Answers questions about events for the processor of `database`, on any system (--kpep).
std::unique_ptr<CounterEngine> make_database_engine(KpepDatabase database, bool user_only);

/// The same for the database in the file at `path`. Refused, naming it, if it cannot be read.
Result<std::unique_ptr<CounterEngine>> open_database_engine(const std::string& path,
                                                            bool user_only);

inline constexpr AccountedEvent kEnergy{
    "energy", "",
    "energy of the command's own process, without its children, by the kernel's accounting",
    [](const os::Ended& ended) { return ended.totals ? ended.totals->energy_nj : std::nullopt; }};

}  // namespace lauka::engine::kperf
