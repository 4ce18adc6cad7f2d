#include "results/sides.h"

#include "results/analyse.h"
#include "session/baseline.h"
#include "stats/delta.h"
#include "stats/distributions.h"
#include "stats/layouts.h"
#include "stats/summary.h"

#include <cmath>
#include <string>

namespace lauka {

namespace {

std::vector<std::uint32_t> list_layouts(const MeasuredCommand& of, const std::string& metric) {
  std::vector<std::uint32_t> layouts;
  if (count_layouts(of.session, of.index) < 2) return layouts;
  const auto index = find_metric(of.session.metrics, metric);
  const Runs& runs = of.session.runs;
  for (const std::uint32_t run : runs.of_command(of.index))
    if (index && runs.value(run, *index)) layouts.push_back(runs.row(run).layout);
  return layouts;
}

std::optional<FunctionSide> find_side(const MeasuredCommand& of, const std::string& metric,
                                      const MetricResult& row) {
  if (of.index >= of.session.function_tables.size()) return std::nullopt;
  const FunctionTable& table = of.session.function_tables[of.index];
  const std::size_t place = table.find(metric);
  if (place == table.metrics.size() || !row.mean()) return std::nullopt;
  const std::size_t rounds = table.metrics[place].rounds;
  if (rounds != (row.summary ? row.summary->count : 0)) return std::nullopt;
  return FunctionSide{&table, place, rounds, *row.mean(), list_layouts(of, metric)};
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

std::optional<MeanError> error_of_mean(const FunctionSide& side, const RoundValues& of_function) {
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

}  // namespace

std::vector<FunctionToPair> FunctionSide::list_rows() const {
  std::vector<FunctionToPair> rows;
  if (table == nullptr) return rows;
  rows.reserve(table->functions.size());
  for (const auto& [name, values] : table->functions)
    rows.push_back({name, table->other_names_of(name), mean_of(values[place], rounds)});
  return rows;
}

std::optional<FunctionSide> candidate_side(const Results& results, std::size_t metric,
                                           std::size_t command) {
  const MetricResult* row = row_of(results.commands[command], metric);
  if (row == nullptr) return std::nullopt;
  return find_side(find_measured(results.session, command), results.session.metrics[metric].name,
                   *row);
}

std::optional<FunctionSide> reference_side(const Results& results, std::size_t metric,
                                           std::size_t candidate) {
  const std::size_t reference = pair_of(results.session, candidate).reference;
  return find_side(find_measured(results.session, reference), results.session.metrics[metric].name,
                   result_of_reference(results, candidate, metric));
}

DifferenceTest test_difference(const SideValues& reference, const SideValues& candidate,
                               double confidence) {
  const auto first = error_of_mean(reference.side, reference.values);
  const auto second = error_of_mean(candidate.side, candidate.values);
  if (!first || !second || first->squared + second->squared == 0.0) return {};

  const double degrees =
      stats::welch_degrees(first->squared, first->values, second->squared, second->values);
  const double error = std::sqrt(first->squared + second->squared);
  const double difference = mean_of(candidate.values, candidate.side.rounds) -
                            mean_of(reference.values, reference.side.rounds);
  return {2.0 * stats::student_t_above(std::fabs(difference) / error, degrees),
          error * stats::student_t_quantile_above((1.0 - confidence) / 2.0, degrees)};
}

std::vector<bool> find_significant(const std::vector<DifferenceTest>& tests, double confidence) {
  std::vector<double> p;
  p.reserve(tests.size());
  for (const DifferenceTest& test : tests) p.push_back(test.p);
  return gate::benjamini_hochberg(p, 1.0 - confidence);
}

}  // namespace lauka
