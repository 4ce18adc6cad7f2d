#pragma once

#include "core/metric.h"
#include "gate/verdict.h"
#include "session/recording.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

struct Results;

enum class Certainty : unsigned char {
  Exact,  ///< the values of each side are the same in all of at least two rounds; never for sampled
          ///< time
  Significant,  ///< values may vary; the sides differ significantly
  Varying,      ///< values may vary; the sides may be equal
};

/// One function's means over rounds, in the metric's base unit.
struct FunctionChange {
  std::string name{};
  double reference = 0.0;
  double candidate = 0.0;
  bool is_new = false;   ///< true if the metric is 0 in the reference; false for sampled time
  bool is_gone = false;  ///< true if the metric is 0 in the candidate; false for sampled time
  Certainty certainty = Certainty::Exact;
  std::optional<double> half_width{};  ///< half width of the difference's confidence interval;
                                       ///< nullopt if unknown, or if no value varies

  double difference() const { return candidate - reference; }
  bool is_sure() const { return certainty != Certainty::Varying && difference() != 0.0; }
};

/// The difference of a metric between the reference and a candidate, by function.
struct FunctionChanges {
  std::size_t metric = 0;
  std::size_t candidate = 0;
  double reference = 0.0;  ///< mean of the whole reference; 0 from list_functions
  double total = 0.0;
  std::size_t rounds = 0;
  /// All functions except those that are 0 on both sides: first the functions that certainly
  /// differ, then by size of the difference, the largest first.
  std::vector<FunctionChange> functions{};

  double difference() const { return total - reference; }
};

/// Sets Results::function_changes: compares the functions of each candidate with its reference's,
/// for metrics that tables always show or that are gated. Leaves out a metric if a side lacks it by
/// function in a run. Values that may vary are compared by Student's t (Welch) over runs or
/// layouts; Benjamini and Hochberg's procedure selects the significant differences, with a false
/// discovery rate of 1 - confidence.
void compare_functions(Results& results);

/// Returns the function changes of a candidate; null if missing.
const FunctionChanges* find_changes(const Results& results, std::size_t metric,
                                    std::size_t candidate);

/// Lists the functions of a command, as changes from 0; nullopt if unknown.
std::optional<FunctionChanges> list_functions(const Results& results, std::size_t metric,
                                              std::size_t command);

/// True if a metric is sampled time, of one function or of all.
inline bool is_sampled(const Metric& metric) {
  return metric.role == Role::SampledTime;
}

/// Returns the indices of the metrics that at least one command has by function.
std::vector<std::size_t> function_metrics(const Results& results);

/// True if the verdict is about sampled time of which neither command has a sample.
bool lacks_samples(const Recording& session, const gate::Verdict& verdict);

}  // namespace lauka
