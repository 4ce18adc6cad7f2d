#include "report/parameters.h"

#include "report/ansi.h"
#include "report/cells.h"
#include "report/format.h"
#include "report/marked_delta.h"
#include "report/width.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace lauka::report {

namespace {

constexpr std::size_t kGap = 4;

/// A column of the table: the commands that were made from one that was typed.
struct Column {
  std::size_t typed = 0;
  std::string title;
};

const MetricResult* wall_time_of(const Results& results, const CommandResult& command) {
  for (const MetricResult& row : command.rows) {
    if (results.metrics[row.metric].name == "wall_time" && row.summary) return &row;
  }
  return nullptr;
}

std::vector<std::string> values_of(const Results& results, const std::string& name) {
  std::vector<std::string> values;
  for (const CommandResult& command : results.commands) {
    const Parameter* parameter = find_parameter(command, name);
    if (parameter == nullptr) continue;
    if (std::find(values.begin(), values.end(), parameter->value) == values.end())
      values.push_back(parameter->value);
  }
  return values;
}

std::vector<Column> columns_of(const Results& results, const std::string& name) {
  std::vector<Column> columns;
  for (const CommandResult& command : results.commands) {
    const bool is_known = std::any_of(columns.begin(), columns.end(), [&](const Column& column) {
      return column.typed == command.typed;
    });
    if (find_parameter(command, name) != nullptr && !is_known)
      columns.push_back({command.typed, one_line(command.pattern)});
  }
  return columns;
}

const CommandResult* find_command(const Results& results, std::size_t typed,
                                  const std::string& name, const std::string& value) {
  for (const CommandResult& command : results.commands) {
    const Parameter* parameter = find_parameter(command, name);
    if (command.typed == typed && parameter != nullptr && parameter->value == value)
      return &command;
  }
  return nullptr;
}

struct Cell {
  std::string text{};
  Ink ink = Ink::Plain;
};

using Row = std::vector<Cell>;

Row row_of(const Results& results, const std::vector<Column>& columns, const std::string& name,
           const std::string& value) {
  Row row = {{one_line(value)}};
  for (const Column& column : columns) {
    const CommandResult* command = find_command(results, column.typed, name, value);
    const MetricResult* wall = command == nullptr ? nullptr : wall_time_of(results, *command);
    if (wall == nullptr) {
      row.push_back({"n/a"});
      continue;
    }
    const Metric& metric = results.metrics[wall->metric];
    row.push_back({mean_cell(*wall, metric)});
    // With one command typed the reference is its first value.
    if (columns.size() == 1 && results.commands.front().typed == column.typed && wall->delta) {
      const MarkedDelta delta = marked_delta(*wall->delta, metric.better);
      row.push_back({delta.text, delta.ink});
    }
  }
  return row;
}

Row heading_of(const std::vector<Column>& columns, const std::string& name) {
  Row heading = {{one_line(name), Ink::Bold}};
  if (columns.size() == 1) {
    heading.push_back({"wall_time", Ink::Bold});
    heading.push_back({"delta", Ink::Bold});
    return heading;
  }
  for (const Column& column : columns) heading.push_back({column.title, Ink::Bold});
  return heading;
}

/// Titles and values may be of any length: all columns but the widest keep their width.
std::vector<std::size_t> widths_of(const std::vector<Row>& rows, std::size_t limit) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], display_width(row[c].text));
  }
  constexpr std::size_t least = 8;
  for (;;) {
    std::size_t total = kGap * (widths.size() - 1);
    for (const std::size_t width : widths) total += width;
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (limit == 0 || total <= limit || *widest <= least) return widths;
    --*widest;
  }
}

}  // namespace

std::vector<std::string> parameter_names(const Results& results) {
  std::vector<std::string> names;
  for (const CommandResult& command : results.commands) {
    for (const Parameter& parameter : command.parameters) {
      if (std::find(names.begin(), names.end(), parameter.name) == names.end())
        names.push_back(parameter.name);
    }
  }
  return names;
}

const Parameter* find_parameter(const CommandResult& command, std::string_view name) {
  const auto found =
      std::find_if(command.parameters.begin(), command.parameters.end(),
                   [&](const Parameter& parameter) { return parameter.name == name; });
  return found == command.parameters.end() ? nullptr : &*found;
}

std::string scan_table(const Results& results, const Style& style) {
  const std::vector<std::string> names = parameter_names(results);
  if (names.size() != 1) return "";
  const std::vector<std::string> values = values_of(results, names.front());
  if (values.size() < 2) return "";
  const std::vector<Column> columns = columns_of(results, names.front());
  std::vector<Row> rows = {heading_of(columns, names.front())};
  for (const std::string& value : values)
    rows.push_back(row_of(results, columns, names.front(), value));
  const std::vector<std::size_t> widths = widths_of(rows, style.width);
  std::string text;
  for (const Row& row : rows) {
    std::size_t pending = 0;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string cell = cut_middle(row[c].text, widths[c]);
      text.append(pending, ' ');
      text += inked(cell, row[c].ink, style.color);
      pending = widths[c] - display_width(cell) + kGap;
    }
    text += "\n";
  }
  return text;
}

}  // namespace lauka::report
