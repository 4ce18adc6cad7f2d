#pragma once

#include "core/metric.h"
#include "core/result.h"

#include <optional>
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

/// Shows every time in `unit` (null: as each fits) that was not asked for in another one.
void show_times_in(const DisplayUnit* unit, std::vector<Metric>& metrics);

/// Why `name` is not among the metrics although what it is made of is; none where that is not so.
std::optional<Error> why_not_derived(std::string_view name, const std::vector<Metric>& metrics);

/// The names of the units that values of `unit` can be shown in: "ns, µs, ms, s, min"; may be
/// empty.
std::string units_for(Unit unit);

}  // namespace lauka
