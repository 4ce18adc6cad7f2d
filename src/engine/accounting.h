#pragma once

#include "core/record.h"
#include "engine/engine.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace lauka::engine {

/// A count that the kernel keeps for every process, without counters and without permission.
using UsageCount = std::uint64_t (*)(const Usage&);

/// An event that can be served from the kernel's accounting of a run.
struct AccountedEvent {
  std::string_view name;
  std::string_view other_name;  ///< perf's short one; may be empty
  std::string_view meaning;
  UsageCount read;
};

/// All there are.
std::span<const AccountedEvent> accounted_events();

/// The one of that name (either of its names, in any case); null where there is none.
const AccountedEvent* find_accounted(std::string_view name);

/// The entry of --list-events.
CatalogEntry catalog_entry_of(const AccountedEvent& event);

/// A pass of these events, for runs without counters.
std::unique_ptr<Counting> count_accounted(std::vector<const AccountedEvent*> events);

}  // namespace lauka::engine
