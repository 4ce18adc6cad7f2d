#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
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

/// A unit's name and how many base units it is.
struct UnitName {
  std::string_view name;
  std::uint64_t factor = 1;
};

/// `text` as a whole number followed by one of `units`, in base units, of at most `largest`.
template <std::size_t kCount>
std::optional<std::uint64_t> to_quantity(std::string_view text,
                                         const std::array<UnitName, kCount>& units,
                                         std::uint64_t largest) {
  const auto number = take_number(text);
  for (const UnitName& unit : units) {
    if (number && text == unit.name && *number <= largest / unit.factor) {
      return *number * unit.factor;
    }
  }
  return std::nullopt;
}

/// `text` as bytes, with the units of the GNU tools: k, M, G are powers of 1024; kB, MB, GB of
/// 1000.
inline std::optional<std::uint64_t> to_bytes(std::string_view text) {
  static constexpr std::array<UnitName, 7> kUnits{{{"", 1},
                                                   {"k", 1U << 10U},
                                                   {"M", 1U << 20U},
                                                   {"G", 1U << 30U},
                                                   {"kB", 1'000},
                                                   {"MB", 1'000'000},
                                                   {"GB", 1'000'000'000}}};
  return to_quantity(text, kUnits, std::uint64_t{1} << 62U);
}

/// `text` as a time of at most a day: a whole number and ns, us, ms or s.
inline std::optional<std::chrono::nanoseconds> to_time(std::string_view text) {
  static constexpr std::array<UnitName, 4> kUnits{
      {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
  const auto nanoseconds = to_quantity(text, kUnits, 86'400'000'000'000);
  return nanoseconds ? std::optional(std::chrono::nanoseconds{*nanoseconds}) : std::nullopt;
}

}  // namespace fixture
