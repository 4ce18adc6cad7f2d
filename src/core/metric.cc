#include "core/metric.h"

#include "core/own_metric.h"

#include <cmath>

#include <fmt/format.h>

namespace lauka {

namespace {

std::string percentile_prefix() {
  return std::string(metric_name_of(Role::WallTime)) + ".p";
}

/// Returns nullopt for a division by zero.
std::optional<double> apply(Operation operation, double left, double right) {
  switch (operation) {
    case Operation::Add:
      return left + right;
    case Operation::Subtract:
      return left - right;
    case Operation::Multiply:
      return left * right;
    case Operation::Divide:
      break;
  }
  if (right == 0.0) return std::nullopt;
  return left / right;
}

/// Returns nullopt, as if it had not been measured, for a value that the statistics could not
/// compute with.
std::optional<double> drop_out_of_range(std::optional<double> value) {
  return value && is_in_numeric_range(*value) ? value : std::nullopt;
}

/// Removes the samples of the layouts `failed` from both lists, which belong together by index.
void remove_failed_layouts(const std::vector<std::uint32_t>& failed, std::vector<double>& samples,
                           std::vector<std::uint32_t>& layouts) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (std::ranges::find(failed, layouts[i]) != failed.end()) continue;
    samples[kept] = samples[i];
    layouts[kept++] = layouts[i];
  }
  samples.resize(kept);
  layouts.resize(kept);
}

/// Returns the series without the values of failed runs, which must not be compared.
Series without_failed_runs(Series series) {
  // The indices are in ascending order, and are removed from the series.
  const std::vector<std::size_t> failed_indices = std::exchange(series.values_of_failed_runs, {});

  const auto drop_failed = [&](auto& list) {
    std::size_t kept_count = 0;
    auto next_failed = failed_indices.begin();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool has_failed = next_failed != failed_indices.end() && *next_failed == i;
      if (has_failed)
        ++next_failed;
      else
        list[kept_count++] = list[i];
    }
    list.resize(kept_count);
  };

  // Each list has one element for each value, or none at all.
  drop_failed(series.values);
  drop_failed(series.rounds);
  drop_failed(series.layouts);
  return series;
}

Comparison without_failed_layouts(Comparison all, const Series& reference,
                                  const Series& candidate) {
  for (const Series* series : {&reference, &candidate}) {
    if (series->failed_layouts.empty()) continue;
    remove_failed_layouts(series->failed_layouts, all.reference, all.reference_layouts);
    remove_failed_layouts(series->failed_layouts, all.candidate, all.candidate_layouts);
  }
  return all;
}

}  // namespace

std::string name_of_percentile(double percent) {
  return percentile_prefix() + fmt::format("{}", percent);
}

std::optional<double> percentile_in(std::string_view name) {
  const std::string before = percentile_prefix();
  if (!name.starts_with(before)) return std::nullopt;
  const auto percent = parse_decimal(name.substr(before.size()), {0.0, false}, {100.0, false});
  if (!percent || name != name_of_percentile(*percent)) return std::nullopt;
  return *percent;
}

std::size_t fewest_runs_for_quantile(double share, double tail) {
  const double needed = std::log(tail) / std::log(std::max(share, 1.0 - share));
  return static_cast<std::size_t>(std::max(2.0, std::ceil(needed - 1e-9)));
}

bool counts_all(const Pass& pass, const Formula& formula) {
  return std::ranges::all_of(formula.terms, [&](const Formula::Term& term) {
    const auto* counted = std::get_if<CountedEvent>(&term);
    return counted == nullptr ||
           std::ranges::find(pass.event_indices, counted->event) != pass.event_indices.end();
  });
}

RoundKind kind_of(const Metric& metric, const EventSet& events) {
  const auto first = std::ranges::find_if(
      events.passes, [&](const Pass& pass) { return counts_all(pass, metric.source); });
  const bool is_counted = first != events.passes.end() && metric.source.first_event();
  return is_counted ? first->kind : RoundKind::Timed;
}

MetricReader::MetricReader(const Metric& metric, const EventSet& events)
    : kind_(kind_of(metric, events)), may_be_bound_(metric.role == Role::PeakRss) {
  steps_.reserve(metric.source.terms.size());
  for (const Formula::Term& term : metric.source.terms) {
    Step step{term, {}, steps_.size()};
    if (const auto* counted = std::get_if<CountedEvent>(&term)) {
      const auto is_counted = [&](std::size_t event) { return event == counted->event; };
      for (const Pass& pass : events.passes)
        step.places.push_back(find_place_if(pass.event_indices, is_counted));
    } else if (std::holds_alternative<Operation>(term)) {
      step.first_step = steps_[find_left_operand(steps_.size())].first_step;
    }
    steps_.push_back(std::move(step));
  }
  if (steps_.size() > 1) values_.resize(steps_.size());
}

std::size_t MetricReader::find_left_operand(std::size_t operation) const {
  return steps_[operation - 1].first_step - 1;
}

std::optional<double> MetricReader::value(const RunRecord& run) const {
  if (run.step.kind != kind_ || std::holds_alternative<TimedOut>(run.outcome) || bound(run))
    return std::nullopt;
  return compute_value(run);
}

std::optional<double> MetricReader::bound(const RunRecord& run) const {
  if (run.step.kind != kind_ || std::holds_alternative<TimedOut>(run.outcome)) return std::nullopt;
  if (!may_be_bound_ || run.usage.peak_rss_is_known()) return std::nullopt;
  return compute_value(run);
}

