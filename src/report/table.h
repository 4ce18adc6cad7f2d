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

namespace lauka::report {

/// The parts that a table gives up in a narrow terminal, in this order.
enum class OmittedPart : unsigned char {
  Nothing,
  OutlierPercent,
  Outliers,
  Names,  ///< names of commands, if their parameters are shown
  Range,
  Deviation,
  Interval,
  Values,  ///< values next to their delta
  Drawing,
  Place,  ///< branch, machine and host of a session
  Date,   ///< date next to its commit
  Never
};

/// An attempt to fit a table into the terminal: the distance between columns, the last part to give
/// up, and how far columns may be cut.
struct TableFitAttempt {
  std::size_t gap = 2;
  OmittedPart last_omitted_part = OmittedPart::Nothing;
  /// Width in cells to which a column may be cut, if TableColumn::cut allows it.
  std::size_t min_cut_width = std::numeric_limits<std::size_t>::max();
  bool uses_roomy_widths = false;
};

/// The mark before a delta. Blank is as wide as a mark, so that deltas line up. BlankBeforeFullText
/// is Blank before the full text of a cell, and None before a shorter text.
enum class Mark : unsigned char { None, Better, Worse, Blank, BlankBeforeFullText };

struct Cell {
  std::string text{};
  Ink ink = Ink::Plain;
  Mark mark = Mark::None;
  bool is_significant_delta = false;
  /// Texts for narrow terminals, see TableColumn::shortened_when_omitting.
  std::vector<std::string> shorter_texts{};
  std::optional<gate::Decision> decision{};
  std::string verdict_reason{};  ///< text that explains a verdict, such as its limit; may be empty
  /// Number whose absolute value decides the order when a page sorts the rows.
  std::optional<double> sort_number{};
  double bar_share = 0.0;  ///< length of a bar in a page's cell, as a fraction of the cell's width
  std::string whole_text{};  ///< what a page shows at the pointer; empty: `text` is whole
};

/// The contents of a column's cells. They decide how cells are escaped and formatted.
enum class CellContent : unsigned char {
  Name,  ///< name of a benchmark, or (in bold) of a geometric mean
  Code,
  Text,  ///< text that may contain words from the user
  Number,
  Delta,
  Verdict,
  Markup  ///< text that is already in the table's markup language
};

enum class Cut : unsigned char { Nothing, End, Middle };

struct TableColumn {
  Cell heading{};
  CellContent cell_content = CellContent::Number;
  bool is_left_aligned = false;
  /// Values of TableFitAttempt::last_omitted_part at which cells change to their next shorter text.
  std::vector<OmittedPart> shortened_when_omitting{};
  /// Smallest value of TableFitAttempt::last_omitted_part that leaves out the column.
  OmittedPart dropped_when_omitting = OmittedPart::Never;
  Cut cut = Cut::Nothing;
  std::size_t min_roomy_width = 0;
  bool is_dropped_on_phone = false;
};

using TableRow = std::vector<Cell>;

struct Table {
  std::vector<TableColumn> columns{};
  std::vector<TableRow> rows{};
  std::vector<TableFitAttempt> steps = {
      {}};  ///< attempts in order; the first that fits is used, or else the last
  /// Smallest width in cells to which columns are cut if no attempt fits.
  std::size_t min_cut_column_width = 8;
  Ink heading_ink = Ink::Plain;  ///< ink of the heading's row; Plain: each heading has its own ink
};

struct TableLayout {
  TableFitAttempt chosen_attempt{};
  std::vector<std::size_t> widths{};
  bool fits = false;  ///< true if lines fit into Style::width without cutting a column below
                      ///< TableFitAttempt::min_cut_width

