#pragma once

#include "results/results.h"
#include "results/warning.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lauka {

/// What is unsteady in the wall times of `command`, `series` in the order run: at most a slow first
/// run and one finding about the rest, as one cause shows as several. Drift says more than two
/// modes, these more than outliers, these more than slow noise; but outliers more than a drift that
/// is small against the spread.
std::vector<Warning> warnings_of_series(std::size_t command, std::span<const double> series,
                                        std::uint64_t warmup);

/// What else weakens `results`, whose rows, rankings and verdicts are complete: the clocks, the
/// number of runs, the order.
std::vector<Warning> warnings_of_results(const Results& results);

}  // namespace lauka
