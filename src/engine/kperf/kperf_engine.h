#pragma once

#include "core/choices.h"
#include "core/event.h"
#include "core/result.h"
#include "engine/engine.h"
#include "engine/kperf/kpep.h"
#include "os/darwin_calls.h"
#include "os/process.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine::kperf {

/// The arguments of an engine of this kind.
struct Setting {
  const os::DarwinCalls& calls;
  os::Launcher* launcher = nullptr;  ///< for the trial of a strategy; null: nothing will be counted
  bool user_only = false;
  StrategyChoice strategy = StrategyChoice::Auto;
  std::chrono::nanoseconds period = std::chrono::milliseconds(1);
  bool takes_turns = false;  ///< others of this process count, too: each takes the counters for a
                             ///< block of runs
};

/// Makes the engine for the processor of `database`, with the counters taken from the system until
/// it is destroyed (if Setting::launcher is not null). Refused if they are not available.
Result<std::unique_ptr<CounterEngine>> make_kperf_engine(const Setting& setting,
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

/// Answers questions about events and counters for the processor of `database`, on any system
/// (--kpep); it counts nothing.
std::unique_ptr<CounterEngine> make_database_engine(KpepDatabase database, bool user_only);

/// The same for the database in the file at `path`. Refused, naming it, if it cannot be read.
Result<std::unique_ptr<CounterEngine>> open_database_engine(const std::string& path,
                                                            bool user_only);

/// Explains why a run has neither cycles nor instructions by the kernel's own accounts.
Error no_counts_at_all();

// Only the kernel counts energy, for each process by itself.

/// True if this is its name, in any case.
bool is_energy_name(std::string_view name);

CatalogEntry energy_entry();

/// Takes it out of `names`, which may have it several times; false if it was not there.
bool take_energy(std::vector<std::string>& names);

/// Adds it to every pass, or to a new one.
void add_energy(EventSet& set);
void add_energy(Explanation& explanation);

/// Returns nanojoules; nullopt if the kernel does not report them.
std::optional<std::uint64_t> energy_of(const os::Ended& ended);

}  // namespace lauka::engine::kperf
