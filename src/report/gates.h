#pragma once

#include "results/results.h"

#include <string>

namespace lauka::report {

/// One line per verdict, in their order: condition, answer ("pass", "fail" or "inconclusive"), the
/// delta and the rounds it rests on, and the typical round, or what would decide. With several
/// candidates each line begins with the candidate's name. Never cut: programs read these lines too.
std::string gate_lines(const Results& results, bool color);

}  // namespace lauka::report
