#pragma once

#include "report/charts.h"
#include "report/screen.h"
#include "report/style.h"
#include "report/table.h"
#include "results/results.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

/// Returns the text about a suite, or about the only benchmark of a session without a suite.
ScreenSections screen_sections(const Report& report, const Style& style, ScreenContent content);

/// Returns the benchmarks in the order of the suite's table: as in the suite; with --sort time,
/// benchmarks with the same primary metric are together, in the order of value_of_primary_metric.
std::vector<const Results*> benchmarks_in_table_order(const Report& suite);

/// Returns "wall_time of 3 benchmarks"; without the metric if rows have different metrics.
std::string suite_title(const Report& suite);

/// Returns the table of a suite: the rows of each benchmark, then a row for each geometric mean.
Table suite_table(const Report& suite);

/// Returns the changes in the suite's table as rows for change_chart.
std::vector<ChangeRow> suite_changes(const Report& suite);

/// Returns "3 gates: 1 fail, 2 pass (...)"; empty without gates.
std::string gates_in_one_line(const Report& suite);

/// Returns lines with two warnings and the number of other warnings; with Style::verbose, all
/// warnings.
std::vector<std::string> screen_warnings(const Report& suite, const Style& style);

/// Returns the texts of the warnings. Benchmarks of a suite with the same warning share a text.
std::vector<std::string> warning_texts(const Report& report, const Style& style);

/// Returns the texts of the notes, except notes of the kind `hidden`. Benchmarks of a suite with
/// the same note share a text.
std::vector<std::string> note_texts(const Report& report,
                                    std::optional<std::string_view> hidden = std::nullopt);

}  // namespace lauka::report
