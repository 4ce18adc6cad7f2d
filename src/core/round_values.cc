#include "core/round_values.h"

#include <numeric>

namespace lauka {

void append_round(RoundValues& values, std::size_t rounds, double value) {
  if (rounds == 0) {
    if (value != 0.0) values.push_back(value);
    return;
  }
  if (values.size() < 2 && value_in(values, 0) == value) return;
  if (values.empty()) values.assign(rounds, 0.0);
  if (values.size() == 1) values.assign(rounds, values.front());
  values.push_back(value);
}

double value_in(const RoundValues& values, std::size_t round) {
  if (values.empty()) return 0.0;
  return values.size() == 1 ? values.front() : values.at(round);
}

double mean_of(const RoundValues& values, std::size_t rounds) {
  if (values.size() < 2) return value_in(values, 0);
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(rounds);
}

}  // namespace lauka
