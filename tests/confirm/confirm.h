#pragma once

#include "core/result.h"
#include "engine/kperf/kpep.h"
#include "os/darwin_calls.h"
#include "os/process.h"

#include <string>
#include <vector>

namespace lauka::confirm {

// Facts found on Linux that a Mac must confirm. scripts/confirm-on-mac runs it; lauka does not
// contain it.

/// The subject of a check, the expected value and the value found.
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

/// Counts fixtures with each strategy, places events on each counter, and checks that all is given
/// back. Refused without counters.
Result<std::vector<Row>> confirm(const Setting& setting);

/// The rows as Markdown.
std::string table(const std::vector<Row>& rows);

bool all_hold(const std::vector<Row>& rows);

/// Prints the machine's facts and the table. Gives the status of scripts/confirm-on-mac: 0 all
/// holds, 1 something does not, 2 it cannot be tried.
int run(const os::DarwinCalls& calls, Result<engine::kperf::KpepDatabase> database,
        const std::string& fixtures);

/// Says why it cannot be tried; gives 2.
int refuse(const Error& error);

/// Returns the leftovers of earlier tracing and counting; call it before anything is taken.
std::vector<std::string> left_by_others(const os::DarwinCalls& calls);

/// Returns facts that are unknown without a Mac, one "name: value" each: which events are refused,
/// how words come back, CPUs that are powered down, coprocessors, what counting adds to a run, how
/// often records are lost, and what every call answered. Takes the counters for itself.
std::vector<std::string> unknowns(const Setting& setting);

}  // namespace lauka::confirm
