#pragma once

#include "core/metric.h"

#include <cstddef>
#include <optional>
#include <string>

namespace lauka {

/// A gate: it fails if METRIC of a candidate is, with confidence, above its limit, or below it. The
/// limit is a change from the reference, or a value of the metric itself.
struct Condition {
  std::string metric;
  double limit_percent = 0.0;  ///< above -100; 0 if it has a bound
  bool below = false;
  std::optional<double> bound{};  ///< in base units of bound_unit
  std::string bound_text{};       ///< as typed: "200ms"
  Unit bound_unit = Unit::Seconds;

  bool operator==(const Condition&) const = default;
};

/// Why a session with --precision ended.
enum class PrecisionEnd : unsigned char {
  Reached,
  MaxRuns,
  Duration,
  ReferenceGone,  ///< in sequential order, where a setup or cleanup keeps commands from coming
                  ///< back, more of the reference was needed
  Gates,          ///< reached, but not kept in the rounds that the gates needed
  Unfinished,
};

/// The result of --precision.
struct Precision {
  double wanted = 0.0;                 ///< half width of the metric's intervals, a fraction
  std::optional<double> half_width{};  ///< the widest; nullopt if an interval has no bounds
  std::size_t runs = 0;                ///< of the command that has the fewest
  PrecisionEnd end = PrecisionEnd::Reached;
  std::string metric{metric_name_of(Role::WallTime)};
};

}  // namespace lauka
