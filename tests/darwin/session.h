#pragma once

#include "darwin/kperf_bench.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka::darwin {

/// A whole session at random: a machine, what other programs do on it, what goes wrong, what is
/// counted and what the commands do. Same seed, same session.
struct Session {
  std::string told{};  ///< for people: what is in it
  Setup setup{};
  CallRules rules{};
  StrategyChoice strategy = StrategyChoice::Auto;
  std::vector<std::string> events{};
  std::vector<std::string> programs{};  ///< p0, p1, ...: what commands spawn and become
  std::vector<std::string> commands{};
};
Session session_of(std::uint64_t seed);

/// Plays it: what is wrong with the values and what is left, one line each. Values that are absent
/// for a reason are right.
std::string faults_of(const Session& session);

/// The same in a process of its own, as an interruption is for the whole process; one that does not
/// end is a fault.
std::string faults_in_child(const Session& session);

}  // namespace lauka::darwin
