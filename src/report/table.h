#pragma once

#include "report/style.h"
#include "results/results.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Tables of any content, their form in the terminal, HTML and markup languages, and the tables of
// one session's results.

namespace lauka::report {

/// The parts that a table gives up in a narrow terminal, in this order.
enum class Less : unsigned char {
  Nothing,
  OutlierPercent,
  Outliers,
  Names,  ///< parts of commands' names other than their parameters
  Range,
  Deviation,
  Interval,  ///< interval of a delta
  Values,    ///< values next to their delta
  Drawing,
  Place,  ///< branch, machine and host of a session
  Date,   ///< date next to its commit
  Never
};

/// One attempt to fit a table into the terminal; the next attempt gives up more.
struct TableStep {
  std::size_t gap = 2;  ///< number of cells between columns
  Less less = Less::Nothing;
  /// Width in cells down to which columns that may be cut are cut if necessary in this attempt.
  std::size_t longest = std::numeric_limits<std::size_t>::max();
  bool roomy = false;  ///< true: columns have at least their roomy_width
};

/// The mark before a delta. Blank is as wide as a mark, so that deltas line up.
enum class Mark : unsigned char { None, Better, Worse, Blank, BlankWhereRoomy };

struct Cell {
  std::string text{};
  Ink ink = Ink::Plain;
  Mark mark = Mark::None;
  bool is_sure = false;                  ///< true for a significant change, which is bold in markup
  std::vector<std::string> narrower{};   ///< shorter texts, for the steps in the column's `narrows`
  std::optional<gate::Answer> answer{};  ///< answer, if the cell is of a verdict
  std::string figures{};                 ///< part of `text` with a verdict's numbers; may be empty
  std::optional<double>
      number{};      ///< number by which a page sorts the row; nullopt: the row stays at the end
  double bar = 0.0;  ///< length of the bar in a page's cell, 0 to 1
};

/// The contents of a column's cells, which decide how they are escaped and formatted.
enum class Holds : unsigned char {
  Name,    ///< name of a benchmark; bold: name of a sum
  Code,    ///< a command
  Text,    ///< text from the user
  Number,  ///< text from lauka
  Delta,
  Verdict,
  Markup  ///< text in the markup language for which the table is made
};

enum class Cut : unsigned char { Nothing, End, Middle };

struct TableColumn {
  Cell heading{};
  Holds holds = Holds::Number;
  bool is_left = false;           ///< aligned to the left in markup languages
  std::vector<Less> narrows{};    ///< steps at which cells change to their next shorter text
  Less dropped_at = Less::Never;  ///< step at which the column is left out
  Cut cut = Cut::Nothing;         ///< part of the cells that is cut if they do not fit
  std::size_t roomy_width = 0;
  bool is_more = false;  ///< true: left out on a phone
};

using TableRow = std::vector<Cell>;  ///< cells of a row; missing cells at the end are empty

struct Table {
  std::vector<TableColumn> columns{};
  std::vector<TableRow> rows{};
  std::vector<TableStep> steps = {
      {}};                   ///< attempts in order; the first that fits is used, else the last
  std::size_t shortest = 8;  ///< smallest width in cells to which a column is cut
  Ink heading = Ink::Plain;  ///< ink of the whole heading; Plain: each heading cell has its own ink
};

/// The layout of one or more tables in a terminal.
struct TableLayout {
  TableStep step{};
  std::vector<std::size_t> widths{};
  bool fits = false;  ///< true if the table fits without cutting cells below TableStep::longest

