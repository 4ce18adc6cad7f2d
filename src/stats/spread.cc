// The change of a statistic that has no interval of its own, by the jackknife of its logarithm: R.
// G. Miller, "Jackknifing variances", Annals of Mathematical Statistics 39 (1968). It takes the
// kurtosis from the samples, so it holds for times, whose tails are long, where the F test does
// not. Up to kGroups rounds are left out one at a time, as Miller does; more are left out in that
// many groups of neighbours, which a drift of the machine moves together, and so makes the interval
// wider (and which quantiles need: Shao & Wu, Annals of Statistics 17, 1989).

#include "stats/delta.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace lauka::stats {
namespace {

constexpr std::size_t kGroups = 20;

using Places = std::vector<std::size_t>;
/// The logarithm of a statistic of the rounds at some places; nullopt if it is not defined.
using LogStatistic = std::function<std::optional<double>(const Places&)>;

struct Estimate {
  double value = 0.0;
  double squared_error = 0.0;
  std::size_t groups = 0;
};

/// Returns the mean of the pseudovalues of `rounds` rounds, which has little of the statistic's
/// bias.
std::optional<Estimate> jackknifed(std::size_t rounds, const LogStatistic& statistic) {
  const std::size_t groups = std::min(rounds, kGroups);
  if (groups < 2) return std::nullopt;
  Places all(rounds);
  std::iota(all.begin(), all.end(), 0);
  const auto whole = statistic(all);
  if (!whole) return std::nullopt;
  std::vector<double> pseudo;
  for (std::size_t group = 0; group < groups; ++group) {
    Places kept = all;
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(group * rounds / groups),
               kept.begin() + static_cast<std::ptrdiff_t>((group + 1) * rounds / groups));
    const auto part = statistic(kept);
    if (!part) return std::nullopt;
    const auto count = static_cast<double>(groups);
    pseudo.push_back(count * *whole - (count - 1.0) * *part);
  }
  const Moments about = moments(pseudo);
  return Estimate{about.mean, about.variance.value_or(0.0) / static_cast<double>(groups), groups};
}

Change change_between(const std::optional<Estimate>& reference,
                      const std::optional<Estimate>& candidate, double tail) {
  if (!reference || !candidate) return {};
  const double difference = candidate->value - reference->value;
  const double squared_error = reference->squared_error + candidate->squared_error;
  const double degrees = welch_degrees(reference->squared_error, reference->groups,
                                       candidate->squared_error, candidate->groups);
  const double reach = student_t_quantile_above(tail, degrees) * std::sqrt(squared_error);
  return {.change = std::expm1(difference),
          .bounds = ChangeBounds{std::expm1(difference - reach), std::expm1(difference + reach)}};
}

std::vector<double> at(std::span<const double> samples, const Places& places) {
  std::vector<double> chosen;
  chosen.reserve(places.size());
  for (const std::size_t place : places) chosen.push_back(samples[place]);
  return chosen;
}

std::optional<double> log_of(double value) {
  return value > 0.0 ? std::optional(std::log(value)) : std::nullopt;
}

std::optional<Estimate> log_deviation(std::span<const double> samples) {
  return jackknifed(samples.size(), [&](const Places& places) -> std::optional<double> {
    const Moments about = moments(at(samples, places));
    if (!about.variance || is_rounding_error(about.range(), about.mean)) return std::nullopt;
    return log_of(about.deviation());
  });
}

/// Returns the log width of the delta's interval, averaged over `parts` interleaved parts of the
/// rounds.
std::optional<Estimate> log_width(const Rounds& rounds, std::size_t parts, bool paired,
                                  const IntervalTails& tails) {
  return jackknifed(rounds.reference.size(), [&](const Places& places) -> std::optional<double> {
    double sum = 0.0;
    for (std::size_t part = 0; part < parts; ++part) {
      Places own;
      for (std::size_t i = part; i < places.size(); i += parts) own.push_back(places[i]);
      if (own.empty()) return std::nullopt;
      const Delta delta =
          delta_of(at(rounds.reference, own), at(rounds.candidate, own), paired, tails);
      const auto width =
          delta.bounds ? log_of(delta.bounds->high - delta.bounds->low) : std::nullopt;
      if (!width) return std::nullopt;
      sum += *width;
    }
    return sum / static_cast<double>(parts);
  });
}

}  // namespace

Change spread_change(std::span<const double> reference, std::span<const double> candidate,
                     double tail) {
  return change_between(log_deviation(reference), log_deviation(candidate), tail);
}

Change width_change(const Rounds& before, const Rounds& after, bool paired,
                    const IntervalTails& tails) {
  const auto rounds = [](const Rounds& all) {
    return std::max<std::size_t>(all.reference.size(), 1);
  };
  const auto parts = [](std::size_t more, std::size_t fewer) {
    return std::max<std::size_t>((more + fewer / 2) / fewer, 1);
  };
  return change_between(log_width(before, parts(rounds(before), rounds(after)), paired, tails),
                        log_width(after, parts(rounds(after), rounds(before)), paired, tails),
                        tails.tail);
}

}  // namespace lauka::stats
