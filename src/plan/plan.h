#pragma once

#include "cli/options.h"
#include "core/command.h"
#include "core/condition.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/own_metric.h"
#include "core/pattern.h"
#include "core/reference.h"
#include "core/session_setting.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

/// Largest width that --precision allows for a metric's intervals.
struct PrecisionGoal {
  /// Half of the width: for a single command as a fraction of its mean, for a delta as a difference
  /// of ratios, so that 0.005 is half a percentage point.
  double relative_half_width = 0.0;
  std::size_t metric = 0;
};

/// A race (--race): commands leave as soon as they are shown to be worse than another one.
struct RaceGoal {
  double limit = 0.0;      ///< difference, as a fraction, within which commands are equally good
  std::size_t metric = 0;  ///< metric by which the commands are compared
  /// Number of races, of all plans, that share the error 1 - confidence.
  std::size_t races_sharing_error_rate = 1;
};

/// Everything that is decided before the first run.
struct Plan {
  Setting setting{};
  std::vector<Command> commands;
  bool events_were_asked_for = false;
  std::vector<Metric> metrics;
  /// Metrics that --scrape, --metrics and --region announce, in this order.
  std::vector<OwnMetric> reported_metrics{};
  /// Compiled pattern of --until; nullopt without --until.
  std::optional<Pattern> compiled_end_pattern{};
  std::optional<std::chrono::nanoseconds> timeout{};
  std::optional<IgnoreFailure> ignore_failure{};
  std::vector<Gate> gates{};
  /// Number of gate decisions, of all plans, that share the rate of false fails; 0: only this
  /// plan's decisions share the rate.
  std::size_t decisions_sharing_error_rate = 0;
  double confidence = kDefaultConfidence;
  /// Error that the decision to keep a candidate may spend over all looks; nullopt: that of
  /// `confidence`.
  std::optional<double> error_of_keeping{};
  std::optional<PrecisionGoal> precision{};
  std::optional<RaceGoal> race{};
  Reference reference{};
  /// Shell that runs the commands; nullopt: no shell.
  std::optional<Shell> shell{};
  CorePlan cores{};
  Presentation presentation{};
  /// Correct command line if quotes were probably forgotten; else empty.
  std::string suggested_line{};
  std::vector<std::string> hints{};
};

}  // namespace lauka
