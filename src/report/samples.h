#pragma once

#include "results/results.h"

#include <cstddef>
#include <vector>

namespace lauka::report {

/// One value of a series that is drawn.
struct Sample {
  std::size_t run = 0;  ///< place in the order of all counted runs, from 0
  double value = 0.0;
};

/// The values of a metric (its index in Results::metrics) of a command, in the order run; needs
/// Detail::Runs.
std::vector<Sample> samples_of(const Results& results, std::size_t command, std::size_t metric);

}  // namespace lauka::report
