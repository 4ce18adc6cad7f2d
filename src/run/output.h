#pragma once

// The output of runs, as it comes, and the values that runs report.

#include "core/own_metric.h"
#include "core/pattern.h"
#include "core/record.h"
#include "core/result.h"
#include "core/sha256.h"
#include "core/text.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/process.h"
#include "plan/plan.h"
#include "run/runner.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka {

/// Waits for a complete line of standard output or error that matches an expression. Only the first
/// 16 KB of a line are matched.
class AwaitedLine final : public os::OutputListener {
 public:
  /// `clock` must outlive this object.
  AwaitedLine(Pattern pattern, const os::Clock& clock)
      : pattern_(std::move(pattern)), clock_(clock) {}

  /// Prepares for a run: forgets the output of the previous run.
  void begin();

  bool receive(os::Kept which, std::string_view bytes) override;

  /// Returns why matching failed, as a predicate of the expression; nullopt if it did not fail.
  const std::optional<Error>& error() const { return error_; }

  /// Returns the last lines of the run's output.
  std::string output_end() const { return tail_.last_lines(); }

 private:
  bool is_awaited(std::string_view line);

  Pattern pattern_;
  const os::Clock& clock_;
  std::array<std::string, 2> begun_;  // incomplete lines, indexed by os::Kept
  OutputTail tail_;
  std::optional<Error> error_;
};

/// The standard output of a run, or a file that it must equal.
struct StoredOutput {
  os::TextFile text;        ///< contents; only the first 64 MB if they are longer
  std::uint64_t bytes = 0;  ///< size of the whole output
  std::string hash{};       ///< SHA-256 of the whole output
};

/// Stores standard output while a run goes on.
class OutputStore final : public os::OutputListener {
 public:
  explicit OutputStore(os::TextFile text) : stored_{std::move(text)} {}

  bool receive(os::Kept which, std::string_view bytes) override;

  /// Returns the stored output; an error if there was no room for it.
  Result<StoredOutput> take();

 private:
  StoredOutput stored_;
  Sha256 hash_;
  bool has_room_ = true;
};

/// Returns the first difference of two outputs, in words; nullopt if they are equal.
std::optional<std::string> difference(const StoredOutput& expected, const StoredOutput& got);

/// Checks --expect-output: each command runs once, and its standard output is stored and compared.
/// This class decides and compares; it launches nothing.
class OutputCheck {
 public:
  /// `plan` and `context` must outlive this object.
  OutputCheck(const Plan& plan, const RunContext& context);

  /// Returns the commands that must run for the check, out of `count` commands from `first` on.
  /// References come before the commands that are compared with them.
  std::vector<std::uint32_t> commands_due(std::uint32_t first, std::uint32_t count) const;

  /// Returns the launch of a command in one layout, with a listener to its output.
  Result<os::Launch> make_launch(std::uint32_t command, std::uint32_t layout);

  /// Returns what is wrong with the output of the run that has just ended; nullopt: nothing.
  std::optional<Error> verdict();

 private:
  std::optional<std::size_t> source_of(std::size_t command) const;
  Result<StoredOutput> read_file(const std::string& path) const;

  const Plan& plan_;
  const RunContext& context_;
  std::vector<std::optional<std::size_t>>
      sources_;  // for each command, the command whose output it must equal; nullopt if missing
  std::vector<bool>
      is_source_;  // for each command, true if another command's output must equal its output
  std::map<std::size_t, StoredOutput> stored_;  // outputs to compare with, by command
  std::uint32_t command_ = 0;                   // command that runs now
  std::uint32_t layout_ = 0;                    // layout in which it runs
  std::optional<OutputStore> store_;            // stores the output of the run
  std::optional<StoredOutput> file_;  // contents of the expected file, read before the run
};

/// The variable with the path of the file to which a run may write its metrics.
inline constexpr const char* kMetricsVariable = "LAUKA_METRICS";

/// True if the plan has values that are found in the output of runs.
bool scrapes(const Plan& plan);

/// Reads the values that a session's programs report: in their output, and in the files of
/// LAUKA_METRICS.
class ReportedValues {
 public:
  /// `files` may be null. All arguments must outlive this object.
  ReportedValues(const Plan& plan, const os::Launcher& launcher, os::MetricFiles* files,
                 const os::Clock& clock)
      : plan_(plan), launcher_(launcher), files_(files), clock_(clock) {}

  /// Returns LAUKA_METRICS for the run with index `place` in a batch; empty without files.
  std::string file_of(std::size_t place) const { return files_ ? files_->path(place) : ""; }

  /// True if values for the files were announced, or a run has written some.
  bool by_file() const;

  /// Takes the files of the batch that has just ended.
  void collect() {
    if (files_ != nullptr) batch_ = files_->collect();
  }

  /// Returns the values of the run with index `place` in that batch: values of Plan::reported, then
  /// values of discovered(). Missing values are nullopt, or absent at the end; only timed and
  /// warm-up runs have values. A run whose output is searched is alone in its batch.
  Result<std::vector<std::optional<double>>> read_values(const Step& step, std::size_t place);

  /// Returns the metrics that runs reported without an announcement.
  const std::vector<OwnMetric>& discovered() const { return discovered_; }
  /// Sets the metrics that an earlier process discovered (--resume).
  void go_on_with(std::vector<OwnMetric> discovered) { discovered_ = std::move(discovered); }

 private:
  using Values = std::vector<std::optional<double>>;

  Result<void> scrape(std::size_t place, Values& values) const;
  Result<std::optional<std::string>> last_match(const Pattern& pattern, os::Kept which) const;
  std::string output_end() const;
  Result<void> read(std::string_view text, Values& values);
  Result<std::size_t> place_of(const ReportedLine& reported);

  const Plan& plan_;
  const os::Launcher& launcher_;
  os::MetricFiles* files_;
  const os::Clock& clock_;
  std::vector<OwnMetric> discovered_;
  std::vector<os::MetricFiles::RunFile> batch_;
};

/// Returns why a run has no values about its region: it marked none, or not correctly. nullopt if
/// it has values.
std::optional<Error> why_no_region(const os::Ended& ended);

/// Writes a run's values about its region into `reported`, which is in the order of Plan::reported.
void add_region(const Plan& plan, const os::RegionUse& use,
                std::vector<std::optional<double>>& reported);

}  // namespace lauka
