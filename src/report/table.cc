#include "report/table.h"

#include "core/text.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/lines.h"
#include "report/race_lines.h"
#include "report/scan_chart.h"
#include "results/analyse.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// Returns the sign or the word before a delta, or blanks of the same width. `form`: 0 for the full
/// text of a cell, larger for its shorter texts.
std::string_view mark_as_text(Mark mark, std::size_t form, bool as_word) {
  if (mark == Mark::Better) return as_word ? "better " : "⚡ ";
  if (mark == Mark::Worse) return as_word ? "worse  " : "💩 ";
  if (mark == Mark::None || (mark == Mark::BlankBeforeFullText && form > 0)) return "";
  return as_word ? "       " : "   ";  // as wide as the marks
}

/// Returns the text of a cell when `omitted` and all parts before it are left out; empty if its
/// column is one of them.
std::string choose_cell_text(const Cell& cell, const TableColumn& column, OmittedPart omitted,
                             const Style& style) {
  if (omitted >= column.dropped_when_omitting) return "";
  const auto shortened_times = std::ranges::count_if(
      column.shortened_when_omitting, [&](OmittedPart part) { return part <= omitted; });
  const std::size_t form =
      std::min(static_cast<std::size_t>(shortened_times), cell.shorter_texts.size());
  const std::string& text = form == 0 ? cell.text : cell.shorter_texts[form - 1];
  if (text.empty()) return "";
  // A name or a text of the user may have line breaks or control characters.
  const bool is_foreign = column.cell_content == CellContent::Name ||
                          column.cell_content == CellContent::Code ||
                          column.cell_content == CellContent::Text;
  const std::string line = is_foreign ? one_line(text) : text;
  return std::string(mark_as_text(cell.mark, form, style.ascii || style.shows_marks_as_words)) +
         (style.ascii ? to_ascii(line) : line);
}

std::size_t line_width(const std::vector<std::size_t>& widths, std::size_t gap) {
  std::size_t total = 0;
  for (const std::size_t width : widths)
    if (width > 0) total += (total > 0 ? gap : 0) + width;
  return total;
}

std::vector<std::size_t> measure_columns(std::span<const Table> tables, const TableFitAttempt& step,
                                         const Style& style) {
  std::vector<std::size_t> widths;
  for (const Table& table : tables) {
    widths.resize(std::max(widths.size(), table.columns.size()), 0);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const TableColumn& column = table.columns[c];
      std::size_t& width = widths[c];
      width = std::max(width, display_width(choose_cell_text(column.heading, column,
                                                             step.last_omitted_part, style)));
      if (step.uses_roomy_widths) width = std::max(width, column.min_roomy_width);
      for (const TableRow& row : table.rows)
        if (c < row.size())
          width = std::max(width, display_width(choose_cell_text(row[c], column,
                                                                 step.last_omitted_part, style)));
    }
  }
  return widths;
}

/// Takes cells from the widest column that may be cut until a line has `max_width`, or no column
/// can give more.
void narrow_columns(std::vector<std::size_t>& widths, const Table& table, std::size_t gap,
                    std::size_t max_width) {
  while (line_width(widths, gap) > max_width) {
    std::size_t* widest = nullptr;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (table.columns[c].cut != Cut::Nothing && (widest == nullptr || widths[c] > *widest))
        widest = &widths[c];
    if (widest == nullptr || *widest <= table.min_cut_column_width) return;
    --*widest;
  }
}

/// Returns the row as a line for the terminal, without blanks at its end. A row may have fewer
/// cells than the table has columns.
std::string write_row(const Table& table, const TableRow& row, const TableLayout& layout,
                      const Style& style) {
  const TableFitAttempt& fit = layout.chosen_attempt;
  std::string line;
  std::size_t blanks_before_next_text = 0;

  for (std::size_t c = 0; c < std::min(row.size(), table.columns.size()); ++c) {
    const std::size_t width = layout.widths[c];
    const bool is_left_out = width == 0;
    if (is_left_out) continue;

    const TableColumn& column = table.columns[c];
    const std::string whole_text = choose_cell_text(row[c], column, fit.last_omitted_part, style);
    const std::string text =
        column.cut == Cut::End ? cut_end(whole_text, width) : cut_middle(whole_text, width);

    if (!text.empty()) {
      line.append(blanks_before_next_text, ' ');
      line += inked(text, row[c].ink, style.color);
      blanks_before_next_text = 0;
    }
    blanks_before_next_text += width - display_width(text) + fit.gap;
  }

  return line;
}

/// Returns a delta as HTML. Lines may break before "(", but not at other blanks.
std::string delta_with_kept_blanks(std::string_view delta) {
  constexpr std::string_view no_break = "\u00a0";
  std::string html;
  for (std::size_t i = 0; i < delta.size(); ++i) {
    const bool may_break = delta[i] == ' ' && i > 0 && delta.substr(i + 1).starts_with("(");
    html += delta[i] == ' ' && !may_break ? no_break : delta.substr(i, 1);
  }
  return html_text(html);
}

std::string make_cell_content(const Cell& cell, CellContent content) {
  if (content == CellContent::Markup) return cell.text;
  if (content == CellContent::Verdict) return verdict_html(cell);
  if (content == CellContent::Delta) return delta_html(cell);
  const std::string text = html_text(cell.text);
  if (content == CellContent::Name && cell.ink == Ink::Bold) return "<b>" + text + "</b>";
  return content == CellContent::Code && !text.empty() ? "<code>" + text + "</code>" : text;
}

