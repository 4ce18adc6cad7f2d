#pragma once

#include "stats/noise.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace lauka::simulation {

/// The times of so many consecutive runs of one program.
using Noise = std::function<std::vector<double>(noise::Source&, std::size_t runs)>;

struct Series {
  std::string name;
  Noise noise;
  bool recorded = false;
};

/// exp of a normal with this deviation.
Noise lognormal(double deviation);

/// The eight synthetic models, then what `file` holds (scripts/bench gate --record wrote it).
std::vector<Series> all_series(const std::string& file);

}  // namespace lauka::simulation
