#include "report/compact.h"

#include "core/foreign_text.h"
#include "core/text.h"
#include "report/cells.h"
#include "report/format.h"
#include "report/grid.h"
#include "report/marked_delta.h"
#include "report/parameters.h"
#include "report/width.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace lauka::report {

namespace {

struct CompactLayout {
  std::size_t gap;
  bool names;        ///< also where the parameters tell the commands apart
  std::size_t text;  ///< names and values longer than that are cut before a number is left out
  TableShape shape{.is_compact = true};
};

constexpr std::size_t kShortest = 8;
constexpr auto kCompactLayouts = std::to_array<CompactLayout>({
    {4, true, std::numeric_limits<std::size_t>::max()},
    {2, true, 32},
    {2, true, 24, {.is_compact = true, .fine_range = false}},
    {2, false, 24, {.is_compact = true, .fine_range = false}},
    {2, false, 12, {.is_compact = true, .range = false}},
    {2, false, kShortest, {.is_compact = true, .range = false, .interval = false}},
});

bool one_was_typed(const Results& results) {
  return std::all_of(
      results.commands.begin(), results.commands.end(),
      [&](const CommandResult& command) { return command.typed == results.commands[0].typed; });
}

/// A value for each command, all different: then names only repeat them.
bool parameters_tell_all(const Results& results) {
  return one_was_typed(results) && !parameter_names(results).empty();
}

/// The rows of one metric as a layout has them, the headings first. Names and parameters come
/// before all numbers.
struct Rows {
  std::vector<GridRow> grid;
  std::size_t texts = 0;         ///< columns of names and parameters
  bool lacks_intervals = false;  ///< deltas are without them
};

Rows rows_of(const Results& results, std::size_t metric, const CompactLayout& layout, bool ascii) {
  const TableShape shape = compact_shape(results, metric, layout.shape);
  const std::vector<const Column*> columns = columns_of(shape);
  const std::vector<std::string> parameters = parameter_names(results);
  const bool has_names = layout.names || !parameters_tell_all(results);
  Rows rows{{{}}, parameters.size() + (has_names ? 1 : 0), shape.has_deltas && !shape.interval};
  GridRow& heading = rows.grid.front();
  if (has_names) heading.push_back({"command", Ink::Bold});
  for (const std::string& name : parameters) heading.push_back({one_line(name), Ink::Bold});
  for (const Column* column : columns) heading.push_back({std::string(column->heading), Ink::Bold});
  for (const std::size_t c : order_of(results)) {
    const CommandResult& command = results.commands[c];
    GridRow& row = rows.grid.emplace_back();
    if (has_names) row.push_back({one_line(command.name)});
    for (const std::string& name : parameters) {
      const Parameter* parameter = find_parameter(command, name);
      row.push_back({parameter == nullptr ? "" : one_line(parameter->value)});
    }
    for (const Column* column : columns)
      row.push_back(
          column->cell({results, c, results.metrics[metric], shown_row(command, metric), shape}));
  }
  if (ascii) make_ascii(rows.grid);
  return rows;
}

std::string list_text(const Results& results, std::size_t metric, const Style& style) {
  Rows rows;
  std::vector<std::size_t> widths;
  std::size_t gap = 0;
  for (const CompactLayout& layout : kCompactLayouts) {
    rows = rows_of(results, metric, layout, style.ascii);
    widths = widths_of(rows.grid);
    gap = layout.gap;
    auto cut = widths;
    for (std::size_t i = 0; i < rows.texts; ++i) cut[i] = std::min(cut[i], layout.text);
    if (style.width == 0 || line_width(cut, gap) <= style.width) break;
  }
  // Of a number nothing may be cut; of names and values their middle.
  const auto numbers = widths.begin() + static_cast<std::ptrdiff_t>(rows.texts);
  std::vector<std::size_t> of_texts(widths.begin(), numbers);
  const std::size_t taken = line_width({numbers, widths.end()}, gap) + gap;
  if (style.width > 0)
    narrow(of_texts, gap, style.width > taken ? style.width - taken : 1, kShortest);
  std::copy(of_texts.begin(), of_texts.end(), widths.begin());
  return grid_text(rows.grid, widths, gap, style.color) +
         (rows.lacks_intervals ? dim_note(kNoRoomForIntervals, style) : "");
}

/// The commands made of one typed with two variables, by their values.
struct Matrix {
  std::array<std::vector<std::string>, 2> values;  // each once, in the order of the commands
  std::vector<std::vector<std::size_t>> commands;  // row by row; kNone: there is none
};

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

std::size_t place_of(std::vector<std::string>& values, const std::string& value) {
  const auto found = std::find(values.begin(), values.end(), value);
  const auto place = static_cast<std::size_t>(found - values.begin());
  if (found == values.end()) values.push_back(value);
  return place;
}

Matrix matrix_of(const Results& results, const std::vector<std::string>& names) {
  Matrix matrix;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const Parameter* first = find_parameter(results.commands[c], names[0]);
    const Parameter* second = find_parameter(results.commands[c], names[1]);
    if (first == nullptr || second == nullptr) return {};
    const std::size_t row = place_of(matrix.values[0], first->value);
    const std::size_t column = place_of(matrix.values[1], second->value);
    matrix.commands.resize(std::max(matrix.commands.size(), row + 1));
    auto& cells = matrix.commands[row];
    cells.resize(std::max(cells.size(), column + 1), kNone);
    cells[column] = c;
  }
  return matrix;
}

