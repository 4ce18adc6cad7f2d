#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

/// What the fixtures share: reading of arguments, refusing them.
namespace fixture {

/// The arguments behind the program's name.
inline std::vector<std::string_view> arguments_of(int argc, char** argv) {
  return {argv + 1, argv + argc};
}

/// "usage: ..." on standard error, and status 2.
[[noreturn]] inline void refuse(const char* usage) {
  static_cast<void>(std::fprintf(stderr, "usage: %s\n", usage));
  std::exit(2);
}

/// The whole number at the head of `text`, which keeps what is behind it; none: no digit, too
/// large.
inline std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// `text` as a whole number without a unit, of at most `largest`.
inline std::optional<std::uint64_t> to_number(std::string_view text, std::uint64_t largest) {
  const auto number = take_number(text);
  return number && text.empty() && *number <= largest ? number : std::nullopt;
}

/// `text` as bytes, with the units of the GNU tools: k, M, G are powers of 1024; kB, MB, GB of
/// 1000.
inline std::optional<std::uint64_t> to_bytes(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::uint64_t bytes;
  };
  static constexpr Unit kUnits[] = {
      {"", 1},      {"k", 1024},         {"M", 1024 * 1024},        {"G", 1024 * 1024 * 1024},
      {"kB", 1000}, {"MB", 1000 * 1000}, {"GB", 1000 * 1000 * 1000}};
  const auto number = take_number(text);
  for (const Unit& unit : kUnits) {
    if (number && text == unit.name && *number <= UINT64_MAX / unit.bytes) {
      return *number * unit.bytes;
    }
  }
  return std::nullopt;
}

/// `text` as a time below a day: a whole number and ns, us, ms or s.
inline std::optional<std::chrono::nanoseconds> to_time(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::int64_t nanoseconds;
  };
  static constexpr Unit kUnits[] = {
      {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
  constexpr std::int64_t kDay = 86'400'000'000'000;
  const auto number = take_number(text);
  for (const Unit& unit : kUnits) {
    if (number && text == unit.name &&
        *number < static_cast<std::uint64_t>(kDay / unit.nanoseconds)) {
      return std::chrono::nanoseconds{static_cast<std::int64_t>(*number) * unit.nanoseconds};
    }
  }
  return std::nullopt;
}

}  // namespace fixture