std::string make_html_cell(const Cell& cell, const TableColumn& column, bool is_first) {
  std::string_view css = column.is_dropped_on_phone ? "more" : "";
  if (column.cell_content == CellContent::Delta && !cell.text.empty()) css = ink_class(cell.ink);
  const bool is_heading = is_first && !cell.text.empty();
  std::string attributes = css.empty() ? "" : fmt::format(" class=\"{}\"", css);
  if (!cell.whole_text.empty())
    attributes += fmt::format(" title=\"{}\"", html_text(cell.whole_text));
  if (cell.sort_number) attributes += fmt::format(" data-number=\"{}\"", *cell.sort_number);
  if (cell.bar_share > 0.0)
    attributes += fmt::format(" style=\"--bar: {:.1f}%\"", 100.0 * cell.bar_share);
  return fmt::format("<{}{}>{}</{}>", is_heading ? "th scope=\"row\"" : "td", attributes,
                     make_cell_content(cell, column.cell_content), is_heading ? "th" : "td");
}

struct TableShape {
  bool is_for_page = false;
  bool is_compact = false;
  bool has_deltas = false;
  bool has_runs = false;
  bool is_of_race = false;
};

/// What a cell of a metric's row, or of a command's row in a compact table, is made of.
struct CellSource {
  const Results& results;
  std::size_t command;
  const Metric& metric;
  const MetricResult* metric_result;  ///< null: the command has none
  bool is_compact = false;
};

Cell make_name_cell(const CellSource& row) {
  std::string text = metric_title(row.metric);
  if (row.metric_result->runs != count_runs(row.results.commands[row.command]))
    text += " (" + plural(row.metric_result->runs, "run") + ")";
  return {std::move(text)};
}

Cell make_runs_cell(const CellSource& row) {
  const CommandResult& command = row.results.commands[row.command];
  const std::size_t runs =
      row.metric_result == nullptr
          ? command.runs
          : count_runs(row.results, row.command, row.metric_result->metric_index);
  return {fmt::format("{}", runs) + failed_and_redone_text(command)};
}

Cell make_race_cell(const CellSource& row) {
  return {race_place_text(*row.results.findings.race, row.command)};
}

Cell make_mean_cell(const CellSource& row) {
  if (row.metric_result == nullptr) return {"n/a"};
  if (!row.metric.percentile) return {mean_cell_text(*row.metric_result, row.metric)};
  return {.text = quantile_with_interval(*row.metric_result, row.metric),
          .shorter_texts = {quantile_text(*row.metric_result, row.metric)}};
}

Cell make_range_cell(const CellSource& row) {
  if (row.metric_result == nullptr || !row.metric_result->summary) return {};
  return {range_text(*row.metric_result->summary, row.metric)};
}

Cell make_outliers_cell(const CellSource& row) {
  if (row.metric_result == nullptr || !row.metric_result->summary) return {};
  const std::size_t count = row.metric_result->summary->outliers;
  const double percent =
      100.0 * static_cast<double>(count) / static_cast<double>(row.metric_result->summary->count);
  const bool rounds_to_zero = count > 0 && percent < 0.5;
  return {.text = rounds_to_zero ? fmt::format("{} (<1%)", count)
                                 : fmt::format("{} ({:.0f}%)", count, percent),
          .shorter_texts = {fmt::format("{}", count)}};
}

/// Returns which direction of a change the tables mark as better. In a scan, a change is the effect
/// of the parameter, and neither better nor worse.
Better marked_direction(const Results& results, const Metric& metric) {
  return is_scan(results) ? Better::Neither : metric.better;
}

Cell make_delta_cell(const CellSource& row) {
  if (row.metric_result != nullptr && row.metric_result->delta)
    return delta_cell(*row.metric_result->delta, marked_direction(row.results, row.metric));
  const Reference& reference = row.results.session.reference;
  if (!row.is_compact) return {};
  const bool is_anchor = row.command == reference.anchor_index;
  if (!is_anchor && !reference.is_reference(row.command)) return {};
  const std::string word = is_anchor ? "anchor" : "reference";
  return {
      .text = word, .ink = Ink::Dim, .mark = Mark::BlankBeforeFullText, .shorter_texts = {word}};
}

using CellMaker = Cell (*)(const CellSource& row);

/// A column, and the function that makes its cells.
struct MetricColumn {
  bool is_first_on_page = false;  ///< on a page, stands before the other columns
  CellMaker make_cell = nullptr;
  TableColumn column{};
};

MetricColumn make_name_column() {
  return {.is_first_on_page = true,
          .make_cell = make_name_cell,
          .column = {.heading = {"measurement"},
                     .cell_content = CellContent::Text,
                     .is_left_aligned = true,
                     .cut = Cut::End,
                     .min_roomy_width = 24}};
}

MetricColumn make_mean_column() {
  return {.is_first_on_page = true,
          .make_cell = make_mean_cell,
          .column = {.heading = {"mean ± σ"},
                     .shortened_when_omitting = {OmittedPart::Range},
                     .min_roomy_width = 14}};
}

MetricColumn make_range_column(const TableShape& shape) {
  return {.make_cell = make_range_cell,
          .column = {.heading = {"min … max"},
                     .dropped_when_omitting = OmittedPart::Range,
                     .min_roomy_width = 17,
                     .is_dropped_on_phone = shape.is_compact}};
}

MetricColumn make_outliers_column() {
  return {.make_cell = make_outliers_cell,
          .column = {.heading = {.text = "outliers", .shorter_texts = {"out"}},
                     .shortened_when_omitting = {OmittedPart::OutlierPercent},
                     .dropped_when_omitting = OmittedPart::Outliers,
                     .min_roomy_width = 8}};
}

MetricColumn make_delta_column() {
  return {.is_first_on_page = true,
          .make_cell = make_delta_cell,
          .column = {.heading = {"delta"},
                     .cell_content = CellContent::Delta,
                     .shortened_when_omitting = {OmittedPart::Interval}}};
}

