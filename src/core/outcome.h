#pragma once

#include <chrono>
#include <variant>

namespace lauka {

struct Exited {
  int status = 0;  ///< 0..255
};

struct Signalled {
  int signal = 0;
  bool core_dumped = false;
};

/// Took longer than --timeout and was killed with all its descendants.
struct TimedOut {
  std::chrono::nanoseconds limit{};
  bool began = true;  ///< false: it waited for the other end of a named pipe all that time
  int survivor = 0;   ///< a process of it that could not be killed; 0: none
};

/// Stopped by job control instead of ending, and killed: it would have waited for ever.
struct Stopped {
  int signal = 0;    ///< SIGTTIN and SIGTTOU: it wants the terminal
  int survivor = 0;  ///< a process of it that could not be killed; 0: none
};

/// What the launcher was doing when a run could not be started.
enum class LaunchStep : unsigned char {
  Execute,
  OpenInput,
  OpenOutput,
  Fork,
  Prepare,
  BecomeUser,
  EnterFolder,
  Ask,  ///< the launcher could not be asked
};

struct NotStarted {
  LaunchStep step = LaunchStep::Execute;
  int error = 0;  ///< errno
};

/// Killed because the user interrupted lauka; such a run is never counted.
struct Cancelled {};

/// How one run ended.
using Outcome = std::variant<Exited, Signalled, TimedOut, Stopped, NotStarted, Cancelled>;

/// Whether the run ended by itself with exit status 0.
inline bool succeeded(const Outcome& outcome) {
  const auto* exited = std::get_if<Exited>(&outcome);
  return exited != nullptr && exited->status == 0;
}

/// Whether -i may go on after it: not after a run that never began or would never end, nor beside
/// one that could not be killed.
inline bool can_be_ignored(const Outcome& outcome) {
  const auto* timed_out = std::get_if<TimedOut>(&outcome);
  return std::holds_alternative<Exited>(outcome) || std::holds_alternative<Signalled>(outcome) ||
         (timed_out != nullptr && timed_out->survivor == 0);
}

}  // namespace lauka
