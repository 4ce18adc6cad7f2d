#include "results/functions.h"

#include "core/functions.h"
#include "plan/gates.h"
#include "results/analyse.h"
#include "results/results.h"
#include "session/baseline.h"
#include "session/series.h"
#include "session/setting_values.h"
#include "stats/delta.h"
#include "stats/distributions.h"
#include "stats/layouts.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

namespace lauka {

namespace {

struct Side {
  const FunctionTable* table = nullptr;
  std::size_t place = 0;
  std::size_t rounds = 0;
  double mean = 0.0;
  std::vector<std::uint32_t> layouts{};

  /// Returns the rows of the table.
  std::vector<FunctionToPair> list_rows() const {
    std::vector<FunctionToPair> rows;
    if (table == nullptr) return rows;
    rows.reserve(table->functions.size());
    for (const auto& [name, values] : table->functions)
      rows.push_back({name, table->other_names_of(name), mean_of(values[place], rounds)});
    return rows;
  }
};

/// A function's values on one side.
struct Values {
  RoundValues of_metric{};
  bool has_any_metric = false;  ///< true if a metric has a value other than 0
};

/// Adds up the rows of `names` on a side.
Values add_up(const Side& side, std::span<const FunctionToPair> rows,
              std::span<const std::size_t> chosen) {
  Values sum;
  bool varies = false;
  double constant = 0.0;
  for (const std::size_t row : chosen) {
    const std::vector<RoundValues>& values = side.table->functions.find(rows[row].name)->second;
    sum.has_any_metric = sum.has_any_metric || !std::ranges::all_of(values, &RoundValues::empty);
    varies = varies || values[side.place].size() > 1;
    constant += value_in(values[side.place], 0);
  }
  if (!varies) {
    if (constant != 0.0) sum.of_metric = {constant};
    return sum;
  }

  sum.of_metric.assign(side.rounds, 0.0);
  for (const std::size_t row : chosen) {
    const RoundValues& values = side.table->functions.find(rows[row].name)->second[side.place];
    for (std::size_t round = 0; round < side.rounds; ++round)
      sum.of_metric[round] += value_in(values, round);
  }
  return sum;
}

std::vector<std::uint32_t> list_layouts(const Recording& session, std::size_t command,
                                        const std::string& metric) {
  std::vector<std::uint32_t> layouts;
  if (count_layouts(session, command) < 2) return layouts;
  const auto index = find_metric(session.metrics, metric);
  for (const std::uint32_t run : session.runs.of_command(command))
    if (index && session.runs.value(run, *index)) layouts.push_back(session.runs.row(run).layout);
  return layouts;
}

std::optional<Side> find_side(const Recording& session, std::size_t command,
                              const std::string& metric, const MetricResult& row) {
  if (command >= session.function_tables.size()) return std::nullopt;
  const FunctionTable& table = session.function_tables[command];
  const std::size_t place = table.find(metric);
  if (place == table.metrics.size() || !row.mean()) return std::nullopt;
  const std::size_t rounds = table.metrics[place].rounds;
  if (rounds != (row.summary ? row.summary->count : 0)) return std::nullopt;
  return Side{&table, place, rounds, *row.mean(), list_layouts(session, command, metric)};
}

std::optional<Side> candidate_side(const Results& results, std::size_t metric,
                                   std::size_t command) {
  const MetricResult* row = row_of(results.commands[command], metric);
  if (row == nullptr) return std::nullopt;
  return find_side(results.session, command, results.session.metrics[metric].name, *row);
}

std::optional<Side> reference_side(const Results& results, std::size_t metric,
                                   std::size_t candidate) {
  const OtherSide other = other_side_of(results.session, candidate);
  const MetricResult row = result_of_reference(results, candidate, metric);
  return find_side(other.session, other.command, results.session.metrics[metric].name, row);
}

std::vector<double> all_rounds(const RoundValues& values, std::size_t rounds) {
  std::vector<double> all(rounds);
  for (std::size_t i = 0; i < rounds; ++i) all[i] = value_in(values, i);
  return all;
}

/// The squared standard error of a mean, and the number of independent values: layouts with
/// --layouts, else runs.
struct MeanError {
  double squared = 0.0;
  std::size_t values = 0;
};

std::optional<MeanError> error_of_mean(const Side& side, const RoundValues& of_function) {
  const std::vector<double> values = all_rounds(of_function, side.rounds);
  if (!side.layouts.empty()) {
    const auto over = stats::mean_over_layouts({values, side.layouts});
    return over ? std::optional(MeanError{over->squared_standard_error, over->layout_count})
                : std::nullopt;
  }
  if (side.rounds < kMinFunctionRounds) return std::nullopt;
  return MeanError{*stats::moments(values).variance / static_cast<double>(side.rounds),
                   side.rounds};
}

/// Returns the p value of the difference, and sets half_width of `change`. Returns 1 and sets
/// nothing if the errors are unknown or 0.
double test(const Side& reference, const RoundValues& before, const Side& candidate,
            const RoundValues& after, double confidence, FunctionChange& change) {
  const auto first = error_of_mean(reference, before);
  const auto second = error_of_mean(candidate, after);
  if (!first || !second || first->squared + second->squared == 0.0) return 1.0;
  const double degrees =
      stats::welch_degrees(first->squared, first->values, second->squared, second->values);
  const double error = std::sqrt(first->squared + second->squared);
  change.half_width = error * stats::student_t_quantile_above((1.0 - confidence) / 2.0, degrees);
  return 2.0 * stats::student_t_above(std::fabs(change.difference()) / error, degrees);
}

bool varies(const RoundValues& values) {
  return values.size() > 1;
}

MetricByFunction compare(const Results& results, std::size_t metric, std::size_t command,
                         const Side& reference, const Side& candidate) {
  const double confidence = results.session.confidence;
  // If values are sampled, equal values prove nothing.
  const bool by_samples = is_sampled_time(results.session.metrics[metric]);

  MetricByFunction changes{.metric = metric,
                           .candidate = command,
                           .mean_of_whole_reference = reference.mean,
                           .mean_of_whole_candidate = candidate.mean,
                           .rounds = std::min(reference.rounds, candidate.rounds)};

  std::vector<std::size_t> varying;
  std::vector<double> p;
  const std::vector<FunctionToPair> rows_before = reference.list_rows();
  const std::vector<FunctionToPair> rows_after = candidate.list_rows();

  for (PairedFunction& pair : pair_functions(rows_before, rows_after)) {
    const Values before = add_up(reference, rows_before, pair.reference_rows);
    const Values after = add_up(candidate, rows_after, pair.candidate_rows);

    FunctionChange change{.name = std::move(pair.name),
                          .other_names = std::move(pair.other_names),
                          .paired_by = pair.paired_by,
                          .reference_mean = mean_of(before.of_metric, reference.rounds),
                          .candidate_mean = mean_of(after.of_metric, candidate.rounds)};
    if (change.reference_mean == 0.0 && change.candidate_mean == 0.0) continue;

    change.is_new = !by_samples && !before.has_any_metric;
    change.is_gone = !by_samples && !after.has_any_metric;

    // Counts that are equal in at least two rounds need no test.
    if (by_samples || varies(before.of_metric) || varies(after.of_metric) || changes.rounds < 2) {
      change.certainty = Certainty::Unproven;
      varying.push_back(changes.functions.size());
      p.push_back(
          test(reference, before.of_metric, candidate, after.of_metric, confidence, change));
    }
    changes.functions.push_back(std::move(change));
  }

  // Of so many functions, some would differ by chance.
  const std::vector<bool> differ = gate::benjamini_hochberg(p, 1.0 - confidence);
  for (std::size_t i = 0; i < varying.size(); ++i)
    if (differ[i]) changes.functions[varying[i]].certainty = Certainty::Significant;

  std::ranges::stable_sort(changes.functions, [](const auto& a, const auto& b) {
    return std::pair(std::fabs(a.difference()), a.is_sure()) >
           std::pair(std::fabs(b.difference()), b.is_sure());
  });
  return changes;
}

/// True if some run of each side gave the metric and succeeded, or may have.
bool has_success(const Results& results, std::size_t metric, std::size_t candidate) {
  const Recording& session = results.session;
  const auto& baseline = session.reference.baseline;
  const Series reference =
      baseline ? baseline_series(*baseline, candidate, metric)
               : make_series(session, metric, session.reference.index_for(candidate));
  return !reference.has_only_failed_runs() &&
         !make_series(session, metric, candidate).has_only_failed_runs();
}

}  // namespace

void compare_functions(Results& results) {
  results.function_changes.clear();
  for (const std::size_t metric : function_metrics(results)) {
    const bool is_gated =
        std::ranges::find(results.findings.verdicts, metric, &gate::Verdict::metric) !=
        results.findings.verdicts.end();
    if (results.session.metrics[metric].shown != Shown::Always && !is_gated) continue;
    for (const std::size_t candidate : find_candidates(results)) {
      if (!find_metric_differences(results.session, metric, candidate).empty()) continue;
      const auto before = reference_side(results, metric, candidate);
      const auto after = candidate_side(results, metric, candidate);
      if (before && after && has_success(results, metric, candidate))
        results.function_changes.push_back(compare(results, metric, candidate, *before, *after));
    }
  }
}

const MetricByFunction* find_changes(const Results& results, std::size_t metric,
                                     std::size_t candidate) {
  for (const MetricByFunction& changes : results.function_changes)
    if (changes.metric == metric && changes.candidate == candidate) return &changes;
  return nullptr;
}

std::optional<MetricByFunction> list_functions(const Results& results, std::size_t metric,
                                               std::size_t command) {
  const auto side = candidate_side(results, metric, command);
  if (!side) return std::nullopt;
  return compare(results, metric, command, Side{.rounds = side->rounds}, *side);
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
