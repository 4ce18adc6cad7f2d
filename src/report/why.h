#pragma once

#include "results/results.h"

#include <string>

namespace lauka::report {

/// What makes a candidate faster or slower, in one line: "7.5x faster: 5.6x fewer instructions,
/// 1.35x more of them per cycle, the same clock (3.82 GHz), CPU busy 99% → 98%". Each factor with
/// its interval; those that cannot be told from 1 are left out.
std::string why_text(const Results& results, const Why& why);

/// A line for each candidate, with its name where there are several; empty where none can be taken
/// apart.
std::string why_lines(const Results& results);

}  // namespace lauka::report
