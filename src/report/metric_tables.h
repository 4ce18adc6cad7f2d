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

/// A delta, marked as a gain or a loss where it is significant, dim where it is not.
Cell delta_cell(const stats::Change& delta, Better better);

/// The variables that commands were made with, each once, in the order in which commands have them.
std::vector<std::string> parameter_names(const Results& results);

/// The value that a command was made with; null where it does not use the variable.
const Parameter* find_parameter(const CommandResult& command, std::string_view name);

/// True if all commands were made of one that was typed.
bool one_was_typed(const Results& results);

/// From this many commands on a table has a row for each of them, unless --table says otherwise.
inline constexpr std::size_t kManyCommands = 5;

bool is_compact(const Results& results);

/// What a compact table has of a metric's row; null where no run has a value.
const MetricResult* shown_row(const CommandResult& command, std::size_t metric);

/// The commands in the order in which tables list them: as given, or (--sort time) the smallest
/// value of the first metric shown first, with those that have none last.
std::vector<std::size_t> order_of(const Results& results);

/// Returns the value that --sort time goes by: of the first metric shown; infinite if it has none.
double sort_value(const Results& results, std::size_t command);

/// The metrics that get a compact table: the first shown alone, or each one that was asked for.
std::vector<std::size_t> compact_metrics(const Results& results, bool verbose);

/// "wall_time of 6 commands, 10 runs each"; without the runs where their numbers differ.
std::string compact_title(const Results& results, std::size_t metric);

/// A row for each metric of a command; no columns where no run of it was timed. In a narrower
/// terminal it gives up, in this order: spacing, the outliers' percentage, more than three digits
/// in a range, the outliers, the range, the intervals, the end of long metric names.
Table full_table(const Results& results, std::size_t command, Format format, bool verbose);

/// The same of all commands, one below the other.
Table markup_table(const Results& results, const Markup& markup);

/// A row for each command: name, parameters, mean, range and delta. In a narrower terminal it gives
/// up spacing, fine ranges, names that the parameters tell, the range, and the middle of what is
/// long.
Table compact_table(const Results& results, std::size_t metric, Format format);

/// Where one command was typed with two parameters, a matrix of their values.
std::optional<Table> matrix_table(const Results& results, std::size_t metric);

/// Where one variable was tried with several values: a table with a row for each value and a column
/// with the mean wall time of each command typed; for a single one also how it differs from the
/// first value's. Empty otherwise. Ends in a line feed.
std::string scan_table(const Results& results, const Style& style);

/// Deltas of all metrics shown, of all commands, each coloured where it is significant, as HTML.
/// Empty where there is no delta.
std::string delta_matrix(const Results& results);

}  // namespace lauka::report
