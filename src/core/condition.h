#pragma once

#include "core/metric.h"

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

}  // namespace lauka
