#pragma once

#include "core/metric.h"
#include "results/results.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// What tables, lines and pages say alike.

namespace lauka::report {

/// True if a row has a value: a session may end before its timed runs, or need none.
bool has_values(const CommandResult& command);

/// "591ms ± 7.6ms"; without "± σ" for one run; a bound as "≤ 451kB"; "n/a" where no run has a
/// value.
std::string mean_cell(const MetricResult& row, const Metric& metric);

/// A percentile with its interval, as "12.3ms (11.9ms … 12.8ms)", or the runs that it needs.
std::string quantile_cell(const MetricResult& row, const Metric& metric, bool with_interval);

/// A metric's name within a sentence: "wall time"; an event's as it is.
std::string spoken(std::string_view metric);

/// The lines of a text, without those that are empty.
std::vector<std::string> lines_of(std::string_view text);

/// ", 2 failed, 1 redone": what follows a number of runs; mostly empty.
std::string failed_and_redone(const CommandResult& command);

/// "Benchmark 1 (9 runs, 2 failed)".
std::string benchmark_title(const Results& results, std::size_t command);

}  // namespace lauka::report
