#include "results/function_changes.h"

#include "core/function_table.h"
#include "plan/gates.h"
#include "results/analyse.h"
#include "results/path_changes.h"
#include "results/results.h"
#include "results/sides.h"
#include "session/baseline.h"
#include "session/series.h"
#include "session/setting_values.h"
#include "stats/delta.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

namespace lauka {

namespace {

/// A function's values on one side.
struct FunctionValues {
  RoundValues of_compared_metric{};
  bool has_any_metric = false;  ///< true if some metric has a value other than 0
};

/// True if the values differ between rounds. RoundValues that do not vary have at most one element.
bool varies(const RoundValues& values) {
  return values.size() > 1;
}

/// Returns the values of a row by metric. The metric that is compared is at index `side.place`.
const std::vector<RoundValues>& all_metrics_of(const FunctionSide& side,
                                               const FunctionToPair& row) {
  return side.table->functions.find(row.name)->second;
}

/// Returns the sum of the values of a function's rows in each round.
RoundValues add_up_by_round(const FunctionSide& side, std::span<const FunctionToPair> rows,
                            std::span<const std::size_t> rows_of_function) {
  RoundValues sums(side.rounds);
  for (const std::size_t row : rows_of_function) {
    const RoundValues& values = all_metrics_of(side, rows[row])[side.place];
    for (std::size_t round = 0; round < side.rounds; ++round)
      sums[round] += value_in(values, round);
  }
  return sums;
}

/// Returns the sum of the values of a function's rows on one side of a comparison, round by round.
/// A side's table may have several rows that are one function. `rows_of_function`: their indices in
/// `rows`.
FunctionValues add_up_values(const FunctionSide& side, std::span<const FunctionToPair> rows,
                             std::span<const std::size_t> rows_of_function) {
  FunctionValues sum;
  bool any_varies = false;
  double sum_of_first_round = 0.0;
  for (const std::size_t row : rows_of_function) {
    const std::vector<RoundValues>& values_by_metric = all_metrics_of(side, rows[row]);
    const bool has_values = !std::ranges::all_of(values_by_metric, &RoundValues::empty);
    sum.has_any_metric = sum.has_any_metric || has_values;

    const RoundValues& compared_values = values_by_metric[side.place];
    any_varies = any_varies || varies(compared_values);
    sum_of_first_round += value_in(compared_values, 0);
  }

  // If all rounds have the same value, RoundValues hold it only once, or not at all if it is 0.
  if (any_varies)
    sum.of_compared_metric = add_up_by_round(side, rows, rows_of_function);
  else if (sum_of_first_round != 0.0)
    sum.of_compared_metric = {sum_of_first_round};
  return sum;
}

bool has_total(const JoinedPaths& by_path, std::size_t pair) {
  if (by_path.totals.empty()) return false;
  const auto& [reference, candidate] = by_path.totals[pair];
  return !reference.empty() || !candidate.empty();
}

struct ComparedSides {
  const FunctionSide& reference;
  const FunctionSide& candidate;
  double confidence = 0.0;
  bool by_samples = false;  ///< true if the metric is sampled time
};

DifferenceTest test_values(const ComparedSides& sides, const RoundValues& reference,
                           const RoundValues& candidate) {
  return test_difference({sides.reference, reference}, {sides.candidate, candidate},
                         sides.confidence);
}

/// Sets FunctionChange::total. `pair_indices`: for each function, its index in `totals`. No change
/// is certain if a side lacks callers.
void set_totals(const ComparedSides& sides, const std::vector<FunctionTotals>& totals,
                std::span<const std::size_t> pair_indices, std::vector<FunctionChange>& functions) {
  if (totals.empty()) return;

  std::vector<DifferenceTest> tests;
  tests.reserve(functions.size());
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const FunctionTotals& of = totals[pair_indices[i]];
    tests.push_back(test_values(sides, of.reference, of.candidate));
    functions[i].total = {.reference_mean = mean_of(of.reference, sides.reference.rounds),
                          .candidate_mean = mean_of(of.candidate, sides.candidate.rounds),
                          .half_width = tests.back().half_width};
  }

