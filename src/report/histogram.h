#pragma once

#include "report/style.h"
#include "results/results.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lauka::report {

/// One value of a series that is drawn.
struct Sample {
  std::uint32_t run = 0;  ///< place in the order of all kept runs, from 0
  double value = 0.0;
};

/// The values of a metric (its index in Results::metrics) of a command, in the order run.
std::vector<Sample> samples_of(const Results& results, std::size_t command, std::size_t metric);

/// A range of values and how many fell into it.
struct Bin {
  double low = 0.0;   ///< included
  double high = 0.0;  ///< excluded, but for the last bin
  std::size_t count = 0;
};

/// Bins of one width over `values` (any order; `summary` describes them), 1 to `most` of them: the
/// width is Freedman's and Diaconis' (1981), 2 IQR / cbrt(n), or wider. What lies beyond 3 IQR of
/// the quartiles does not stretch the bins: it falls into the first or the last one, which reaches
/// that far. One bin where all are equal, none where there are none.
std::vector<Bin> bins_of(std::span<const double> values, const stats::Summary& summary,
                         std::size_t most);

/// --histogram: the wall times of a command, a line for each bin; empty where it has none.
std::string histogram(const Results& results, std::size_t command, const Style& style);

}  // namespace lauka::report
