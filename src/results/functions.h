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

/// The certainty that a function's values differ.
enum class Certainty : unsigned char {
  Exact,  ///< the values of each side are the same in all of at least two rounds; not for samples
  Significant,  ///< values may vary, but the sides differ significantly
  Varying,      ///< values may vary, and the sides need not differ
};

/// One function in the reference and in a candidate, in the metric's base unit.
struct FunctionChange {
  std::string name{};      ///< normalized
  double reference = 0.0;  ///< mean over the rounds
  double candidate = 0.0;  ///< mean over the rounds
  bool is_new = false;     ///< true if the metric is 0 in the reference; false for samples
  bool is_gone = false;    ///< true if the metric is 0 in the candidate; false for samples
  Certainty certainty = Certainty::Exact;
  std::optional<double> half_width{};  ///< half width of the difference's confidence interval;
                                       ///< nullopt if no value varies, or with too few
                                       ///< rounds or layouts

  double difference() const { return candidate - reference; }
  /// True if the function certainly changed.
  bool is_sure() const { return certainty != Certainty::Varying && difference() != 0.0; }
};

/// The difference of a metric between the reference and a candidate, by function.
struct FunctionChanges {
  std::size_t metric = 0;     ///< index into Results::metrics
  std::size_t candidate = 0;  ///< index of the command
  double reference = 0.0;     ///< mean of the whole reference; 0 by list_functions
  double total = 0.0;         ///< mean of the whole candidate
  std::size_t rounds = 0;     ///< number of rounds; of both sides, the smaller number
  /// All functions of both sides that are not 0 in both: those that certainly changed first, then
  /// by the size of the difference, the largest first.
  std::vector<FunctionChange> functions{};

  double difference() const { return total - reference; }
};

/// Compares the functions of each candidate with the functions of its reference, and keeps the
/// changes in Results::function_changes. Compares each metric that tables always show or that is
/// gated, unless a side lacks the metric by function in a run that has its value. Values that may
/// vary are compared by Student's t (Welch) over runs, or over layouts; of these differences,
/// Benjamini and Hochberg's procedure selects the significant ones, with a false discovery rate of
/// 1 - confidence.
void compare_functions(Results& results);

/// Returns a candidate's functions as compare_functions found them; null if they are missing.
const FunctionChanges* find_changes(const Results& results, std::size_t metric,
                                    std::size_t candidate);

/// Lists the functions of a command, as changes from 0; nullopt if they are unknown
/// for a run.
std::optional<FunctionChanges> list_functions(const Results& results, std::size_t metric,
                                              std::size_t command);

/// True if a metric is sampled time, of all functions or of one: its values vary by nature.
inline bool is_sampled(const Metric& metric) {
  return metric.role == Role::SampledTime;
}

/// Returns the metrics (indices into Results::metrics) that at least one command has by
/// function.
std::vector<std::size_t> function_metrics(const Results& results);

/// True if the verdict is about sampled time, of a function or all, of which neither command has a
/// sample.
bool lacks_samples(const Recording& session, const gate::Verdict& verdict);

}  // namespace lauka
