#pragma once

#include "core/metric.h"

#include <cstddef>
#include <optional>
#include <string>

namespace lauka {

/// What ended a session that --precision was asked of.
enum class PrecisionEnd : unsigned char {
  Reached,
  MaxRuns,
  Duration,
  ReferenceGone,  ///< in sequential order, where a setup or cleanup keeps commands from coming
                  ///< back, more of the reference was needed
  Gates,          ///< was reached, but not kept in the rounds that the gates wanted
  Unfinished,
};

/// How far --precision came.
struct Precision {
  double wanted = 0.0;                 ///< half width of the metric's intervals, a fraction
  std::optional<double> half_width{};  ///< the widest; none where one of them has no bounds
  std::size_t runs = 0;                ///< of the command that has the fewest
  PrecisionEnd end = PrecisionEnd::Reached;
  std::string metric{metric_name_of(Role::WallTime)};
};

}  // namespace lauka