  bool lacks(Less what) const { return step.less >= what; }
};

/// Chooses a layout for tables with the same columns, so that their columns line up.
TableLayout fit(std::span<const Table> tables, const Style& style);

/// Returns heading and rows as lines; empty without rows.
std::string terminal_text(const Table& table, const TableLayout& fitted, const Style& style);
std::string terminal_text(const Table& table, const Style& style);

/// Returns a note if deltas lost their intervals because the terminal is narrow; else empty.
std::string_view interval_note(std::span<const Table> tables, const TableLayout& fitted);
/// Returns a table with interval_note below it.
std::string noted_text(const Table& table, const Style& style);

/// Returns a note as a line below a table, broken between words; empty without a note.
std::string dim_note(std::string_view note, const Style& style);

/// A markup language for text files that people read.
struct Markup {
  std::string (*text)(std::string_view text);  ///< escapes text
  std::string (*word)(std::string_view text);  ///< formats a word from the user in a cell
  std::string (*line)(
      std::string_view text);  ///< formats a caveat, which may contain words from the user
  std::string (*code)(std::string_view text);  ///< formats code in a cell
  std::string (*head)(const Table& table);     ///< returns the lines above the first row
  std::string_view line_break;                 ///< line break inside a cell
  std::string_view strong = "**";              ///< goes on both sides of bold text
  std::string_view before_row = "|", before_cell = "", after_cell = " |", after_row = "\n";
  std::string_view after_table = "";
  std::string_view bullet = "- ";
  std::string_view better = "better ";  ///< word before a delta for the better
  std::string_view worse = "worse ";
};

std::string table_html(const Table& table, std::string_view css_class = "");

/// Returns a delta with its mark as HTML.
std::string marked_html(const Cell& cell);

/// Returns a verdict's answer and numbers as HTML; empty if the cell has no answer.
std::string verdict_html(const Cell& verdict);

/// Returns `text` as code in a cell of a Markdown table.
std::string code_cell(std::string_view text);

/// Returns the cell of a delta: marked as better or worse if relevant (plain if the metric has no
/// direction), else dim.
Cell delta_cell(const stats::Change& delta, Better better);

/// Returns the names of the variables that commands use, without duplicates, in the order of the
/// commands.
std::vector<std::string> parameter_names(const Results& results);

/// Returns a command's value of a variable; null if the command does not use it.
const Parameter* find_parameter(const Command& command, std::string_view name);

/// Returns a command's parameters as "n = 10, way = a".
std::string parameters_text(const Command& command);

/// True if a command has a delta of the metric.
bool has_deltas_of(const Results& results, std::size_t metric);

/// True if all commands come from a single typed command.
bool one_was_typed(const Results& results);

/// True if a table has a row for each command: with five or more commands, unless --table says
/// otherwise.
bool is_compact(const Results& results);

/// True if a compact table of the first metric comes before the blocks of rows, which would hide
/// the answer: with three and four commands, unless --table says otherwise.
bool begins_compact(const Results& results);

/// Returns a metric's results for a compact table; null if the command has no values, or no row of
/// the metric.
const MetricResult* shown_row(const CommandResult& command, std::size_t metric);

/// Returns the commands in the order of the tables: as typed, or with --sort time by sort_value.
std::vector<std::size_t> order_rows(const Results& results);

/// Returns a command's value of the first metric shown; infinite if it has none.
double sort_value(const Results& results, std::size_t command);

/// True if the metric has the same value in each run of every command. `value`: the expected value;
/// nullopt: any value will do.
bool is_constant(const Results& results, std::size_t metric,
                 std::optional<double> value = std::nullopt);

/// True if the metric is 0 in each run of every command, and such rows are left out. False for more
/// than a thousand commands.
bool is_all_zero(const Results& results, std::size_t metric);

/// Returns the metrics that get a compact table: the first metric shown, or all metrics that the
/// user listed.
std::vector<std::size_t> compact_metrics(const Results& results, bool verbose);

/// Returns a metric's name and note: "cycles (user)".
std::string titled(const Metric& metric);

/// Returns "wall_time of 6 commands, 10 runs each"; without the runs if their numbers differ, or
/// some runs failed or were redone.
std::string compact_title(const Results& results, std::size_t metric);

/// Returns a table with a row for each metric of a command; without columns if the command has no
/// values. `for_page`: the columns that fit on a phone come first.
Table full_table(const Results& results, std::size_t command, bool verbose, bool for_page = false);

/// Returns a table of all commands' metrics, one command below the other.
Table markup_table(const Results& results, const Markup& markup);

/// Returns a table with a row for each command: name, parameters, mean, range and delta.
Table compact_table(const Results& results, std::size_t metric);

/// Returns a matrix of a metric's values, if a single command was typed with two parameters of
/// several values; else nullopt.
std::optional<Table> matrix_table(const Results& results, std::size_t metric);

/// Returns a table of mean wall times with a row for each value of the only variable, and a column
/// for each typed command; for a single command, also the difference from the first value. Empty
/// without a variable, with several, with a single value, or if a compact table shows the same.
std::string scan_table(const Results& results, const Style& style);

/// Returns a table with a row for each metric: a value of each command and a delta of each
/// candidate. Leaves out metrics that are always 0 or have no values. `every_row`: adds metrics
/// that are Shown::Verbose.
Table metrics_table(const Results& results, bool every_row);

/// Returns the deltas of all shown metrics of all commands as HTML: the metrics_table, or a table
/// with a row for each command if there are more commands than metrics. Empty without deltas.
std::string differences_html(const Results& results);

}  // namespace lauka::report
