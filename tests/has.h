#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {

/// True if `part` is somewhere in `text`.
inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Checks that `text` has these parts, in this order.
inline void check_order(std::string_view text, const std::vector<std::string_view>& parts) {
  std::size_t at = 0;
  for (const std::string_view part : parts) {
    CAPTURE(part);
    at = text.find(part, at);
    REQUIRE(at != std::string_view::npos);
  }
}

}  // namespace lauka