/// Returns the columns of a table of results. A compact table has a row for each command, all about
/// one metric. Any other table has a row for each metric, so it begins with the metric's name.
std::vector<MetricColumn> list_columns(const TableShape& shape) {
  std::vector<MetricColumn> columns;
  if (shape.is_compact) {
    if (shape.has_runs)
      columns.push_back({.make_cell = make_runs_cell, .column = {.heading = {"runs"}}});
    if (shape.is_of_race)
      columns.push_back({.make_cell = make_race_cell, .column = {.heading = {"left in"}}});
  } else {
    columns.push_back(make_name_column());
  }

  columns.push_back(make_mean_column());
  columns.push_back(make_range_column(shape));
  if (!shape.is_compact) columns.push_back(make_outliers_column());
  if (shape.has_deltas) columns.push_back(make_delta_column());

  // A narrow screen shows only the first columns of a page without scrolling, so the important
  // columns come first.
  if (shape.is_for_page)
    std::stable_partition(columns.begin(), columns.end(),
                          [](const MetricColumn& column) { return column.is_first_on_page; });

  return columns;
}

void add_columns(Table& table, const std::vector<MetricColumn>& columns, Ink heading) {
  for (const MetricColumn& column : columns)
    table.columns.emplace_back(column.column).heading.ink = heading;
}

/// Adds the cell that each column makes of `source`.
void add_cells(TableRow& row, const std::vector<MetricColumn>& columns, const CellSource& source) {
  for (const MetricColumn& column : columns) row.push_back(column.make_cell(source));
}

/// Returns the source of the cells about a command's results for one metric.
CellSource find_source(const Results& results, std::size_t command, std::size_t metric) {
  return {.results = results,
          .command = command,
          .metric = results.session.metrics[metric],
          .metric_result = row_if_has_values(results.commands[command], metric)};
}

/// Returns what find_source does, for a table that has a row for each command.
CellSource find_compact_source(const Results& results, std::size_t command, std::size_t metric) {
  CellSource source = find_source(results, command, metric);
  source.is_compact = true;
  return source;
}

bool is_shown(const Metric& metric, bool verbose) {
  return verbose || metric.shown != Shown::Verbose;
}

/// True if tables with a row for each metric have one for this metric.
bool is_in_tables(const Results& results, std::size_t metric, bool verbose) {
  return is_shown(results.session.metrics[metric], verbose) &&
         !is_hidden_as_all_zero(results, metric);
}

bool has_delta(const Results& results, const CommandResult& command, bool verbose) {
  return std::ranges::any_of(command.rows, [&](const MetricResult& row) {
    return row.delta && is_shown(results.session.metrics[row.metric_index], verbose);
  });
}

bool parameters_name_commands(const Results& results) {
  return has_single_typed_command(results) && !parameter_names(results).empty();
}

bool has_runs_column(const Results& results, std::size_t metric) {
  const std::size_t runs = count_runs(results, 0, metric);
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const CommandResult& command = results.commands[c];
    if (count_runs(results, c, metric) != runs || !command.endings.failed_run_groups.empty() ||
        command.discarded_runs > 0)
      return true;
  }
  return false;
}

struct GridColumn {
  std::string key;  ///< the parameter's value, or the index of the typed command
  std::string title;
};

/// Commands in rows by the value of one parameter, and in columns by another parameter or by typed
/// command.
struct Grid {
  std::vector<std::string> rows{};
  std::vector<GridColumn> columns{};
  /// The commands of a cell, by the text of the row and the key of the column.
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> commands{};

  const std::vector<std::size_t>* find(const std::string& row, const GridColumn& column) const {
    const auto found = commands.find({row, column.key});
    return found == commands.end() ? nullptr : &found->second;
  }
};

template <typename ColumnOf>
Grid make_grid(const Results& results, const std::string& row_parameter, ColumnOf column_of) {
  Grid grid;
  std::set<std::string> known_values;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const Parameter* value = find_parameter(results.session.commands[c], row_parameter);
    if (value == nullptr) continue;
    if (known_values.insert(value->value).second) grid.rows.push_back(value->value);
    const GridColumn column = column_of(results.session.commands[c]);
    if (std::ranges::find(grid.columns, column.key, &GridColumn::key) == grid.columns.end())
      grid.columns.push_back(column);
    grid.commands[{value->value, column.key}].push_back(c);
  }
  return grid;
}

/// Returns the cell of a mean without a delta, whose shorter texts leave out nothing, then the
/// deviation. `end`: follows the mean in each text.
Cell make_matrix_mean(const MetricResult& values, const Metric& metric, const std::string& end) {
  const std::string mean_with_deviation = mean_cell_text(values, metric) + end;
  const std::string mean = short_mean_text(values, metric) + end;
  return {.text = mean_with_deviation, .shorter_texts = {mean_with_deviation, mean, mean}};
}

/// Returns the blanks and the mark between a mean and its delta. Deltas behind means do not line
/// up, so they need no blanks in place of a mark.
std::string write_separator(const Results& results, const Cell& delta) {
  const Mark mark = delta.mark == Mark::Blank ? Mark::None : delta.mark;
  const bool are_marks_words = results.presentation.marks == MarksChoice::Text;
  constexpr std::size_t full_text = 0;
  return fmt::format("  {}", mark_as_text(mark, full_text, are_marks_words));
}

