#pragma once

#include "report/columns.h"
#include "report/style.h"
#include "results/results.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lauka::report {

/// From this many commands on a table has a row for each of them, unless --table says otherwise.
inline constexpr std::size_t kManyCommands = 5;

bool is_compact(const Results& results);

/// What a compact table has of a metric's row; null where no run has a value.
const MetricResult* shown_row(const CommandResult& command, std::size_t metric);

/// The commands in the order in which tables list them: as given, or (--sort time) the smallest
/// value of the first metric shown first, with those that have none last.
std::vector<std::size_t> order_of(const Results& results);

/// The metrics that get a compact table: the first shown alone, or each one that was asked for.
std::vector<std::size_t> compact_metrics(const Results& results, bool verbose);

/// "wall_time of 6 commands, 10 runs each"; without the runs where their numbers differ.
std::string compact_title(const Results& results, std::size_t metric);

/// `shape` as the compact table of a metric has it.
TableShape compact_shape(const Results& results, std::size_t metric, TableShape shape);

/// Whether the commands have not all the same number of runs, or some failed: a column tells it.
bool has_runs_column(const Results& results);

/// A row for each command: name, parameters, mean, range and delta. Where one command was typed
/// with two parameters, a matrix of their values. In a narrower terminal it gives up spacing, fine
/// ranges, names that the parameters tell, the range, and the middle of what is long.
std::string compact_table(const Results& results, const Style& style);

}  // namespace lauka::report
