#include "report/table.h"

#include "core/foreign_text.h"
#include "report/ansi.h"
#include "report/cells.h"
#include "report/compact.h"
#include "report/grid.h"
#include "report/histogram.h"
#include "report/marked_delta.h"
#include "report/width.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::size_t kName = 0;
constexpr std::size_t kMean = 1;
constexpr std::size_t kRange = 2;
constexpr std::size_t kOutliers = 3;
constexpr std::size_t kDelta = 4;
constexpr std::size_t kColumns = 5;

/// What a table looks like at one width. The roomiest has the column widths of the manual's
/// example.
struct Layout {
  std::size_t gap;
  bool roomy;  ///< columns have a least width
  bool outlier_percent;
  bool fine_range;  ///< as many digits as tell the ends apart
  bool outliers;
  bool range;
  bool interval;  ///< of a delta
};

constexpr auto kLayouts = std::to_array<Layout>({
    {4, true, true, true, true, true, true},
    {4, false, true, true, true, true, true},
    {3, false, true, true, true, true, true},
    {2, false, true, true, true, true, true},
    {2, false, false, true, true, true, true},
    {2, false, false, false, true, true, true},
    {2, false, false, false, false, true, true},
    {2, false, false, false, false, false, true},
    {2, false, false, false, false, false, false},
});
constexpr std::array<std::size_t, kColumns> kRoomyWidths = {24, 14, 17, 8, 0};
constexpr std::size_t kLeastNameWidth = 8;

struct Row {
  std::array<std::string, kColumns> cells;
  Ink delta_ink = Ink::Plain;
};

/// One benchmark: its column names and its rows.
struct Block {
  std::vector<Row> rows;
  bool has_delta = false;
};

using Widths = std::array<std::size_t, kColumns>;

std::array<std::string_view, kColumns> titles_of(const Layout& layout, bool ascii) {
  return {"measurement", ascii ? "mean +- stddev" : "mean ± σ", ascii ? "min ... max" : "min … max",
          layout.outlier_percent ? "outliers" : "out", "delta"};
}

bool is_there(std::size_t column, const Layout& layout) {
  return (column != kOutliers || layout.outliers) && (column != kRange || layout.range);
}

Row row_of(const MetricResult& result, const Metric& metric, std::size_t runs,
           const Layout& layout) {
  Row row;
  row.cells[kName] = name_cell(metric, result, runs);
  row.cells[kMean] = mean_cell(result, metric);
  if (result.summary) {
    row.cells[kRange] = range_cell(*result.summary, metric, layout.fine_range);
    row.cells[kOutliers] = outliers_cell(*result.summary, layout.outlier_percent);
  }
  if (result.delta) {
    MarkedDelta delta = marked_delta(*result.delta, metric.better, layout.interval);
    row.cells[kDelta] = std::move(delta.text);
    row.delta_ink = delta.ink;
  }
  return row;
}

void make_ascii(Row& row) {
  for (std::size_t c = 0; c < kColumns; ++c)
    row.cells[c] = c == kDelta ? ascii_of_delta(row.cells[c]) : ascii_of(row.cells[c]);
}

Block block_of(const Results& results, std::size_t command, const Style& style,
               const Layout& layout) {
  Block block;
  const CommandResult& result = results.commands[command];
  for (const MetricResult& row : result.rows) {
    const Metric& metric = results.metrics[row.metric];
    if (metric.shown == Shown::Verbose && !style.verbose) continue;
    block.rows.push_back(row_of(row, metric, result.runs, layout));
    if (style.ascii) make_ascii(block.rows.back());
    block.has_delta = block.has_delta || row.delta.has_value();
  }
  if (result.runs == 0) block.rows.clear();
  return block;
}

Widths widths_of(const std::vector<Block>& blocks, const Layout& layout, bool ascii) {
  Widths widths{};
  const auto titles = titles_of(layout, ascii);
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (c != kDelta) widths[c] = display_width(titles[c]);
    if (layout.roomy) widths[c] = std::max(widths[c], kRoomyWidths[c]);
    for (const Block& block : blocks) {
      for (const Row& row : block.rows) {
        widths[c] = std::max(widths[c], display_width(row.cells[c]));
      }
    }
  }
  return widths;
}

std::size_t line_width(const Widths& widths, const Layout& layout) {
  std::size_t total = widths[kName];
  for (std::size_t c = kMean; c < kColumns; ++c) {
    if (is_there(c, layout) && widths[c] > 0) total += layout.gap + widths[c];
  }
  return total;
}

/// All benchmarks at the first layout that fits into `width`.
struct Fitted {
  const Layout* layout = nullptr;
  std::vector<Block> blocks;
  Widths widths;
};

Fitted fit(const Results& results, const Style& style) {
  Fitted fitted;
  for (const Layout& layout : kLayouts) {
    fitted.layout = &layout;
    fitted.blocks.clear();
    for (std::size_t c = 0; c < results.commands.size(); ++c) {
      fitted.blocks.push_back(block_of(results, c, style, layout));
    }
    fitted.widths = widths_of(fitted.blocks, layout, style.ascii);
    if (style.width == 0 || line_width(fitted.widths, layout) <= style.width) return fitted;
  }
  const std::size_t excess = line_width(fitted.widths, *fitted.layout) - style.width;
  std::size_t& name = fitted.widths[kName];
  name = name > excess + kLeastNameWidth ? name - excess : kLeastNameWidth;
  return fitted;
}

/// One line of the table; the spaces after its last column are left away.
std::string line_of(const std::array<std::string, kColumns>& texts, const Fitted& fitted,
                    Ink delta_ink, bool color) {
  std::string line;
  std::size_t pending = 0;
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (!is_there(c, *fitted.layout)) continue;
    const std::string text = cut_end(texts[c], fitted.widths[c]);
    if (!text.empty()) {
      line.append(pending, ' ');
      line += c == kDelta ? inked(text, delta_ink, color) : text;
      pending = 0;
    }
    pending += fitted.widths[c] - display_width(text) + fitted.layout->gap;
  }
  return line;
}

std::string header_of(const CommandResult& command, std::size_t number, const Style& style) {
  const std::string start = benchmark_title(command, number) + ": ";
  std::string name = one_line(command.name);
  if (style.width > start.size()) name = cut_middle(name, style.width - start.size());
  return inked(start + name, Ink::Bold, style.color) + "\n";
}

std::string text_of(const Block& block, const Fitted& fitted, const Style& style) {
  const bool color = style.color;
  const auto titles = titles_of(*fitted.layout, style.ascii);
  std::array<std::string, kColumns> head;
  std::copy(titles.begin(), titles.end(), head.begin());
  if (!block.has_delta) head[kDelta].clear();
  std::string text = inked(line_of(head, fitted, Ink::Plain, false), Ink::Bold, color) + "\n";
  for (const Row& row : block.rows) {
    text += line_of(row.cells, fitted, row.delta_ink, color) + "\n";
  }
  return text;
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
    if (!fitted.blocks[c].rows.empty()) text += text_of(fitted.blocks[c], fitted, style);
    if (style.histogram) text += histogram(results, c, style);
  }
  const bool has_delta = std::any_of(fitted.blocks.begin(), fitted.blocks.end(),
                                     [](const Block& block) { return block.has_delta; });
  const std::string note = !fitted.layout->interval && has_delta ? std::string(kNoRoomForIntervals)
                                                                 : why_no_interval(results, style);
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
