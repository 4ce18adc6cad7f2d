#include "run/progress.h"

#include "stats/distributions.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lauka {

using Seconds = std::chrono::duration<double>;

void enter_remaining(double seconds, Progress& progress) {
  constexpr double longest = 1e9;  // seconds; more would overflow nanoseconds, and is of no use
  const double elapsed = Seconds(progress.elapsed).count();
  const double left = std::clamp(seconds, 0.0, longest);
  progress.remaining = std::chrono::nanoseconds(static_cast<std::int64_t>(left * 1e9));
  progress.done = elapsed + left > 0.0 ? elapsed / (elapsed + left) : 0.0;
}

void DifferenceWatch::add_run(const RunRecord& run) {
  if (run.step.kind != RoundKind::Timed || run.usage.wall_ns == 0 || plan_.reference.baseline)
    return;
  const std::size_t command = run.step.command;
  all_[command].latest = std::log(static_cast<double>(run.usage.wall_ns));
  all_[command].round = run.step.round;
  if (command != plan_.reference.command) return compare(command, run.step.round);
  for (std::size_t other = 0; other < all_.size(); ++other)
    if (other != command) compare(other, run.step.round);
}

/// Enters the difference within `round`, if both commands have run in it.
void DifferenceWatch::compare(std::size_t command, std::uint32_t round) {
  const OfCommand& reference = all_[plan_.reference.command];
  OfCommand& own = all_[command];
  if (!own.latest || !reference.latest || own.round != round || reference.round != round) return;
  const double difference = *own.latest - *reference.latest;
  const double before = difference - own.mean;
  own.mean += before / static_cast<double>(++own.rounds);
  own.squares += before * (difference - own.mean);
}

std::optional<DifferenceSoFar> DifferenceWatch::of_command(std::size_t command) const {
  if (plan_.setting.layouts > 1) return std::nullopt;  // its interval is over rounds, not over layouts
  constexpr std::uint64_t fewest = 5;
  const auto has_difference = [&](std::size_t place) {
    return plan_.reference.is_candidate(place) && all_[place].rounds >= fewest;
  };
  for (std::size_t place = 0; !has_difference(command) && place < all_.size(); ++place)
    if (has_difference(place)) command = place;
  if (!has_difference(command)) return std::nullopt;
  const OfCommand& own = all_[command];
  const auto rounds = static_cast<double>(own.rounds);
  const double half = stats::student_t_quantile_above(0.025, rounds - 1.0) *
                      std::sqrt(own.squares / (rounds - 1.0) / rounds);
  return DifferenceSoFar{plan_.commands[command].name, std::expm1(own.mean),
                         std::expm1(own.mean - half), std::expm1(own.mean + half)};
}

void SuiteProgress::show(std::size_t benchmark, const std::string& name, const Progress& own) {
  enter(benchmark, own.remaining);
  const std::string shown =
      name + ": " + std::string(own.difference ? own.difference->candidate : own.command);
  Progress all = own;
  all.command = shown;
  if (all.difference) all.difference->candidate = shown;
  all.elapsed = clock_.now() - began_;
  all.remaining.reset();
  all.done = 0.0;
  if (const auto left = seconds_left()) enter_remaining(*left, all);
  shown_.progress(all);
}

void SuiteProgress::finish(std::size_t benchmark) {
  enter(benchmark, std::chrono::nanoseconds(0));
  if (--open_ == 0) shown_.finished();
}

void SuiteProgress::enter(std::size_t benchmark, std::optional<std::chrono::nanoseconds> left) {
  std::optional<double>& known = left_[benchmark];
  if (known) known_ -= *known;
  if (known) --known_parts_;
  known = left ? std::optional(Seconds(*left).count()) : std::nullopt;
  if (known) known_ += *known;
  if (known) ++known_parts_;
}

/// Estimates a benchmark without progress as the mean of the others.
std::optional<double> SuiteProgress::seconds_left() const {
  if (known_parts_ == 0) return std::nullopt;
  return known_ / static_cast<double>(known_parts_) * static_cast<double>(left_.size());
}

}  // namespace lauka
