#pragma once

#include "results/results.h"

#include <string>

namespace lauka::report {

/// Returns the elements in which page/icicle.js draws call paths: one for each candidate and its
/// reference, or one for each command if nothing is compared. Empty without call paths.
std::string call_path_graphs(const Results& results);

}  // namespace lauka::report