/// How much a cell of a matrix tells.
enum class Told : unsigned char { Deviation, Mean, Value };

Cell matrix_cell(const Results& results, std::size_t metric, std::size_t command, Told told) {
  const MetricResult* row =
      command == kNone ? nullptr : shown_row(results.commands[command], metric);
  if (row == nullptr) return {command == kNone ? "" : "n/a"};
  const Metric& of = results.metrics[metric];
  Cell cell{told != Told::Deviation && row->quantile   ? quantile_cell(*row, of, false)
            : told == Told::Deviation || !row->summary ? mean_cell(*row, of)
                                                       : quantity(row->summary->mean, of)};
  if (!row->delta) return cell;
  const MarkedDelta delta = marked_delta(*row->delta, of.better);
  cell.ink = delta.ink;
  if (told == Told::Value || !row->delta->change) return cell;
  const std::string mark = delta.text.substr(0, delta.text.find(' '));
  cell.text += "  " + (mark.empty() ? "" : mark + " ") + signed_percent(*row->delta->change, 1);
  return cell;
}

std::string what_percentages_are(const Results& results, std::size_t metric, const Style& style) {
  const auto has_delta = [&](const CommandResult& command) {
    const MetricResult* row = shown_row(command, metric);
    return row != nullptr && row->delta;
  };
  if (std::none_of(results.commands.begin(), results.commands.end(), has_delta)) return "";
  std::string from;
  if (results.reference.baseline) {
    from = one_line(results.reference.baseline->file);
  } else {
    for (const Parameter& parameter : results.commands[results.reference.command].parameters)
      from += fmt::format("{}{} = {}", from.empty() ? "" : ", ", one_line(parameter.name),
                          one_line(parameter.value));
  }
  if (from.empty()) return "";
  return dim_note("percentages: the difference from " + from, style);
}

std::vector<GridRow> matrix_grid(const Results& results, std::size_t metric, const Matrix& matrix,
                                 Told told) {
  const std::vector<std::string> names = parameter_names(results);
  std::vector<GridRow> grid = {{{one_line(names[0]) + " \\ " + one_line(names[1]), Ink::Bold}}};
  for (const std::string& value : matrix.values[1]) grid[0].push_back({one_line(value), Ink::Bold});
  for (std::size_t r = 0; r < matrix.commands.size(); ++r) {
    GridRow row = {{one_line(matrix.values[0][r]), Ink::Bold}};
    for (const std::size_t command : matrix.commands[r])
      row.push_back(matrix_cell(results, metric, command, told));
    grid.push_back(std::move(row));
  }
  return grid;
}

std::string matrix_text(const Results& results, std::size_t metric, const Style& style) {
  const std::vector<std::string> names = parameter_names(results);
  if (names.size() != 2 || !one_was_typed(results)) return "";
  const Matrix matrix = matrix_of(results, names);
  if (matrix.values[0].size() < 2 || matrix.values[1].size() < 2) return "";
  for (const Told told : {Told::Deviation, Told::Mean, Told::Value}) {
    std::vector<GridRow> grid = matrix_grid(results, metric, matrix, told);
    if (style.ascii) make_ascii(grid);
    const std::vector<std::size_t> widths = widths_of(grid);
    for (const std::size_t gap : {std::size_t{4}, std::size_t{2}}) {
      if (style.width > 0 && line_width(widths, gap) > style.width) continue;
      return grid_text(grid, widths, gap, style.color) +
             (told == Told::Value ? "" : what_percentages_are(results, metric, style));
    }
  }
  return "";
}

