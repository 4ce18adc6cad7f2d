#pragma once

#include "core/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lauka::engine::kperf {

struct PlistValue;
using PlistArray = std::vector<PlistValue>;
using PlistDict = std::map<std::string, PlistValue, std::less<>>;

/// A value of a property list; monostate: of a kind that no kpep database has (date, data, real,
/// a number below zero).
struct PlistValue {
  std::variant<std::monostate, bool, std::uint64_t, std::string, PlistArray, PlistDict> value;

  /// Null where it is of another kind.
  template <typename Kind>
  const Kind* get() const {
    return std::get_if<Kind>(&value);
  }

  /// What a dictionary has under `key`; null where it has nothing, or this is no dictionary.
  const PlistValue* find(std::string_view key) const;
};

/// A database is six elements deep.
inline constexpr std::size_t kDeepestPlist = 64;

/// Reads a property list, XML or binary. Refused, with a predicate of the file: what is damaged,
/// nests deeper than kDeepestPlist, declares entities, or has a million values (in a binary one an
/// object may stand in many places).
Result<PlistValue> read_plist(std::string_view bytes);

/// read_plist of the binary form, which begins with kBinaryPlist.
Result<PlistValue> read_binary_plist(std::string_view bytes);
inline constexpr std::string_view kBinaryPlist = "bplist00";

/// What is said of the one that nests too deep.
Error nests_too_deep();

}  // namespace lauka::engine::kperf