  bool has_given_up(OmittedPart what) const { return chosen_attempt.last_omitted_part >= what; }
};

/// Chooses a layout for several tables, so that their columns line up.
TableLayout choose_table_layout(std::span<const Table> tables, const Style& style);

std::string terminal_text(const Table& table, const TableLayout& fitted, const Style& style);
std::string terminal_text(const Table& table, const Style& style);

/// Returns a note if deltas are shown without their intervals because the terminal is narrow; else
/// empty.
std::string_view omitted_intervals_note(std::span<const Table> tables, const TableLayout& fitted);
std::string terminal_text_with_note(const Table& table, const Style& style);

/// Returns the lines of `note` that have text, dimmed.
std::string dim_note(std::string_view note, const Style& style);

/// A markup language for text files that people read. The functions return text in this language.
struct Markup {
  std::string (*format_text)(std::string_view text);
  std::string (*format_user_text)(std::string_view text);  ///< formats text from the user in a cell
  std::string (*format_warning)(
      std::string_view text);  ///< formats a warning, which may contain words from the user
  std::string (*format_code)(std::string_view text);
  std::string (*format_head)(const Table& table);
  std::string_view line_break;
  std::string_view strong = "**";
  std::string_view before_row = "|", before_cell = "", after_cell = " |", after_row = "\n";
  std::string_view after_table = "";
  std::string_view bullet = "- ";
  bool can_fold = false;  ///< true: the list of caveats is folded, as HTML
  std::string_view better_mark = "better ";
  std::string_view worse_mark = "worse ";
};

std::string table_html(const Table& table, std::string_view css_class = "");

std::string delta_html(const Cell& cell);

/// Returns a cell's answer and verdict_reason as HTML; empty if the cell has no answer.
std::string verdict_html(const Cell& verdict);

/// Returns the cell of a delta. Only a delta with Change::is_relevant() has a mark or a colour.
Cell delta_cell(const stats::Change& delta, Better better);

/// Returns the commands in groups that have a reference in common, each group and the commands in
/// it in the order of tables. A baseline is the reference of a single group.
std::vector<std::vector<std::size_t>> groups_in_table_order(const Results& results);

/// Returns the name of the command that the others are compared with, in which parameters stay
/// "{n}" if it is compared at several values.
const std::string& name_of_references(const Results& results);

std::vector<std::string> parameter_names(const Results& results);

std::string parameters_text(const Command& command);

bool has_deltas_of(const Results& results, std::size_t metric);

bool has_single_typed_command(const Results& results);

/// True if a table with a row for each command replaces the tables of single commands: by --table,
/// or by default with five or more commands.
bool compact_table_replaces_full_tables(const Results& results);

/// True if a table with a row for each command precedes the tables of single commands: by default
/// with three or four commands, if there is a primary metric.
bool has_compact_table_first(const Results& results);

/// Returns a metric's results; null if the command has no values or no such row.
const MetricResult* row_if_has_values(const CommandResult& command, std::size_t metric);

/// Returns the commands in the order of the tables: as in the session, or by
/// value_of_primary_metric with --sort time.
std::vector<std::size_t> commands_in_table_order(const Results& results);

/// Returns a command's value of the primary metric, by which --sort time sorts; infinite if
/// unknown.
double value_of_primary_metric(const Results& results, std::size_t command);

/// True if the metric has the same value in all runs of all commands that have the metric. `value`:
/// the required value; nullopt: any value.
bool is_constant(const Results& results, std::size_t metric,
                 std::optional<double> value = std::nullopt);

/// True if tables leave out the metric because it is 0 in all runs of all commands. False for more
/// than 1,000 commands.
bool is_hidden_as_all_zero(const Results& results, std::size_t metric);

/// Returns the metrics that get a compact table: usually the primary metric only.
std::vector<std::size_t> compact_metrics(const Results& results, bool verbose);

/// Returns a metric's name and suffix: "cycles (user)".
std::string metric_title(const Metric& metric);

std::string compact_title(const Results& results, std::size_t metric);

/// Returns a table with a row for each shown metric of a command. `for_page`: true: important
/// columns come first, for narrow screens.
Table full_table(const Results& results, std::size_t command_index, bool verbose,
                 bool for_page = false);

Table markup_table(const Results& results, const Markup& markup);

/// Returns a table with a row for each command: its parameters and its results for one metric.
Table compact_table(const Results& results, std::size_t metric);

/// Returns a table of a metric's values with a row for each value of one parameter, and a column
/// for each value of another parameter. nullopt if the commands do not fit into such a table.
std::optional<Table> matrix_table(const Results& results, std::size_t metric);

/// Returns a table of wall times with a row for each value of the only parameter, and a column for
/// each typed command. Empty if there is no such table, or if a compact table already has a row for
/// each value.
std::string scan_table(const Results& results, const Style& style);

/// Returns a table of metrics in rows, with the commands' values and the candidates' deltas in
/// columns. `every_row`: true: includes metrics that are Shown::Verbose.
Table metrics_table(const Results& results, bool every_row);

/// Returns a table of the deltas of all shown metrics and commands as HTML; empty without deltas.
std::string differences_html(const Results& results);

}  // namespace lauka::report
