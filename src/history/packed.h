#pragma once

#include "core/result.h"
#include "history/record.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::history {

/// What `text` is called in the database: 63 bits of its SHA-256; 0 where it is empty. The same
/// everywhere, so that writers need not ask each other.
std::int64_t number_of(std::string_view text);

/// What the metrics of a command are: a text that is the same in every session of a benchmark.
std::string layout_of(const std::vector<MetricRecord>& metrics);

/// Their values, in that order: digits, letters, points, signs and blanks only, and each number
/// reads back as the same double.
std::string numbers_of(const std::vector<MetricRecord>& metrics);

/// The metrics of a layout, without values; none where it is no layout.
std::vector<MetricRecord> metrics_of(std::string_view layout);

/// Fills in the values of the metric at one place of its layout. False: they are not there.
bool fill_in(MetricRecord& metric, std::size_t place, std::string_view numbers);

}  // namespace lauka::history
