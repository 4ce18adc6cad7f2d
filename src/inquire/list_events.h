#pragma once

#include "core/event.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace lauka::inquire {

/// The events of `catalog` whose name, alias or description contains `filter` (in any case; empty:
/// all), as --list-events shows them: name, alias, counters and description in columns, in the
/// catalog's order. `columns`: the terminal's width, into which descriptions are wrapped; 0 (a
/// pipe): one line for each event, whatever its length.
std::string list_events(const Catalog& catalog, std::string_view filter, std::size_t columns);

}  // namespace lauka::inquire
