#pragma once

#include "core/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// The ends and the step of a range, as typed.
struct DecimalRange {
  std::string_view min;
  std::string_view max;
  std::string_view step;
};

/// The decimals from min on, step apart, up to max: computed exactly (0.1 and 0.2 make 0.3), and
/// written without an exponent and without zeros at the end, so that whole numbers stay whole.
/// Refused: what is no decimal of at most 18 digits, a step that is not above 0, a min above max,
/// more than `most` values.
Result<std::vector<std::string>> decimals_of(const DecimalRange& range, std::size_t most);

}  // namespace lauka
