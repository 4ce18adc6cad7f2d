#include "results/sides.h"

#include "results/analyse.h"
#include "session/baseline.h"
#include "session/series.h"
#include "stats/delta.h"
#include "stats/distributions.h"
#include "stats/layouts.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace lauka {

namespace {

std::optional<FunctionSide> find_side(const MeasuredCommand& of, const std::string& metric,
                                      const MetricResult& row) {
  if (of.index >= of.session.function_tables.size()) return std::nullopt;
  const FunctionTable& table = of.session.function_tables[of.index];
  const std::size_t place = table.find(metric);
  if (place == table.metrics.size() || !row.mean()) return std::nullopt;
  const std::size_t rounds = table.metrics[place].rounds;
  if (rounds != (row.summary ? row.summary->count : 0)) return std::nullopt;

  const auto index = find_metric(of.session.metrics, metric);
  Series series = index ? make_series(of.session, *index, of.index) : Series{};
  return FunctionSide{.table = &table,
                      .place = place,
                      .rounds = rounds,
                      .mean = *row.mean(),
                      .series = std::move(series)};
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

std::optional<MeanError> error_of_mean(const FunctionSide& side,
                                       const std::vector<double>& values) {
  if (!side.series.layouts.empty()) {
    const auto over = stats::mean_over_layouts({values, side.series.layouts});
    return over ? std::optional(MeanError{over->squared_standard_error, over->layout_count})
                : std::nullopt;
  }
  if (side.rounds < kMinFunctionRounds) return std::nullopt;
  return MeanError{*stats::moments(values).variance / static_cast<double>(side.rounds),
                   side.rounds};
}

DifferenceTest test_mean(double difference, double error, double degrees, double confidence) {
  return {2.0 * stats::student_t_above(std::fabs(difference) / error, degrees),
          error * stats::student_t_quantile_above((1.0 - confidence) / 2.0, degrees)};
}

/// Tests a mean difference without noise from which t or an interval could be computed. The p value
/// comes from the number of values alone.
DifferenceTest test_without_noise(double mean_difference, std::size_t values) {
  const auto one_sided = stats::tails_without_noise(std::fabs(mean_difference), values);
  return {.p = 2.0 * one_sided.above, .half_width = std::nullopt};
}

std::vector<double> subtract_by_round(const std::vector<double>& values,
                                      const std::vector<double>& subtracted, std::size_t rounds) {
  std::vector<double> differences(rounds);
  for (std::size_t i = 0; i < rounds; ++i) differences[i] = values[i] - subtracted[i];
  return differences;
}

/// The differences of paired values, but for rounding errors, which grow with the size of the
/// values.
struct PairedDifference {
  double mean = 0.0;
  bool is_always_the_same = false;  ///< true if the values vary, but not their difference
};

PairedDifference find_paired_difference(const std::vector<double>& reference,
                                        const std::vector<double>& candidate,
                                        const std::vector<double>& differences) {
  const stats::Moments of_reference = stats::moments(reference);
  const stats::Moments of_differences = stats::moments(differences);
  const double scale = of_reference.mean + stats::moments(candidate).mean;
  return {.mean = stats::without_rounding_error(of_differences.mean, scale),
          .is_always_the_same = of_reference.range() > 0.0 &&
                                stats::is_rounding_error(of_differences.range(), scale)};
}

/// Tests if the mean difference within rounds is 0, by Student's t test for paired samples. Returns
/// a result without significance if nothing can be said.
DifferenceTest test_within_rounds(const FunctionSide& side, const std::vector<double>& reference,
                                  const std::vector<double>& candidate, double confidence) {
  const std::vector<double> differences = subtract_by_round(candidate, reference, side.rounds);
  const auto error = error_of_mean(side, differences);
  if (!error) return {};

  const PairedDifference difference = find_paired_difference(reference, candidate, differences);
  if (difference.mean == 0.0) return {};
  // A difference that is the same in each round is hardly due to chance.
  if (difference.is_always_the_same) return test_without_noise(difference.mean, error->values);

  // Values that do not vary at all cannot be tested. They need no test, either: equal counts have
  // Certainty::Exact, and equal samples prove nothing.
  if (error->squared == 0.0) return {};
  return test_mean(difference.mean, std::sqrt(error->squared),
                   static_cast<double>(error->values - 1), confidence);
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

bool lacks_callers(const FunctionSide& side) {
  return side.table != nullptr && lacks_callers(side.table->paths);
}

std::optional<FunctionSide> candidate_side(const Results& results, std::size_t metric,
                                           std::size_t command) {
  const MetricResult* row = metric_result_of(results.commands[command], metric);
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

void pair_rounds(const Recording& session, std::size_t candidate_index, FunctionSide& reference,
                 FunctionSide& candidate) {
  candidate.is_paired = pair_of(session, candidate_index).is_within_rounds &&
                        candidate.series.rounds.size() == candidate.rounds &&
                        candidate.series.rounds == reference.series.rounds;
  reference.is_paired = candidate.is_paired;
}

DifferenceTest test_difference(const SideValues& reference, const SideValues& candidate,
                               double confidence) {
  const std::vector<double> before = all_rounds(reference.values, reference.side.rounds);
  const std::vector<double> after = all_rounds(candidate.values, candidate.side.rounds);
  if (candidate.side.is_paired)
    return test_within_rounds(candidate.side, before, after, confidence);

  const auto first = error_of_mean(reference.side, before);
  const auto second = error_of_mean(candidate.side, after);
  if (!first || !second || first->squared + second->squared == 0.0) return {};

  const double degrees =
      stats::welch_degrees(first->squared, first->values, second->squared, second->values);
  const double difference = mean_of(candidate.values, candidate.side.rounds) -
                            mean_of(reference.values, reference.side.rounds);
  return test_mean(difference, std::sqrt(first->squared + second->squared), degrees, confidence);
}

std::vector<bool> find_significant(const std::vector<DifferenceTest>& tests, double confidence) {
  std::vector<double> p;
  p.reserve(tests.size());
  for (const DifferenceTest& test : tests) p.push_back(test.p);
  return gate::benjamini_hochberg(p, 1.0 - confidence);
}

}  // namespace lauka
