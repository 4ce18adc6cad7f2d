#pragma once

#include "core/machine.h"
#include "history/record.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The encoding of the database's columns.

namespace lauka::history {

/// Returns the id of `text` in the database: 63 bits of its SHA-256; 0 if it is empty. The same
/// everywhere, so that writers need not ask each other.
std::int64_t text_id(std::string_view text);

/// Encodes names, units and directions of a command's metrics: the same text in every session of a
/// benchmark.
std::string encode_layout(const std::vector<MetricRecord>& metrics);

/// Encodes their values, in that order, in digits, letters, points, signs and blanks; each number
/// reads back as the same double.
std::string encode_values(const std::vector<MetricRecord>& metrics);

/// Returns the metrics of a layout, without values; empty if it is not a layout.
std::vector<MetricRecord> decode_layout(std::string_view layout);

/// Reads the values of the metric at `place` of its layout; false if they are missing.
bool decode_values(MetricRecord& metric, std::size_t place, std::string_view numbers);

/// Encodes the properties of a machine's class as JSON; and decodes them.
std::string encode_machine(const Machine& machine);
Machine decode_machine(std::string_view json);

/// Returns the identity of a series of points, except for the metric.
std::string variant_key(const BenchmarkRecord& result, std::string_view machine_class);

}  // namespace lauka::history
