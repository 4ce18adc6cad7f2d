#pragma once

#include "core/metric.h"
#include "results/results.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// What stands in the cells of a row, the same in every table: terminal, Markdown, HTML.

namespace lauka::report {

/// "1 run", "2 runs".
std::string plural(std::size_t count, std::string_view noun);

/// The metric's name and note, and the number of runs behind it where it differs from the
/// command's.
std::string name_cell(const Metric& metric, const MetricResult& row, std::size_t runs);

/// "591ms ± 7.6ms"; without "± σ" for one run; a bound as "≤ 451kB"; "n/a" where no run has a
/// value.
std::string mean_cell(const MetricResult& row, const Metric& metric);

/// "583ms … 605ms"; `fine`: with as many digits as tell the ends apart.
std::string range_cell(const stats::Summary& summary, const Metric& metric, bool fine);

/// "2 (5%)", or the number alone.
std::string outliers_cell(const stats::Summary& summary, bool with_percent);

/// A metric's name within a sentence: "wall time"; an event's as it is.
std::string spoken(std::string_view metric);

/// The lines of a text, without those that are empty.
std::vector<std::string> lines_of(std::string_view text);

/// "Benchmark 1 (9 runs, 2 failed)".
std::string benchmark_title(const CommandResult& command, std::size_t number);

}  // namespace lauka::report
