#pragma once

#include "core/command.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/numbers.h"
#include "core/recording.h"
#include "core/result.h"
#include "stats/delta.h"
#include "stats/summary.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::history {

/// The 97.5% quantile of the standard normal distribution.
inline constexpr double kNormal95 = 1.959963984540054;

using stats::LogRatio;

struct MetricRecord {
  std::string name{};
  Unit unit = Unit::Count;
  Better better = Better::Less;
  double mean = 0.0;  ///< mean of runs or layouts; for a percentile, the percentile's value
  std::optional<double> stddev{};
  std::uint64_t summarized_values = 0;  ///< number of runs or layouts that `mean` summarizes
  std::optional<LogRatio> ratio_to_reference{};
  std::optional<LogRatio> ratio_to_anchor{};
  std::optional<double> median{};
  std::optional<double> mad{};  ///< median absolute deviation from `median`
  SettingValues method{};       ///< how it was measured (settings_of_metric), as far as known
};

struct CommandRecord {
  std::string benchmark{};  ///< name of the benchmark in a suite, else of the command; with
                            ///< settings that change what is measured, these are appended:
                            ///< " (layouts, --jobs 2)"
  /// `benchmark` without its settings; empty if no setting is appended.
  std::string benchmark_without_settings{};
  std::string role{};                ///< role in a suite, such as "candidate"; may be empty
  std::string shown_command_name{};  ///< name of the command if several commands of the benchmark
                                     ///< have this role; else empty
  /// Name of the command if it is compared with an anchor; else empty.
  std::string anchored_name{};
  std::string anchor{};
  Endings endings{};
  std::vector<MetricRecord> metrics{};
};

/// The part of a session that a history stores.
struct SessionRecord {
  std::string id{};
  UtcTime began{};
  UtcTime ended{};
  Machine machine{};
  std::vector<Label> labels{};
  std::string version{};
  bool complete = true;
  std::vector<CommandRecord> results{};

  /// Returns the value of a label; empty if the session lacks the label.
  std::string label(std::string_view key) const {
    for (const Label& label : labels)
      if (label.key == key) return label.value;
    return {};
  }
};

/// Reads the output of lauka's --export-json. Refuses sessions that cannot be stored, such as
/// hyperfine's. The error is a predicate; the caller adds the subject.
Result<SessionRecord> read_record(std::string_view text);

/// Returns the id of a text: 63 bits of its SHA-256; 0 for an empty text.
std::int64_t text_id(std::string_view text);

/// Encodes the names, units and directions of metrics as JSON.
std::string encode_metric_names(const std::vector<MetricRecord>& metrics);
/// Encodes the values of metrics and, if runs failed, the endings.
std::string encode_values(const std::vector<MetricRecord>& metrics, const Endings& endings);

/// Decodes the text of encode_metric_names into metrics without values; empty if the text is
/// invalid.
std::vector<MetricRecord> decode_metric_names(std::string_view layout);

/// Decodes the values of a metric from the text of encode_values. Returns false if the text lacks
/// the metric or the metric's mean.
bool decode_values(MetricRecord& metric, std::size_t metric_index, std::string_view numbers);

/// Decodes the endings from the text of encode_values; empty if no run failed.
Endings decode_endings(std::string_view numbers);

/// Encodes a machine as JSON, without its name, its operating system and its class.
std::string encode_machine(const Machine& machine);
/// Decodes the text of encode_machine; an empty machine if the text is invalid.
Machine decode_machine(std::string_view json);

/// Returns a text that identifies the command of `result` on a class of machines.
std::string variant_key(const CommandRecord& result, std::string_view machine_class);

}  // namespace lauka::history
