#pragma once

#include "core/metric.h"
#include "report/grid.h"
#include "results/results.h"

#include <cstddef>
#include <string_view>
#include <vector>

// The columns of every table of metrics: full and compact, in the terminal, in Markdown, in HTML.

namespace lauka::report {

enum class Format : unsigned char { Terminal, Markdown, Html };

/// What decides which columns a table has, and how much their cells say. A narrow terminal leaves
/// something out.
struct TableShape {
  Format format = Format::Terminal;
  bool is_compact = false;  ///< a row for each command, of one metric
  bool has_deltas = false;
  bool has_runs = false;  ///< compact: the commands differ in them
  bool outlier_percent = true;
  bool fine_range = true;  ///< as many digits as tell the ends apart
  bool outliers = true;
  bool range = true;
  bool interval = true;  ///< of the delta
};

/// One metric of one command.
struct RowOf {
  const Results& results;
  std::size_t command;
  const Metric& metric;
  const MetricResult* values;  ///< null: there are none
  const TableShape& shape;
};

/// A delta as every table shows it; the reference of a compact one says what it is.
Cell delta_cell(const RowOf& row);

struct Column {
  std::string_view heading;
  std::string_view short_heading;  ///< where outliers are shown without their percentage
  bool is_text;                    ///< aligned to the left where numbers are not
  bool is_seen_first;              ///< on a phone, where a page shows three columns
  std::size_t roomy_width;         ///< in a wide terminal, at the least
  bool (*is_there)(const TableShape& shape);
  Cell (*cell)(const RowOf& row);

  bool is_delta() const { return cell == delta_cell; }
  std::string_view heading_in(const TableShape& shape) const {
    return shape.outlier_percent ? heading : short_heading;
  }
};

/// Those of a table, in order; a command's name and its parameters stand before them.
std::vector<const Column*> columns_of(const TableShape& shape);

}  // namespace lauka::report
