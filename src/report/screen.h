#pragma once

#include "core/choices.h"
#include "core/record.h"
#include "report/charts.h"
#include "report/style.h"
#include "report/table.h"
#include "results/results.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka::report {

/// The text for the screen in two parts, because warnings are printed between them. If quiet, only
/// gates. A suite has one table, the gates that do not pass, and a line about all gates. With
/// Style::verbose, unless quiet, each benchmark's tables come first, and all gates last. Empty if
/// no command has values.
struct ScreenSections {
  std::string tables;
  std::string verdicts;
};
ScreenSections screen_sections(const Report& report, const Style& style, bool quiet);
ScreenSections screen_sections(const Results& results, const Style& style, bool quiet);

/// The wall time in seconds below which a run is mostly the start of its process.
inline constexpr double kMostlyStart = 1e-3;  // seconds

/// Returns the shortest median wall time, in seconds and at most kMostlyStart, of commands whose
/// mean is below that. nullopt if there are none, if wall time is not shown, or if there is a
/// shell.
std::optional<double> shortest_run(const Results& results);

/// Returns the text of --histogram: the wall times of each command below its name. Empty without
/// --histogram.
std::string histograms(const Results& results, const Style& style);

/// Returns the lines that compare commands, the largest gain first (with a compact table, only a
/// headline), and lines about failed runs; empty if nothing can be compared.
std::string summary_lines(const Results& results, const Style& style);

/// Explains deltas that the means contradict: the first such delta, or all of them with --verbose.
std::string why_means_differ(const Results& results, const Style& style);

/// Returns notes as lines for standard error, without duplicates, broken between words at `width`
/// cells (0: no limit).
std::string note_lines(const std::vector<std::string>& notes, std::size_t width = 0);

/// A progress line. It is drawn at most ten times a second, by Progress::elapsed, and erased at the
/// end.
class ProgressBar final : public Observer {
 public:
  /// `width` returns the terminal's width in cells, which may change; the last cell stays empty, so
  /// that the terminal does not wrap. `ascii`: use ASCII only. `time_unit`: unit of times; null:
  /// fits each value.
  ProgressBar(Sink sink, std::function<std::size_t()> width, bool ascii = false,
              const DisplayUnit* time_unit = nullptr)
      : sink_(std::move(sink)), width_(std::move(width)), ascii_(ascii), time_unit_(time_unit) {}

  bool wants_progress() const override { return true; }
  void progress(const Progress& progress) override;
  void building(std::string_view what) override;
  void finished() override;

 private:
  Sink sink_;
  std::function<std::size_t()> width_;
  bool ascii_;
  const DisplayUnit* time_unit_;
  std::optional<std::chrono::nanoseconds> drawn_at_;  ///< nullopt: nothing is drawn
};

/// A value of a series to be drawn.
struct Sample {
  std::uint32_t run = 0;  ///< index among all kept runs
  double value = 0.0;
};

/// Returns a command's values of a metric (index in Recording::metrics), in the order run.
std::vector<Sample> collect_samples(const Results& results, std::size_t command,
                                    std::size_t metric);

/// A range of values, and the number of values in it.
struct Bin {
  double low = 0.0;   ///< lower end, included
  double high = 0.0;  ///< upper end, excluded except in the last bin
  std::size_t count = 0;
};

/// Divides `values` (in any order; `summary` describes them) into 1 to `most` bins of equal width,
/// which is 2 IQR / cbrt(n) (Freedman & Diaconis 1981) or more. Values more than 3 IQR beyond the
/// quartiles are in the first or last bin, which is extended to contain them. One bin if all values
/// are equal.
std::vector<Bin> make_bins(std::span<const double> values, const stats::Summary& summary,
                           std::size_t most);

/// Returns the histogram of a command's wall times, a line per bin; empty without values.
std::string histogram(const Results& results, std::size_t command, const Style& style);

/// Returns the benchmarks in the order of the table: as in the file, or with --sort time by the
/// smallest reference (with a baseline, the smallest first candidate) within groups of the same
/// metric.
std::vector<const Results*> order_rows(const Report& suite);

/// Returns "wall_time of 3 benchmarks"; without the metric if rows have different ones.
std::string suite_title(const Report& suite);

/// Returns a table with a row for each metric of each candidate of each benchmark, for each anchor,
/// and for each geometric mean. A benchmark without candidates has a row, too.
Table suite_table(const Report& suite);

/// Returns the table's changes for a forest plot, each with the limit of its worst gate, if that is
/// a percentage.
std::vector<ChangeRow> suite_changes(const Report& suite);

/// Returns the lines of gates, each after its benchmark's name. `all`: includes gates that pass.
std::string suite_gate_lines(const Report& suite, bool all, bool color);

/// Returns "3 gates: 1 fail, 2 pass (...)"; empty without gates.
std::string gates_in_one_line(const Report& suite);

/// Returns the two most important warnings and the number of others; with Style::verbose, all
/// warnings.
std::vector<std::string> screen_warnings(const Report& suite, const Style& style);

/// Returns the warnings in words; for a suite without duplicates, after the names of their
/// benchmarks.
std::vector<std::string> warning_texts(const Report& report, const Style& style);

/// Returns the notes, except those of the kind `hidden`; for a suite without duplicates, after the
/// names of their benchmarks.
std::vector<std::string> note_lines(const Report& report,
                                    std::optional<NoteKind> hidden = std::nullopt);

}  // namespace lauka::report