/// Returns the cell of one command: its mean, and its delta if it has one. Shorter texts leave out
/// the delta's interval, then the mean's deviation, then the delta.
Cell make_matrix_cell(const Results& results, std::size_t metric_index,
                      const CommandResult& command) {
  const std::string failed_runs = failed_and_redone_text(command);
  const MetricResult* values = row_if_has_values(command, metric_index);
  if (values == nullptr) return {.text = "n/a" + failed_runs};

  const Metric& metric = results.session.metrics[metric_index];
  Cell cell = make_matrix_mean(*values, metric, failed_runs);
  if (!values->delta) return cell;

  // If no change could be computed, the mean gets the ink of the delta, but not its text.
  const Cell delta = delta_cell(*values->delta, marked_direction(results, metric));
  cell.ink = delta.ink;
  const bool has_change = values->delta->change.has_value();
  if (!has_change) return cell;

  const std::string separator = write_separator(results, delta);
  const std::string delta_without_interval = separator + short_delta_text(*values->delta);

  // The third shorter text remains without a delta.
  std::string& with_deviation = cell.shorter_texts[0];
  std::string& without_deviation = cell.shorter_texts[1];
  cell.text += separator + delta.text;
  with_deviation += delta_without_interval;
  without_deviation += delta_without_interval;
  return cell;
}

/// Returns a row of a matrix: the cells of the commands in which the row's parameter is `value`.
TableRow make_matrix_row(const Results& results, const Grid& grid, const std::string& value,
                         std::size_t metric) {
  TableRow row{{value, Ink::Bold}};
  for (const GridColumn& column : grid.columns) {
    // Of several commands with the same values, the last one is shown.
    const auto* commands = grid.find(value, column);
    row.push_back(commands == nullptr
                      ? Cell{}
                      : make_matrix_cell(results, metric, results.commands[commands->back()]));
  }
  return row;
}

/// True if the command and its reference differ only in their parameters.
bool has_reference_of_same_typed_command(const Results& results, std::size_t command) {
  const std::vector<Command>& commands = results.session.commands;
  return commands[results.session.reference.index_for(command)].typed_command_index ==
         commands[command].typed_command_index;
}

/// Adds the wall time of a command to a row of a scan, and its delta if `has_delta_column`.
void add_scan_cells(TableRow& row, const Results& results, std::size_t command_index,
                    bool has_delta_column) {
  const MetricResult* wall_time = metric_result_of(results, command_index, Role::WallTime);
  const std::string failed_runs = failed_and_redone_text(results.commands[command_index]);
  if (wall_time == nullptr || !wall_time->summary) {
    row.push_back({"n/a" + failed_runs});
    return;
  }

  const Metric& metric = results.session.metrics[wall_time->metric_index];
  row.push_back({mean_cell_text(*wall_time, metric) + failed_runs});

  // The table says nothing about references. A delta between two values of one typed command is
  // plain without it, but not one between two typed commands.
  if (has_delta_column && wall_time->delta &&
      has_reference_of_same_typed_command(results, command_index))
    row.push_back(delta_cell(*wall_time->delta, marked_direction(results, metric)));
}

TableRow make_scan_row(const Results& results, const Grid& grid, const std::string& value) {
  TableRow row = {{value}};
  const bool has_delta_column = grid.columns.size() == 1;
  for (const GridColumn& column : grid.columns) {
    // Of several commands with the same value, the first one is shown.
    if (const auto* commands = grid.find(value, column))
      add_scan_cells(row, results, commands->front(), has_delta_column);
    else
      row.push_back({"n/a"});
  }
  return row;
}

TableColumn make_bold_column(std::string heading, CellContent content, Cut cut) {
  return {.heading = {std::move(heading), Ink::Bold},
          .cell_content = content,
          .shortened_when_omitting = content == CellContent::Delta
                                         ? std::vector{OmittedPart::Interval}
                                         : std::vector<OmittedPart>{},
          .cut = cut};
}

/// Returns a matrix's column, whose cells have a shorter text for each part that is left out
/// (make_matrix_cell).
TableColumn make_matrix_column(const GridColumn& column) {
  TableColumn made = make_bold_column(column.title, CellContent::Number, Cut::Nothing);
  made.shortened_when_omitting = {OmittedPart::Range, OmittedPart::Deviation,
                                  OmittedPart::Interval};
  return made;
}

/// Returns the attempts to fit a matrix. A narrower gap is tried before the next part is left out.
std::vector<TableFitAttempt> list_matrix_steps() {
  std::vector<TableFitAttempt> steps;
  for (const OmittedPart part :
       {OmittedPart::Nothing, OmittedPart::Range, OmittedPart::Deviation, OmittedPart::Interval})
    for (const std::size_t gap : {4U, 2U}) steps.push_back({.gap = gap, .last_omitted_part = part});
  return steps;
}

/// Returns the commands by the values of two parameters.
Grid make_parameter_grid(const Results& results, const std::string& row_parameter,
                         const std::string& column_parameter) {
  return make_grid(results, row_parameter, [&](const Command& command) -> GridColumn {
    const Parameter* parameter = find_parameter(command, column_parameter);
    if (parameter == nullptr) return {};
    return {.key = parameter->value, .title = one_line(parameter->value)};
  });
}

/// Returns the commands by the value of a parameter, and by typed command.
Grid make_scan_grid(const Results& results, const std::string& parameter) {
  return make_grid(results, parameter, [](const Command& command) {
    return GridColumn{.key = std::to_string(command.typed_command_index),
                      .title = one_line(command.unfilled_name)};
  });
}

/// Returns the columns of a scan. Only those of a single typed command include one of deltas.
std::vector<TableColumn> list_scan_columns(const std::string& parameter, const Grid& grid) {
  std::vector<TableColumn> columns = {make_bold_column(parameter, CellContent::Text, Cut::Middle)};
  if (grid.columns.size() == 1) {
    columns.push_back(make_bold_column(std::string(metric_name_of(Role::WallTime)),
                                       CellContent::Number, Cut::Middle));
    columns.push_back(make_bold_column("delta", CellContent::Delta, Cut::Middle));
  } else {
    for (const GridColumn& column : grid.columns)
      columns.push_back(make_bold_column(column.title, CellContent::Number, Cut::Middle));
  }
  return columns;
}

