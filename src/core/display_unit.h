#pragma once

#include "core/metric.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lauka {

/// A unit that rows can be asked for in.
struct DisplayUnit {
  std::string_view name;    ///< as typed
  Unit unit;                ///< of the metrics that can be shown in it
  double size;              ///< in base units
  std::string_view suffix;  ///< as shown
};

/// Those of a kind from the smallest to the largest.
inline constexpr auto kDisplayUnits = std::to_array<DisplayUnit>({
    {"ns", Unit::Seconds, 1e-9, "ns"},
    {"us", Unit::Seconds, 1e-6, "µs"},
    {"µs", Unit::Seconds, 1e-6, "µs"},
    {"ms", Unit::Seconds, 1e-3, "ms"},
    {"s", Unit::Seconds, 1.0, "s"},
    {"min", Unit::Seconds, 60.0, "min"},
    {"B", Unit::Bytes, 1.0, "B"},
    {"kB", Unit::Bytes, 1e3, "kB"},
    {"MB", Unit::Bytes, 1e6, "MB"},
    {"GB", Unit::Bytes, 1e9, "GB"},
    {"KiB", Unit::Bytes, 1024.0, "KiB"},
    {"MiB", Unit::Bytes, 1048576.0, "MiB"},
    {"GiB", Unit::Bytes, 1073741824.0, "GiB"},
    {"1", Unit::Count, 1.0, ""},
    {"K", Unit::Count, 1e3, "K"},
    {"M", Unit::Count, 1e6, "M"},
    {"G", Unit::Count, 1e9, "G"},
});

/// The unit of that name; null where there is none.
inline const DisplayUnit* find_display_unit(std::string_view name) {
  const auto found = std::ranges::find_if(
      kDisplayUnits, [&](const DisplayUnit& unit) { return unit.name == name; });
  return found == kDisplayUnits.end() ? nullptr : &*found;
}

}  // namespace lauka
