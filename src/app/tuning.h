#pragma once

#include "app/call.h"
#include "core/result.h"
#include "run/runner.h"

#include <memory>
#include <string>
#include <vector>

namespace lauka {

/// Restores the settings that the process `lauka` left tuned. Called by the launcher process at its
/// end.
void restore_after_lauka(int lauka);

/// Tries to restore the settings of a killed lauka, if any, and prints notes.
void restore_leftovers(Call& call);

int untune(Call& call);

int list_tuning(Call& call);

/// Returns the names of --tune's switches that can change a setting of this machine, once for each
/// setting; "+NAME" if the switch is off by default.
std::vector<std::string> tunable_settings();

/// With --tune, checks its value and chooses CPUs for the commands. On macOS, may set the
/// benchmarks' CountingOptions::core_preference instead.
Result<void> choose_tuning(Call& call);

/// Restricts a benchmark's commands to the CPUs that --tune chose. Has no effect if --cores chose
/// only other CPUs.
void use_tuned_cpus(const Call& call, Benchmark& benchmark);

/// With --tune, sets Call::tuning, and tunes the machine if lauka has root's rights. Does nothing
/// on macOS.
Result<void> begin_tuning(Call& call);

void end_tuning(Call& call);

/// Returns the machine for RunContext; null without Call::tuning. `call` must outlive the result.
std::unique_ptr<TunedMachine> tuned_machine(Call& call);

/// Compares tuned with untuned runs and prints the result, if there are untuned runs.
void compare_tuned_with_untuned_runs(Call& call);

}  // namespace lauka