std::optional<double> MetricReader::read_operand(const RunRecord& run, const Step& step) {
  if (const auto* read = std::get_if<UsageFunction>(&step.term)) {
    const double value = (*read)(run.usage);
    return std::isnan(value) ? std::nullopt : std::optional(value);
  }
  if (const auto* constant = std::get_if<double>(&step.term)) return *constant;
  if (const auto* reported = std::get_if<ReportedValue>(&step.term))
    return reported->place < run.reported.size() ? run.reported[reported->place] : std::nullopt;
  if (run.step.pass >= step.places.size()) return std::nullopt;
  const auto place = step.places[run.step.pass];
  if (!place || *place >= run.counts.size() || !run.counts[*place]) return std::nullopt;
  return static_cast<double>(*run.counts[*place]);
}

std::optional<double> MetricReader::compute_value(const RunRecord& run) const {
  if (steps_.size() == 1) return drop_out_of_range(read_operand(run, steps_.front()));
  if (steps_.empty()) return std::nullopt;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    std::optional<double> value;
    if (const auto* operation = std::get_if<Operation>(&step.term))
      value = apply(*operation, values_[find_left_operand(i)], values_[i - 1]);
    else if (const auto* same = std::get_if<RepeatedTerm>(&step.term))
      value = values_[same->place];
    else
      value = read_operand(run, step);
    if (!value) return std::nullopt;
    values_[i] = *value;
  }
  return drop_out_of_range(values_.back());
}

// A layout is one placement of the program in memory (--layouts). A run without a value may have an
// upper bound of the value instead.
void Series::add(const RunOfSeries& run, bool has_layouts) {
  const bool has_failed = is_failure(run.ending);
  if (run.ending != Ending::Unknown) ++runs_with_ending;
  if (has_failed) ++failed_runs;

  if (has_failed && has_layouts) {
    const bool is_listed = std::ranges::find(failed_layouts, run.layout) != failed_layouts.end();
    if (!is_listed) failed_layouts.push_back(run.layout);
  }

  // Failed runs are shown, but not compared. So the indices of their values are noted, and their
  // bounds are kept apart.
  if (run.value) {
    if (has_failed) values_of_failed_runs.push_back(values.size());
    values.push_back(*run.value);
    rounds.push_back(run.round);
    if (has_layouts) layouts.push_back(run.layout);
  } else if (run.bound && has_failed) {
    largest_bound_of_failed_runs = std::max(largest_bound_of_failed_runs.value_or(0.0), *run.bound);
  } else if (run.bound) {
    largest_bound = std::max(largest_bound.value_or(0.0), *run.bound);
    ++runs_with_bound;
    if (has_layouts) layouts_of_bounded_runs.push_back(run.layout);
  }
}

namespace {

/// Appends a pair of values for each round in which both commands have a value. The rounds of a
/// series ascend.
void append_values_of_common_rounds(const Series& reference, const Series& candidate,
                                    Comparison& pairs) {
  const bool has_layouts = !reference.layouts.empty();
  const std::size_t max_pairs = std::min(reference.rounds.size(), candidate.rounds.size());
  pairs.reference.reserve(max_pairs);
  pairs.candidate.reserve(max_pairs);

  std::size_t r = 0;
  std::size_t c = 0;
  while (r < reference.rounds.size() && c < candidate.rounds.size()) {
    if (reference.rounds[r] < candidate.rounds[c]) {
      ++r;
    } else if (candidate.rounds[c] < reference.rounds[r]) {
      ++c;
    } else {
      pairs.reference.push_back(reference.values[r]);
      pairs.candidate.push_back(candidate.values[c]);
      if (has_layouts) {
        pairs.reference_layouts.push_back(reference.layouts[r]);
        pairs.candidate_layouts.push_back(candidate.layouts[c]);
      }
      ++r;
      ++c;
    }
  }
}

/// True if a change can be estimated: not if of some runs only an upper bound is known, or if only
/// one command was measured with several layouts of its program in memory.
bool are_comparable(const Series& reference, const Series& candidate) {
  return !reference.largest_bound && !candidate.largest_bound &&
         reference.layouts.empty() == candidate.layouts.empty();
}

}  // namespace

// Chooses the values of two commands from which a change is estimated. If `paired`, takes only the
// rounds in which both commands have a value.
Comparison pair_samples(const Series& reference, const Series& candidate, bool paired) {
  // A failed run may have done other work, so its value is not compared.
  const bool has_failed_values =
      !reference.values_of_failed_runs.empty() || !candidate.values_of_failed_runs.empty();
  if (has_failed_values)
    return pair_samples(without_failed_runs(reference), without_failed_runs(candidate), paired);

  // An empty result says that the commands cannot be compared.
  Comparison result{.reference = {}, .candidate = {}, .paired = paired};
  if (!are_comparable(reference, candidate)) return result;

  if (paired) {
    append_values_of_common_rounds(reference, candidate, result);
  } else {
    result.reference = reference.values;
    result.candidate = candidate.values;
    result.reference_layouts = reference.layouts;
    result.candidate_layouts = candidate.layouts;
  }

  // Both commands must be compared over the same layouts. So a layout in which one of them failed
  // is left out for both.
  return without_failed_layouts(std::move(result), reference, candidate);
}

}  // namespace lauka
