#include "gate/schedule.h"

#include "stats/normal.h"

#include <algorithm>
#include <cmath>

namespace lauka::gate {

std::array<std::size_t, kLooks> look_rounds(std::size_t first) {
  std::array<std::size_t, kLooks> rounds{};
  for (std::size_t look = 0; look < kLooks; ++look) {
    // The subtrahend keeps 10 * 2 from being rounded up to 21.
    const double exact =
        static_cast<double>(first) * std::exp2(static_cast<double>(look) / 2.0) - 1e-9;
    rounds[look] = static_cast<std::size_t>(std::ceil(exact));
  }
  return rounds;
}

double z_look(double error) {
  const double z = stats::normal_quantile_above(error);
  return z + 0.59297 - 0.085173 * z + 0.004706 * z * z;
}

double p_look(double error) {
  return stats::normal_above(z_look(error));
}

Levels levels_of_one_look(double confidence, std::size_t gates) {
  const double error = 1.0 - confidence;
  return {.fail = error / static_cast<double>(gates), .pass = error, .tail = error / 2.0};
}

Levels levels_of_five_looks(double confidence, std::size_t gates) {
  const Levels once = levels_of_one_look(confidence, gates);
  return {.fail = p_look(once.fail), .pass = p_look(once.pass), .tail = p_look(once.tail)};
}

std::size_t rounds_of_constants(const Levels& levels) {
  std::size_t rounds = 1;
  for (double chance = 0.25; chance > std::min(levels.fail, levels.pass); chance /= 4.0) ++rounds;
  return rounds;
}

}  // namespace lauka::gate
