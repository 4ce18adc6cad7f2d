#include "report/table.h"

#include "core/foreign_text.h"
#include "report/ansi.h"
#include "report/cells.h"
#include "report/columns.h"
#include "report/compact.h"
#include "report/grid.h"
#include "report/histogram.h"
#include "report/width.h"

#include <array>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::size_t kLeastNameWidth = 8;

/// What a table looks like at one width. The roomiest has the column widths of the manual's
/// example.
struct TableLayout {
  std::size_t gap;
  bool roomy;  ///< columns have a least width
  TableShape shape;
};

constexpr TableShape kWithoutRange{
    .outlier_percent = false, .fine_range = false, .outliers = false, .range = false};
constexpr TableShape kWithoutInterval{.outlier_percent = false,
                                      .fine_range = false,
                                      .outliers = false,
                                      .range = false,
                                      .interval = false};
constexpr auto kTableLayouts = std::to_array<TableLayout>({
    {4, true, {}},
    {4, false, {}},
    {3, false, {}},
    {2, false, {}},
    {2, false, {.outlier_percent = false}},
    {2, false, {.outlier_percent = false, .fine_range = false}},
    {2, false, {.outlier_percent = false, .fine_range = false, .outliers = false}},
    {2, false, kWithoutRange},
    {2, false, kWithoutInterval},
});

/// One benchmark: its headings and its rows; none where nothing of it was timed.
using Block = std::vector<GridRow>;

Block block_of(const Results& results, std::size_t command, const Style& style,
               const TableShape& shape) {
  const CommandResult& result = results.commands[command];
  if (result.runs == 0) return {};
  const std::vector<const Column*> columns = columns_of(shape);
  Block block(1);
  bool has_delta = false;
  for (const MetricResult& row : result.rows) {
    const Metric& metric = results.metrics[row.metric];
    if (metric.shown == Shown::Verbose && !style.verbose) continue;
    GridRow& cells = block.emplace_back();
    for (const Column* column : columns)
      cells.push_back(column->cell({results, command, metric, &row, shape}));
    has_delta = has_delta || row.delta.has_value();
  }
  for (const Column* column : columns) {
    const bool is_empty = column->is_delta() && !has_delta;
    block.front().push_back({is_empty ? "" : std::string(column->heading_in(shape))});
  }
  if (style.ascii) make_ascii(block);
  return block.size() > 1 ? block : Block{};
}

/// All benchmarks at the first layout that fits into the terminal.
struct Fitted {
  std::size_t gap = 0;
  std::vector<Block> blocks;
  std::vector<std::size_t> widths;
  bool lacks_intervals = false;  ///< deltas are without them
};

Fitted fitted_to(const Results& results, const Style& style, const TableLayout& layout) {
  Fitted fitted{layout.gap, {}, {}};
  TableShape shape = layout.shape;
  shape.has_deltas = true;
  std::vector<GridRow> all;
  if (layout.roomy) {
    GridRow& least = all.emplace_back();
    for (const Column* column : columns_of(shape))
      least.push_back({std::string(column->roomy_width, ' ')});
  }
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    fitted.blocks.push_back(block_of(results, c, style, shape));
    const Block& block = fitted.blocks.back();
    all.insert(all.end(), block.begin(), block.end());
    const bool has_deltas = !block.empty() && !block.front().back().text.empty();
    fitted.lacks_intervals = fitted.lacks_intervals || (has_deltas && !shape.interval);
  }
  fitted.widths = widths_of(all);
  return fitted;
}

Fitted fit(const Results& results, const Style& style) {
  Fitted fitted;
  for (const TableLayout& layout : kTableLayouts) {
    fitted = fitted_to(results, style, layout);
    if (style.width == 0 || line_width(fitted.widths, fitted.gap) <= style.width) return fitted;
  }
  const std::size_t excess = line_width(fitted.widths, fitted.gap) - style.width;
  std::size_t& name = fitted.widths.front();
  name = name > excess + kLeastNameWidth ? name - excess : kLeastNameWidth;
  for (Block& block : fitted.blocks)
    for (GridRow& row : block) row.front().text = cut_end(row.front().text, name);
  return fitted;
}

std::string header_of(const CommandResult& command, std::size_t number, const Style& style) {
  const std::string start = benchmark_title(command, number) + ": ";
  std::string name = one_line(command.name);
  if (style.width > start.size()) name = cut_middle(name, style.width - start.size());
  return inked(start + name, Ink::Bold, style.color) + "\n";
}

std::string text_of(const Block& block, const Fitted& fitted, const Style& style) {
  if (block.empty()) return "";
  std::string heading = grid_text({block.front()}, fitted.widths, fitted.gap, false);
  heading.pop_back();
  return inked(heading, Ink::Bold, style.color) + "\n" +
         grid_text({block.begin() + 1, block.end()}, fitted.widths, fitted.gap, style.color);
}

/// Where a delta that is shown has no interval, what it lacks. Of one run that is plain to see.
std::string why_no_interval(const Results& results, const Style& style) {
  for (const CommandResult& command : results.commands) {
    for (const MetricResult& row : command.rows) {
      if (results.metrics[row.metric].shown == Shown::Verbose && !style.verbose) continue;
      const bool is_shown = row.delta && row.delta->change && *row.delta->change != 0.0;
      if (row.runs > 1 && is_shown && !row.delta->bounds)
        return "a delta without ±: too few or too different runs for an interval";
    }
  }
  return "";
}

std::string full_table(const Results& results, const Style& style) {
  const Fitted fitted = fit(results, style);
  std::string text;
  for (const std::size_t c : order_of(results)) {
    if (!text.empty()) text += "\n";
    text += header_of(results.commands[c], c + 1, style);
    text += text_of(fitted.blocks[c], fitted, style);
    if (style.histogram) text += histogram(results, c, style);
  }
  const std::string note =
      fitted.lacks_intervals ? std::string(kNoRoomForIntervals) : why_no_interval(results, style);
  return text + dim_note(note, style);
}

/// Below a compact table, each under its command's name.
std::string histograms(const Results& results, const Style& style) {
  std::string text;
  for (const std::size_t c : order_of(results)) {
    const std::string bars = style.histogram ? histogram(results, c, style) : "";
    if (!bars.empty()) text += "\n" + header_of(results.commands[c], c + 1, style) + bars;
  }
  return text;
}

}  // namespace

std::string table(const Results& results, const Style& style) {
  std::string text;
  if (results.reference.baseline) {
    text = fmt::format("Deltas are against {}, measured earlier.\n\n",
                       one_line(results.reference.baseline->file));
  }
  text += is_compact(results) ? compact_table(results, style) + histograms(results, style) +
                                    dim_note(why_no_interval(results, style), style)
                              : full_table(results, style);
  const std::string summary = summary_lines(results, style);
  return summary.empty() ? text : text + "\n" + summary;
}

}  // namespace lauka::report