/// Returns the results of a command that tables without --verbose show.
std::vector<const MetricResult*> find_shown_rows(const Results& results,
                                                 const CommandResult& command) {
  std::vector<const MetricResult*> shown;
  if (!has_values(command)) return shown;
  constexpr bool is_verbose = false;
  for (const MetricResult& row : command.rows)
    if (is_in_tables(results, row.metric_index, is_verbose)) shown.push_back(&row);
  return shown;
}

/// Returns the command's name, its number of runs and its parameters, each in a line.
std::string describe_command(const Results& results, std::size_t index, const Markup& markup) {
  const Command& command = results.session.commands[index];
  const std::string line_break(markup.line_break);
  std::string description = markup.format_code(command.name) + line_break +
                            runs_text(results, index) +
                            failed_and_redone_text(results.commands[index]);
  for (const Parameter& parameter : command.parameters)
    description += line_break + markup.format_text(parameter.name + " = " + parameter.value);
  return description;
}

bool has_value(const Results& results, std::size_t metric) {
  return std::ranges::any_of(results.commands, [&](const CommandResult& command) {
    const MetricResult* row = row_if_has_values(command, metric);
    return row != nullptr && (row->summary || row->quantile || row->mean_without_run_values ||
                              row->largest_bound_of_runs);
  });
}

/// Returns the attempts to fit the table of a command. Each is narrower than the one before.
std::vector<TableFitAttempt> list_full_table_steps() {
  return {{.gap = 4, .uses_roomy_widths = true},
          {.gap = 4},
          {.gap = 3},
          {},
          {.last_omitted_part = OmittedPart::OutlierPercent},
          {.last_omitted_part = OmittedPart::Outliers},
          {.last_omitted_part = OmittedPart::Range},
          {.last_omitted_part = OmittedPart::Interval}};
}

/// Returns the rows of a command in a report: one for each shown metric, the first of which
/// describes the command. A command without values has a row with nothing but its description.
std::vector<TableRow> make_markup_rows(const Results& results, std::size_t command,
                                       const std::vector<MetricColumn>& columns,
                                       const Markup& markup) {
  std::vector<TableRow> rows;
  std::string description = describe_command(results, command, markup);
  const auto shown_rows = find_shown_rows(results, results.commands[command]);
  if (shown_rows.empty()) rows.push_back({{description}});
  for (const MetricResult* metric_result : shown_rows) {
    TableRow& row = rows.emplace_back();
    row.push_back({.text = description});
    description.clear();
    add_cells(row, columns,
              {.results = results,
               .command = command,
               .metric = results.session.metrics[metric_result->metric_index],
               .metric_result = metric_result});
  }
  return rows;
}

/// Returns the attempts to fit a compact table. They first let names be cut, and then leave out
/// parts.
std::vector<TableFitAttempt> list_compact_table_steps() {
  return {{.gap = 4},
          {.min_cut_width = 32},
          {.min_cut_width = 24},
          {.last_omitted_part = OmittedPart::Names, .min_cut_width = 24},
          {.last_omitted_part = OmittedPart::Range, .min_cut_width = 12},
          {.last_omitted_part = OmittedPart::Interval, .min_cut_width = 8}};
}

/// Returns the column of the commands' names. They may be left out if the columns of parameters
/// tell the commands apart.
TableColumn make_command_column(const Results& results) {
  TableColumn column = make_bold_column("command", CellContent::Code, Cut::Middle);
  column.is_left_aligned = true;
  if (parameters_name_commands(results)) column.dropped_when_omitting = OmittedPart::Names;
  return column;
}

/// Returns a row's first cells: the name of the command, and its value of each parameter.
TableRow make_command_cells(const Command& command, const std::vector<std::string>& parameters) {
  TableRow row{{command.name}};
  for (const std::string& name : parameters) {
    const Parameter* parameter = find_parameter(command, name);
    row.push_back({parameter == nullptr ? "" : parameter->value});
  }
  return row;
}

/// Returns the columns that compare the commands by one metric.
std::vector<MetricColumn> list_compact_columns(const Results& results, std::size_t metric) {
  return list_columns({.is_compact = true,
                       .has_deltas = has_deltas_of(results, metric),
                       .has_runs = has_runs_column(results, metric),
                       .is_of_race = results.findings.race.has_value()});
}

/// The columns of a table with a row for each metric: values of `commands`, deltas of `candidates`.
struct MetricsTableCommands {
  std::vector<std::size_t> commands;
  std::vector<std::size_t> candidates;

  bool has_several_candidates() const { return candidates.size() > 1; }
};

std::vector<TableColumn> list_metrics_columns(const Results& results,
                                              const MetricsTableCommands& shown) {
  std::vector<TableColumn> columns = {
      {.heading = {"measurement"}, .cell_content = CellContent::Text}};
  for (const std::size_t c : shown.commands)
    columns.push_back({.heading = {results.session.commands[c].name},
                       .is_dropped_on_phone = shown.has_several_candidates()});
  for (const std::size_t c : shown.candidates) {
    const std::string heading =
        shown.has_several_candidates() ? "delta of " + results.session.commands[c].name : "delta";
    columns.push_back({.heading = {heading}, .cell_content = CellContent::Delta});
  }
  return columns;
}

/// Returns a metric's row: its name, its value for each command and its delta for each candidate.
TableRow make_metrics_row(const Results& results, std::size_t metric_index,
                          const MetricsTableCommands& shown) {
  const Metric& metric = results.session.metrics[metric_index];
  TableRow row{{metric_title(metric)}};

  // With several candidates, the columns are too narrow for deviations.
  for (const std::size_t c : shown.commands) {
    const CellSource source = find_source(results, c, metric_index);
    if (shown.has_several_candidates() && source.metric_result != nullptr)
      row.push_back({short_mean_text(*source.metric_result, metric)});
    else
      row.push_back(make_mean_cell(source));
  }
  for (const std::size_t c : shown.candidates)
    row.push_back(make_delta_cell(find_source(results, c, metric_index)));
  return row;
}

