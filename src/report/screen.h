#pragma once

#include "core/choices.h"
#include "core/record.h"
#include "report/style.h"
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

/// The text for the screen: tables, and the verdicts below them. Warnings follow the verdicts.
struct ScreenSections {
  std::string tables;
  std::string verdicts;
};

enum class ScreenContent : unsigned char {
  All,
  VerdictsOnly,  ///< for --quiet; the tables are empty
};

/// Returns the text about one benchmark.
ScreenSections screen_sections_of_benchmark(const Results& results, const Style& style,
                                            ScreenContent content);

/// The wall time in seconds below which a run may be mostly the start of its process.
inline constexpr double kShortRunSeconds = 1e-3;

std::string histograms(const Results& results, const Style& style);

/// Returns the lines of `text` that have text, wrapped to the style's width.
std::string wrapped_lines(const std::string& text, const Style& style);

/// Returns lines that compare commands, and lines about commands with failed runs; empty if no
/// commands can be compared.
std::string comparison_lines(const Results& results, const Style& style);

/// Explains the first delta that contradicts the means shown; with --verbose, each such delta.
std::string lines_about_contradicting_means(const Results& results, const Style& style);

/// Returns notes as lines for standard error, without duplicates. Lines are wrapped to `width`
/// cells; 0: not wrapped.
std::string note_lines(const std::vector<std::string>& notes, std::size_t width = 0);

/// A line of the terminal that shows the progress, and is erased at the end.
class ProgressBar final : public Observer {
 public:
  /// `width`: returns the terminal's width in cells. `ascii`: true: lauka's own signs are in ASCII.
  /// `time_unit`: unit of times; null: a unit that fits.
  ProgressBar(Sink sink, std::function<std::size_t()> width, bool ascii = false,
              const DisplayUnit* time_unit = nullptr)
      : sink_(std::move(sink)), width_(std::move(width)), ascii_(ascii), time_unit_(time_unit) {}

  bool wants_progress() const override { return true; }
  void progress(const Progress& progress) override;
  void building(const BuildProgress& progress) override;
  void finished() override;

 private:
  void draw(const std::string& line, std::size_t width);
  bool may_draw(std::chrono::nanoseconds elapsed);

  Sink sink_;
  std::function<std::size_t()> width_;
  bool ascii_;
  const DisplayUnit* time_unit_;
  std::optional<std::chrono::nanoseconds> elapsed_when_drawn_;
  double largest_share_ = 0.0;  // the bar never moves backwards, also if estimates grow
};

struct Sample {
  std::uint32_t run = 0;  ///< index of the run in Recording::runs
  double value = 0.0;
};

std::vector<Sample> values_with_runs(const Results& results, std::size_t command,
                                     std::size_t metric);

struct Bin {
  double low = 0.0;
  double high = 0.0;
  std::size_t count = 0;
};

/// Divides `values` into at most `max_count` bins of equal width, if possible about 2 IQR / cbrt(n)
/// (Freedman & Diaconis 1981). The first and the last bin also hold values far from the quartiles.
/// `summary`: summary of the values.
std::vector<Bin> make_bins(std::span<const double> values, const stats::Summary& summary,
                           std::size_t max_count);

/// Returns the histogram of a command's wall times. `shared_bins`: bins to use; empty: bins for the
/// command alone.
std::string histogram(const Results& results, std::size_t command, const Style& style,
                      std::vector<Bin> shared_bins = {});

}  // namespace lauka::report
