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

/// A value of a property list. monostate stands for dates, data, reals and negative numbers, which
/// no kpep database has.
struct PlistValue {
  std::variant<std::monostate, bool, std::uint64_t, std::string, PlistArray, PlistDict> value;

  /// Returns the value; null if it is not of type `Kind`.
  template <typename Kind>
  const Kind* get() const {
    return std::get_if<Kind>(&value);
  }

  /// Returns the value of `key` in a dictionary; null if it is missing or this is not a dictionary.
  const PlistValue* find(std::string_view key) const;
};

/// Reads a property list, XML or binary. Refuses a list that is damaged, nests deeper than 64
/// elements, declares entities, or has a million values (a binary object may occur in several
/// places). The error is a predicate; the caller adds the subject.
Result<PlistValue> read_plist(std::string_view bytes);

/// A set of hardware counters: bit i is PMCi, as in kpep databases.
using CounterMask = std::uint32_t;

/// A limit above the number of counters of any processor: a database with a higher number is
/// damaged or foreign.
inline constexpr unsigned kMaxChipCounters = 16;

/// Returns the position of `counter` among the counters in the mask. Its configuration word has the
/// same position among the words, and its value among the values after the fixed counters'.
std::size_t place_among(CounterMask counters, unsigned counter);

/// Returns "PMC7", "PMC5-7", "PMC2 and PMC5-7"; "no counter" for an empty mask.
std::string counters_in_words(CounterMask counters);

/// An event of a kpep database.
struct KpepEvent {
  std::string name;     ///< "INST_ALL"
  std::string alias{};  ///< alias in the database ("Cycles"); usually empty
  std::string description{};
  std::string errata{};
  std::string fallback{};    ///< name of the configurable event that can replace this fixed one;
                             ///< usually empty
  std::uint16_t number = 0;  ///< selector; 0 for fixed events, up to 16390 on M4
  CounterMask mask = 0;  ///< counters that can count the event; for a fixed event, its own counter
  bool is_fixed = false;
  bool is_refused = false;  ///< true if the system refused to count it when tried
};

/// Apple's description of a processor's counters and events (kpep).
struct KpepDatabase {
  std::string name;            ///< "a14"
  std::string marketing_name;  ///< "Apple M1"; may be empty
  CounterMask fixed_counters = 0;
  CounterMask config_counters = 0;
  CounterMask power_counters = 0;  ///< counters that the power manager holds until all counters are
                                   ///< forced; 0: none, or unknown
  std::vector<KpepEvent>
      events;  ///< fixed events first, by counter; then the others, by number and name
};

/// Finds an event by alias, else by name, like the framework, ignoring case; null if missing.
const KpepEvent* find_event(const KpepDatabase& database, std::string_view name);

/// Converts a property list to a database. Refuses what Apple's framework would refuse (a version,
/// a mask that is not a number, an alias without an event, ...). The error is a predicate; the
/// caller adds the subject.
Result<KpepDatabase> kpep_from(const PlistValue& root);

/// Reads the database file at `path`. Errors name the file.
Result<KpepDatabase> load_kpep(const std::string& path);

/// Returns the name of a processor's database ("cpu_100000c_2_1b588bb3"), given hw.cputype,
/// hw.cpusubtype and hw.cpufamily.
std::string cpu_name(std::uint32_t type, std::uint32_t subtype, std::uint32_t family);

/// Returns the paths at which a processor's database may be, in the framework's order.
std::vector<std::string> kpep_paths(std::string_view cpu);

/// Reads the first of `paths` that exists. If none exists, the error names the processor.
Result<KpepDatabase> load_kpep_for(
    std::string_view cpu, const std::vector<std::string>& paths,
    const std::string& remedy = "name the file of a similar one with --kpep FILE");

}  // namespace lauka::engine::kperf
