#include "results/report.h"

#include "stats/delta.h"

#include <algorithm>
#include <utility>

namespace lauka {
namespace {

/// The delta of a benchmark's candidate at a place; null if missing that a mean could be
/// made of.
const stats::Delta* delta_at(const Results& results, std::size_t place) {
  const auto metric = primary_metric(results.metrics);
  const auto candidates = candidates_of(results);
  if (!metric || place >= candidates.size()) return nullptr;
  const MetricResult* row = row_of(results.commands[candidates[place]], metric);
  return row != nullptr && row->delta && row->delta->change && *row->delta->change > -1.0
             ? &*row->delta
             : nullptr;
}

Geomean geomean_at(const std::vector<Results>& benchmarks, std::size_t place) {
  Geomean mean{.place = place};
  std::vector<stats::Change> changes;
  bool has_one_name = true;
  for (const Results& one : benchmarks) {
    const stats::Delta* delta = delta_at(one, place);
    if (delta == nullptr) continue;
    const Metric& metric = one.metrics[*primary_metric(one.metrics)];
    if (mean.metric.empty()) {
      mean.metric = metric.name;
      mean.better = metric.better;
    }
    if (metric.name != mean.metric) continue;
    const std::string& name = one.commands[candidates_of(one)[place]].name;
    has_one_name = has_one_name && (mean.benchmarks == 0 || name == mean.candidate);
    mean.candidate = name;
    ++mean.benchmarks;
    changes.push_back(*delta);
  }
  if (!has_one_name) mean.candidate.clear();
  static_cast<stats::Change&>(mean.change) = stats::geometric_mean(changes);
  mean.change.basis = stats::Basis::Typical;
  mean.change.mean = mean.change;
  return mean;
}

}  // namespace

bool Report::complete() const {
  return std::ranges::all_of(benchmarks, [](const Results& one) { return one.complete; });
}

std::vector<gate::Verdict> Report::verdicts() const {
  std::vector<gate::Verdict> all;
  for (const Results& one : benchmarks)
    all.insert(all.end(), one.verdicts.begin(), one.verdicts.end());
  return all;
}

std::vector<std::size_t> candidates_of(const Results& results) {
  std::vector<std::size_t> candidates;
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    if (results.reference.is_candidate(c)) candidates.push_back(c);
  return candidates;
}

Report report_of(std::vector<Results> benchmarks, gate::Risk risk) {
  Report suite{.benchmarks = std::move(benchmarks), .risk = risk};
  std::size_t most = 0;
  for (const Results& one : suite.benchmarks) most = std::max(most, candidates_of(one).size());
  for (std::size_t place = 0; place < most; ++place) {
    Geomean mean = geomean_at(suite.benchmarks, place);
    if (mean.benchmarks > 1) suite.geomeans.push_back(std::move(mean));
  }
  return suite;
}

}  // namespace lauka
