#include "core/numbers.h"

#include <charconv>
#include <cstdlib>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace lauka {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string range_in_words(Limit low, Limit high) {
  return fmt::format("{} {} and {} {}", low.included ? "from" : "above", low.value,
                     high.included ? "at most" : "below", high.value);
}

}  // namespace

Result<std::uint64_t> parse_whole_number(std::string_view text, std::uint64_t min,
                                         std::uint64_t max) {
  const auto remedy = [&] { return fmt::format("write a whole number from {} to {}", min, max); };
  const bool negative = text.starts_with('-') && text.size() > 1;
  std::uint64_t value = 0;
  const char* first = text.data() + (negative ? 1 : 0);
  const char* last = text.data() + text.size();
  const auto [end, fault] = std::from_chars(first, last, value);
  if (fault == std::errc::invalid_argument || end != last) {
    return Error{"is not a whole number", remedy()};
  }
  if (fault != std::errc{} || negative || value < min || value > max) {
    return Error{"is out of range", remedy()};
  }
  return value;
}

bool is_decimal(std::string_view text, bool signs) {
  if (signs && (text.starts_with('-') || text.starts_with('+'))) {
    text.remove_prefix(1);
  }
  std::size_t digits = 0;
  std::size_t points = 0;
  for (const char c : text) {
    if (is_digit(c)) {
      ++digits;
    } else if (c == '.') {
      ++points;
    } else {
      return false;
    }
  }
  return digits > 0 && points <= 1;
}

Result<double> parse_decimal(std::string_view text, Limit low, Limit high) {
  const auto remedy = [&] { return "write a number " + range_in_words(low, high); };
  if (!is_decimal(text, true)) {
    return Error{"is not a number", remedy()};
  }
  // Not from_chars: libc++ before LLVM 20 has none for double. The locale is never set, so the
  // decimal point is a point.
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  const bool high_enough = value > low.value || (low.included && value == low.value);
  const bool low_enough = value < high.value || (high.included && value == high.value);
  if (!high_enough || !low_enough) {
    return Error{"is out of range", remedy()};
  }
  return value;
}

}  // namespace lauka
