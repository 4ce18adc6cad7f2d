#pragma once

#include "core/own_metric.h"
#include "core/pattern.h"
#include "core/record.h"
#include "core/result.h"
#include "os/files.h"
#include "os/process.h"
#include "plan/plan.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka {

/// The variable that names the file to which a run may write its metrics.
inline constexpr const char* kMetricsVariable = "LAUKA_METRICS";

/// True if something is scraped from the output of the plan's runs.
bool scrapes(const Plan& plan);

/// Reads the values that the programs of a session report: in their output, and in the files of
/// LAUKA_METRICS.
class ReportedValues {
 public:
  /// `files` may be null. All must outlive it.
  ReportedValues(const Plan& plan, const os::Launcher& launcher, os::MetricFiles* files)
      : plan_(plan), launcher_(launcher), files_(files) {}

  /// Compiles the expressions.
  Result<void> prepare();

  /// Returns LAUKA_METRICS for the run at `place` of a batch; empty without files.
  std::string file_of(std::size_t place) const { return files_ ? files_->path(place) : ""; }

  /// True if runs should write to the files, or one has.
  bool by_file() const;

  /// Takes the files of the batch that has ended.
  void collect();

  /// Returns the values of the run at `place` of that batch, by the places of Plan::reported,
  /// followed by discovered()'s. If its output is scraped it is the only run of its batch.
  /// An error, in one line: a value cannot be read or is missing.
  Result<std::vector<std::optional<double>>> values_of(const Step& step, std::size_t place);

  /// Returns the values that were not announced.
  const std::vector<OwnMetric>& discovered() const { return discovered_; }
  /// Continues with an earlier process's.
  void go_on_with(std::vector<OwnMetric> discovered) { discovered_ = std::move(discovered); }

 private:
  using Values = std::vector<std::optional<double>>;

  Result<void> scrape(std::size_t place, const Pattern& pattern, Values& values) const;
  Result<std::optional<std::string>> last_match(const Pattern& pattern, os::Kept which) const;
  std::string output_end() const;
  Result<void> read(std::string_view text, Values& values);
  Result<std::size_t> place_of(const ReportedLine& reported);
  const OwnMetric& metric_at(std::size_t place) const;

  const Plan& plan_;
  const os::Launcher& launcher_;
  os::MetricFiles* files_;
  std::vector<std::pair<std::size_t, Pattern>> patterns_;  // by the place of their metric
  std::vector<OwnMetric> discovered_;
  std::vector<os::MetricFiles::Written> batch_;
};

/// Returns why a run has no values of its region: none was marked, or not correctly. A program may
/// note anything.
std::optional<Error> why_no_region(const os::Ended& ended);

/// Adds a run's notes about its region at the places of Plan::reported.
void add_region(const Plan& plan, const os::RegionUse& use,
                std::vector<std::optional<double>>& reported);

}  // namespace lauka
