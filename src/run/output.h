#pragma once

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

/// Waits for a complete line of standard output or error that matches a pattern. Matches only the
/// first 16 KB of a line.
class AwaitedLine final : public os::OutputListener {
 public:
  AwaitedLine(Pattern pattern, const os::Clock& clock)
      : pattern_(std::move(pattern)), clock_(clock) {}

  /// Forgets the output of the previous run.
  void begin();

  bool receive(os::OutputStream which, std::string_view bytes) override;

  /// Returns the error of matching, which begins with a verb, as "takes too many steps"; callers
  /// put the pattern before it. nullopt if matching did not fail.
  const std::optional<Error>& error() const { return error_; }

  std::string output_end() const { return tail_.last_lines(); }

 private:
  bool is_awaited(std::string_view line);

  Pattern pattern_;
  const os::Clock& clock_;
  std::array<std::string, 2> unfinished_lines_;
  OutputTail tail_;
  std::optional<Error> error_;
};

/// The standard output of a run, or a file that the output must equal.
struct StoredOutput {
  os::TextFile text;        ///< contents, at most the first 64 MB
  std::uint64_t bytes = 0;  ///< size of the whole output or file
  std::string hash{};       ///< SHA-256 of the whole output or file
};

class OutputStore final : public os::OutputListener {
 public:
  explicit OutputStore(os::TextFile text) : stored_{std::move(text)} {}

  bool receive(os::OutputStream which, std::string_view bytes) override;

  /// Returns the stored output; an error if there was no room for the output.
  Result<StoredOutput> take();

 private:
  StoredOutput stored_;
  Sha256 hash_;
  bool has_room_ = true;
};

/// Describes the first difference of two outputs; nullopt if they are equal.
std::optional<std::string> describe_difference(const StoredOutput& expected,
                                               const StoredOutput& got);

/// Checks --expect-output: selects the commands that must run for the check, and compares their
/// standard output with the expected output.
class OutputCheck {
 public:
  OutputCheck(const Plan& plan, const RunContext& context);

  /// Returns which of `count` commands, from `first` on, must run for the check, in their order.
  std::vector<std::uint32_t> list_commands_to_run(std::uint32_t first, std::uint32_t count) const;

  /// Prepares the launch of a command in one layout. Only one launch at a time is possible.
  Result<os::Launch> make_launch(std::uint32_t command, std::uint32_t layout);

  /// Returns the error of the latest launch's output; nullopt if the output is as expected. Keeps
  /// the output if other outputs must equal it. The launch must have ended.
  std::optional<Error> check_and_keep_output();

 private:
  /// Returns the command whose output `command` must equal (--expect-output same); nullopt if there
  /// is none.
  std::optional<std::size_t> find_source(std::size_t command) const;
  Result<StoredOutput> read_file(const std::string& path) const;
  /// Sets `expected_file_`: nullopt if the output is not compared with a file.
  Result<void> set_expected_file(const ExpectedOutput& expected);

  /// Returns the command whose output the latest launch's output must equal; nullopt if there is
  /// none.
  std::optional<std::size_t> find_source_of_launch() const;
  /// Returns how `output` differs from the expected file or, without one, from the output of
  /// `source`; nullopt if it does not.
  std::optional<std::string> find_difference(const std::optional<std::size_t>& source,
                                             const StoredOutput& output);

  const Plan& plan_;
  const RunContext& context_;
  std::vector<std::optional<std::size_t>> sources_;  // by command: find_source()
  std::vector<bool> is_source_;  // by command: true if another one needs its output
  std::map<std::size_t, StoredOutput> outputs_of_sources_;  // in their first layout
  std::uint32_t launched_command_ = 0;
  std::uint32_t launched_layout_ = 0;
  std::optional<OutputStore> output_of_launch_;
  std::optional<StoredOutput> expected_file_;
};

/// Environment variable with the path of a file to which a run may write its metrics.
inline constexpr const char* kMetricsVariable = "LAUKA_METRICS";

/// True if the plan searches for values in the output of runs (--scrape).
bool has_scraped_metrics(const Plan& plan);

/// Reads the values that programs report in their output and in the files of LAUKA_METRICS.
class ReportedValues {
 public:
  using Values = std::vector<std::optional<double>>;

  /// `files` may be null.
  ReportedValues(const Plan& plan, const os::Launcher& launcher, os::MetricFiles* files,
                 const os::Clock& clock)
      : plan_(plan), launcher_(launcher), files_(files), clock_(clock) {}

  /// Returns the value of LAUKA_METRICS for the run with index `place` in a batch; empty if the
  /// session has no files for metrics.
  std::string metric_file_path(std::size_t place) const {
    return files_ ? files_->path(place) : "";
  }

  /// True if the plan announces values in files of LAUKA_METRICS, or if a run has written
  /// unannounced values to its file.
  bool uses_metric_files() const;

  void collect() {
    if (files_ != nullptr) take_files(files_->collect());
  }
  /// Takes the files of a batch, with RunFile::run_index as the index in the batch.
  void take_files(std::vector<os::MetricFiles::RunFile> files) { batch_ = std::move(files); }

  /// Reads into `values` the values of the run with index `run_in_batch` in the latest batch: the
  /// values of Plan::reported_metrics, then of discovered(). Missing values are nullopt; missing
  /// values at the end of the list may be left out. Only timed and warm-up runs have values.
  /// Returns an error, with no values, if a value is missing or invalid.
  std::optional<Error> read_values(const Step& step, std::size_t run_in_batch, Values& values);

  /// Returns the metrics that runs reported but the plan does not announce.
  const std::vector<OwnMetric>& discovered() const { return discovered_; }
  /// Sets the metrics that an earlier process discovered (--resume).
  void continue_after(std::vector<OwnMetric> discovered) { discovered_ = std::move(discovered); }

 private:
  struct LineValue {
    std::size_t metric_index = 0;
    double value = 0.0;  ///< in the base unit of the metric
    std::optional<Combine> combine{};
  };

  Result<void> scrape_all(Values& values) const;
  Result<void> scrape(std::size_t metric_index, Values& values) const;
  Result<std::optional<std::string_view>> find_last_match(const Pattern& pattern,
                                                          os::OutputStream stream,
                                                          std::string& searched_text) const;
  std::string read_output_end() const;
  Result<void> read_files(std::size_t run_in_batch, Values& values);
  Result<void> read_values_of_lines(std::string_view text, Values& values);
  Result<LineValue> read_line(std::string_view line);
  Result<double> parse_value(const ReportedLine& reported, std::size_t metric_index) const;
  Result<std::size_t> find_or_add_metric(const ReportedLine& reported);
  /// Returns the index in `discovered_` of a metric that the plan does not announce.
  Result<std::size_t> find_or_discover(const OwnMetric& metric);

  const Plan& plan_;
  const os::Launcher& launcher_;
  os::MetricFiles* files_;
  const os::Clock& clock_;
  std::vector<OwnMetric> discovered_;
  std::vector<os::MetricFiles::RunFile> batch_;
};

/// Returns the reason why a run has no valid values about its region; nullopt if the values are
/// valid.
std::optional<Error> why_region_is_invalid(const os::Ended& ended);

/// Sets a run's values about its region in `reported`, whose elements have the indices of
/// Plan::reported_metrics.
void add_region(const Plan& plan, const os::RegionUse& use,
                std::vector<std::optional<double>>& reported);

}  // namespace lauka
