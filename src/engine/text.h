#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine {

/// What the note about missing hardware counters ends with.
inline constexpr std::string_view kSimulationHint =
    "or --engine cachegrind counts instructions by simulation";

/// ASCII letters in lower case.
std::string lower_case(std::string_view text);

bool same_ignoring_case(std::string_view left, std::string_view right);

/// Without the white space at both ends.
std::string_view trimmed(std::string_view text);

/// The parts between `separator`; one (maybe empty) where there is none in it.
std::vector<std::string_view> split(std::string_view text, char separator);

/// A whole number, decimal or with 0x hexadecimal; none where it is anything else or exceeds 64
/// bits.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Hexadecimal digits without 0x, at least one.
std::optional<std::uint64_t> parse_hex(std::string_view digits);

/// "a", "a and b", "a, b and c".
std::string listed(std::span<const std::string> names, std::string_view last_word = "and");

/// Those of `candidates` that `name` may have been meant to be, best first, at most three.
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates);

}  // namespace lauka::engine
