#pragma once

#include "core/result.h"

#include <cstdint>
#include <string_view>

namespace lauka {

// The errors of these functions are predicates: whoever read the text puts its subject before them
// ("--runs '0'" + " " + "is out of range").

/// The whole number that `text` is, `min` to `max` included. Digits only: no sign, no blanks.
Result<std::uint64_t> parse_whole_number(std::string_view text, std::uint64_t min,
                                         std::uint64_t max);

/// One end of a range.
struct Limit {
  double value = 0.0;
  bool included = false;
};

/// Whether `text` is a decimal: digits with at most one point among them, a sign before them where
/// `signs` allows it. No exponent, "inf", "nan" or hexadecimals, all of which strtod would take.
bool is_decimal(std::string_view text, bool signs);

/// The decimal (see is_decimal, with a sign) that `text` is, between `low` and `high`.
Result<double> parse_decimal(std::string_view text, Limit low, Limit high);

}  // namespace lauka
