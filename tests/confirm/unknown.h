#pragma once

#include "confirm/confirm.h"

#include <string>
#include <vector>

namespace lauka::confirm {

/// What was left by those who traced and counted before, to be asked before anything is taken.
std::vector<std::string> left_by_others(const os::DarwinCalls& calls);

/// What nobody knows without a Mac, one "name: value" each: which events are refused, how words
/// come back, CPUs that are powered down, coprocessors, what counting adds to a run, how often
/// records are lost, and what every call answered. Takes the counters for itself.
std::vector<std::string> unknowns(const Setting& setting);

}  // namespace lauka::confirm
