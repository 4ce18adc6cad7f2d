#pragma once

#include "results/results.h"

#include <string>

namespace lauka::report {

/// "wall_time > 10%", "ipc < -5%", "peak_rss > 64MiB".
std::string condition_text(const Condition& condition);

/// One line per verdict, in their order: condition, answer ("pass", "fail" or "inconclusive"), the
/// delta and the rounds it rests on, and what would decide; the mean first, where it decided or
/// tells another story than the typical round. Of a bound, the value itself. With several
/// candidates each line begins with the candidate's name. Never cut: programs read these lines too.
std::string gate_lines(const Results& results, bool color);

}  // namespace lauka::report
