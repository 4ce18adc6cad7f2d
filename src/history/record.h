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

/// The half width of a 95% interval of a normal distribution, in standard errors.
inline constexpr double kNormal95 = 1.959963984540054;

using stats::LogRatio;

/// The values of one metric of one command in a session: summaries, no runs.
struct MetricRecord {
  std::string name{};
  Unit unit = Unit::Count;
  Better better = Better::Less;
  double mean = 0.0;  ///< mean of the runs, or over layouts; for a percentile, its estimate
  std::optional<double> stddev{};
  std::uint64_t runs = 0;  ///< number of values in the mean: runs, or layouts (--layouts)
  std::optional<LogRatio> to_reference{};  ///< ratio to the reference of the same session, within
                                           ///< rounds if possible; nullopt if missing
  std::optional<LogRatio>
      to_anchor{};                 ///< ratio to the anchor of the same session; nullopt if missing
  std::optional<double> median{};  ///< nullopt: unknown, as for percentiles, values over layouts,
                                   ///< and in records by an old lauka-history
  std::optional<double> mad{};     ///< median absolute deviation from the median
};

/// The results of one command in a session.
struct BenchmarkRecord {
  std::string benchmark{};  ///< name of the benchmark in a suite, else the command's; ends in "
                            ///< (layouts)" with --layouts
  std::string role{};       ///< role in a suite: "reference", "candidate" or "anchor"; else empty
  std::string command{};    ///< name of the command, if several commands of the benchmark have its
                            ///< role; else empty
  std::string name{};       ///< name of the command, if it was measured with an anchor; else empty
  std::string anchor{};     ///< name of the anchor; empty if missing
  Endings endings{};        ///< endings of the command's runs
  std::vector<MetricRecord> metrics{};
};

/// The part of a session that a history stores.
struct SessionRecord {
  std::string id{};  ///< UUID in lower case
  TimeOfDay began{};
  TimeOfDay ended{};
  Machine machine{};
  std::vector<Label> labels{};
  std::string version{};  ///< version of lauka
  bool complete = true;   ///< false: the session was cut short
  std::vector<BenchmarkRecord> results{};

  /// Returns the value of a label; empty if the session lacks it.
  std::string label(std::string_view key) const {
    for (const Label& label : labels)
      if (label.key == key) return label.value;
    return {};
  }
};

/// Reads the part of a session that a history stores; `text` is the output of lauka's
/// --export-json. Refuses text in another format, impossible values, and sessions without a start
/// or an id, such as hyperfine's or joined ones. The error is a predicate; the caller adds the
/// subject.
Result<SessionRecord> read_record(std::string_view text);

/// Returns the id of `text` in every database: 63 bits of its SHA-256; 0 if `text` is empty.
std::int64_t text_id(std::string_view text);

/// Encodes names, units and directions of a command's metrics. The text is the same in all sessions
/// of a benchmark, so that it is stored once.
std::string encode_layout(const std::vector<MetricRecord>& metrics);
/// Encodes the values of metrics, in the order of encode_layout, and then the endings. Uses digits,
/// letters, points, signs and blanks only. Each number reads back as the same double.
std::string encode_values(const std::vector<MetricRecord>& metrics, const Endings& endings);

/// Decodes the text of encode_layout into metrics without values; empty if the text is invalid.
std::vector<MetricRecord> decode_layout(std::string_view layout);

/// Decodes the values of metric number `place` (from 0) from `numbers`, the text of encode_values.
/// Returns false if they are missing or invalid.
bool decode_values(MetricRecord& metric, std::size_t place, std::string_view numbers);

/// Decodes the endings from the text of encode_values; empty if no run failed.
Endings decode_endings(std::string_view numbers);

/// Encodes the properties of a machine's class as JSON.
std::string encode_machine(const Machine& machine);
/// Decodes the text of encode_machine; an empty machine if it is invalid.
Machine decode_machine(std::string_view json);

/// Returns an identifier of a command on a class of machines: all its sessions have the same.
std::string variant_key(const BenchmarkRecord& result, std::string_view machine_class);

}  // namespace lauka::history
