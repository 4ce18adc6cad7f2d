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
struct Values {
  RoundValues of_metric{};
  bool has_any_metric = false;  ///< true if a metric has a value other than 0
};

/// True if the values differ between rounds. RoundValues that do not vary have at most one element.
bool varies(const RoundValues& values) {
  return values.size() > 1;
}

/// Adds up the values of a function on one side of a comparison, round by round. A side's table may
/// have several rows that are one function. `chosen`: indices of these rows in `rows`.
Values add_up(const FunctionSide& side, std::span<const FunctionToPair> rows,
              std::span<const std::size_t> chosen) {
  // A row has values of several metrics. The one that is compared is at index `side.place`.
  const auto all_metrics_of = [&](std::size_t row) -> const std::vector<RoundValues>& {
    return side.table->functions.find(rows[row].name)->second;
  };

  Values sum;
  bool any_varies = false;
  double sum_of_first_round = 0.0;
  for (const std::size_t row : chosen) {
    const std::vector<RoundValues>& metrics = all_metrics_of(row);
    const bool has_values = !std::ranges::all_of(metrics, &RoundValues::empty);
    sum.has_any_metric = sum.has_any_metric || has_values;

    const RoundValues& values = metrics[side.place];
    any_varies = any_varies || varies(values);
    sum_of_first_round += value_in(values, 0);
  }

  // RoundValues hold a value that all rounds have in common only once, and a common 0 not at all.
  if (!any_varies) {
    if (sum_of_first_round != 0.0) sum.of_metric = {sum_of_first_round};
    return sum;
  }

  sum.of_metric.assign(side.rounds, 0.0);
  for (const std::size_t row : chosen) {
    const RoundValues& values = all_metrics_of(row)[side.place];
    for (std::size_t round = 0; round < side.rounds; ++round)
      sum.of_metric[round] += value_in(values, round);
  }
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
};

DifferenceTest test_values(const ComparedSides& sides, const RoundValues& reference,
                           const RoundValues& candidate) {
  return test_difference({sides.reference, reference}, {sides.candidate, candidate},
                         sides.confidence);
}

/// Sets FunctionChange::total. `pairs`: by function, its index in `totals`. No change is certain if
/// a side lacks callers.
void add_totals(const ComparedSides& sides, const std::vector<FunctionTotals>& totals,
                std::span<const std::size_t> pairs, std::vector<FunctionChange>& functions) {
  if (totals.empty()) return;

  std::vector<DifferenceTest> tests;
  tests.reserve(functions.size());
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const FunctionTotals& of = totals[pairs[i]];
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
FunctionChange make_change(PairedFunction pair, const Values& before, const Values& after,
                           const ComparedSides& sides, bool by_samples) {
  const std::size_t rounds = std::min(sides.reference.rounds, sides.candidate.rounds);
  // Counts that are equal in enough rounds need no test. Equal samples prove nothing.
  const bool needs_test = by_samples || varies(before.of_metric) || varies(after.of_metric) ||
                          rounds < stats::kMinForExact;

  return {.name = std::move(pair.name),
          .other_names = std::move(pair.other_names),
          .paired_by = pair.paired_by,
          .own = {.reference_mean = mean_of(before.of_metric, sides.reference.rounds),
                  .candidate_mean = mean_of(after.of_metric, sides.candidate.rounds),
                  .certainty = needs_test ? Certainty::Unproven : Certainty::Exact},
          .is_new = !by_samples && !before.has_any_metric,
          .is_gone = !by_samples && !after.has_any_metric};
}

/// Compares a metric of a candidate with its reference's, function by function; for sampled time,
/// by call path, too.
MetricByFunction compare(const Results& results, std::size_t metric, std::size_t candidate_index,
                         const ComparedSides& sides) {
  const auto& [reference, candidate, confidence] = sides;
  const bool by_samples = is_sampled_time(results.session.metrics[metric]);

  MetricByFunction changes{.metric = metric,
                           .candidate = candidate_index,
                           .mean_of_whole_reference = reference.mean,
                           .mean_of_whole_candidate = candidate.mean,
                           .rounds = std::min(reference.rounds, candidate.rounds)};

  const std::vector<FunctionToPair> rows_before = reference.list_rows();
  const std::vector<FunctionToPair> rows_after = candidate.list_rows();
  std::vector<PairedFunction> pairs = pair_functions(rows_before, rows_after);

  // Only samples tell the call path that led to a function. Counts do not.
  JoinedPaths by_path;
  if (by_samples) by_path = join_paths(reference, candidate, pairs, confidence);
  changes.paths = std::move(by_path.paths);

  std::vector<std::size_t> pairs_of_functions;  // index in `pairs` of each of changes.functions
  std::vector<DifferenceTest> tests;
  std::vector<std::size_t> tested_functions;  // index in changes.functions of each of `tests`
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Values before = add_up(reference, rows_before, pairs[i].reference_rows);
    const Values after = add_up(candidate, rows_after, pairs[i].candidate_rows);
    FunctionChange change = make_change(std::move(pairs[i]), before, after, sides, by_samples);

    // A row may have values of other metrics only. A function may have no own time, but a total:
    // the time of what it called.
    if (!change.has_own_value() && !has_total(by_path, i)) continue;

    if (change.own.certainty == Certainty::Unproven && change.has_own_value()) {
      tests.push_back(test_values(sides, before.of_metric, after.of_metric));
      change.own.half_width = tests.back().half_width;
      tested_functions.push_back(changes.functions.size());
    }
    pairs_of_functions.push_back(i);
    changes.functions.push_back(std::move(change));
  }

  // Of many functions, some would seem to differ by chance, so the tests are corrected for their
  // number.
  const std::vector<bool> are_significant = find_significant(tests, confidence);
  for (std::size_t i = 0; i < tested_functions.size(); ++i)
    if (are_significant[i])
      changes.functions[tested_functions[i]].own.certainty = Certainty::Significant;
  add_totals(sides, by_path.totals, pairs_of_functions, changes.functions);

  // The largest differences come first, and among equal ones those that are certain.
  const auto sort_key = [](const FunctionChange& function) {
    return std::pair(std::fabs(function.difference()), function.is_certain());
  };
  std::ranges::stable_sort(changes.functions, std::greater<>(), sort_key);
  return changes;
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
  return compare(results, metric, candidate, {*before, *after, results.session.confidence});
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
  return compare(results, metric, command, {nothing, *side, results.session.confidence});
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
