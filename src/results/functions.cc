#include "results/functions.h"

#include "core/functions.h"
#include "gate/verdict.h"
#include "stats/delta.h"
#include "stats/distributions.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

namespace lauka {

namespace {

/// A metric of the functions of one command.
struct Side {
  const FunctionTable* table = nullptr;  // null: the empty side of list_functions
  std::size_t place = 0;                 // index of the metric in the table
  std::size_t rounds = 0;
  double mean = 0.0;  // mean of the whole command

  const RoundValues* find(std::string_view name) const {
    if (table == nullptr) return nullptr;
    const auto found = table->functions.find(name);
    return found == table->functions.end() ? nullptr : &found->second[place];
  }
};

/// Returns a side; nullopt if a run with a value of the metric lacks its functions.
std::optional<Side> find_side(const std::vector<FunctionTable>& tables, std::size_t command,
                              const std::string& metric, const MetricResult& row) {
  if (command >= tables.size()) return std::nullopt;
  const FunctionTable& table = tables[command];
  const std::size_t place = table.find(metric);
  if (place == table.metrics.size() || !row.mean()) return std::nullopt;
  const std::size_t rounds = table.metrics[place].rounds;
  if (rounds != (row.summary ? row.summary->count : 0)) return std::nullopt;
  return Side{&table, place, rounds, *row.mean()};
}

std::optional<Side> candidate_side(const Results& results, std::size_t metric,
                                   std::size_t command) {
  const MetricResult* row = row_of(results.commands[command], metric);
  if (row == nullptr) return std::nullopt;
  return find_side(results.session.functions, command, results.session.metrics[metric].name, *row);
}

std::optional<Side> reference_side(const Results& results, std::size_t metric,
                                   std::size_t candidate) {
  const auto& baseline = results.session.reference.baseline;
  const MetricResult row = row_of_reference(results, candidate, metric);
  return baseline ? find_side(baseline->session->functions, baseline->commands[candidate],
                              results.session.metrics[metric].name, row)
                  : find_side(results.session.functions, results.session.reference.command,
                              results.session.metrics[metric].name, row);
}

std::vector<double> all_rounds(const RoundValues* values, std::size_t rounds) {
  std::vector<double> all(rounds);
  for (std::size_t i = 0; values != nullptr && i < rounds; ++i) all[i] = value_in(*values, i);
  return all;
}

/// Sets the interval of a difference of varying values. Returns the p value of the difference; 1 if
/// there are too few rounds, or each side's values are all equal.
double test(const Side& reference, const Side& candidate, double confidence,
            FunctionChange& change) {
  if (std::min(reference.rounds, candidate.rounds) < kMinFunctionRounds) return 1.0;
  const auto a = stats::moments(all_rounds(reference.find(change.name), reference.rounds));
  const auto b = stats::moments(all_rounds(candidate.find(change.name), candidate.rounds));
  const double first = *a.variance / static_cast<double>(reference.rounds);
  const double second = *b.variance / static_cast<double>(candidate.rounds);
  if (first + second == 0.0) return 1.0;
  const double degrees = stats::welch_degrees(first, reference.rounds, second, candidate.rounds);
  const double error = std::sqrt(first + second);
  change.half_width = error * stats::student_t_quantile_above((1.0 - confidence) / 2.0, degrees);
  return 2.0 * stats::student_t_above(std::fabs(change.difference()) / error, degrees);
}

bool varies(const RoundValues* values) {
  return values != nullptr && values->size() > 1;
}

std::set<std::string_view> names_of(const Side& reference, const Side& candidate) {
  std::set<std::string_view> names;
  for (const Side* side : {&reference, &candidate})
    if (side->table != nullptr)
      for (const auto& [name, values] : side->table->functions) names.insert(name);
  return names;
}

/// Compares two sides. `by_samples`: values vary by nature, so that equal values prove nothing.
FunctionChanges compare(const Side& reference, const Side& candidate, double confidence,
                        bool by_samples) {
  FunctionChanges changes;
  changes.reference = reference.mean;
  changes.total = candidate.mean;
  changes.rounds = std::min(reference.rounds, candidate.rounds);
  std::vector<std::size_t> varying;
  std::vector<double> p;
  for (const std::string_view name : names_of(reference, candidate)) {
    const RoundValues* before = reference.find(name);
    const RoundValues* after = candidate.find(name);
    FunctionChange change{.name = std::string(name)};
    if (before != nullptr) change.reference = mean_of(*before, reference.rounds);
    if (after != nullptr) change.candidate = mean_of(*after, candidate.rounds);
    if (change.reference == 0.0 && change.candidate == 0.0) continue;
    change.is_new = !by_samples && change.reference == 0.0;
    change.is_gone = !by_samples && change.candidate == 0.0;
    if (by_samples || varies(before) || varies(after) || changes.rounds < 2) {
      change.certainty = Certainty::Varying;
      varying.push_back(changes.functions.size());
      p.push_back(test(reference, candidate, confidence, change));
    }
    changes.functions.push_back(std::move(change));
  }
  const std::vector<bool> differ = gate::benjamini_hochberg(p, 1.0 - confidence);
  for (std::size_t i = 0; i < varying.size(); ++i)
    if (differ[i]) changes.functions[varying[i]].certainty = Certainty::Significant;
  std::ranges::stable_sort(changes.functions, [](const auto& a, const auto& b) {
    return std::pair(a.is_sure(), std::fabs(a.difference())) >
           std::pair(b.is_sure(), std::fabs(b.difference()));
  });
  return changes;
}

}  // namespace

std::optional<FunctionChanges> compare_functions(const Results& results, std::size_t metric,
                                                 std::size_t candidate) {
  if (results.session.functions.empty()) return std::nullopt;
  const auto before = reference_side(results, metric, candidate);
  const auto after = candidate_side(results, metric, candidate);
  if (!before || !after) return std::nullopt;
  FunctionChanges changes = compare(*before, *after, results.session.confidence,
                                    is_sampled(results.session.metrics[metric]));
  changes.metric = metric;
  changes.candidate = candidate;
  return changes;
}

std::optional<FunctionChanges> list_functions(const Results& results, std::size_t metric,
                                              std::size_t command) {
  const auto side = candidate_side(results, metric, command);
  if (!side) return std::nullopt;
  FunctionChanges changes = compare(Side{.rounds = side->rounds}, *side, results.session.confidence,
                                    is_sampled(results.session.metrics[metric]));
  changes.metric = metric;
  changes.candidate = command;
  return changes;
}

std::vector<std::size_t> function_metrics(const Results& results) {
  std::vector<std::size_t> metrics;
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m)
    if (std::ranges::any_of(results.session.functions, [&](const FunctionTable& table) {
          return table.find(results.session.metrics[m].name) < table.metrics.size();
        }))
      metrics.push_back(m);
  return metrics;
}

}  // namespace lauka
