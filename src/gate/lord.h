#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace lauka::gate {

/// A sequence of weights for the tests of a series: weight(j) is that of the j-th test (j from 1).
/// Weights must not increase, and their sum must be 1.
using WeightSequence = std::function<double(std::size_t)>;

/// Returns j^-1.2 / zeta(1.2) for `j` from 1. Made for series of 50 to 200 candidates: there it
/// keeps more than the sequence that was published with LORD++.
double weight_of_short_series(std::size_t j);

/// The errors that a series may spend.
struct SeriesErrors {
  double error = 0.05;          ///< largest expected share of false among all kept candidates
  double initial_wealth = 0.0;  ///< w0, from 0 to `error`, exclusive
};

/// Returns the errors of a series at `confidence` (a fraction): w0 is 0.9 times the error.
SeriesErrors errors_of_series(double confidence);

/// Returns the level of candidate number `candidate` (from 1) by LORD++ (Ramdas, Yang, Wainwright
/// and Jordan, NIPS 2017). `kept`: numbers of the candidates that were kept before it, ascending;
/// larger numbers than `candidate` - 1 are ignored. If each candidate is tested at its level, the
/// expected number of falsely kept candidates is at most `errors.error` times the expected number
/// kept.
double level_by_lord(std::size_t candidate, std::span<const std::size_t> kept,
                     const SeriesErrors& errors, const WeightSequence& weight);

/// Returns level_by_lord() with the errors and weights that lauka's series use.
double level_of_candidate(std::size_t candidate, std::span<const std::size_t> kept,
                          double confidence);

}  // namespace lauka::gate
