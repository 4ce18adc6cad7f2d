#pragma once

#include "report/charts.h"
#include "report/screen.h"
#include "report/style.h"
#include "report/table.h"
#include "results/results.h"

#include <string>
#include <vector>

// A suite as people see it: one table with a row for each candidate of each benchmark.

namespace lauka::report {

/// Returns the benchmarks in the order of the table: as in the file, or (--sort time) the smallest
/// base first, among those that show the same metric first.
std::vector<const Results*> order_of(const Report& suite);

/// "wall_time of 3 benchmarks"; without the metric if a row has another one.
std::string suite_title(const Report& suite);

/// A row for each candidate of each benchmark and for each geometric mean. In a narrower terminal
/// it gives up spacing, deviations, intervals, and the middle of names.
Table suite_table(const Report& suite);

/// Returns the changes of the table for a forest plot: with each gate's answer, measured value and
/// limit, and the geometric means last.
std::vector<ChangeRow> suite_changes(const Report& suite);

/// Returns everything that the terminal shows: the table; with Style::verbose each benchmark's own
/// tables before it, and every gate, else those that do not pass; quiet: gates alone.
ScreenSections suite_screen(const Report& suite, const Style& style, bool quiet);

/// Returns the gates' lines, each after its benchmark's name. `all`: those that pass, too.
std::string suite_gate_lines(const Report& suite, bool all, bool color);

/// "3 gates: 1 fail, 2 pass (...)"; empty if missing.
std::string gates_in_one_line(const Report& suite);

/// The lines of warnings that a screen has room for: the two that weigh most and a line that counts
/// the others; all of them with Style::verbose.
std::vector<std::string> screen_warnings(const Report& suite, const Style& style);

/// Returns warnings in words; of a suite each once, after the names of its benchmarks.
std::vector<std::string> warning_texts(const Report& report, const Style& style);

/// Likewise notes.
std::vector<std::string> notes_of(const Report& report);

}  // namespace lauka::report
