#pragma once

#include "report/style.h"
#include "results/report.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lauka::report {

/// All that is shown of results: the table and, the precision reached where one was asked for, and
/// the line of each gate: this also if `quiet`. Nothing where nothing was counted.
std::string screen(const Report& report, const Style& style, bool quiet);

/// The same in two parts: warnings stand between them, so that verdicts close the output.
struct ScreenParts {
  std::string tables;
  std::string verdicts;
};
ScreenParts screen_parts(const Report& report, const Style& style, bool quiet);
ScreenParts screen_parts(const Results& results, const Style& style, bool quiet);
std::string screen(const Results& results, const Style& style, bool quiet);

/// Returns the shortest median of the wall times below 1 ms that are shown, in seconds; nullopt if
/// there are none, or there is a shell. Such a run is mostly the start of a process.
std::optional<double> shortest_run(const Results& results);

/// The table of every benchmark (or, of many, a compact one) and, for two or more commands, the
/// summary lines: text that ends with a line feed. Columns are aligned over all benchmarks.
std::string table(const Results& results, const Style& style);

/// One table for all commands for each metric shown, or a matrix, and what they leave out; the
/// histograms below, each under its command's name.
std::string compact_tables(const Results& results, const Style& style);

/// --histogram: the wall times of each command, below its name; else empty.
std::string histograms(const Results& results, const Style& style);

/// The lines that compare wall times, fastest first; empty where there is nothing to compare.
std::string summary_lines(const Results& results, const Style& style);

/// Explains deltas that the means beside them contradict: the first, or all with --verbose.
std::string why_means_differ(const Results& results, const Style& style);

/// Notes as lines for standard error, each once, broken between words at `width` (0: nowhere).
std::string note_lines(const std::vector<std::string>& notes, std::size_t width = 0);

}  // namespace lauka::report
