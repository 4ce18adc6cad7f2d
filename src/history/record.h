#pragma once

#include "core/command.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/numbers.h"
#include "core/result.h"
#include "stats/delta.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::history {

/// Half the width of a 95% interval of a normal distribution, in standard errors.
inline constexpr double kNormal95 = 1.959963984540054;

using stats::LogRatio;

/// One metric of one command in a history: no runs.
struct MetricRecord {
  std::string name{};
  Unit unit = Unit::Count;
  Better better = Better::Less;
  double mean = 0.0;  ///< of a percentile its estimate
  std::optional<double> stddev{};
  std::uint64_t runs = 0;
  std::optional<LogRatio> to_reference{};  ///< of the same session, within rounds where it can be
  std::optional<LogRatio> to_anchor{};
  std::optional<double>
      median{};                 ///< nullopt if written by an old lauka-history, or of a percentile
  std::optional<double> mad{};  ///< the median absolute deviation from it
};

/// One command of a session.
struct BenchmarkRecord {
  std::string benchmark{};  ///< of a suite; else the command's name
  std::string role{};       ///< in a suite: "reference", "candidate", "anchor"
  std::string command{};    ///< where several of that benchmark have that role; else empty
  std::string name{};       ///< of the command, if it was measured with an anchor
  std::string anchor{};     ///< the name of that anchor
  std::vector<MetricRecord> metrics{};
};

/// A session in a history.
struct SessionRecord {
  std::string id{};  ///< a UUID in lower case
  TimeOfDay began{};
  TimeOfDay ended{};
  Machine machine{};
  std::vector<Label> labels{};
  std::string version{};  ///< of lauka
  bool complete = true;   ///< false: it was cut short
  std::vector<BenchmarkRecord> results{};

  /// Returns the value of a label; empty if it has none.
  std::string label(std::string_view key) const {
    for (const Label& one : labels)
      if (one.key == key) return one.value;
    return {};
  }
};

/// Reads the part of a session that a history keeps from `text`, which lauka's --export-json wrote.
/// The error is a predicate of the file: not such a JSON, has an impossible value, or has no
/// identity (hyperfine's files and joined sessions have none).
Result<SessionRecord> record_of(std::string_view text);

}  // namespace lauka::history
