#include "run/progress.h"

#include "stats/distributions.h"
#include "stats/layouts.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lauka {

using Seconds = std::chrono::duration<double>;

namespace {

constexpr double kTail = 0.025;  // on each side of a 95% interval

/// Returns a difference as fractions. `log_ratio`: mean logarithm of the ratio of two times;
/// `half_width`: of its interval.
DifferenceSoFar make_difference(const std::string& candidate, double log_ratio, double half_width) {
  return {candidate, std::expm1(log_ratio), std::expm1(log_ratio - half_width),
          std::expm1(log_ratio + half_width)};
}

/// Returns the number of layouts that would be enough for --precision and all gates on changes of
/// wall time; nullopt if more runs of the present layouts would be, or if there is no such
/// precision or gate.
std::optional<std::size_t> layouts_to_answer(const Plan& plan,
                                             const stats::LayoutEstimate& estimate) {
  const auto is_wall_time = [&](std::size_t metric) {
    return plan.metrics[metric].role == Role::WallTime;
  };
  std::optional<std::size_t> most;
  if (plan.precision && is_wall_time(plan.precision->metric))
    most = estimate.layouts_instead_of_runs(
        plan.precision->relative_half_width / std::exp(estimate.value), kTail);
  for (const Gate& gate : plan.gates) {
    if (!is_wall_time(gate.metric) || !gate.condition.limit.is_change()) continue;
    const double limit = std::log1p(gate.condition.limit.fraction());
    most = std::max(most, estimate.layouts_to_decide(limit, {.above = kTail, .below = kTail}));
  }
  return most;
}

}  // namespace

void set_remaining_and_elapsed_share(double seconds, Progress& progress) {
  constexpr double longest = 1e9;  // seconds; more could overflow nanoseconds
  const double elapsed = Seconds(progress.elapsed).count();
  const double left = std::clamp(seconds, 0.0, longest);
  progress.remaining = std::chrono::nanoseconds(static_cast<std::int64_t>(left * 1e9));
  progress.elapsed_share = elapsed + left > 0.0 ? elapsed / (elapsed + left) : 0.0;
}

DifferenceWatch::DifferenceWatch(const Plan& plan)
    : plan_(plan),
      commands_(plan.commands.size(), {.of_layout = std::vector<Spread>(plan.setting.layouts)}) {
  for (std::size_t c = 0; c < commands_.size(); ++c)
    if (const auto reference = plan.reference.index_in_session(c);
        reference && plan.reference.is_candidate(c))
      commands_[*reference].candidates.push_back(c);
}

void DifferenceWatch::add_run(const RunRecord& run) {
  if (run.step.kind != RoundKind::Timed || run.usage.wall_ns == 0) return;
  const std::size_t command = run.step.command;
  commands_[command].latest_log_wall_time = std::log(static_cast<double>(run.usage.wall_ns));
  commands_[command].round = run.step.round;
  if (plan_.reference.index_in_session(command) != command)
    return compare_with_reference(command, run.step);
  for (const std::size_t candidate : commands_[command].candidates)
    compare_with_reference(candidate, run.step);
}

void DifferenceWatch::compare_with_reference(std::size_t command, const Step& step) {
  const auto reference_index = plan_.reference.index_in_session(command);
  if (!reference_index) return;
  const OfCommand& reference = commands_[*reference_index];
  OfCommand& own = commands_[command];
  if (!own.latest_log_wall_time || !reference.latest_log_wall_time || own.round != step.round ||
      reference.round != step.round)
    return;
  Spread& spread = own.of_layout[step.layout];

  // Welford's update of the mean and of the sum of squared deviations (1962).
  const double log_ratio = *own.latest_log_wall_time - *reference.latest_log_wall_time;
  const double deviation_before = log_ratio - spread.mean;
  spread.mean += deviation_before / static_cast<double>(++spread.rounds);
  spread.squared_deviations += deviation_before * (log_ratio - spread.mean);
}

