#pragma once

#include "core/result.h"
#include "engine/kperf/kpep.h"
#include "os/darwin_calls.h"
#include "os/process.h"

#include <string>
#include <vector>

// What a Mac is to confirm of what was found out about it on Linux. scripts/confirm-on-mac runs it;
// nothing of it is in lauka.

namespace lauka::confirm {

/// What was looked at, what it should be and what it is.
struct Row {
  std::string check;
  std::string strategy;
  std::string expected;
  std::string seen;
  bool holds = true;
};

struct Setting {
  const os::DarwinCalls& calls;
  os::Launcher& launcher;
  engine::kperf::KpepDatabase database;
  std::string fixtures;        ///< the folder of the fixtures
  unsigned runs = 3;           ///< of each fixture under each strategy
  unsigned short_runs = 1000;  ///< in which records may be lost
};

/// The machine, one "name: value" each.
std::vector<std::string> facts(const Setting& setting);

/// Counts fixtures with each strategy, places events on each counter, and looks whether all is
/// given back. Refused where the counters cannot be had.
Result<std::vector<Row>> confirm(const Setting& setting);

/// The rows as Markdown.
std::string table(const std::vector<Row>& rows);

bool all_hold(const std::vector<Row>& rows);

}  // namespace lauka::confirm
