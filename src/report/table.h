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

// Tables of any content, how the terminal, HTML and markup languages print them, and the tables of
// one session's results.

namespace lauka::report {

/// The parts that a table gives up in a narrow terminal, in this order.
enum class Less : unsigned char {
  Nothing,
  OutlierPercent,
  Outliers,
  Names,  ///< names of commands that differ in their parameters
  Range,
  Deviation,
  Interval,  ///< interval of a delta
  Values,    ///< next to their delta
  Drawing,
  Place,  ///< branch, machine and host of a session
  Date,   ///< next to its commit
  Never
};

/// One attempt to fit a table into the terminal.
struct TableStep {
  std::size_t gap = 2;  ///< cells between columns
  Less less = Less::Nothing;
  /// Cells that may be cut are cut to this before the next step gives up more.
  std::size_t longest = std::numeric_limits<std::size_t>::max();
  bool roomy = false;  ///< columns have their roomy_width at least
};

/// The mark before a delta: a sign, or blanks as wide, so that deltas line up.
enum class Mark : unsigned char { None, Better, Worse, Blank, BlankWhereRoomy };

struct Cell {
  std::string text{};
  Ink ink = Ink::Plain;
  Mark mark = Mark::None;
  bool is_sure = false;                  ///< a significant change: bold in markup
  std::vector<std::string> narrower{};   ///< the text after each of the column's `narrows`
  std::optional<gate::Answer> answer{};  ///< the verdict's; nullopt: another cell
  std::string figures{};                 ///< the verdict's, a part of the text; may be empty
  std::optional<double>
      number{};      ///< number by which a page sorts the row; nullopt: the row stays at the end
  double bar = 0.0;  ///< length of the bar in a page's cell, 0 to 1
};

/// The contents of a column's cells, which decide how they are escaped and set.
enum class Holds : unsigned char {
  Name,    ///< name of a benchmark; in bold the name of a sum
  Code,    ///< a command
  Text,    ///< text of the user
  Number,  ///< text of ours
  Delta,
  Verdict,
  Markup  ///< markup of the printer that the table is made for
};

enum class Cut : unsigned char { Nothing, End, Middle };

struct TableColumn {
  Cell heading{};
  Holds holds = Holds::Number;
  bool is_left = false;           ///< aligned to the left in Markdown
  std::vector<Less> narrows{};    ///< places where the cells take their next, narrower text
  Less dropped_at = Less::Never;  ///< the step at which a narrow table leaves the column out
  Cut cut = Cut::Nothing;         ///< the part of cells that is cut if they do not fit
  std::size_t roomy_width = 0;
  bool is_more = false;  ///< left out on a phone
};

using TableRow = std::vector<Cell>;  ///< trailing empty cells are left out

struct Table {
  std::vector<TableColumn> columns{};
  std::vector<TableRow> rows{};
  std::vector<TableStep> steps = {{}};  ///< the first that fits is taken, else the last
  std::size_t shortest = 8;             ///< no column is cut to less
  Ink heading = Ink::Plain;             ///< ink of the whole line; Plain: each heading has its own
};

/// The layout of tables in a terminal, one below the other.
struct Fitted {
  TableStep step{};
  std::vector<std::size_t> widths{};
  bool fits = false;  ///< true if the table fits without a cut