// With several layouts, the interval comes from the means of the layouts, so one round in each is
// enough. Otherwise it comes from the rounds, and would be very wide if there were only a few.
bool DifferenceWatch::has_difference(std::size_t command) const {
  const std::uint64_t min_rounds = plan_.setting.layouts > 1 ? 1 : 5;
  const auto has_enough = [&](const Spread& spread) { return spread.rounds >= min_rounds; };
  return plan_.reference.is_candidate(command) &&
         std::ranges::all_of(commands_[command].of_layout, has_enough);
}

std::optional<std::size_t> DifferenceWatch::choose_shown(std::size_t command) const {
  if (has_difference(command)) return command;
  for (std::size_t other = 0; other < commands_.size(); ++other)
    if (has_difference(other)) return other;
  return std::nullopt;
}

// The progress line shows by how much a command's wall time differs from that of its reference. The
// command that runs now is preferred, but a reference never has a difference.
std::optional<DifferenceSoFar> DifferenceWatch::find_shown_difference(std::size_t command) const {
  const auto shown = choose_shown(command);
  if (!shown) return std::nullopt;
  return plan_.setting.layouts > 1 ? over_layouts(*shown) : over_rounds(*shown);
}

// The spread is that of the logarithms of the ratios of two wall times.
DifferenceSoFar DifferenceWatch::over_rounds(std::size_t command) const {
  const Spread& log_ratios = commands_[command].of_layout.front();  // of the only layout
  const auto rounds = static_cast<double>(log_ratios.rounds);
  const double variance = log_ratios.squared_deviations / (rounds - 1.0);
  const double half_width =
      stats::student_t_quantile_above(kTail, rounds - 1.0) * std::sqrt(variance / rounds);
  return make_difference(plan_.commands[command].name, log_ratios.mean, half_width);
}

std::optional<DifferenceSoFar> DifferenceWatch::over_layouts(std::size_t command) const {
  std::vector<std::pair<std::uint32_t, stats::Moments>> layouts;
  for (const Spread& spread : commands_[command].of_layout) {
    const auto degrees = static_cast<double>(spread.rounds) - 1.0;
    const auto variance =
        degrees > 0.0 ? std::optional(spread.squared_deviations / degrees) : std::nullopt;
    layouts.emplace_back(layouts.size(), stats::Moments{spread.rounds, spread.mean, variance});
  }
  const auto over = stats::mean_of_log_ratios(layouts);
  if (!over) return std::nullopt;
  DifferenceSoFar found =
      make_difference(plan_.commands[command].name, over->value, over->interval_half_width(kTail));
  found.layouts_to_answer = layouts_to_answer(plan_, *over);
  return found;
}

void SuiteProgress::show(std::size_t benchmark, const std::string& name, const Progress& own) {
  record_time_left(benchmark, own.remaining);
  const std::string shown =
      name + ": " + std::string(own.difference ? own.difference->candidate : own.command);
  Progress all = own;
  all.command = shown;
  if (all.difference) all.difference->candidate = shown;
  all.elapsed = clock_.now() - began_;
  all.remaining.reset();
  all.elapsed_share = 0.0;
  if (const auto left = seconds_left()) set_remaining_and_elapsed_share(*left, all);
  observer_.progress(all);
}

void SuiteProgress::finish(std::size_t benchmark) {
  record_time_left(benchmark, std::chrono::nanoseconds(0));
  if (--open_ == 0) observer_.finished();
}

void SuiteProgress::record_time_left(std::size_t benchmark,
                                     std::optional<std::chrono::nanoseconds> left) {
  std::optional<double>& known = left_[benchmark];
  if (known) known_seconds_left_ -= *known;
  if (known) --known_parts_;
  known = left ? std::optional(Seconds(*left).count()) : std::nullopt;
  if (known) known_seconds_left_ += *known;
  if (known) ++known_parts_;
}

std::optional<double> SuiteProgress::seconds_left() const {
  if (known_parts_ == 0) return std::nullopt;
  return known_seconds_left_ / static_cast<double>(known_parts_) *
         static_cast<double>(left_.size());
}

}  // namespace lauka