/// Returns the metrics with deltas that tables without --verbose show.
std::vector<std::size_t> find_shown_metrics_with_deltas(const Results& results) {
  constexpr bool is_verbose = false;
  std::vector<std::size_t> metrics;
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m)
    if (is_in_tables(results, m, is_verbose) && has_deltas_of(results, m)) metrics.push_back(m);
  return metrics;
}

/// Returns a table of deltas with a row for each command and a column for each of `metrics`.
Table make_deltas_table(const Results& results, const std::vector<std::size_t>& metrics) {
  Table table{.columns = {{.heading = {"command"}, .cell_content = CellContent::Markup}}};
  for (const std::size_t metric : metrics)
    table.columns.push_back({.heading = {metric_title(results.session.metrics[metric])},
                             .cell_content = CellContent::Delta});

  const std::vector<std::string> css_classes = command_classes(results);
  for (const std::size_t c : commands_in_table_order(results)) {
    TableRow& row = table.rows.emplace_back(
        TableRow{{"<div class=\"who\">" + command_html(results, c, css_classes[c]) + "</div>"}});
    for (const std::size_t metric : metrics)
      row.push_back(make_delta_cell(find_compact_source(results, c, metric)));
  }
  return table;
}

}  // namespace

TableLayout choose_table_layout(std::span<const Table> tables, const Style& style) {
  TableLayout fitted;
  if (tables.empty()) return fitted;
  const Table& widest = *std::ranges::max_element(
      tables, {}, [](const Table& table) { return table.columns.size(); });
  for (const TableFitAttempt& step : widest.steps) {
    fitted.chosen_attempt = step;
    fitted.widths = measure_columns(tables, step, style);
    std::vector<std::size_t> cut = fitted.widths;
    for (std::size_t c = 0; c < widest.columns.size(); ++c)
      if (widest.columns[c].cut != Cut::Nothing) cut[c] = std::min(cut[c], step.min_cut_width);
    fitted.fits = style.width == 0 || line_width(cut, step.gap) <= style.width;
    if (fitted.fits) break;
  }
  if (style.width > 0)
    narrow_columns(fitted.widths, widest, fitted.chosen_attempt.gap, style.width);
  return fitted;
}

std::string terminal_text(const Table& table, const TableLayout& fitted, const Style& style) {
  if (table.rows.empty()) return "";
  TableRow headings;
  for (const TableColumn& column : table.columns) headings.push_back(column.heading);
  std::string text =
      inked(write_row(table, headings, fitted, style), table.heading_ink, style.color);
  if (!text.empty()) text += "\n";
  for (const TableRow& row : table.rows) text += write_row(table, row, fitted, style) + "\n";
  return text;
}

std::string terminal_text(const Table& table, const Style& style) {
  return terminal_text(table, choose_table_layout({&table, 1}, style), style);
}

std::string_view omitted_intervals_note(std::span<const Table> tables, const TableLayout& fitted) {
  const bool has_deltas = std::ranges::any_of(tables, [](const Table& table) {
    return std::ranges::find(table.columns, CellContent::Delta, &TableColumn::cell_content) !=
           table.columns.end();
  });
  return has_deltas && fitted.has_given_up(OmittedPart::Interval)
             ? "the terminal is too narrow to show the intervals of deltas"
             : "";
}

std::string terminal_text_with_note(const Table& table, const Style& style) {
  const TableLayout fitted = choose_table_layout({&table, 1}, style);
  return terminal_text(table, fitted, style) +
         dim_note(omitted_intervals_note({&table, 1}, fitted), style);
}

std::string dim_note(std::string_view note, const Style& style) {
  std::string lines;
  for (const std::string& line : lines_with_text(note))
    lines += inked(wrapped_to_cells(line, style.width), Ink::Dim, style.color) + "\n";
  return lines;
}

std::string table_html(const Table& table, std::string_view css_class) {
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table";
  if (!css_class.empty()) html += fmt::format(" class=\"{}\"", css_class);
  html += ">\n<thead><tr>";
  for (const TableColumn& column : table.columns)
    html += fmt::format("<th scope=\"col\"{}>{}</th>",
                        column.is_dropped_on_phone ? " class=\"more\"" : "",
                        html_text(column.heading.text));
  html += "</tr></thead>\n<tbody>\n";
  for (const TableRow& row : table.rows) {
    html += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c)
      html += make_html_cell(row[c], table.columns[c], c == 0);
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

std::string delta_html(const Cell& cell) {
  std::string mark;
  if (cell.mark == Mark::Better || cell.mark == Mark::Worse)
    mark = fmt::format(
        "<svg class=\"sign\" role=\"img\" aria-label=\"{0}\"><use href=\"#{0}\"/></svg>\u00a0",
        cell.mark == Mark::Better ? "better" : "worse");
  return mark + delta_with_kept_blanks(cell.text);
}

std::string verdict_html(const Cell& verdict) {
  if (!verdict.decision) return "";
  const gate::Answer answer = gate::answer_of(*verdict.decision);
  const std::string_view css = answer == gate::Answer::Pass   ? "better"
                               : answer == gate::Answer::Fail ? "worse"
                                                              : "unsure";
  return fmt::format(
      "<span class=\"mark {}\">{}</span>{}", css, verdict_word(*verdict.decision).first,
      verdict.verdict_reason.empty()
          ? ""
          : " <span class=\"reason\">" + html_text(verdict.verdict_reason) + "</span>");
}

Cell delta_cell(const stats::Change& delta, Better better) {
  Cell cell{.text = delta_text(delta), .ink = Ink::Dim, .mark = Mark::Blank};
  if (delta.change) cell.shorter_texts = {short_delta_text(delta)};
  cell.is_significant_delta = delta.is_significant();
  if (!delta.is_relevant()) return cell;
  const bool is_better = (*delta.change > 0) == (better == Better::More);
  cell.ink = better == Better::Neither ? Ink::Plain : is_better ? Ink::Green : Ink::Red;
  if (better != Better::Neither) cell.mark = is_better ? Mark::Better : Mark::Worse;
  return cell;
}

std::vector<std::vector<std::size_t>> groups_in_table_order(const Results& results) {
  const Reference& reference = results.session.reference;
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t c : commands_in_table_order(results)) {
    if (groups.empty() || reference.group_of(groups.back().front()) != reference.group_of(c))
      groups.emplace_back();
    groups.back().push_back(c);
  }
  return groups;
}