  bool lacks(Less what) const { return step.less >= what; }
};

/// Aligns tables of the same columns.
Fitted fit(std::span<const Table> tables, const Style& style);

/// Headings and rows as lines; empty without rows.
std::string terminal_text(const Table& table, const Fitted& fitted, const Style& style);
std::string terminal_text(const Table& table, const Style& style);

/// Returns a note if deltas have lost their intervals to a narrow terminal; else an empty text.
std::string_view interval_note(std::span<const Table> tables, const Fitted& fitted);
/// Returns a table with that note below it.
std::string noted_text(const Table& table, const Style& style);

/// Returns a line below a table, broken between words; empty without a note.
std::string dim_note(std::string_view note, const Style& style);

/// A language in which text files are written for people.
struct Markup {
  std::string (*text)(std::string_view text);  ///< escaped
  std::string (*word)(std::string_view text);  ///< marks up a word of the user in a cell
  std::string (*line)(
      std::string_view text);  ///< writes a caveat, which may have words of the user in it
  std::string (*code)(std::string_view text);  ///< marks up code in a cell
  std::string (*head)(const Table& table);     ///< the lines above the first row
  std::string_view line_break;                 ///< within a cell
  std::string_view strong = "**";              ///< marks on both sides of bold text
  std::string_view before_row = "|", before_cell = "", after_cell = " |", after_row = "\n";
  std::string_view after_table = "";
  std::string_view bullet = "- ";
  std::string_view better = "better ";  ///< word before a delta to the better
  std::string_view worse = "worse ";
};

std::string table_html(const Table& table, std::string_view css_class = "");

/// A delta with its mark, drawn in HTML.
std::string marked_html(const Cell& cell);

/// Draws a verdict's answer and figures in HTML; empty if there is no answer.
std::string verdict_html(const Cell& verdict);

/// `text` as code in a cell of a Markdown table.
std::string code_cell(std::string_view text);

/// Returns a delta, marked as a gain or a loss if it is significant, else dim.
Cell delta_cell(const stats::Change& delta, Better better);

/// The variables that commands were made with, each once, in the order in which commands have them.
std::vector<std::string> parameter_names(const Results& results);

/// Returns a command's value of a variable; null if it does not use it.
const Parameter* find_parameter(const Command& command, std::string_view name);

/// "n = 10, way = a": a command's parameters.
std::string parameters_text(const Command& command);

/// True if a command has a delta of the metric.
bool has_deltas_of(const Results& results, std::size_t metric);

/// True if all commands were made of one that was typed.
bool one_was_typed(const Results& results);

/// True if a table has a row for each command: with five or more, unless --table says otherwise.
bool is_compact(const Results& results);

/// True if a compact table of the first metric precedes the blocks of rows: of three and four
/// commands, whose blocks would hide the answer.
bool begins_compact(const Results& results);

/// Returns a compact table's row of a metric; null if no run has a value.
const MetricResult* shown_row(const CommandResult& command, std::size_t metric);

/// Returns the commands in the order of the tables: as given, or (--sort time) by sort_value.
std::vector<std::size_t> order_rows(const Results& results);

/// Returns the value of the first metric shown; infinite if it has none.
double sort_value(const Results& results, std::size_t command);

/// True if the row is 0 in each run of every command, and zeros are left out.
bool is_all_zero(const Results& results, std::size_t metric);

/// Returns the metrics that get a compact table: the first shown alone, or each requested one.
std::vector<std::size_t> compact_metrics(const Results& results, bool verbose);

/// "wall_time of 6 commands, 10 runs each"; without the runs where their numbers differ.
std::string compact_title(const Results& results, std::size_t metric);

/// Returns a row for each metric of a command; without columns if no run of it was timed.
/// `for_page`: the columns that a phone has room for come first.
Table full_table(const Results& results, std::size_t command, bool verbose, bool for_page = false);

/// The same of all commands, one below the other.
Table markup_table(const Results& results, const Markup& markup);

/// Returns a row for each command: name, parameters, mean, range and delta.
Table compact_table(const Results& results, std::size_t metric);

/// Returns a matrix of the values, if one command was typed with two parameters.
std::optional<Table> matrix_table(const Results& results, std::size_t metric);

/// Returns a table of mean wall times with a row for each value of the only variable, and a column
/// for each typed command; of a single one also the difference from the first value. Empty with
/// several variables, or a single value.
std::string scan_table(const Results& results, const Style& style);

/// Returns the deltas of all metrics shown, of all commands, as HTML; empty without deltas.
std::string delta_matrix(const Results& results);

}  // namespace lauka::report
