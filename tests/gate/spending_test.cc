// How looks spend the error of a gate, down to the small levels of a series.

#include "gate/schedule.h"
#include "stats/distributions.h"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::gate {
namespace {

struct NormalLook {
  double rounds = 0.0;
  double level = 0.0;
};

/// The density of the sum of all rounds so far, if no look has rejected: values on a grid.
struct SumSoFar {
  double rounds = 0.0;
  std::vector<double> sums{};
  std::vector<double> masses{};  ///< densities times Simpson's weights
};

double normal_density(double z) {
  return std::exp(-z * z / 2.0) / std::sqrt(2.0 * std::numbers::pi);
}

/// Returns the sum after `look` below its bound `highest`.
SumSoFar continue_to(const NormalLook& look, double highest, const SumSoFar& before) {
  constexpr std::size_t points = 401;
  constexpr double deviations = 8.0;
  const double lowest = -deviations * std::sqrt(look.rounds);
  const double step = (highest - lowest) / static_cast<double>(points - 1);
  const double deviation = std::sqrt(look.rounds - before.rounds);

  SumSoFar after{.rounds = look.rounds};
  after.sums.reserve(points);
  after.masses.reserve(points);
  for (std::size_t i = 0; i < points; ++i) {
    const double sum = lowest + step * static_cast<double>(i);
    double density = 0.0;
    for (std::size_t j = 0; j < before.sums.size(); ++j)
      density += before.masses[j] * normal_density((sum - before.sums[j]) / deviation);
    const double weight = i == 0 || i == points - 1 ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
    after.sums.push_back(sum);
    after.masses.push_back(weight * step / 3.0 * density / deviation);
  }
  return after;
}

/// Returns the probability that any look rejects, by the recursion of Armitage, McPherson and Rowe
/// 1969 for rounds with normal differences.
double error_over_looks(const std::vector<NormalLook>& looks) {
  SumSoFar so_far{.rounds = 0.0, .sums = {0.0}, .masses = {1.0}};
  double error = 0.0;
  for (const NormalLook& look : looks) {
    const double bound = stats::normal_quantile_above(look.level) * std::sqrt(look.rounds);
    const double deviation = std::sqrt(look.rounds - so_far.rounds);
    for (std::size_t j = 0; j < so_far.sums.size(); ++j)
      error += so_far.masses[j] * stats::normal_above((bound - so_far.sums[j]) / deviation);
    so_far = continue_to(look, bound, so_far);
  }
  return error;
}

/// Returns all looks of a schedule whose first planned look is after `first` rounds.
std::vector<NormalLook> list_looks(Schedule schedule, std::size_t first) {
  std::vector<NormalLook> looks;
  while (schedule.rounds_at_next_early_look().value_or(first) < first) {
    const std::size_t rounds = *schedule.rounds_at_next_early_look();
    const auto errors = schedule.look_early(rounds);
    if (errors && errors->error_of_false_fail)
      looks.push_back({static_cast<double>(rounds), *errors->error_of_false_fail});
  }
  const double level = *schedule.look_as_planned(first, false).error_of_false_fail;
  for (const std::size_t rounds : look_rounds(first))
    looks.push_back({static_cast<double>(rounds), level});
  return looks;
}

}  // namespace

TEST_CASE("all looks together spend what one look may, from 5 % down to 1e-7") {
  for (const double error : {0.05, 1e-3, 1e-5, 1e-7}) {
    for (const std::size_t first : {25U, 1000U, 10'000U}) {
      CAPTURE(error);
      CAPTURE(first);
      const Schedule schedule(1.0 - error, 1, 10, LookTiming::Early);
      const double spent = error_over_looks(list_looks(schedule, first));
      CHECK(spent <= 1.005 * error);
      CHECK(spent >= 0.95 * error);
    }
  }
}

}  // namespace lauka::gate
