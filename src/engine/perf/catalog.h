#pragma once

#include "core/event.h"
#include "engine/perf/source.h"
#include "engine/perf/sysfs.h"

#include <string>

namespace lauka::engine::perf {

/// The counters of an event: "cpu_atom, cpu_core", "software", "accounting".
std::string counters_in_words(const Source& source);

/// What can be counted here: events with an alias, generic ones, cache events, events of the PMUs,
/// software events. Each was opened and closed.
Catalog catalog_of(const Sysfs& sysfs, const Prober& prober);

}  // namespace lauka::engine::perf
