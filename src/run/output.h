#pragma once

// The evaluation of what a run writes: of its output as it comes, and of the values it reports.

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

/// Waits for a whole line, of standard output or error, in which an expression matches; of a very
/// long one the first 16 KB are looked at.
class AwaitedLine final : public os::OutputListener {
 public:
  /// `clock` must outlive it.
  AwaitedLine(Pattern pattern, const os::Clock& clock)
      : pattern_(std::move(pattern)), clock_(clock) {}

  /// Forgets the run before.
  void begin();

  bool receive(os::Kept which, std::string_view bytes) override;

  /// Returns why a line cannot be matched, as a predicate of the expression; nullopt if it can.
  const std::optional<Error>& error() const { return error_; }

  /// Returns the end of the run's output: a few lines.
  std::string output_end() const { return tail_.last_lines(); }

 private:
  bool is_awaited(std::string_view line);

  Pattern pattern_;
  const os::Clock& clock_;
  std::array<std::string, 2> begun_;  // lines without their ends, by os::Kept
  OutputTail tail_;
  std::optional<Error> error_;
};

/// Standard output of a run.
struct StoredOutput {
  os::TextFile text;        ///< the beginning, if it is very long
  std::uint64_t bytes = 0;  ///< total of bytes
  std::string hash{};       ///< covers all bytes
};

/// Stores standard output.
class OutputStore final : public os::OutputListener {
 public:
  explicit OutputStore(os::TextFile text) : stored_{std::move(text)} {}

  bool receive(os::Kept which, std::string_view bytes) override;

  /// Returns all of the output; an error if there was no room for it.
  Result<StoredOutput> take();

 private:
  StoredOutput stored_;
  Sha256 hash_;
  bool has_room_ = true;
};

/// Returns the first difference of two outputs, in words; nullopt if they are the same.
std::optional<std::string> difference(const StoredOutput& expected, const StoredOutput& got);

/// Decides --expect-output: a run of each command, whose standard output is stored and compared. It
/// launches nothing itself.
class OutputCheck {
 public:
  /// Both must outlive it.
  OutputCheck(const Plan& plan, const RunContext& context);

  /// Returns the commands of `count` from `first` on that must be run for it, in the right order:
  /// references come first.
  std::vector<std::uint32_t> due(std::uint32_t first, std::uint32_t count) const;

  /// Returns the run of a command's layout, with its listener.
  Result<os::Launch> make_launch(std::uint32_t command, std::uint32_t layout);

  /// Returns the fault of the output of the run that has just ended; nullopt if it has none.
  std::optional<Error> verdict();

 private:
  std::optional<std::size_t> source_of(std::size_t command) const;
  Result<StoredOutput> read_file(const std::string& path) const;

  const Plan& plan_;
  const RunContext& context_;
  std::vector<std::optional<std::size_t>>
      sources_;                  // by command: the command whose output it must equal
  std::vector<bool> is_source_;  // by command: other outputs must equal its output
  std::map<std::size_t, StoredOutput> stored_;  // by command: output to compare with
  std::uint32_t command_ = 0;                   // is being run
  std::uint32_t layout_ = 0;                    // of it
  std::optional<OutputStore> store_;            // takes its output
  std::optional<StoredOutput> file_;            // it must equal, if it is a file; as it was before
};

/// The variable that names the file to which a run may write its metrics.
inline constexpr const char* kMetricsVariable = "LAUKA_METRICS";

/// True if something is scraped from the output of the plan's runs.
bool scrapes(const Plan& plan);

/// Reads the values that the programs of a session report: in their output, and in the files of
/// LAUKA_METRICS.
class ReportedValues {
 public:
  /// `files` may be null. All must outlive it.
  ReportedValues(const Plan& plan, const os::Launcher& launcher, os::MetricFiles* files,
                 const os::Clock& clock)
      : plan_(plan), launcher_(launcher), files_(files), clock_(clock) {}

  /// Returns LAUKA_METRICS for the run at `place` of a batch; empty without files.
  std::string file_of(std::size_t place) const { return files_ ? files_->path(place) : ""; }

  /// True if runs should write to the files, or one has.
  bool by_file() const;

  /// Takes the files of the batch that has ended.
  void collect() {
    if (files_ != nullptr) batch_ = files_->collect();
  }

  /// Returns the values of the run at `place` of that batch, by the places of Plan::reported and
  /// then discovered(). A scraped run is the only one of its batch.
  Result<std::vector<std::optional<double>>> read_values(const Step& step, std::size_t place);

  /// Returns the values that were not announced.
  const std::vector<OwnMetric>& discovered() const { return discovered_; }
  /// Continues with an earlier process's.
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
  std::vector<os::MetricFiles::Written> batch_;
};

/// Returns why a run has no values of its region: none was marked, or not correctly.
std::optional<Error> why_no_region(const os::Ended& ended);

/// Adds a run's notes about its region at the places of Plan::reported.
void add_region(const Plan& plan, const os::RegionUse& use,
                std::vector<std::optional<double>>& reported);

}  // namespace lauka
