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

/// Everything shown of results, in two parts, since warnings come between them. Quiet: only gates.
/// A suite has one table, and the gates that do not pass; if quiet, all gates. With Style::verbose
/// each benchmark's own tables come first, and all gates last. Empty if nothing was counted.
struct ScreenSections {
  std::string tables;
  std::string verdicts;
};
ScreenSections screen_sections(const Report& report, const Style& style, bool quiet);
ScreenSections screen_sections(const Results& results, const Style& style, bool quiet);

/// A shorter run is mostly the start of its process.
inline constexpr double kMostlyStart = 1e-3;  // seconds

/// Returns the shortest median of the wall times shown, in seconds, if it is below 1 ms: such a run
/// is mostly the start of a process. nullopt if all are longer, or there is a shell.
std::optional<double> shortest_run(const Results& results);

/// --histogram: the wall times of each command, below its name; else empty.
std::string histograms(const Results& results, const Style& style);

/// Returns the lines that compare wall times, fastest first; empty without a comparison.
std::string summary_lines(const Results& results, const Style& style);

/// Explains deltas that their means contradict: the first, or all with --verbose.
std::string why_means_differ(const Results& results, const Style& style);

/// Notes as lines for standard error, each once, broken between words at `width` (0: nowhere).
std::string note_lines(const std::vector<std::string>& notes, std::size_t width = 0);

/// A line that is drawn at most ten times a second of Progress::elapsed, and erased at the end.
class ProgressBar final : public Observer {
 public:
  /// `width` returns the cells of the terminal, which may change; the last one stays empty, lest
  /// the terminal wrap. `ascii`: only ASCII. `time_unit`: of times; null: fitting.
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
  std::optional<std::chrono::nanoseconds> drawn_at_;  ///< nullopt: nothing is on the screen
};

/// One value of a series that is drawn.
struct Sample {
  std::uint32_t run = 0;  ///< place in the order of all kept runs, from 0
  double value = 0.0;
};

/// The values of a metric (its index in Results::metrics) of a command, in the order run.
std::vector<Sample> collect_samples(const Results& results, std::size_t command,
                                    std::size_t metric);

/// A range of values and how many fell into it.
struct Bin {
  double low = 0.0;   ///< included
  double high = 0.0;  ///< excluded, except by the last bin
  std::size_t count = 0;
};

/// Divides `values` (any order; `summary` describes them) into 1 to `most` bins of one width, which
/// is 2 IQR / cbrt(n) (Freedman & Diaconis 1981) or wider. Values beyond 3 IQR of the quartiles
/// fall into the first or the last bin, which reaches that far. One bin if all are equal.
std::vector<Bin> make_bins(std::span<const double> values, const stats::Summary& summary,
                           std::size_t most);

/// --histogram: the wall times of a command, a line for each bin; empty if it has none.
std::string histogram(const Results& results, std::size_t command, const Style& style);

/// Returns the benchmarks in the order of the table: as in the file, or (--sort time) the smallest
/// base first, among those that show the same metric first.
std::vector<const Results*> order_rows(const Report& suite);

/// "wall_time of 3 benchmarks"; without the metric if a row has another one.
std::string suite_title(const Report& suite);

/// Makes a row for each candidate of each benchmark and for each geometric mean.
Table suite_table(const Report& suite);

/// Returns the table's changes for a forest plot, with each gate's answer, value and limit.
std::vector<ChangeRow> suite_changes(const Report& suite);

/// Returns the gates' lines, each after its benchmark's name. `all`: those that pass, too.
std::string suite_gate_lines(const Report& suite, bool all, bool color);

/// "3 gates: 1 fail, 2 pass (...)"; empty if missing.
std::string gates_in_one_line(const Report& suite);

/// Returns the two warnings that weigh most and the number of others; with Style::verbose all.
std::vector<std::string> screen_warnings(const Report& suite, const Style& style);

/// Returns warnings in words; of a suite each once, after the names of its benchmarks.
std::vector<std::string> warning_texts(const Report& report, const Style& style);

/// Likewise notes, except those that are `hidden`.
std::vector<std::string> note_lines(const Report& report,
                                    std::optional<NoteKind> hidden = std::nullopt);

}  // namespace lauka::report
