#pragma once

#include "core/command.h"
#include "core/event.h"
#include "format/json_text.h"
#include "format/run_lists.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace lauka {

/// A metric and its name in hyperfine's JSON.
struct HyperfineMetric {
  Role our_role;
  std::string_view hyperfine_key;
  std::string_view unit;  ///< unit of a run's value in schema 2; empty: the value has no unit
};

inline constexpr auto kHyperfineMetrics = std::to_array<HyperfineMetric>({
    {Role::WallTime, "time_wall_clock", "second"},
    {Role::CpuTime, "time_cpu", "second"},
    {Role::UserTime, "time_user", "second"},
    {Role::SystemTime, "time_system", "second"},
    {Role::PeakRss, "memory_peak_resident", "byte"},
    {Role::Cycles, "cpu_cycles", ""},
    {Role::Instructions, "instructions", ""},
    {Role::CacheReferences, "cache_references", ""},
    {Role::CacheMisses, "cache_misses", ""},
    {Role::BranchMisses, "branch_misses", ""},
});

/// A metric of a command in hyperfine's JSON: the values of its runs (NaN: missing), or only its
/// mean.
struct HyperfineValues {
  Role role = Role::Other;
  std::vector<double> values{};
  std::optional<double> mean{};
};

/// A command's result in hyperfine's JSON (1.x or schema 2), without its wall times.
struct HyperfineResult {
  std::vector<HyperfineValues> metrics{};
  std::vector<std::optional<int>> statuses{};  ///< exit status of each run, nullopt if unknown; may
                                               ///< be empty
  std::vector<Parameter> parameters{};
};

/// Reads a hyperfine result with `run_count` wall times. Invalid measurements count as missing.
HyperfineResult read_hyperfine_result(const ParsedJson& json, std::size_t run_count,
                                      const RunLists& lists);

/// Sets Command::typed_command_index of hyperfine's commands, and Command::unfilled_name of
/// commands with parameters. If a command's name is not unique, the command's parameters are added
/// to it.
void infer_typed_indices_and_names(std::vector<Command>& commands);

}  // namespace lauka
