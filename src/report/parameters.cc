#include "report/parameters.h"

#include "core/foreign_text.h"
#include "report/ansi.h"
#include "report/cells.h"
#include "report/compact.h"
#include "report/format.h"
#include "report/grid.h"
#include "report/marked_delta.h"
#include "report/width.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace lauka::report {

namespace {

/// The same at widths that get smaller.
struct GridLayout {
  std::size_t gap;
  bool intervals;  ///< of deltas
};
constexpr auto kGridLayouts = std::to_array<GridLayout>({{4, true}, {2, true}, {2, false}});

/// A column of the table: the commands that were made from one that was typed.
struct TypedCommand {
  std::size_t typed = 0;
  std::string title;
};

/// The commands that a variable had a value in, by that and by the command typed: there may be ten
/// thousand.
struct Tried {
  std::vector<std::string> values;  // each once, in the order of the commands
  std::map<std::pair<std::string, std::size_t>, const CommandResult*> commands;
};

Tried tried(const Results& results, const std::string& name) {
  Tried all;
  std::set<std::string> known;
  for (const CommandResult& command : results.commands) {
    const Parameter* parameter = find_parameter(command, name);
    if (parameter == nullptr) continue;
    if (known.insert(parameter->value).second) all.values.push_back(parameter->value);
    all.commands.try_emplace({parameter->value, command.typed}, &command);
  }
  return all;
}

std::vector<TypedCommand> columns_of(const Results& results, const std::string& name) {
  std::vector<TypedCommand> columns;
  for (const CommandResult& command : results.commands) {
    const bool is_known =
        std::any_of(columns.begin(), columns.end(),
                    [&](const TypedCommand& column) { return column.typed == command.typed; });
    if (find_parameter(command, name) != nullptr && !is_known)
      columns.push_back({command.typed, one_line(command.pattern)});
  }
  return columns;
}

GridRow row_of(const Results& results, const std::vector<TypedCommand>& columns, const Tried& all,
               const std::string& value, bool intervals) {
  GridRow row = {{one_line(value)}};
  for (const TypedCommand& column : columns) {
    const auto command = all.commands.find({value, column.typed});
    const MetricResult* wall =
        command == all.commands.end()
            ? nullptr
            : row_of(*command->second, find_metric(results.metrics, Role::WallTime));
    if (wall == nullptr || !wall->summary) {
      row.push_back({"n/a"});
      continue;
    }
    const Metric& metric = results.metrics[wall->metric];
    row.push_back({mean_cell(*wall, metric)});
    // With one command typed the reference is its first value.
    if (columns.size() == 1 && results.commands[results.reference.command].typed == column.typed &&
        wall->delta) {
      const MarkedDelta delta = marked_delta(*wall->delta, metric.better, intervals);
      row.push_back({delta.text, delta.ink});
    }
  }
  return row;
}

GridRow heading_of(const std::vector<TypedCommand>& columns, const std::string& name) {
  GridRow heading = {{one_line(name), Ink::Bold}};
  if (columns.size() == 1) {
    heading.push_back({std::string(metric_name_of(Role::WallTime)), Ink::Bold});
    heading.push_back({"delta", Ink::Bold});
    return heading;
  }
  for (const TypedCommand& column : columns) heading.push_back({column.title, Ink::Bold});
  return heading;
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
  const Tried all = tried(results, names.front());
  if (all.values.size() < 2) return "";
  const std::vector<TypedCommand> columns = columns_of(results, names.front());
  if (is_compact(results) && columns.size() == 1) return "";  // it has the values itself
  for (const auto& [gap, intervals] : kGridLayouts) {
    std::vector<GridRow> rows = {heading_of(columns, names.front())};
    for (const std::string& value : all.values)
      rows.push_back(row_of(results, columns, all, value, intervals));
    if (style.ascii) make_ascii(rows);
    std::vector<std::size_t> widths = widths_of(rows);
    const bool fits = style.width == 0 || line_width(widths, gap) <= style.width;
    if (!fits && intervals) continue;
    narrow(widths, gap, style.width);
    return grid_text(rows, widths, gap, style.color);
  }
  return "";
}

}  // namespace lauka::report
