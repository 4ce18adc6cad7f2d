#pragma once

#include "results/results.h"

#include <cstddef>
#include <string>

namespace lauka::report {

/// Returns the outcome of a race (--race): "fastest, or within 1% of it, with 95% confidence: 12,
/// 16 threads (210 of 1,280 runs)". Empty without a race.
std::string race_line(const Results& results);

/// Returns the outcome of each benchmark's race, which begins with the benchmark's name, and how
/// often one may be wrong. Empty without races.
std::string suite_race_lines(const Report& suite);

/// Returns when a command left a race: "round 14", or "–" if it is left.
std::string race_place_text(const gate::RaceResult& race, std::size_t command);

}  // namespace lauka::report
