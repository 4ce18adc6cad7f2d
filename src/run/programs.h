#pragma once

#include "core/command.h"
#include "core/record.h"
#include "engine/engine.h"
#include "os/process.h"
#include "plan/plan.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace lauka {

/// Returns the program to launch for `command`, as `user`.
os::ProgramSpec make_program(const Plan& plan, const Command& command,
                             const std::optional<User>& user);

/// The programs of a session: each command as timed, and as each simulated pass runs it.
class Programs {
 public:
  /// `armed`: one for each pass; all of them outlive this.
  /// `has_metric_files`: launches give LAUKA_METRICS a value.
  Programs(const Plan& plan, os::Launcher& launcher, const std::optional<User>& user,
           const std::vector<std::unique_ptr<engine::Counting>>& armed, bool has_metric_files)
      : plan_(plan),
        launcher_(launcher),
        user_(user),
        armed_(armed),
        has_metric_files_(has_metric_files) {}

  /// Registers the present ones. Refused if one is missing, unless the command has a setup or a
  /// prepare, which may make it.
  Result<void> prepare();

  /// Returns the program of a run; looks for it now if it was missing before. `writes_metrics`:
  /// runs write to LAUKA_METRICS.
  Result<os::ProgramId> program(const Step& step, bool writes_metrics);

 private:
  /// `simulated_by` is a pass. LAUKA_METRICS takes instructions in any program that reads its
  /// environment, so counting runs get it only if it is used, as the program would behave
  /// differently without it.
  Result<os::ProgramId> find(std::optional<std::size_t> simulated_by, bool writes_metrics,
                             std::size_t command);

  const Plan& plan_;
  os::Launcher& launcher_;
  const std::optional<User>& user_;
  const std::vector<std::unique_ptr<engine::Counting>>& armed_;
  bool has_metric_files_;
  /// The programs that exist, by the arguments of `find`.
  std::map<std::tuple<std::optional<std::size_t>, bool, std::size_t>, os::ProgramId> known_;
};

/// Runs the hooks of a plan: through /bin/sh -c, without counters, with the variables and as the
/// user of their command. Their output is kept in case they fail, or goes to the destination of a
/// command's inherited output.
class HookRunner {
 public:
  HookRunner(const Plan& plan, os::Launcher& launcher) : plan_(plan), launcher_(launcher) {}

  /// Registers all of them.
  Result<void> prepare(const std::optional<User>& user);

  /// True if hooks run between the runs.
  bool run_between_runs() const { return between_runs_; }

  /// True if a command has a setup or a cleanup, and so cannot go on later.
  bool surround_commands() const { return around_commands_; }

  /// Runs the hooks of that moment; returns why one did not succeed. A hook before a run is killed
  /// when lauka is asked to end (Cancelled); one after a run is not, as it undoes something.
  std::optional<HookFailed> run(Moment moment, std::uint32_t command,
                                const std::optional<Step>& step = std::nullopt);

  /// The setups of `count` commands from `first` on; from then on their cleanups are due.
  std::optional<HookFailed> set_up(std::uint32_t first, std::uint32_t count);

  /// Runs the cleanups that are due, in the order of the commands; all of them, also after a
  /// failure.
  std::vector<HookFailed> clean_up(std::uint32_t first, std::uint32_t count);

  /// Time that prepares and concludes took since this was last asked.
  std::chrono::nanoseconds take_time();

 private:
  using Programs = ByHook<std::optional<os::ProgramId>>;

  std::optional<HookFailed> run(const HookRow& row, std::uint32_t command,
                                const std::optional<Step>& step);

  const Plan& plan_;
  os::Launcher& launcher_;
  std::vector<Programs> programs_;  // by command
  std::vector<bool> to_clean_up_;   // by command
  bool between_runs_ = false;
  bool around_commands_ = false;
  std::chrono::nanoseconds time_{};
};

/// Runs the plan's shell with an empty command, again and again under each command's own conditions
/// (output, variables, user), and returns the times, one for each command; empty without a shell
/// and when the user interrupts. Wall time is the median of the runs, since a single delayed one
/// would shift the mean; CPU times are means, since the kernel books a short run as all user or all
/// system. An error: the shell cannot be run.
Result<std::vector<ShellOverhead>> measure_shell(const Plan& plan, os::Launcher& launcher,
                                                 const std::optional<User>& user,
                                                 const std::function<int()>& interrupt);

/// Returns the median wall time, in seconds, of `true` run under the conditions of the plan's first
/// command: the start of a process. nullopt if it cannot be run, or the user interrupts.
std::optional<double> measure_start(const Plan& plan, os::Launcher& launcher,
                                    const std::optional<User>& user,
                                    const std::function<int()>& interrupt);

/// Subtracts `overhead` from the times in `usage`. Wall time and CPU time stop at 0; user time gets
/// as much of the remaining CPU time as it can, so that user and system still add up to it. True if
/// one of the two would have been below 0.
bool subtract(const ShellOverhead& overhead, Usage& usage);

}  // namespace lauka
