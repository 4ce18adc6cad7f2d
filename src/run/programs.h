#pragma once

#include "core/record.h"
#include "core/user.h"
#include "engine/engine.h"
#include "os/process.h"
#include "plan/plan.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka {

/// What the launcher is to run for `command`, as `user`.
os::ProgramSpec program_of(const Plan& plan, const Command& command,
                           const std::optional<User>& user);

/// The programs of a session: each command as it is timed, and as each simulated pass has it run.
class Programs {
 public:
  /// `armed`: one for each pass; all of them outlive this.
  /// `tell_by_file`: each launch gives LAUKA_METRICS a value, also where what is told is not asked
  /// for: else a program would go another way when it is counted.
  Programs(const Plan& plan, os::Launcher& launcher, const std::optional<User>& user,
           const std::vector<std::unique_ptr<engine::Counting>>& armed, bool tell_by_file)
      : plan_(plan), launcher_(launcher), user_(user), armed_(armed), tell_by_file_(tell_by_file) {}

  /// Registers those that are there. Refused where one is not, unless the command has a setup or a
  /// prepare, which may be what makes it.
  Result<void> prepare();

  /// The program of a run; looked for now where it was not there before.
  Result<os::ProgramId> of(const Step& step);

 private:
  using Row = std::vector<std::optional<os::ProgramId>>;  // by command; none: not there yet

  /// Whether a pass has programs of its own.
  bool is_simulated(std::size_t pass) const {
    return plan_.events.kind_of(pass) == RoundKind::Simulated;
  }
  Result<os::ProgramId> find(std::size_t row, std::size_t command);

  const Plan& plan_;
  os::Launcher& launcher_;
  const std::optional<User>& user_;
  const std::vector<std::unique_ptr<engine::Counting>>& armed_;
  bool tell_by_file_;
  std::vector<Row> rows_;  // the timed ones, then one row for each pass
};

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
  using Programs = std::array<std::optional<os::ProgramId>, kHookKinds.size()>;  // by kind

  Result<std::optional<os::ProgramId>> add(const HookRow& row, const Command& command,
                                           const std::optional<User>& user);

  const Plan& plan_;
  os::Launcher& launcher_;
  std::vector<Programs> programs_;  // by command
  std::vector<bool> to_clean_up_;   // by command
  bool between_runs_ = false;
  bool around_commands_ = false;
  std::chrono::nanoseconds time_{};
};

/// What LAUKA_ITERATION says of a run: its number, from 0, among the command's timed runs; with
/// "warmup-", "counting-", "simulated-" or "settling-" before it, among those.
std::string iteration_of(const Step& step);

/// Runs the plan's shell with an empty command, again and again under each command's own conditions
/// (output, variables, user), and gives what that takes, one for each command; empty without a
/// shell and when the user interrupts. Wall time is the median of the runs, since a single one that
/// was held up would shift the mean; CPU times are means, since the kernel books those of a short
/// run as all user or all system. An error: the shell cannot be run.
Result<std::vector<ShellOverhead>> measure_shell(const Plan& plan, os::Launcher& launcher,
                                                 const std::optional<User>& user,
                                                 const std::function<int()>& interrupt);

/// Takes `overhead` out of the times in `usage`. Wall time and CPU time stop at 0; of the CPU time
/// that is left, as much as fits is user time, so that user and system still add up to it. Whether
/// one of the two would have been below 0.
bool subtract(const ShellOverhead& overhead, Usage& usage);

}  // namespace lauka