const std::string& name_of_references(const Results& results) {
  const Reference& reference = results.session.reference;
  const Command& first = results.session.commands[reference.index_for(0)];
  const bool has_several = groups_in_table_order(results).size() > 1;
  return has_several && !first.unfilled_name.empty() ? first.unfilled_name : first.name;
}

std::vector<std::string> parameter_names(const Results& results) {
  std::vector<std::string> names;
  for (const Command& command : results.session.commands)
    for (const Parameter& parameter : command.parameters)
      if (std::ranges::find(names, parameter.name) == names.end()) names.push_back(parameter.name);
  return names;
}

std::string parameters_text(const Command& command) {
  std::string values;
  for (const Parameter& parameter : command.parameters)
    values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", one_line(parameter.name),
                          one_line(parameter.value));
  return values;
}

bool has_deltas_of(const Results& results, std::size_t metric) {
  return std::ranges::any_of(results.commands, [&](const CommandResult& command) {
    const MetricResult* row = row_if_has_values(command, metric);
    return row != nullptr && row->delta;
  });
}

bool has_single_typed_command(const Results& results) {
  return std::ranges::all_of(results.session.commands, [&](const Command& command) {
    return command.typed_command_index == results.session.commands[0].typed_command_index;
  });
}

bool compact_table_replaces_full_tables(const Results& results) {
  constexpr std::size_t min_commands = 5;
  if (results.presentation.table == TableChoice::Auto)
    return results.commands.size() >= min_commands || results.findings.race;
  return results.presentation.table == TableChoice::Compact;
}

bool is_constant(const Results& results, std::size_t metric, std::optional<double> value) {
  return std::ranges::all_of(results.commands, [&](const CommandResult& command) {
    const MetricResult* row = metric_result_of(command, metric);
    if (row == nullptr) return true;
    if (!row->summary) return false;
    if (!value) value = row->summary->min;
    return row->summary->min == *value && row->summary->max == *value;
  });
}

bool is_hidden_as_all_zero(const Results& results, std::size_t metric) {
  constexpr std::size_t max_commands = 1000;  // checking more commands would take too long
  return results.presentation.hides_all_zero_rows && results.commands.size() <= max_commands &&
         is_constant(results, metric, 0.0);
}

bool has_compact_table_first(const Results& results) {
  return results.presentation.table == TableChoice::Auto &&
         !compact_table_replaces_full_tables(results) && results.commands.size() > 2 &&
         primary_metric(results.session.metrics);
}

const MetricResult* row_if_has_values(const CommandResult& command, std::size_t metric) {
  return has_values(command) ? metric_result_of(command, metric) : nullptr;
}

double value_of_primary_metric(const Results& results, std::size_t command) {
  const auto metric = primary_metric(results.session.metrics);
  const MetricResult* row =
      metric ? row_if_has_values(results.commands[command], *metric) : nullptr;
  if (row != nullptr && row->quantile) return row->quantile->value;
  return row == nullptr || !row->summary ? std::numeric_limits<double>::infinity()
                                         : row->summary->mean;
}

std::vector<std::size_t> commands_in_table_order(const Results& results) {
  if (results.findings.race) return results.findings.race->order();
  const Reference& reference = results.session.reference;
  std::vector<std::size_t> order = order_by_group(reference, results.commands.size());
  if (results.presentation.sort == SortChoice::Time)
    std::ranges::stable_sort(order, {}, [&](std::size_t c) {
      return std::pair(reference.group_of(c), value_of_primary_metric(results, c));
    });
  return order;
}

std::vector<std::size_t> compact_metrics(const Results& results, bool verbose) {
  const auto primary = primary_metric(results.session.metrics);
  if (!primary) return {};
  if (!verbose && !results.presentation.compact_shows_all_metrics) return {*primary};
  std::vector<std::size_t> metrics;
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m)
    if (is_in_tables(results, m, verbose)) metrics.push_back(m);
  return metrics;
}

std::string metric_title(const Metric& metric) {
  return metric.metric_suffix.empty() ? metric.name : metric.name + " " + metric.metric_suffix;
}

std::string compact_title(const Results& results, std::size_t metric) {
  std::string title = one_line(metric_title(results.session.metrics[metric]));
  title += parameters_name_commands(results)
               ? " of " + one_line(results.session.commands[0].unfilled_name)
               : " of " + plural(results.commands.size(), "command");
  if (!has_runs_column(results, metric))
    title += ", " +
             plural(count_runs(results, 0, metric), run_words(results.session.metrics[metric])) +
             " each";
  return title;
}

// The table has a row for each metric of one command. On a page, it is not fitted to a width.
Table full_table(const Results& results, std::size_t command_index, bool verbose, bool for_page) {
  Table table{.steps = list_full_table_steps(), .heading_ink = Ink::Bold};
  const CommandResult& command = results.commands[command_index];
  if (!has_values(command)) return table;

  const std::vector<MetricColumn> columns =
      list_columns({.is_for_page = for_page, .has_deltas = has_delta(results, command, verbose)});
  for (const MetricResult& metric_result : command.rows) {
    const std::size_t metric_index = metric_result.metric_index;
    if (!is_in_tables(results, metric_index, verbose)) continue;

    TableRow& row = table.rows.emplace_back();
    add_cells(row, columns,
              {.results = results,
               .command = command_index,
               .metric = results.session.metrics[metric_index],
               .metric_result = &metric_result});
  }

  // In the terminal, headings without any row below them would be of no use.
  const bool has_headings = for_page || !table.rows.empty();
  if (has_headings) add_columns(table, columns, Ink::Plain);
  return table;
}

