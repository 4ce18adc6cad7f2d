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

/// Returns the program to launch for `command`, as `user` (nullopt: lauka's own user).
os::ProgramSpec make_program(const Plan& plan, const Command& command,
                             const std::optional<User>& user);

/// The programs of a session: each command as it is, and as each simulated pass runs it.
class Programs {
 public:
  /// `armed` has one element per pass from prepare() on. `has_metric_files`: launches set
  /// LAUKA_METRICS. All references must outlive this object.
  Programs(const Plan& plan, os::Launcher& launcher, const std::optional<User>& user,
           const std::vector<std::unique_ptr<engine::ArmedPass>>& armed, bool has_metric_files)
      : plan_(plan),
        launcher_(launcher),
        user_(user),
        armed_(armed),
        has_metric_files_(has_metric_files) {}

  /// Registers the programs that exist. Refuses a missing program, unless a setup or prepare hook
  /// may make it.
  Result<void> prepare();

  /// Returns the program of a run; finds it now if it was missing before. `writes_metrics`:
  /// LAUKA_METRICS is set in counting runs, too.
  Result<os::ProgramId> program(const Step& step, bool writes_metrics);

 private:
  /// Finds a program. `simulated_by` is the index of a simulated pass; nullopt: not simulated.
  /// Counting runs set LAUKA_METRICS only if it is used, because it costs instructions in any
  /// program that reads its environment.
  Result<os::ProgramId> find(std::optional<std::size_t> simulated_by, bool writes_metrics,
                             std::size_t command, std::uint32_t layout);

  /// Returns the error about a command that cannot run, with a suggestion of what the user meant.
  Error missing(Error error, std::size_t command) const;

  const Plan& plan_;
  os::Launcher& launcher_;
  const std::optional<User>& user_;
  const std::vector<std::unique_ptr<engine::ArmedPass>>& armed_;
  bool has_metric_files_;
  /// Programs that exist, by the arguments of `find`.
  std::map<std::tuple<std::optional<std::size_t>, bool, std::size_t, std::uint32_t>, os::ProgramId>
      known_;
};

/// Runs the hooks of a plan with /bin/sh -c, as their command's user and with its variables. Hooks
/// inherit lauka's output if their command does; otherwise their output is kept and shown if they
/// fail.
class HookRunner {
 public:
  HookRunner(const Plan& plan, os::Launcher& launcher) : plan_(plan), launcher_(launcher) {}

  Result<void> register_hooks(const std::optional<User>& user);

  /// True if a hook runs before or after each run.
  bool run_between_runs() const { return between_runs_; }

  /// True if a command has a setup or cleanup, so that its runs cannot be continued later.
  bool surround_commands() const { return around_commands_; }

  /// Runs the hooks of a moment, for each layout if there is no step. Stops at the first failure,
  /// and returns it; else nullopt. If lauka is asked to end, hooks that undo something are not
  /// killed.
  std::optional<HookFailed> run(Moment moment, std::uint32_t command,
                                const std::optional<Step>& step = std::nullopt);

  /// Runs the setups of `count` commands from `first` on, up to a failure, which it returns; else
  /// nullopt. The cleanup of each command whose setup began is then due, even without a setup.
  std::optional<HookFailed> set_up(std::uint32_t first, std::uint32_t count);

  /// Runs the cleanups that are due, even if one fails; returns their failures.
  std::vector<HookFailed> clean_up(std::uint32_t first, std::uint32_t count);

  /// Returns the time that prepare and conclude hooks took since the previous call.
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
  std::vector<bool> to_clean_up_;   // by command: true if its cleanup is due
  bool between_runs_ = false;
  bool around_commands_ = false;
  std::chrono::nanoseconds time_{};
};

/// Measures the start of the plan's shell with an empty command, under the conditions of each
/// command (output, variables, user). Empty without a shell, and if the user interrupts. Wall time
/// is the median of many runs, because a single delayed run would shift the mean. CPU times are
/// means, because the kernel books a short run entirely as user time or system time.
Result<std::vector<ShellOverhead>> measure_shell(const Plan& plan, os::Launcher& launcher,
                                                 const std::optional<User>& user,
                                                 const std::function<int()>& interrupt);

/// Returns the median wall time in seconds of `true`, under the conditions of the plan's first
/// command except its output; nullopt if it cannot run, or the user interrupts.
std::optional<double> measure_start(const Plan& plan, os::Launcher& launcher,
                                    const std::optional<User>& user,
                                    const std::function<int()>& interrupt);

/// Subtracts `overhead` from the times in `usage`, down to 0. User time gets as much of the
/// remaining CPU time as possible, so that user and system time still add up to it. Returns true if
/// wall or CPU time would have been negative.
bool subtract(const ShellOverhead& overhead, Usage& usage);

/// The means to read the files of programs.
struct ProgramReader {
  const std::optional<User>& user;
  const std::function<int()>& interrupt;  ///< RunContext::interrupt
};

/// Sets the fingerprints of the programs of `count` commands from `first` on, in `programs`, which
/// then has one per command of the plan. A fingerprint is empty with a shell (whose file is not the
/// program), if the file cannot be read, or if the user interrupts.
void identify(const Plan& plan, const ProgramReader& reader, std::size_t first, std::size_t count,
              std::vector<Fingerprint>& programs);

/// Returns the fingerprints of references and of candidates that are the same program; empty if
/// there is no such candidate, and with --layouts. With a baseline, returns the fingerprints of
/// candidates that may be its program. Programs with different calls, or with files that differ in
/// a byte, are not the same; files are read only up to the first difference. With a shell and no
/// baseline, the file is the shell, and the command is an argument.
std::vector<Fingerprint> identify_equal(const Plan& plan, const ProgramReader& reader);

}  // namespace lauka
