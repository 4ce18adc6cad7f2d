#pragma once

#include "simulation/benchmarks.h"
#include "simulation/series.h"

#include <cstddef>
#include <string>
#include <vector>

// How often the advice of an inconclusive gate holds: "about 20 times as many rounds would probably
// decide". Each session with advice is followed by a new one that heeds it.

namespace lauka::simulation {

/// Sessions of one kind, all with a gate of 5 %.
struct Advice {
  std::string name{};
  double sessions = 0;
  double inconclusive = 0;
  double given = 0;  ///< number of inconclusive sessions with advice
  double held = 0;   ///< number of these whose new session had an answer, pass or fail

  double share_held() const { return given > 0 ? held / given : 1.0; }
};

/// Simulates sessions for each place of the truth, number of rounds and series of noise, and
/// sessions over layouts.
std::vector<Advice> simulate_advice(const std::vector<Series>& all, const Options& options);

void print_advice(const std::vector<Advice>& all);

}  // namespace lauka::simulation
