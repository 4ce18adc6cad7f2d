#pragma once

#include "core/result.h"
#include "engine/kperf/kpep.h"
#include "engine/kperf/plist.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine::kperf {

/// The database in a property list. Refused where the file is not what Apple's framework takes (its
/// version, a mask that is no number, an alias without its event, ...); the error is a predicate of
/// the file.
Result<KpepDatabase> kpep_from(const PlistValue& root);

/// The database in the file at `path`. Errors name the file. `reader`: null where there is none.
Result<KpepDatabase> load_kpep(const std::string& path, PlistReader reader = plist_reader());

/// The name under which a processor's database is found ("cpu_100000c_2_1b588bb3"), of hw.cputype,
/// hw.cpusubtype and hw.cpufamily.
std::string cpu_name(std::uint32_t type, std::uint32_t subtype, std::uint32_t family);

/// Where a processor's database may be, the first that is there counts: the framework's order.
std::vector<std::string> kpep_paths(std::string_view cpu);

/// The database in the first of `paths` that is there. Refused, naming the processor, where none
/// is.
Result<KpepDatabase> load_kpep_of(std::string_view cpu, const std::vector<std::string>& paths,
                                  PlistReader reader = plist_reader());

}  // namespace lauka::engine::kperf
