#pragma once

#include "core/call_paths.h"
#include "core/metric.h"
#include "results/pairing.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

struct Results;

enum class Certainty : unsigned char {
  /// Each side has the same value in all its rounds (at least stats::kMinForExact); never for
  /// sampled time.
  Exact,
  Significant,  ///< values may vary; the sides differ significantly
  Unproven,     ///< values may vary; the sides may be equal
};

/// Means over rounds in the metric's base unit, which may vary, and their difference.
struct MeanChange {
  double reference_mean = 0.0;
  double candidate_mean = 0.0;
  Certainty certainty = Certainty::Unproven;
  /// Half width of the difference's confidence interval; nullopt if unknown, if no value varies, or
  /// if the difference is the same in every round.
  std::optional<double> half_width{};

  double difference() const { return candidate_mean - reference_mean; }
  bool is_certain() const { return certainty != Certainty::Unproven && difference() != 0.0; }
};

/// One call path's means of sampled time over rounds, in seconds.
struct PathChange {
  std::string name{};                ///< of the last frame, see PathCounts::name
  std::uint32_t caller = kNoCaller;  ///< index of the caller's path, or kNoCaller
  double reference_mean = 0.0;       ///< with what the last frame called
  double candidate_mean = 0.0;
  double reference_own = 0.0;  ///< without what the last frame called
  double candidate_own = 0.0;
  /// Half width of the confidence interval of difference(); nullopt if unknown.
  std::optional<double> half_width{};
  bool is_certain = false;      ///< true if the means differ significantly
  bool is_own_certain = false;  ///< true if the times without called functions do

  double difference() const { return candidate_mean - reference_mean; }
  double own_difference() const { return candidate_own - reference_own; }
};

/// One function's means over rounds in the metric's base unit, and their difference.
struct FunctionChange {
  std::string name{};
  std::vector<std::string> other_names{};  ///< on either side
  PairedBy paired_by = PairedBy::Name;
  MeanChange own{.certainty = Certainty::Exact};  ///< without what the function called
  bool is_new = false;   ///< true if the reference has no count of the function, of no metric;
                         ///< false for sampled time
  bool is_gone = false;  ///< true if the candidate has none; false for sampled time
  /// The function's sampled time with what it called; nullopt without call paths.
  std::optional<MeanChange> total{};

  double difference() const { return own.difference(); }
  bool is_certain() const { return own.is_certain(); }
  /// False if the function only called others.
  bool has_own_value() const { return own.reference_mean != 0.0 || own.candidate_mean != 0.0; }
};

/// A metric of a candidate and its reference, by function. From list_functions: a metric of any
/// command (in `candidate`), compared with 0.
struct MetricByFunction {
  std::size_t metric = 0;
  std::size_t candidate = 0;
  /// Mean of the metric in the whole reference; 0 from list_functions.
  double mean_of_whole_reference = 0.0;
  double mean_of_whole_candidate = 0.0;
  std::size_t rounds = 0;
  /// Functions with a mean or total other than 0 on at least one side, the largest difference
  /// first; of equal differences, those that are certain (is_certain) first.
  std::vector<FunctionChange> functions{};
  /// The call paths of sampled time; may be empty. Callers come before the paths through them. Of
  /// the paths of one caller, those with the larger total on either side come first, and each is
  /// followed by the paths through it.
  std::vector<PathChange> paths{};

  double difference() const { return mean_of_whole_candidate - mean_of_whole_reference; }
};

/// Sets Results::function_changes: compares the functions of each candidate with its reference's,
/// for metrics that tables always show or that are gated. Leaves out a metric if a side lacks it by
/// function in a run. Values that may vary are compared by Student's t over runs or layouts, within
/// rounds where the metric itself is. Benjamini and Hochberg's procedure selects the significant
/// differences, with a false discovery rate of 1 - confidence.
void compare_functions(Results& results);

/// Returns the function changes of a candidate; null if missing.
const MetricByFunction* find_changes(const Results& results, std::size_t metric,
                                     std::size_t candidate);

/// Compares the functions of a candidate with its reference's, of metrics that tables do not show,
/// too. Returns nullopt if a side is unknown or has values of failed runs, or if the metric was
/// measured in another way.
std::optional<MetricByFunction> compare_sides(const Results& results, std::size_t metric,
                                              std::size_t candidate);

/// True if functions are not compared, because a side of a candidate has values of failed runs.
bool are_left_out_for_failures(const Results& results, std::size_t metric);

/// Lists the functions of a command, as changes from 0; nullopt if unknown.
std::optional<MetricByFunction> list_functions(const Results& results, std::size_t metric,
                                               std::size_t command);

/// True if the metric is sampled time, of one function or of all.
inline bool is_sampled_time(const Metric& metric) {
  return metric.role == Role::SampledTime;
}

/// Returns the indices of the metrics that at least one command has by function.
std::vector<std::size_t> function_metrics(const Results& results);

}  // namespace lauka