// Makes the table of a report in Markdown or a similar language, with a row for each metric of each
// command.
Table markup_table(const Results& results, const Markup& markup) {
  // The table has a column of deltas if any metric has a delta, even one that only --verbose would
  // show.
  constexpr bool includes_verbose_metrics = true;
  const auto has_any_delta = [&](const CommandResult& command) {
    return has_delta(results, command, includes_verbose_metrics);
  };
  const std::vector<MetricColumn> columns =
      list_columns({.has_deltas = std::ranges::any_of(results.commands, has_any_delta)});

  Table table;
  table.columns.push_back(
      {.heading = {"command"}, .cell_content = CellContent::Markup, .is_left_aligned = true});
  add_columns(table, columns, Ink::Plain);

  for (const std::size_t c : commands_in_table_order(results))
    for (TableRow& row : make_markup_rows(results, c, columns, markup))
      table.rows.push_back(std::move(row));
  return table;
}

// The table has a row for each command, and compares the commands by one metric.
Table compact_table(const Results& results, std::size_t metric) {
  Table table{.columns = {make_command_column(results)}, .steps = list_compact_table_steps()};
  const std::vector<std::string> parameters = parameter_names(results);
  for (const std::string& name : parameters)
    table.columns.push_back(make_bold_column(name, CellContent::Text, Cut::Middle));

  const std::vector<MetricColumn> metric_columns = list_compact_columns(results, metric);
  add_columns(table, metric_columns, Ink::Bold);

  for (const std::size_t c : commands_in_table_order(results)) {
    TableRow& row =
        table.rows.emplace_back(make_command_cells(results.session.commands[c], parameters));
    add_cells(row, metric_columns, find_compact_source(results, c, metric));
  }
  return table;
}

// A command that the user typed with two parameters is run with each pair of their values. The
// matrix has a cell for each pair, so that one sees the effect of either parameter.
std::optional<Table> matrix_table(const Results& results, std::size_t metric) {
  // A race sorts its commands by their results, and a matrix would lose this order.
  const bool is_race = results.findings.race.has_value();
  if (is_race || !has_single_typed_command(results)) return std::nullopt;

  const std::vector<std::string> parameters = parameter_names(results);
  if (parameters.size() != 2) return std::nullopt;
  const std::string& row_parameter = parameters[0];
  const std::string& column_parameter = parameters[1];

  // A single row or column of values would be no matrix.
  const Grid grid = make_parameter_grid(results, row_parameter, column_parameter);
  if (grid.rows.size() < 2 || grid.columns.size() < 2) return std::nullopt;

  const std::string corner_heading = row_parameter + " \\ " + column_parameter;
  Table table{.columns = {make_bold_column(corner_heading, CellContent::Text, Cut::Nothing)},
              .steps = list_matrix_steps()};
  for (const GridColumn& column : grid.columns) table.columns.push_back(make_matrix_column(column));
  for (const std::string& row_value : grid.rows)
    table.rows.push_back(make_matrix_row(results, grid, row_value, metric));
  return table;
}

// A command that the user typed with a parameter is run with each of its values. The table has a
// row for each value, and a column for each typed command.
std::string scan_table(const Results& results, const Style& style) {
  const std::vector<std::string> parameters = parameter_names(results);
  if (parameters.size() != 1) return "";

  // The table compares values of the parameter, so it needs at least two.
  const Grid grid = make_scan_grid(results, parameters.front());
  if (grid.rows.size() < 2) return "";

  // A compact table already has a row for each value of a single typed command.
  const bool has_one_typed_command = grid.columns.size() == 1;
  const bool has_compact_table =
      compact_table_replaces_full_tables(results) || has_compact_table_first(results);
  if (has_one_typed_command && has_compact_table) return "";

  const TableFitAttempt with_wide_gaps{.gap = 4};
  const TableFitAttempt with_usual_gaps{};
  const TableFitAttempt without_intervals{.last_omitted_part = OmittedPart::Interval};
  Table table{.columns = list_scan_columns(parameters.front(), grid),
              .steps = {with_wide_gaps, with_usual_gaps, without_intervals}};
  for (const std::string& value : grid.rows)
    table.rows.push_back(make_scan_row(results, grid, value));
  return terminal_text(table, style);
}

// The table shows all results of a small session at once: a row for each metric, with a value for
// each command and a delta for each candidate.
Table metrics_table(const Results& results, bool every_row) {
  const MetricsTableCommands shown{.commands = commands_in_table_order(results),
                                   .candidates = find_candidates(results)};
  Table table{.columns = list_metrics_columns(results, shown)};
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m) {
    const bool has_content = has_value(results, m) && !is_constant(results, m, 0.0);
    if (is_shown(results.session.metrics[m], every_row) && has_content)
      table.rows.push_back(make_metrics_row(results, m, shown));
  }
  return table;
}

// The table gives an overview of all deltas on a page.
std::string differences_html(const Results& results) {
  const std::vector<std::size_t> metrics = find_shown_metrics_with_deltas(results);
  if (metrics.empty()) return "";

  // A row is a metric or a command, whichever are more, so that the table is longer than wide.
  constexpr bool has_every_row = false;
  if (metrics.size() >= results.commands.size())
    return table_html(metrics_table(results, has_every_row), "matrix metrics");
  return table_html(make_deltas_table(results, metrics), "matrix");
}

}  // namespace lauka::report