/// The rows that a compact table leaves out, so that nobody has to guess where they are.
std::string what_is_left_out(const Results& results, const std::vector<std::size_t>& shown,
                             const Style& style) {
  std::string names;
  std::size_t more = 0;
  for (std::size_t m = 0; m < results.metrics.size(); ++m) {
    if (results.metrics[m].shown != Shown::Always ||
        std::find(shown.begin(), shown.end(), m) != shown.end())
      continue;
    constexpr std::size_t most = 3;
    if (++more > most) continue;
    names += (names.empty() ? "" : ", ") + one_line(results.metrics[m].name);
  }
  constexpr std::size_t named = 3;
  if (more > named) names += fmt::format(" and {} more", more - named);
  if (more == 0) return "";
  return dim_note("not shown: " + names + "; see --table full", style);
}

}  // namespace

bool is_compact(const Results& results) {
  if (results.presentation.table == TableChoice::Auto)
    return results.commands.size() >= kManyCommands;
  return results.presentation.table == TableChoice::Compact;
}

const MetricResult* shown_row(const CommandResult& command, std::size_t metric) {
  if (command.runs == 0) return nullptr;
  const auto row = std::find_if(command.rows.begin(), command.rows.end(),
                                [&](const MetricResult& one) { return one.metric == metric; });
  return row == command.rows.end() ? nullptr : &*row;
}

std::vector<std::size_t> order_of(const Results& results) {
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < results.commands.size(); ++c) order.push_back(c);
  const auto metric = primary_metric(results.metrics);
  if (results.presentation.sort == SortChoice::Command || !metric) return order;
  const auto key = [&](std::size_t command) {
    const MetricResult* row = shown_row(results.commands[command], *metric);
    if (row != nullptr && row->quantile) return row->quantile->value;
    return row == nullptr || !row->summary ? std::numeric_limits<double>::infinity()
                                           : row->summary->mean;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

std::vector<std::size_t> compact_metrics(const Results& results, bool verbose) {
  const auto primary = primary_metric(results.metrics);
  if (!primary) return {};
  if (!verbose && !results.presentation.every_row) return {*primary};
  std::vector<std::size_t> metrics;
  for (std::size_t m = 0; m < results.metrics.size(); ++m)
    if (verbose || results.metrics[m].shown == Shown::Always) metrics.push_back(m);
  return metrics;
}

TableShape compact_shape(const Results& results, std::size_t metric, TableShape shape) {
  shape.is_compact = true;
  shape.has_runs = has_runs_column(results);
  shape.has_deltas =
      std::any_of(results.commands.begin(), results.commands.end(), [&](const auto& command) {
        const MetricResult* row = shown_row(command, metric);
        return row != nullptr && row->delta;
      });
  return shape;
}

bool has_runs_column(const Results& results) {
  return std::any_of(results.commands.begin(), results.commands.end(), [&](const auto& command) {
    return command.runs != results.commands[0].runs || command.failed_runs > 0 ||
           command.redone_runs > 0;
  });
}

std::string compact_title(const Results& results, std::size_t metric) {
  const Metric& of = results.metrics[metric];
  std::string title = one_line(of.name);
  if (!of.note.empty()) title += " " + of.note;
  title += one_was_typed(results) && parameters_tell_all(results)
               ? " of " + one_line(results.commands[0].pattern)
               : " of " + plural(results.commands.size(), "command");
  if (!has_runs_column(results)) title += ", " + plural(results.commands[0].runs, "run") + " each";
  return title;
}

std::string compact_table(const Results& results, const Style& style) {
  if (results.commands.empty()) return "";
  const std::vector<std::size_t> metrics = compact_metrics(results, style.verbose);
  std::string text;
  for (const std::size_t metric : metrics) {
    if (!text.empty()) text += "\n";
    const std::string title = compact_title(results, metric);
    text += inked(style.width > 0 ? cut_middle(title, style.width) : title, Ink::Bold, style.color);
    const std::string matrix = matrix_text(results, metric, style);
    text += "\n" + (matrix.empty() ? list_text(results, metric, style) : matrix);
  }
  return text + what_is_left_out(results, metrics, style);
}

}  // namespace lauka::report
