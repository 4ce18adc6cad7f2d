#include "core/duration.h"

#include "core/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace lauka {

namespace {

struct TimeUnit {
  std::string_view name;
  double nanoseconds;
};

constexpr std::array kTimeUnits = {
    TimeUnit{"ns", 1.0}, TimeUnit{"us", 1e3}, TimeUnit{"ms", 1e6},   TimeUnit{"s", 1e9},
    TimeUnit{"", 1e9},   TimeUnit{"m", 6e10}, TimeUnit{"h", 3.6e12},
};

const TimeUnit* find_unit(std::string_view name) {
  for (const TimeUnit& unit : kTimeUnits) {
    if (unit.name == name) {
      return &unit;
    }
  }
  return nullptr;
}

}  // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const std::size_t number_size = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string number(text.substr(0, number_size));
  const TimeUnit* unit = find_unit(text.substr(number_size));
  if (!is_decimal(number, false) || unit == nullptr) {
    return Error{"is not a time", "write 5s, 500ms or 2m (a bare number is seconds)"};
  }
  const double nanoseconds = std::round(std::strtod(number.c_str(), nullptr) * unit->nanoseconds);
  if (nanoseconds < 1.0 || nanoseconds > static_cast<double>(kLongestDuration.count())) {
    return Error{"is out of range", "write a time above 0 and at most 8760h"};
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds));
}

}  // namespace lauka
