#include "report/columns.h"

#include "core/foreign_text.h"
#include "core/text.h"
#include "report/cells.h"
#include "report/format.h"
#include "report/marked_delta.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// The metric's name and note, and the number of runs behind it where it differs from the
/// command's.
Cell name(const RowOf& row) {
  std::string text = one_line(row.metric.name);
  if (!row.metric.note.empty()) text += " " + row.metric.note;
  if (row.values->runs != row.results.commands[row.command].runs)
    text += " (" + plural(row.values->runs, "run") + ")";
  return {std::move(text)};
}

Cell runs(const RowOf& row) {
  const CommandResult& command = row.results.commands[row.command];
  return {fmt::format("{}", command.runs) + failed_and_redone(command)};
}

Cell mean(const RowOf& row) {
  if (row.values == nullptr) return {"n/a"};
  return {row.metric.percentile ? quantile_cell(*row.values, row.metric, row.shape.range)
                                : mean_cell(*row.values, row.metric)};
}

Cell range_of(const RowOf& row) {
  if (row.values == nullptr || !row.values->summary) return {};
  const double low = row.values->summary->min;
  const double high = row.values->summary->max;
  const auto ends = row.shape.fine_range
                        ? range(low, high, row.metric, row.values->summary->stddev)
                        : std::pair(quantity(low, row.metric), quantity(high, row.metric));
  return {ends.first + " … " + ends.second};
}

Cell outliers(const RowOf& row) {
  if (row.values == nullptr || !row.values->summary) return {};
  const std::size_t count = row.values->summary->outliers;
  if (!row.shape.outlier_percent) return {fmt::format("{}", count)};
  const double percent =
      100.0 * static_cast<double>(count) / static_cast<double>(row.values->summary->count);
  if (count > 0 && percent < 0.5) return {fmt::format("{} (<1%)", count)};
  return {fmt::format("{} ({:.0f}%)", count, percent)};
}

Cell interval(const RowOf& row) {
  if (row.values == nullptr || !row.values->delta) return {};
  return {interval_text(*row.values->delta)};
}

constexpr auto kColumns = std::to_array<Column>({
    {"measurement", "measurement", true, true, 24,
     [](const TableShape& shape) { return !shape.is_compact; }, name},
    {"runs", "runs", false, false, 0,
     [](const TableShape& shape) { return shape.is_compact && shape.has_runs; }, runs},
    {"mean ± σ", "mean ± σ", false, true, 14, [](const TableShape&) { return true; }, mean},
    {"min … max", "min … max", false, false, 17,
     [](const TableShape& shape) { return shape.range; }, range_of},
    {"outliers", "out", false, false, 8,
     [](const TableShape& shape) { return !shape.is_compact && shape.outliers; }, outliers},
    {"delta", "delta", false, true, 0, [](const TableShape& shape) { return shape.has_deltas; },
     delta_cell},
    {"low … high", "low … high", false, false, 0,
     [](const TableShape& shape) { return shape.has_deltas && shape.format == Format::Markdown; },
     interval},
});

}  // namespace

Cell delta_cell(const RowOf& row) {
  if (row.values != nullptr && row.values->delta) {
    MarkedDelta marked = marked_delta(*row.values->delta, row.metric.better, row.shape.interval);
    return {std::move(marked.text), marked.ink};
  }
  // Sorted, the reference may stand anywhere.
  if (row.shape.is_compact && row.command == row.results.reference.anchor)
    return {row.shape.interval ? "   anchor" : "anchor", Ink::Dim};
  const bool is_reference = row.shape.is_compact && row.command == row.results.reference.command &&
                            !row.results.reference.baseline;
  if (!is_reference) return {};
  return {row.shape.interval ? "   reference" : "reference", Ink::Dim};
}

std::vector<const Column*> columns_of(const TableShape& shape) {
  std::vector<const Column*> columns;
  for (const Column& column : kColumns)
    if (column.is_there(shape)) columns.push_back(&column);
  if (shape.format == Format::Html)
    std::stable_partition(columns.begin(), columns.end(),
                          [](const Column* column) { return column->is_seen_first; });
  return columns;
}

}  // namespace lauka::report
