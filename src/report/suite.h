#pragma once

#include "report/grid.h"
#include "report/style.h"
#include "results/report.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// A suite as people see it: one table with a row for each candidate of each benchmark.

namespace lauka::report {

/// A row of the table: a candidate of a benchmark, or one that has none.
struct SuiteRow {
  const Results* results = nullptr;        ///< its benchmark's
  std::optional<std::size_t> candidate{};  ///< none: there is nothing to compare
  std::optional<std::size_t> metric{};     ///< index into its results' metrics
  bool is_first = true;                    ///< of its benchmark
};

std::vector<SuiteRow> rows_of(const Report& suite);

/// "wall_time of 3 benchmarks"; without the metric where it is another one in some row.
std::string suite_title(const Report& suite);
bool has_metrics(const Report& suite);

/// The same row in words, or a geometric mean below all (is_total).
struct SuiteCells {
  std::string benchmark{};
  std::string command{};  ///< of the candidate, where there are several
  std::string metric{};
  std::string base{};
  std::string candidate{};
  Cell delta{};
  std::string verdict{};
  bool is_sure = false;  ///< the delta is significant
  bool is_total = false;
};

/// How much they say.
struct SuiteLayout {
  std::size_t gap = 4;
  bool deviation = true;  ///< of the values
  bool interval = true;   ///< of the deltas
};

std::vector<SuiteCells> cells_of(const Report& suite, const SuiteLayout& layout = {});

/// "pass", "fail" or "inconclusive", the worst of the gates on the row's candidate; empty where
/// there is none.
std::string verdict_of(const SuiteRow& row);

/// "geomean", with the candidate's name where there are several, and the number of benchmarks where
/// it is not made of all.
std::string geomean_title(const Report& suite, const Geomean& mean);

/// Two or more candidates somewhere: rows need their names.
bool has_candidate_names(const Report& suite);

/// All that the terminal shows: the table; with Style::verbose each benchmark's own tables before
/// it, and every gate, else those that do not pass; quiet: gates alone.
std::string suite_screen(const Report& suite, const Style& style, bool quiet);

/// The gates' lines, each behind its benchmark's name. `all`: those that pass, too.
std::string suite_gate_lines(const Report& suite, bool all, bool color);

/// "3 gates: 1 fail, 2 pass (...)"; empty where there is none.
std::string gates_in_one_line(const Report& suite);

/// Warnings in words; of a suite each once, behind the names of the benchmarks it is about.
std::vector<std::string> warning_texts(const Report& report, const Style& style);

/// Likewise notes.
std::vector<std::string> notes_of(const Report& report);

}  // namespace lauka::report
