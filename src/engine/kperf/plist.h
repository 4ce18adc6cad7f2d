#pragma once

#include "core/result.h"

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

/// A value of a property list; monostate: of a kind that no kpep database has (date, data, real).
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

/// Reads a property list, XML or binary. The error is a predicate of the file.
using PlistReader = Result<PlistValue> (*)(std::string_view bytes);

/// libplist's reader; null where lauka was built without libplist.
PlistReader plist_reader();

}  // namespace lauka::engine::kperf
