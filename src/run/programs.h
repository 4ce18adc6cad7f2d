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
#include <utility>
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
           const std::vector<std::unique_ptr<engine::ArmedPass>>& armed, bool has_metric_files)
      : plan_(plan),
        launcher_(launcher),
        user_(user),
        armed_(armed),
        has_metric_files_(has_metric_files) {}

  /// Registers the present ones. Refuses a missing one, unless a setup or a prepare may make it.
  Result<void> prepare();

  /// Returns the program of a run; finds it now if it was missing. `writes_metrics`: runs write to
  /// LAUKA_METRICS.
  Result<os::ProgramId> program(const Step& step, bool writes_metrics);

 private:
  /// `simulated_by` is a pass. LAUKA_METRICS costs instructions in any program that reads its
  /// environment, so counting runs get it only if it is used.
  Result<os::ProgramId> find(std::optional<std::size_t> simulated_by, bool writes_metrics,
                             std::size_t command, std::uint32_t layout);

  /// Returns the error about a command that cannot be run, with what was most likely meant.
  Error missing(Error error, std::size_t command) const;

  const Plan& plan_;
  os::Launcher& launcher_;
  const std::optional<User>& user_;
  const std::vector<std::unique_ptr<engine::ArmedPass>>& armed_;
  bool has_metric_files_;
  /// The programs that exist, by the arguments of `find`.
  std::map<std::tuple<std::optional<std::size_t>, bool, std::size_t, std::uint32_t>, os::ProgramId>
      known_;
};

/// Runs the hooks of a plan: through /bin/sh -c, with the variables and as the user of their
/// command. Their output is inherited if the command's is, else kept in case they fail.
class HookRunner {
 public:
  HookRunner(const Plan& plan, os::Launcher& launcher) : plan_(plan), launcher_(launcher) {}

  /// Registers the programs of all hooks with the launcher.
  Result<void> register_hooks(const std::optional<User>& user);

  /// True if hooks run between the runs.
  bool run_between_runs() const { return between_runs_; }

  /// True if a command has a setup or a cleanup, and so cannot go on later.
  bool surround_commands() const { return around_commands_; }

  /// Runs the hooks of that moment; returns why one failed. One that undoes something is not killed
  /// when lauka is asked to end.
  std::optional<HookFailed> run(Moment moment, std::uint32_t command,
                                const std::optional<Step>& step = std::nullopt);

  /// The setups of `count` commands from `first` on; from then on their cleanups are due.
  std::optional<HookFailed> set_up(std::uint32_t first, std::uint32_t count);

  /// Runs the cleanups that are due, also after a failure.
  std::vector<HookFailed> clean_up(std::uint32_t first, std::uint32_t count);

  /// Time that prepares and concludes took since this was last asked.
  std::chrono::nanoseconds take_time() { return std::exchange(time_, {}); }

 private:
  /// Registers the hooks of one layout of a command.
  Result<void> add_programs(std::size_t index, std::uint32_t layout,
                            const std::optional<User>& user);
  using Programs = ByHook<std::optional<os::ProgramId>>;

  std::optional<HookFailed> run(const HookRow& row, std::uint32_t command, std::uint32_t layout,
                                const std::optional<Step>& step);

  const Plan& plan_;
  os::Launcher& launcher_;
  std::vector<Programs> programs_;  // by command, then by layout
  std::vector<bool> to_clean_up_;   // by command
  bool between_runs_ = false;
  bool around_commands_ = false;
  std::chrono::nanoseconds time_{};
};

/// Measures the plan's shell with an empty command under each command's own conditions (output,
/// variables, user); empty without a shell and when the user interrupts. Wall time is the median of
/// many runs, since a single delayed one would shift the mean; CPU times are means, since the
/// kernel books a short run as all user or all system.
Result<std::vector<ShellOverhead>> measure_shell(const Plan& plan, os::Launcher& launcher,
                                                 const std::optional<User>& user,
                                                 const std::function<int()>& interrupt);

/// Returns the median wall time, in seconds, of `true` under the conditions of the plan's first
/// command; nullopt if it cannot be run, or the user interrupts.
std::optional<double> measure_start(const Plan& plan, os::Launcher& launcher,
                                    const std::optional<User>& user,
                                    const std::function<int()>& interrupt);

/// Subtracts `overhead` from the times in `usage`, down to 0. User time gets as much of the
/// remaining CPU time as it can, so that user and system time still add up to it. True if wall or
/// CPU time would have been below 0.
bool subtract(const ShellOverhead& overhead, Usage& usage);

/// How files of programs are read.
struct ProgramReader {
  const std::optional<User>& user;
  const std::function<int()>& interrupt;  ///< RunContext's
};

/// Sets the fingerprints of the programs of `count` commands from `first` on in `programs`, one per
/// command of the plan. Empty with a shell, whose file is not the program, if the file cannot be
/// read, or if the user interrupts.
void identify(const Plan& plan, const ProgramReader& reader, std::size_t first, std::size_t count,
              std::vector<Fingerprint>& programs);

/// Returns the fingerprints of the candidates that are their reference's program, and of that one;
/// empty if no candidate is. With a baseline: of those that may be its program. A call that differs
/// is no such program, nor is a file, from its first byte that differs on: only equal files are
/// read whole. With a shell that is the file, and the command an argument.
std::vector<Fingerprint> identify_equal(const Plan& plan, const ProgramReader& reader);

}  // namespace lauka
