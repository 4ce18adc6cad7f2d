#pragma once

#include <cstdlib>
#include <string_view>
#include <vector>

// libFuzzer's targets; see scripts/check fuzz. Each takes any bytes, and aborts if the result
// breaks a promise.

namespace lauka::fuzz {

void words(std::string_view bytes);
void numbers(std::string_view bytes);
void options(std::string_view bytes);
void gates(std::string_view bytes);
void metrics(std::string_view bytes);
void formulas(std::string_view bytes);
void reported(std::string_view bytes);
void suite(std::string_view bytes);
void baseline(std::string_view bytes);
void plist(std::string_view bytes);
void events(std::string_view bytes);
void sysfs(std::string_view bytes);
void cachegrind(std::string_view bytes);
void dhat(std::string_view bytes);
void records(std::string_view bytes);

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// The parts between bytes of 0; at least one.
inline std::vector<std::string_view> parts_of(std::string_view bytes) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = bytes.find('\0');
    parts.push_back(bytes.substr(0, end));
    if (end == std::string_view::npos) return parts;
    bytes.remove_prefix(end + 1);
  }
}

}  // namespace lauka::fuzz
