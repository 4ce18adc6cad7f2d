#pragma once

#include "plan/recording.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka {

/// The runs of a session that was read.
class StoredRuns : public RunTable {
 public:
  struct Run {
    std::size_t number = 0;  ///< its place in the session
    RunRow row{};
    std::string why{};
    std::vector<double> values{};  ///< one for each metric; NaN: none
  };

  /// `at_most`: what the values of a command do not exceed where they are not known, by metric.
  using Bounds = std::map<std::pair<std::size_t, std::size_t>, double>;

  StoredRuns(std::vector<Run> runs, std::size_t commands, const std::vector<Metric>& metrics,
             Bounds at_most)
      : runs_(std::move(runs)), of_command_(commands), at_most_(std::move(at_most)) {
    std::stable_sort(runs_.begin(), runs_.end(),
                     [](const Run& a, const Run& b) { return a.number < b.number; });
    for (std::size_t i = 0; i < runs_.size(); ++i)
      of_command_[runs_[i].row.command].push_back(static_cast<std::uint32_t>(i));
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      kinds_.push_back(metrics[m].kind);
      source_.push_back(find_metric(metrics, metrics[m].measured_as()).value_or(m));
    }
  }

  std::size_t size() const override { return runs_.size(); }

  RunRow row(std::size_t run) const override {
    RunRow row = runs_[run].row;
    row.why = runs_[run].why;
    return row;
  }

  std::optional<double> value(std::size_t run, std::size_t metric) const override {
    const std::vector<double>& values = runs_[run].values;
    if (metric >= source_.size() || source_[metric] >= values.size()) return std::nullopt;
    const double value = values[source_[metric]];
    return std::isnan(value) ? std::nullopt : std::optional(value);
  }

  std::optional<double> bound(std::size_t run, std::size_t metric) const override {
    if (value(run, metric) || runs_[run].row.kind != kinds_[metric]) return std::nullopt;
    const auto found = at_most_.find({runs_[run].row.command, metric});
    return found == at_most_.end() ? std::nullopt : std::optional(found->second);
  }

  std::span<const std::uint32_t> of(std::size_t command) const override {
    return of_command_[command];
  }

 private:
  std::vector<Run> runs_;
  std::vector<std::vector<std::uint32_t>> of_command_;
  Bounds at_most_;
  std::vector<RoundKind> kinds_;
  std::vector<std::size_t> source_;  // of a metric: the one whose values it has
};

}  // namespace lauka
