#include "run/precision.h"

#include "plan/baseline.h"
#include "stats/delta.h"
#include "stats/moments.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

namespace lauka {
namespace {

constexpr std::string_view kWallTime = "wall_time";

constexpr std::uint64_t kFewestRounds = 10;  // below, a narrow interval is luck too often

/// An interval shrinks with the root of the rounds, by half a percent for one percent more: to look
/// more often would cost the square of the rounds for nothing. Up to 100 it is every round.
constexpr std::uint64_t kRoundsPerNewOne = 100;

/// The wider of both; none where one has no bounds.
std::optional<double> wider(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return std::max(*a, *b);
}

}  // namespace

PrecisionWatch::PrecisionWatch(const Plan& plan, double gate_confidence)
    : wanted_(plan.precision),
      plan_(plan),
      confidence_(confidence_of(gate_confidence)),
      earliest_(std::max(plan.stop.min_runs, kFewestRounds)),
      commands_(plan.commands.size()) {
  if (!wanted_) return;
  for (const Metric& metric : plan.metrics) {
    if (metric.name != kWallTime) continue;
    metric_ = &metric;
    wall_time_.emplace(metric, plan.events, commands_);
  }
}

void PrecisionWatch::take(const RunRecord& run) {
  if (wall_time_) wall_time_->take(run);
}

bool PrecisionWatch::is_enough(std::size_t first, std::size_t count, std::uint64_t rounds) {
  if (!wall_time_ || rounds < earliest_) return false;
  const bool is_next_group = first != looked_first_;
  if (!is_next_group && rounds < looked_at_ + looked_at_ / kRoundsPerNewOne) return false;
  looked_at_ = rounds;
  looked_first_ = first;
  if (first < first_candidate(plan_) && count == 1) {
    const double share = commands_ == 1 ? 1.0 : 1.0 / std::numbers::sqrt2;
    const auto half_width = half_width_of_mean(first);
    return half_width && *half_width <= share * *wanted_;
  }
  const bool is_alone = count == 1 && !plan_.baseline;
  for (std::size_t c = std::max(first, first_candidate(plan_)); c < first + count; ++c) {
    if (is_too_wide(c) && !(is_alone && has_its_share(c, c))) return false;
  }
  return true;
}

bool PrecisionWatch::wants_more_of(std::size_t command) const {
  if (!wall_time_ || plan_.baseline) return false;
  const bool is_candidate = command >= first_candidate(plan_);
  for (std::size_t c = first_candidate(plan_); c < commands_; ++c) {
    if ((is_candidate && c != command) || !is_too_wide(c)) continue;
    if (!has_its_share(command, c) || has_its_share(is_candidate ? 0 : c, c)) return true;
  }
  return false;
}

bool PrecisionWatch::has_its_share(std::size_t command, std::size_t candidate) const {
  const auto own = half_width_of_mean(command);
  if (!own) return false;
  const double ratio = stats::moments(wall_time_->of(candidate).values).mean /
                       stats::moments(wall_time_->of(0).values).mean;
  return *own * ratio <= *wanted_ / std::numbers::sqrt2;
}

bool PrecisionWatch::is_too_wide(std::size_t candidate) const {
  const auto half_width = half_width_of_delta(candidate);
  return !half_width || *half_width > *wanted_;
}

double PrecisionWatch::confidence_of(double gate_confidence) const {
  return is_gated(plan_, kWallTime) ? gate_confidence : plan_.confidence;
}

std::optional<Precision> PrecisionWatch::close(PrecisionEnd end, double gate_confidence) {
  if (!wall_time_) return std::nullopt;
  confidence_ = confidence_of(gate_confidence);
  Precision result{.wanted = *wanted_, .half_width = 0.0, .runs = 0, .end = end};
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (std::size_t c = 0; c < commands_; ++c)
    fewest = std::min(fewest, wall_time_->of(c).values.size());
  result.runs = fewest;
  if (commands_ == 1 && !plan_.baseline) result.half_width = half_width_of_mean(0);
  for (std::size_t c = first_candidate(plan_); c < commands_; ++c)
    result.half_width = wider(result.half_width, half_width_of_delta(c));
  const bool is_reached = result.half_width && *result.half_width <= *wanted_;
  if (is_reached) result.end = PrecisionEnd::Reached;
  if (!is_reached && end == PrecisionEnd::Reached) result.end = PrecisionEnd::Gates;
  return result;
}

std::optional<double> PrecisionWatch::half_width_of_mean(std::size_t command) const {
  const std::vector<double>& values = wall_time_->of(command).values;
  if (values.empty()) return std::nullopt;
  const double mean = stats::moments(values).mean;
  const auto half_width = stats::mean_half_width(values, confidence_);
  if (!half_width || mean <= 0.0) return std::nullopt;
  return *half_width / mean;
}

std::optional<double> PrecisionWatch::half_width_of_delta(std::size_t candidate) const {
  const Comparison samples = samples_of(plan_, *metric_, *wall_time_, candidate);
  if (samples.is_empty()) return std::nullopt;
  return (samples.paired ? stats::paired_delta(samples.reference, samples.candidate, confidence_)
                         : stats::unpaired_delta(samples.reference, samples.candidate, confidence_))
      .half_width;
}

}  // namespace lauka
