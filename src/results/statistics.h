#pragma once

#include "stats/summary.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>

namespace lauka {

/// What describes the runs of a command, besides their mean, under the same key in all outputs.
struct Statistic {
  std::string_view key;
  std::variant<double stats::Summary::*, std::size_t stats::Summary::*,
               std::optional<double> (stats::Moments::*)() const>
      value;
  bool is_in_csv = true;  ///< false: only in the JSON
};

inline constexpr auto kStatistics = std::to_array<Statistic>({
    {"stddev", &stats::Summary::stddev},
    {"median", &stats::Summary::median},
    {"q1", &stats::Summary::q1, false},
    {"q3", &stats::Summary::q3, false},
    {"min", &stats::Summary::min},
    {"max", &stats::Summary::max},
    {"outliers", &stats::Summary::outliers},
    {"severe_outliers", &stats::Summary::severe_outliers, false},
});

}  // namespace lauka
