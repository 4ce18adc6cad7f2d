#pragma once

#include <string>

namespace lauka {

/// A gate as asked for: METRIC of a candidate is more than `limit_percent` above the reference's.
struct Condition {
  std::string metric;
  double limit_percent = 0.0;  ///< above -100
};

}  // namespace lauka
