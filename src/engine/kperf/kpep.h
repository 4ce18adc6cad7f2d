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

/// A value of a property list. monostate represents negative numbers, and values of
/// other types, such as dates.
struct PlistValue {
  std::variant<std::monostate, bool, std::uint64_t, std::string, PlistArray, PlistDict> content;

  template <typename Kind>
  const Kind* get() const {
    return std::get_if<Kind>(&content);
  }

  /// Returns the value of `key`; null if the key is missing or this value is not a dictionary.
  const PlistValue* find(std::string_view key) const;
};

/// Reads a property list, XML or binary. An error begins with a verb ("is damaged"); callers put
/// the file's name before it.
Result<PlistValue> read_plist(std::string_view bytes);

/// A set of hardware counters: bit i is PMCi, as in kpep databases.
using CounterMask = std::uint32_t;

/// Limit of counter numbers: each number is smaller.
inline constexpr unsigned kMaxChipCounters = 16;

/// Returns how many of `counters` have a number below `counter`.
std::size_t rank_of_counter(CounterMask counters, unsigned counter);

/// Lists counters for messages, as "PMC2 and PMC5-7"; "no counter" if the set is empty.
std::string counters_in_words(CounterMask counters);

struct KpepEvent {
  std::string name;
  std::string alias{};  ///< second name in the database, as "Cycles"; may be empty
  std::string description{};
  std::string errata{};
  std::string fallback{};  ///< name of an event that can replace this event; may be empty
  /// Number that selects the event on a counter; 0 for fixed events.
  std::uint16_t selector_number = 0;
  CounterMask mask = 0;
  bool is_fixed = false;
  bool is_refused_by_kernel = false;
};

/// Apple's description of a processor's counters and events (kpep).
struct KpepDatabase {
  std::string name;
  std::string marketing_name;
  CounterMask fixed_counters = 0;
  CounterMask config_counters = 0;
  CounterMask power_counters = 0;  ///< counters that the power manager may hold; 0: none or unknown
  std::vector<KpepEvent> events;   ///< fixed events by counter, then configurable events by number
};

/// Finds an event by alias, else by name, ignoring case; null if missing.
const KpepEvent* find_event(const KpepDatabase& database, std::string_view name);

/// Converts a property list to a database. An error begins with a verb; callers put the file's name
/// before it.
Result<KpepDatabase> kpep_from(const PlistValue& root);

Result<KpepDatabase> load_kpep(const std::string& path);

/// Returns the name of a processor's database, as "cpu_100000c_2_1b588bb3". Arguments: the sysctls
/// hw.cputype, hw.cpusubtype and hw.cpufamily.
std::string kpep_name_of_cpu(std::uint32_t type, std::uint32_t subtype, std::uint32_t family);

/// Returns the paths at which the database for the processor `cpu` may be, the preferred path
/// first.
std::vector<std::string> kpep_paths(std::string_view cpu);

/// Reads the first file of `paths` that exists. `remedy`: advice if no file exists.
Result<KpepDatabase> load_kpep_for(
    std::string_view cpu, const std::vector<std::string>& paths,
    const std::string& remedy = "name the file of a similar processor with --kpep FILE");

}  // namespace lauka::engine::kperf