  if (lacks_callers(sides.reference) || lacks_callers(sides.candidate)) return;
  const std::vector<bool> differ = find_significant(tests, sides.confidence);
  for (std::size_t i = 0; i < functions.size(); ++i)
    if (differ[i]) functions[i].total->certainty = Certainty::Significant;
}

/// Returns the change of a function without its interval and its total. Its certainty is Exact or
/// Unproven.
FunctionChange make_change(PairedFunction pair, const FunctionValues& before,
                           const FunctionValues& after, const ComparedSides& sides) {
  const std::size_t rounds = std::min(sides.reference.rounds, sides.candidate.rounds);
  // Counts that are equal in enough rounds need no test. Equal samples prove nothing.
  const bool needs_test = sides.by_samples || varies(before.of_compared_metric) ||
                          varies(after.of_compared_metric) || rounds < stats::kMinForExact;

  return {.name = std::move(pair.name),
          .other_names = std::move(pair.other_names),
          .paired_by = pair.paired_by,
          .own = {.reference_mean = mean_of(before.of_compared_metric, sides.reference.rounds),
                  .candidate_mean = mean_of(after.of_compared_metric, sides.candidate.rounds),
                  .certainty = needs_test ? Certainty::Unproven : Certainty::Exact},
          .is_new = !sides.by_samples && !before.has_any_metric,
          .is_gone = !sides.by_samples && !after.has_any_metric};
}

/// The rows of both sides, and which of them are the same function.
struct PairedRows {
  std::vector<FunctionToPair> before{};
  std::vector<FunctionToPair> after{};
  std::vector<PairedFunction> pairs{};
};

PairedRows pair_rows(const ComparedSides& sides) {
  PairedRows rows{.before = sides.reference.list_rows(), .after = sides.candidate.list_rows()};
  rows.pairs = pair_functions(rows.before, rows.after);
  return rows;
}

/// The functions that differ from 0 on a side, and the tests of those that need one.
struct ComparedFunctions {
  std::vector<FunctionChange> changes{};
  std::vector<std::size_t> pair_indices{};  ///< index in PairedRows::pairs of each of `changes`
  std::vector<DifferenceTest> tests{};
  std::vector<std::size_t> tested_indices{};  ///< index in `changes` of each of `tests`
};

/// Compares both sides of each pair of functions, and tests the changes that may be noise. Leaves
/// out functions without a value of the compared metric.
ComparedFunctions compare_pairs(PairedRows rows, const JoinedPaths& by_path,
                                const ComparedSides& sides) {
  ComparedFunctions functions;
  for (std::size_t i = 0; i < rows.pairs.size(); ++i) {
    const FunctionValues before =
        add_up_values(sides.reference, rows.before, rows.pairs[i].reference_rows);
    const FunctionValues after =
        add_up_values(sides.candidate, rows.after, rows.pairs[i].candidate_rows);
    FunctionChange change = make_change(std::move(rows.pairs[i]), before, after, sides);

    // A function without time of its own may have a total: the time of what it called.
    if (!change.has_own_value() && !has_total(by_path, i)) continue;

    const bool needs_test = change.own.certainty == Certainty::Unproven && change.has_own_value();
    if (needs_test) {
      const DifferenceTest test =
          test_values(sides, before.of_compared_metric, after.of_compared_metric);
      change.own.half_width = test.half_width;
      functions.tests.push_back(test);
      functions.tested_indices.push_back(functions.changes.size());
    }
    functions.pair_indices.push_back(i);
    functions.changes.push_back(std::move(change));
  }
  return functions;
}

/// Marks the changes of own values that are significant. Of many functions, some would seem to
/// differ by chance, so the tests are corrected for their number.
void mark_significant(double confidence, ComparedFunctions& functions) {
  const std::vector<bool> are_significant = find_significant(functions.tests, confidence);
  for (std::size_t i = 0; i < functions.tested_indices.size(); ++i)
    if (are_significant[i])
      functions.changes[functions.tested_indices[i]].own.certainty = Certainty::Significant;
}

/// Puts the largest differences first, and among equal ones those that are certain.
void sort_by_difference(std::vector<FunctionChange>& functions) {
  const auto sort_key = [](const FunctionChange& function) {
    return std::pair(std::fabs(function.difference()), function.is_certain());
  };
  std::ranges::stable_sort(functions, std::greater<>(), sort_key);
}

/// Compares a metric of a candidate with its reference's, function by function. If the metric is
/// sampled time, compares it by call path, too.
MetricByFunction compare_by_function(std::size_t metric_index, std::size_t candidate_index,
                                     const ComparedSides& sides) {
  const auto& [reference, candidate, confidence, by_samples] = sides;
  PairedRows rows = pair_rows(sides);

  // Only samples tell the call path that led to a function. Counts do not.
  JoinedPaths by_path;
  if (by_samples) by_path = join_paths(reference, candidate, rows.pairs, confidence);

  ComparedFunctions functions = compare_pairs(std::move(rows), by_path, sides);
  mark_significant(confidence, functions);
  set_totals(sides, by_path.totals, functions.pair_indices, functions.changes);
  sort_by_difference(functions.changes);

  return {.metric = metric_index,
          .candidate = candidate_index,
          .mean_of_whole_reference = reference.mean,
          .mean_of_whole_candidate = candidate.mean,
          .rounds = std::min(reference.rounds, candidate.rounds),
          .functions = std::move(functions.changes),
          .paths = std::move(by_path.paths)};
}

/// True if a value is that of a failed run. Such values are shown, but not compared.
bool has_failed_value(const FunctionSide& side) {
  return !side.series.values_of_failed_runs.empty() || side.series.has_only_failed_runs();
}

}  // namespace

