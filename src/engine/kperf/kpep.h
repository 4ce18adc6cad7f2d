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

/// A value of a property list; monostate: date, data, real or negative, which no database has.
struct PlistValue {
  std::variant<std::monostate, bool, std::uint64_t, std::string, PlistArray, PlistDict> value;

  /// Returns null if it is of another kind.
  template <typename Kind>
  const Kind* get() const {
    return std::get_if<Kind>(&value);
  }

  /// Returns the value of `key` in a dictionary; null if missing, or this is not a dictionary.
  const PlistValue* find(std::string_view key) const;
};

/// Reads a property list, XML or binary. Refuses, with a predicate of the file, one that is
/// damaged, nests deeper than 64 elements, declares entities, or has a million values (in a
/// binary one an object may be in many places).
Result<PlistValue> read_plist(std::string_view bytes);

/// Hardware counters as bits: bit i is PMCi, which is also how a kpep database numbers them.
using CounterMask = std::uint32_t;

/// More than any processor has; a database that names a higher one is damaged or foreign.
inline constexpr unsigned kMaxCounters = 16;

/// Returns the place of `counter` among `counters`. Its word has that place among the words, and
/// its value among the values that follow those of the fixed counters.
std::size_t place_among(CounterMask counters, unsigned counter);

/// "PMC7", "PMC5-7", "PMC2 and PMC5-7"; "no counter" if no bit is set.
std::string counters_in_words(CounterMask counters);

/// An event of a database.
struct KpepEvent {
  std::string name;     ///< "INST_ALL"
  std::string alias{};  ///< the database's own alias ("Cycles"); mostly empty
  std::string description{};
  std::string errata{};
  std::string fallback{};    ///< configurable event that takes a fixed one's place; mostly empty
  std::uint16_t number = 0;  ///< the selector; 0 where fixed, up to 16390 on M4
  CounterMask mask = 0;      ///< the counters it may use; of a fixed one its own
  bool is_fixed = false;
  bool is_refused = false;  ///< was tried here, and may not be counted
};

/// The contents of Apple's kpep file about a chip's counters.
struct KpepDatabase {
  std::string name;            ///< "a14"
  std::string marketing_name;  ///< "Apple M1"; may be empty
  CounterMask fixed_counters = 0;
  CounterMask config_counters = 0;
  CounterMask power_counters = 0;  ///< held by the power manager until all counters are forced
  std::vector<KpepEvent> events;   ///< fixed ones first, then by number, then by name
};

/// Finds an event by alias, else by name, as the framework does. Case is ignored; null if missing.
const KpepEvent* find_event(const KpepDatabase& database, std::string_view name);

/// Reads the database in a property list. Refuses what Apple's framework would not take (a version,
/// a mask that is not a number, an alias without its event, ...), with a predicate of the file.
Result<KpepDatabase> kpep_from(const PlistValue& root);

/// Reads the database in the file at `path`. Errors name the file.
Result<KpepDatabase> load_kpep(const std::string& path);

/// Returns the name of a processor's database ("cpu_100000c_2_1b588bb3"), made of hw.cputype,
/// hw.cpusubtype and hw.cpufamily.
std::string cpu_name(std::uint32_t type, std::uint32_t subtype, std::uint32_t family);

/// Returns where a processor's database may be, in the framework's order.
std::vector<std::string> kpep_paths(std::string_view cpu);

/// Reads the first of `paths` that exists. Refused, naming the processor, if none does.
Result<KpepDatabase> load_kpep_for(
    std::string_view cpu, const std::vector<std::string>& paths,
    const std::string& remedy = "name the file of a similar one with --kpep FILE");

}  // namespace lauka::engine::kperf
