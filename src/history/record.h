#pragma once

#include "core/command.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/numbers.h"
#include "core/result.h"
#include "session/recording.h"
#include "stats/delta.h"

#include <cstddef>
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
  double mean = 0.0;  ///< mean; of a percentile its estimate
  std::optional<double> stddev{};
  std::uint64_t runs = 0;  ///< number of values in the mean: runs, or layouts (--layouts)
  std::optional<LogRatio>
      to_reference{};  ///< ratio to the reference of the same session, within rounds if possible
  std::optional<LogRatio> to_anchor{};
  std::optional<double>
      median{};  ///< nullopt if written by an old lauka-history, of a percentile, or over layouts
  std::optional<double> mad{};  ///< the median absolute deviation from it
};

/// One command of a session.
struct BenchmarkRecord {
  std::string benchmark{};  ///< benchmark's name in a suite; else the command's name
  std::string role{};       ///< role in a suite: "reference", "candidate", "anchor"
  std::string command{};    ///< command's name if several commands of the benchmark have that role;
                            ///< else empty
  std::string name{};       ///< command's name if it was measured with an anchor
  std::string anchor{};     ///< the name of that anchor
  Endings endings{};        ///< endings of the runs
  std::vector<MetricRecord> metrics{};
};

/// A session in a history.
struct SessionRecord {
  std::string id{};  ///< a UUID in lower case
  TimeOfDay began{};
  TimeOfDay ended{};
  Machine machine{};
  std::vector<Label> labels{};
  std::string version{};  ///< version of lauka
  bool complete = true;   ///< false: it was cut short
  std::vector<BenchmarkRecord> results{};

  /// Returns the value of a label; empty if it has none.
  std::string label(std::string_view key) const {
    for (const Label& label : labels)
      if (label.key == key) return label.value;
    return {};
  }
};

/// Reads what a history keeps of the session in `text` (lauka's --export-json). The error is a
/// predicate of the file: not such a JSON, has an impossible value, or has no identity, like
/// hyperfine's files and joined sessions.
Result<SessionRecord> read_record(std::string_view text);

/// Returns the id of `text` in every database: 63 bits of its SHA-256; 0 if it is empty.
std::int64_t text_id(std::string_view text);

/// Encodes names, units and directions of a command's metrics: the same text in all sessions of a
/// benchmark.
std::string encode_layout(const std::vector<MetricRecord>& metrics);
/// Encodes their values, in that order, in digits, letters, points, signs and blanks, and after
/// them the failures. Each number reads back as the same double.
std::string encode_values(const std::vector<MetricRecord>& metrics, const Endings& endings);

/// Returns the metrics of a layout, without values; empty if it is not a layout.
std::vector<MetricRecord> decode_layout(std::string_view layout);

/// Reads the values of metric number `place` (from 0) out of `numbers`, the text of encode_values;
/// false if they are missing.
bool decode_values(MetricRecord& metric, std::size_t place, std::string_view numbers);

/// Reads the endings behind the values; none if no run failed.
Endings decode_endings(std::string_view numbers);

/// Encodes the properties of a machine's class as JSON; and decodes them.
std::string encode_machine(const Machine& machine);
Machine decode_machine(std::string_view json);

/// Returns the identity of a series of points, except for the metric.
std::string variant_key(const BenchmarkRecord& result, std::string_view machine_class);

}  // namespace lauka::history