void compare_functions(Results& results) {
  results.function_changes.clear();
  for (const std::size_t metric : function_metrics(results)) {
    const bool is_gated =
        std::ranges::find(results.findings.verdicts, metric, &gate::Verdict::metric) !=
        results.findings.verdicts.end();
    if (results.session.metrics[metric].shown != Shown::Always && !is_gated) continue;
    for (const std::size_t candidate : find_candidates(results))
      if (auto changes = compare_sides(results, metric, candidate))
        results.function_changes.push_back(*std::move(changes));
  }
}

const MetricByFunction* find_changes(const Results& results, std::size_t metric,
                                     std::size_t candidate) {
  for (const MetricByFunction& changes : results.function_changes)
    if (changes.metric == metric && changes.candidate == candidate) return &changes;
  return nullptr;
}

std::optional<MetricByFunction> compare_sides(const Results& results, std::size_t metric,
                                              std::size_t candidate) {
  if (!find_metric_differences(results.session, metric, candidate).empty()) return std::nullopt;
  auto before = reference_side(results, metric, candidate);
  auto after = candidate_side(results, metric, candidate);
  if (!before || !after || has_failed_value(*before) || has_failed_value(*after))
    return std::nullopt;

  pair_rounds(results.session, candidate, *before, *after);
  return compare_by_function(metric, candidate,
                             {.reference = *before,
                              .candidate = *after,
                              .confidence = results.session.confidence,
                              .by_samples = is_sampled_time(results.session.metrics[metric])});
}

bool are_left_out_for_failures(const Results& results, std::size_t metric) {
  return std::ranges::any_of(find_candidates(results), [&](std::size_t candidate) {
    const auto before = reference_side(results, metric, candidate);
    const auto after = candidate_side(results, metric, candidate);
    return before && after && (has_failed_value(*before) || has_failed_value(*after));
  });
}

std::optional<MetricByFunction> list_functions(const Results& results, std::size_t metric,
                                               std::size_t command) {
  const auto side = candidate_side(results, metric, command);
  if (!side) return std::nullopt;
  const FunctionSide nothing{.rounds = side->rounds};
  return compare_by_function(metric, command,
                             {.reference = nothing,
                              .candidate = *side,
                              .confidence = results.session.confidence,
                              .by_samples = is_sampled_time(results.session.metrics[metric])});
}

std::vector<std::size_t> function_metrics(const Results& results) {
  std::vector<std::size_t> metrics;
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m)
    if (std::ranges::any_of(results.session.function_tables, [&](const FunctionTable& table) {
          return table.find(results.session.metrics[m].name) < table.metrics.size();
        }))
      metrics.push_back(m);
  return metrics;
}

}  // namespace lauka
