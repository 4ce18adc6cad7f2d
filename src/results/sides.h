#pragma once

#include "core/function_table.h"
#include "core/round_values.h"
#include "results/pairing.h"
#include "results/results.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lauka {

/// A command's values of one metric by function.
struct FunctionSide {
  const FunctionTable* table = nullptr;
  std::size_t place = 0;  ///< of the metric in FunctionTable::metrics
  std::size_t rounds = 0;
  double mean = 0.0;
  Series series{};  ///< the metric's values, whose rounds are those of the table
  /// True if a round is compared with the other side's round of the same index (pair_rounds).
  bool is_paired = false;

  /// Returns the rows of the table.
  std::vector<FunctionToPair> list_rows() const;
};

/// True if the side's call paths say too little about times with what was called.
bool lacks_callers(const FunctionSide& side);

/// Returns the side of a command; nullopt if its values by function are not those of its runs.
std::optional<FunctionSide> candidate_side(const Results& results, std::size_t metric,
                                           std::size_t command);

/// Returns the side of a candidate's reference, which may be in a baseline.
std::optional<FunctionSide> reference_side(const Results& results, std::size_t metric,
                                           std::size_t candidate);

/// Has the sides of a candidate and its reference compared within rounds, if other metrics are and
/// both sides have values of the same rounds.
void pair_rounds(const Recording& session, std::size_t candidate_index, FunctionSide& reference,
                 FunctionSide& candidate);

/// Values of a function or call path in the rounds of a side.
struct SideValues {
  const FunctionSide& side;
  const RoundValues& values;
};

struct DifferenceTest {
  double p = 1.0;  ///< 1 if the errors are unknown or 0
  std::optional<double> half_width{};
};

/// Compares the means by Student's t over runs or layouts: over the differences within rounds if
/// the sides are paired, because these lack the noise that a round's runs share; else by Welch's
/// test.
DifferenceTest test_difference(const SideValues& reference, const SideValues& candidate,
                               double confidence);

/// Returns which of a family's differences are significant, with a false discovery rate of
/// 1 - confidence (Benjamini and Hochberg). Of so many, some would differ by chance.
std::vector<bool> find_significant(const std::vector<DifferenceTest>& tests, double confidence);

}  // namespace lauka
