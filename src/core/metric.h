#pragma once

#include "core/record.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lauka {

enum class Unit : unsigned char { Seconds, Bytes, Count, Ratio, Fraction, Joules };
enum class Better : unsigned char { Less, More, Neither };

/// The base unit, for programs.
constexpr std::string_view unit_symbol(Unit unit) {
  switch (unit) {
    case Unit::Seconds:
      return "s";
    case Unit::Joules:
      return "J";
    case Unit::Bytes:
      return "B";
    case Unit::Ratio:
      return "ratio";
    case Unit::Fraction:
      return "fraction";
    case Unit::Count:
      break;
  }
  return "1";
}

/// When a row is in the table; exports have every row.
enum class Shown : unsigned char { Always, Verbose };

/// The value of a run in base units (seconds, bytes, events).
using UsageReader = double (*)(const Usage&);

/// An event of the session, by its index in EventSet::events.
struct CountedEvent {
  std::size_t event = 0;
};

/// One event divided by another, both counted in the same run.
struct EventRatio {
  std::size_t numerator = 0;
  std::size_t denominator = 0;
};

/// One event as a part of the sum of several, itself among them, all counted in the same run.
struct EventShare {
  std::size_t part = 0;
  std::vector<std::size_t> whole;
};

struct DisplayUnit;

/// A quantity with a name and a unit, measured in every run: a row of the table.
struct Metric {
  std::string name;
  Unit unit = Unit::Count;
  Better better = Better::Less;
  Shown shown = Shown::Always;
  std::variant<UsageReader, CountedEvent, EventRatio, EventShare> source;
  std::string note{};  ///< shown beside the row: "(user)", "(simulated)"; mostly empty
  const DisplayUnit* shown_in = nullptr;  ///< by the table; null: the unit that fits each value
};

/// The note of a metric that only simulated runs have.
inline constexpr std::string_view kSimulatedNote = "(simulated)";

struct BuiltInMetric {
  std::string_view name;
  Unit unit;
  Shown shown;
  UsageReader read;
};

/// The metrics that need no counters, in the order of the table.
inline constexpr auto kBuiltInMetrics = std::to_array<BuiltInMetric>({
    {"wall_time", Unit::Seconds, Shown::Always,
     [](const Usage& u) { return static_cast<double>(u.wall_ns) / 1e9; }},
    {"cpu_time", Unit::Seconds, Shown::Always,
     [](const Usage& u) { return static_cast<double>(u.user_ns + u.system_ns) / 1e9; }},
    {"user_time", Unit::Seconds, Shown::Verbose,
     [](const Usage& u) { return static_cast<double>(u.user_ns) / 1e9; }},
    {"system_time", Unit::Seconds, Shown::Verbose,
     [](const Usage& u) { return static_cast<double>(u.system_ns) / 1e9; }},
    {"peak_rss", Unit::Bytes, Shown::Always,
     [](const Usage& u) { return static_cast<double>(u.peak_rss_bytes); }},
    {"minor_faults", Unit::Count, Shown::Verbose,
     [](const Usage& u) { return static_cast<double>(u.minor_faults); }},
    {"major_faults", Unit::Count, Shown::Verbose,
     [](const Usage& u) { return static_cast<double>(u.major_faults); }},
    {"voluntary_switches", Unit::Count, Shown::Verbose,
     [](const Usage& u) { return static_cast<double>(u.voluntary_switches); }},
    {"involuntary_switches", Unit::Count, Shown::Verbose,
     [](const Usage& u) { return static_cast<double>(u.involuntary_switches); }},
    {"block_reads", Unit::Count, Shown::Verbose,
     [](const Usage& u) { return static_cast<double>(u.block_reads); }},
    {"block_writes", Unit::Count, Shown::Verbose,
     [](const Usage& u) { return static_cast<double>(u.block_writes); }},
});

/// The built-in metric whose values may be bounds only (Usage::peak_rss_is_known).
inline constexpr std::string_view kPeakRss = "peak_rss";

}  // namespace lauka
