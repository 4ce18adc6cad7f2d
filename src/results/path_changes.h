#pragma once

#include "core/round_values.h"
#include "results/function_changes.h"
#include "results/pairing.h"
#include "results/sides.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lauka {

/// Smallest part of the sampled time of both sides together from which a path is tested. A choice
/// by one side would select paths by their differences.
inline constexpr double kMinTestedPathShare = 0.01;

/// A function's time in each round with what it called. Calls of the function by itself are counted
/// once.
struct FunctionTotals {
  RoundValues reference{};
  RoundValues candidate{};
};

struct JoinedPaths {
  std::vector<PathChange> paths{};       ///< see MetricByFunction::paths
  std::vector<FunctionTotals> totals{};  ///< by the index of the pair; empty without call paths
};

/// Compares the call paths of two sides. `functions`: pairs of the rows of both sides, as
/// FunctionSide::list_rows() returns them. A program that only one side executes is paired with the
/// only one that only the other side executes. The totals of the tested paths are one family of
/// tests, and their own times are another.
JoinedPaths join_paths(const FunctionSide& reference, const FunctionSide& candidate,
                       std::span<const PairedFunction> functions, double confidence);

/// Compares the call paths of a candidate with its reference's. Returns nullopt if a side has none
/// or has failed runs, or if the sides were sampled in another way.
std::optional<MetricByFunction> compare_paths(const Results& results, std::size_t candidate);

/// Lists the call paths of a command, as changes from 0. Returns nullopt if it has none.
std::optional<MetricByFunction> list_paths(const Results& results, std::size_t command);

/// Compares the call paths of a candidate with its reference's, and lists those of other commands.
/// Returns nullopt as compare_paths() and list_paths() do.
std::optional<MetricByFunction> show_paths(const Results& results, std::size_t command);

}  // namespace lauka
