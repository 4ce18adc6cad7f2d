#pragma once

#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

/// Certainty of the difference of a function's values.
enum class Certainty : unsigned char {
  Exact,        ///< the same in every round of each side
  Significant,  ///< values vary, and differ significantly
  Varying,      ///< values vary, and may be equal
};

/// One function in the reference and in a candidate, in the metric's base unit.
struct FunctionChange {
  std::string name{};      ///< normalized
  double reference = 0.0;  ///< mean over the rounds
  double candidate = 0.0;  ///< mean over the rounds
  bool is_new = false;     ///< no instruction in the reference; false for samples
  bool is_gone = false;    ///< no instruction in the candidate; false for samples
  Certainty certainty = Certainty::Exact;
  std::optional<double> half_width{};  ///< half-width of the difference's interval; nullopt if
                                       ///< exact, or with too few rounds

  double difference() const { return candidate - reference; }
  /// True if the function is named as one that changed.
  bool is_sure() const { return certainty != Certainty::Varying && difference() != 0.0; }
};

/// The difference of a metric between the reference and a candidate, taken apart by function.
struct FunctionChanges {
  std::size_t metric = 0;     ///< index into Results::metrics
  std::size_t candidate = 0;  ///< index of the command
  double reference = 0.0;     ///< mean of the whole reference
  double total = 0.0;         ///< mean of the whole candidate
  std::size_t rounds = 0;     ///< rounds of the side with fewer
  /// All functions of either side: the sure ones first, then by the size of the difference.
  std::vector<FunctionChange> functions{};

  double difference() const { return total - reference; }
};

/// Compares the functions of a candidate with those of its reference: values that vary by Student's
/// t (Welch), of which Benjamini and Hochberg's procedure admits those with a false discovery rate
/// of 1 - confidence. nullopt if the metric is not known for each function of both, in every run
/// that has a value of it.
std::optional<FunctionChanges> compare_functions(const Results& results, std::size_t metric,
                                                 std::size_t candidate);

/// Lists the functions of a single command, as changes from 0. nullopt if they are unknown.
std::optional<FunctionChanges> list_functions(const Results& results, std::size_t metric,
                                              std::size_t command);

/// True if a metric is sampled time: its values by function vary, and each has an interval.
inline bool is_sampled(const Metric& metric) {
  return metric.role == Role::SampledTime;
}

/// Returns the metrics (indices into Results::metrics) that are known for each function of a
/// command.
std::vector<std::size_t> function_metrics(const Results& results);

}  // namespace lauka
