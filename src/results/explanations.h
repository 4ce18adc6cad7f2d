#pragma once

#include "results/results.h"

#include <vector>

namespace lauka {

/// Explains the wall time of each candidate whose changes of wall and CPU time are known.
std::vector<WallTimeExplanation> make_explanations(const Results& results);

}  // namespace lauka
