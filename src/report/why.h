#pragma once

#include "report/table.h"
#include "results/results.h"

#include <string>
#include <vector>

namespace lauka::report {

/// What makes a candidate faster or slower, in one line: "7.5x faster: 5.6x fewer instructions,
/// 1.35x more of them per cycle, the same clock (3.82 GHz), CPU busy 99% → 98%". Each factor with
/// its interval; those that cannot be told from 1 are left out.
std::string why_text(const Results& results, const Why& why);

/// A line for each candidate, with its name where there are several; empty where none can be taken
/// apart.
std::string why_lines(const Results& results);

/// The same of several candidates, a row for each and a column for each factor that one of them
/// has. Without counts there is no table, and one remark says so.
struct WhyTable {
  Table table{};
  std::vector<std::string> remarks{};  ///< what limits the meaning of the counts, each once
};

/// Empty of a single candidate: its line says as much.
WhyTable why_table(const Results& results);

}  // namespace lauka::report
