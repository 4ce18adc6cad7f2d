#pragma once

#include "report/table.h"
#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The tables of one session's results.

namespace lauka::report {

enum class Format : unsigned char { Terminal, Markdown, Html };

/// Returns a delta, marked as a gain or a loss if it is significant, else dim.
Cell delta_cell(const stats::Change& delta, Better better);

/// The variables that commands were made with, each once, in the order in which commands have them.
std::vector<std::string> parameter_names(const Results& results);

/// Returns a command's value of a variable; null if it does not use it.
const Parameter* find_parameter(const CommandResult& command, std::string_view name);

/// True if all commands were made of one that was typed.
bool one_was_typed(const Results& results);

/// From this many commands on a table has a row for each of them, unless --table says otherwise.
inline constexpr std::size_t kManyCommands = 5;

bool is_compact(const Results& results);

/// Returns a compact table's row of a metric; null if no run has a value.
const MetricResult* shown_row(const CommandResult& command, std::size_t metric);

/// Returns the commands in the order of the tables: as given, or (--sort time) by the first metric
/// shown, the smallest first, those without a value last.
std::vector<std::size_t> order_of(const Results& results);

/// Returns the value for --sort time: of the first metric shown; infinite if it has none.
double sort_value(const Results& results, std::size_t command);

/// Returns the metrics that get a compact table: the first shown alone, or each requested one.
std::vector<std::size_t> compact_metrics(const Results& results, bool verbose);

/// "wall_time of 6 commands, 10 runs each"; without the runs where their numbers differ.
std::string compact_title(const Results& results, std::size_t metric);

/// Returns a row for each metric of a command; without columns if no run of it was timed. In a
/// narrower terminal it gives up, in this order: spacing, the outliers' percentage, more than three
/// digits in a range, the outliers, the range, the intervals, the end of long metric names.
Table full_table(const Results& results, std::size_t command, Format format, bool verbose);

/// The same of all commands, one below the other.
Table markup_table(const Results& results, const Markup& markup);

/// A row for each command: name, parameters, mean, range and delta. In a narrower terminal it gives
/// up spacing, fine ranges, names if the parameters suffice, the range, and the middle of long
/// texts.
Table compact_table(const Results& results, std::size_t metric, Format format);

/// Returns a matrix of the values, if one command was typed with two parameters.
std::optional<Table> matrix_table(const Results& results, std::size_t metric);

/// If one variable was tried with several values: returns a table with a row for each value and a
/// column with the mean wall time of each command typed; of a single one also its difference from
/// the first value. Empty otherwise. Ends in a line feed.
std::string scan_table(const Results& results, const Style& style);

/// Returns deltas of all metrics shown, of all commands, each coloured if significant, as HTML.
/// Empty without deltas.
std::string delta_matrix(const Results& results);

}  // namespace lauka::report
