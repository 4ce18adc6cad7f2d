#pragma once

#include "core/event.h"
#include "os/process.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine::kperf {

// Energy is counted by nothing but the kernel, for each process by itself.

/// Whether this is what the user calls it, in any case.
bool is_energy_name(std::string_view name);

CatalogEntry energy_entry();

/// Takes it out of `names`, in which it may stand several times. Whether it was there.
bool take_energy(std::vector<std::string>& names);

/// Adds it to every pass, to a new one where there is none.
void add_energy(EventSet& set);
void add_energy(Explanation& explanation);

/// In nanojoules; none where the kernel does not tell.
std::optional<std::uint64_t> energy_of(const os::Ended& ended);

}  // namespace lauka::engine::kperf
