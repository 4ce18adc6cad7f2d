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

/// Makes an engine for the processor of `database`. If OnMacos::launcher is not null, the engine
/// holds the system's counters until it is destroyed, or if it takes turns, until pause(); the
/// error says why they are not available.
Result<std::unique_ptr<CounterEngine>> make_kperf_engine(const OnMacos& here, bool user_only,
                                                         KpepDatabase database);

/// Makes an engine for events that the kernel itself counts for each process, exactly and without
/// root: cycles, instructions, energy, accounted_events(). `why`: reason why other events cannot be
/// counted here. `database`: those other events, for answers to questions; nullopt: unknown.
std::unique_ptr<CounterEngine> make_totals_engine(Error why, std::optional<KpepDatabase> database);

/// Counts with `kperf`. If the kernel gave the counters to lauka but then refuses to count with
/// them, releases the counters, counts the kernel's own totals instead, and reports the reason; if
/// the user named events or --single-pass rules them out, refuses instead. `database` is that of
/// `kperf`.
std::unique_ptr<CounterEngine> make_kperf_or_totals(std::unique_ptr<CounterEngine> kperf,
                                                    KpepDatabase database);

/// Makes an engine that answers questions about the events of `database`, on any system (--kpep).
std::unique_ptr<CounterEngine> make_database_engine(KpepDatabase database, bool user_only);

/// Makes that engine for the database file at `path`; the error names the file.
Result<std::unique_ptr<CounterEngine>> open_database_engine(const std::string& path,
                                                            bool user_only);

/// The energy that the kernel accounts to each process.
inline constexpr AccountedEvent kEnergy{
    "energy", "",
    "energy of the command's own process, without its children, by the kernel's accounting",
    [](const os::Ended& ended) { return ended.totals ? ended.totals->energy_nj : std::nullopt; }};

}  // namespace lauka::engine::kperf
