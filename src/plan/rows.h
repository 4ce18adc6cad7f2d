#pragma once

#include "core/metric.h"
#include "core/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Whether the kernel's accounting gives all of `list` (see list_rows), so that nothing need be
/// counted.
bool are_all_built_in(const std::vector<std::string>& list);

/// Puts the metrics that `list` names (NAME or NAME:UNIT) first, in its order, and shows these
/// alone. Refuses a name that is not measured and a unit that does not fit, with what was most
/// likely meant.
Result<void> list_rows(const std::vector<std::string>& list, std::vector<Metric>& metrics);

}  // namespace lauka
