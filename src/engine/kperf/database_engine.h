#pragma once

#include "core/result.h"
#include "engine/engine.h"
#include "engine/kperf/kpep.h"

#include <memory>
#include <string>

namespace lauka::engine::kperf {

/// Answers for the processor of `database` what can be counted and where, on any system (--kpep);
/// it counts nothing.
std::unique_ptr<CounterEngine> make_database_engine(KpepDatabase database, bool user_only);

/// The same for the database in the file at `path`. Refused, naming it, where it cannot be read.
Result<std::unique_ptr<CounterEngine>> open_database_engine(const std::string& path,
                                                            bool user_only);

}  // namespace lauka::engine::kperf
