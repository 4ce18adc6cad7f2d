#pragma once

#include "core/record.h"
#include "core/user.h"
#include "os/process.h"
#include "plan/plan.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

/// Runs the hooks of a plan: through /bin/sh -c, without counters, with the variables and as the
/// user of the command they belong to. Their output is kept for the case that they fail, or goes
/// where a command's goes that inherits lauka's.
class HookRunner {
 public:
  HookRunner(const Plan& plan, os::Launcher& launcher) : plan_(plan), launcher_(launcher) {}

  /// Registers all of them.
  Result<void> prepare(const std::optional<User>& user);

  /// Whether something is to be run between the runs.
  bool stand_between_runs() const { return between_runs_; }

  /// Whether a command has a setup or a cleanup, and so cannot go on later.
  bool stand_around_commands() const { return around_commands_; }

  /// Runs the hook of that kind, if there is one; why it did not succeed. A setup or a prepare is
  /// killed when lauka is asked to end (Cancelled); a conclude and a cleanup are not, as what they
  /// undo would stay.
  std::optional<HookFailed> run(HookKind kind, std::uint32_t command,
                                const std::optional<Step>& step = std::nullopt);

  /// The setups of `count` commands from `first` on; from then on their cleanups are due.
  std::optional<HookFailed> set_up(std::uint32_t first, std::uint32_t count);

  /// The cleanups that are due, in the order of the commands; all of them, also after a failure.
  std::vector<HookFailed> clean_up(std::uint32_t first, std::uint32_t count);

  /// Time that prepares and concludes took since this was last asked.
  std::chrono::nanoseconds take_time();

 private:
  using Programs = std::array<std::optional<os::ProgramId>, 4>;  // by kind

  Result<std::optional<os::ProgramId>> add(HookKind kind, const Command& command,
                                           const std::optional<User>& user);

  const Plan& plan_;
  os::Launcher& launcher_;
  std::vector<Programs> programs_;  // by command
  std::vector<bool> to_clean_up_;   // by command
  bool between_runs_ = false;
  bool around_commands_ = false;
  std::chrono::nanoseconds time_{};
};

/// What LAUKA_ITERATION says of a run: its number, from 0, among the command's counted runs; with
/// "warmup-" or "simulated-" before it, among those.
std::string iteration_of(const Step& step, const EventSet& events);

}  // namespace lauka
