#pragma once

#include "engine/kperf/counters.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine::kperf {

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
};

/// What Apple's kpep file of a chip says about its counters.
struct KpepDatabase {
  std::string name;            ///< "a14"
  std::string marketing_name;  ///< "Apple M1"; may be empty
  std::string architecture;    ///< "arm64"
  CounterMask fixed_counters = 0;
  CounterMask config_counters = 0;
  CounterMask power_counters = 0;  ///< held by the power manager until all counters are forced
  std::vector<KpepEvent> events;   ///< fixed ones first, then by number, then by name
};

/// The event of that name or of that alias of the database, in any case, aliases first, as the
/// framework looks; null where there is none.
const KpepEvent* find_event(const KpepDatabase& database, std::string_view name);

}  // namespace lauka::engine::kperf
