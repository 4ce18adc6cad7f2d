#pragma once

#include "results/results.h"

#include <string>

namespace lauka::report {

/// --export-csv: one row per command and metric, hidden ones included. Base units, named in the
/// column `unit` (s, B, 1, ratio); shortest digits that read back as the same double; a field is
/// empty where it is undefined. A bound has `max` only. Each variable has a column of its own at
/// the end, parameter_NAME. Lines end with a line feed; quoting is RFC 4180's.
std::string summary_csv(const Results& results);

/// --export-runs: one row per counted run, in the order run; run, round and pass count from 1.
/// `status` is the exit status, or 128 + signal. Needs Results::runs.
std::string runs_csv(const Results& results);

}  // namespace lauka::report
