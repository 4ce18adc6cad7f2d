#pragma once

#include "core/event.h"
#include "engine/perf/source.h"
#include "engine/perf/sysfs.h"

namespace lauka::engine::perf {

/// What can be counted here: events with an alias, generic ones, cache events, events of the PMUs,
/// software events. Each was opened and closed.
Catalog catalog_of(const Sysfs& sysfs, const Prober& prober);

}  // namespace lauka::engine::perf
