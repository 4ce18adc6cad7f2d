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
  Exact,        ///< the values are the same in every round of each side
  Significant,  ///< values vary and differ significantly
  Varying,      ///< values vary and may be equal
};

/// One function in the reference and in a candidate, in the metric's base unit.
struct FunctionChange {
  std::string name{};      ///< normalized
  double reference = 0.0;  ///< mean over the rounds
  double candidate = 0.0;  ///< mean over the rounds
  bool is_new = false;     ///< true if the reference has no instruction of it; false for samples
  bool is_gone = false;    ///< true if the candidate has no instruction of it; false for samples
  Certainty certainty = Certainty::Exact;
  std::optional<double> half_width{};  ///< half width of the difference's confidence interval;
                                       ///< nullopt if exact, or with too few rounds

  double difference() const { return candidate - reference; }
  /// True if the function certainly changed.
  bool is_sure() const { return certainty != Certainty::Varying && difference() != 0.0; }
};

/// The difference of a metric between the reference and a candidate, by function.
struct FunctionChanges {
  std::size_t metric = 0;     ///< index into Results::metrics
  std::size_t candidate = 0;  ///< index of the command
  double reference = 0.0;     ///< mean of the whole reference
  double total = 0.0;         ///< mean of the whole candidate
  std::size_t rounds = 0;     ///< number of rounds; of both sides, the smaller number
  /// All functions of both sides: those that certainly changed first, then by the size of the
  /// difference.
  std::vector<FunctionChange> functions{};

  double difference() const { return total - reference; }
};

/// Compares the functions of each candidate with those of its reference, and keeps the changes in
/// Results::function_changes. Compares each metric that is shown or gated, unless a side lacks the
/// metric by function in a run that has its value. Values that vary are compared by Student's t
/// (Welch) over runs, or over layouts; of these differences, Benjamini and Hochberg's procedure
/// selects the significant ones, with a false discovery rate of 1 - confidence.
void compare_functions(Results& results);

/// Returns a candidate's functions as compare_functions found them; null if they are missing.
const FunctionChanges* find_changes(const Results& results, std::size_t metric,
                                    std::size_t candidate);

/// Lists the functions of a command, as changes from 0; nullopt if they are unknown.
std::optional<FunctionChanges> list_functions(const Results& results, std::size_t metric,
                                              std::size_t command);

/// True if a metric is sampled time, of all functions or one, whose values vary and have intervals.
inline bool is_sampled(const Metric& metric) {
  return metric.role == Role::SampledTime;
}

/// Returns the metrics (indices into Results::metrics) that a command has by function.
std::vector<std::size_t> function_metrics(const Results& results);

/// True if the verdict is about sampled time, of a function or all, of which neither command has a
/// sample.
bool lacks_samples(const Recording& session, const gate::Verdict& verdict);

}  // namespace lauka
