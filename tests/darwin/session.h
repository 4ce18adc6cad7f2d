#pragma once

#include "darwin/kperf_bench.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lauka::darwin {

/// A random session: a machine, other programs on it, faults, events, and the commands' work. Same
/// seed, same session.
struct Session {
  std::string reported{};  ///< a description for people
  Setup setup{};
  CallRules rules{};
  KperfStrategyChoice strategy = KperfStrategyChoice::Auto;
  std::vector<std::string> events{};
  std::vector<std::string> programs{};  ///< p0, p1, ...: the commands' children and successors
  std::vector<std::string> commands{};
};
Session session_of(std::uint64_t seed);

/// Plays it and returns wrong values and leftovers, one line each. Values that are absent for a
/// reason are right.
std::string faults_of(const Session& session);

/// The same in a process of its own, as an interruption affects the whole process; one that does
/// not end is a fault.
std::string faults_in_child(const Session& session);

}  // namespace lauka::darwin
