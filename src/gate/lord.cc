#include "gate/lord.h"

#include <cmath>

namespace lauka::gate {

double weight_of_short_series(std::size_t j) {
  // Riemann's zeta(1.2), by the formula of Euler and Maclaurin.
  constexpr double zeta = 5.591582441177751;
  return std::pow(static_cast<double>(j), -1.2) / zeta;
}

SeriesErrors errors_of_series(double confidence) {
  constexpr double share_of_initial_wealth = 0.9;
  const double error = 1.0 - confidence;
  return {.error = error, .initial_wealth = share_of_initial_wealth * error};
}

double level_by_lord(std::size_t candidate, std::span<const std::size_t> kept,
                     const SeriesErrors& errors, const WeightSequence& weight) {
  double level = errors.initial_wealth * weight(candidate);
  bool is_first = true;
  for (const std::size_t number : kept) {
    if (number >= candidate) break;
    const double earned = is_first ? errors.error - errors.initial_wealth : errors.error;
    level += earned * weight(candidate - number);
    is_first = false;
  }
  return level;
}

double level_of_candidate(std::size_t candidate, std::span<const std::size_t> kept,
                          double confidence) {
  return level_by_lord(candidate, kept, errors_of_series(confidence), weight_of_short_series);
}

}  // namespace lauka::gate
