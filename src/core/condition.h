#pragma once

#include "core/metric.h"

#include <cstddef>
#include <optional>
#include <string>

namespace lauka {

/// A gate as asked for: it fails where METRIC of a candidate is, with confidence, above its limit,
/// or below it. The limit is a change from the reference, or a value of the metric itself.
struct Condition {
  std::string metric;
  double limit_percent = 0.0;  ///< above -100; 0 where there is a bound
  bool below = false;
  std::optional<double> bound{};  ///< in base units of bound_unit
  std::string bound_text{};       ///< as typed: "200ms"
  Unit bound_unit = Unit::Seconds;

  bool operator==(const Condition&) const = default;
};

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
