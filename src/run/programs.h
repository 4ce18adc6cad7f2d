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

/// Returns the program to launch for `command`. `user`: user who runs the program; nullopt: lauka's
/// own user.
os::ProgramSpec make_program(const Plan& plan, const Command& command,
                             const std::optional<User>& user);

/// Returns the index of the first command whose program has no file, unless a hook may make it
/// later; nullopt if there is none, or if a shell runs the commands.
std::optional<std::size_t> find_command_without_program(const Plan& plan,
                                                        const std::optional<User>& user);

/// What programs are made from and registered with; the references must outlive the programs.
struct ProgramSources {
  const Plan& plan;
  os::Launcher& launcher;
  const std::optional<User>& user;
  /// One element per pass, filled before Programs::prepare().
  const std::vector<std::unique_ptr<engine::ArmedPass>>& armed;
  bool has_metric_files = false;  ///< true if programs may get LAUKA_METRICS
};

/// The programs of a session: each command without a simulator, and in each simulated pass.
class Programs {
 public:
  explicit Programs(const ProgramSources& sources)
      : plan_(sources.plan),
        launcher_(sources.launcher),
        user_(sources.user),
        armed_(sources.armed),
        has_metric_files_(sources.has_metric_files) {}

  /// Registers the programs that exist. Refuses a missing program if its command has no setup or
  /// prepare hook, which could make the program.
  Result<void> prepare();

  /// Returns the program of a run. `writes_metrics`: true if counting and simulated runs also get
  /// LAUKA_METRICS.
  Result<os::ProgramId> program_of_run(const Step& step, bool writes_metrics);

 private:
  /// Returns the program of a command in a layout. `simulated_by`: pass whose simulator runs it;
  /// nullopt: no simulator.
  Result<os::ProgramId> find_or_register(std::optional<std::size_t> simulated_by,
                                         bool writes_metrics, std::size_t command,
                                         std::uint32_t layout);

  Error advise_on_missing_program(Error error, std::size_t command) const;

  const Plan& plan_;
  os::Launcher& launcher_;
  const std::optional<User>& user_;
  const std::vector<std::unique_ptr<engine::ArmedPass>>& armed_;
  bool has_metric_files_;
  std::map<std::tuple<std::optional<std::size_t>, bool, std::size_t, std::uint32_t>, os::ProgramId>
      known_;
};

/// The shell that runs hooks and builds.
inline constexpr const char* kSystemShell = "/bin/sh";

/// Returns an error if `shell` cannot be executed, as in a container without programs. `option`:
/// the option whose value the shell would run, such as "--prepare".
Result<void> check_shell(std::string_view option, const std::string& shell = kSystemShell);

/// Runs the hooks of a plan with /bin/sh -c, in the folder and environment of their command.
class HookRunner {
 public:
  HookRunner(const Plan& plan, os::Launcher& launcher) : plan_(plan), launcher_(launcher) {}

  Result<void> register_hooks(const std::optional<User>& user);

  bool has_hooks_between_runs() const { return has_hooks_between_runs_; }

  /// Runs a command's hooks of a moment in the layout of `step` (nullopt: in all layouts). Returns
  /// the first failure; nullopt if no hook failed. Setup and prepare hooks stop after a failure;
  /// conclude and cleanup hooks go on.
  std::optional<HookFailed> run(Moment moment, std::uint32_t command,
                                const std::optional<Step>& step = std::nullopt);

  /// Runs the setups of `count` commands from `first` on. Stops at the first failure, and returns
  /// the failure; nullopt if no setup failed. Cleanups become due for the commands that were
  /// reached.
  std::optional<HookFailed> set_up(std::uint32_t first, std::uint32_t count);

  /// Runs the cleanups that are due for `count` commands from `first` on. Returns the first failure
  /// of each command.
  std::vector<HookFailed> clean_up(std::uint32_t first, std::uint32_t count);

  /// Returns the time that prepare and conclude hooks took since the previous call.
  std::chrono::nanoseconds take_time() { return std::exchange(time_, {}); }

 private:
  Result<void> add_programs(std::size_t index, std::uint32_t layout,
                            const std::optional<User>& user);
  using Programs = ByHook<std::optional<os::ProgramId>>;

  Result<os::Ended> launch_hook(os::ProgramId hook, const HookRow& row,
                                const std::optional<Step>& step);
  std::optional<HookFailed> run(const HookRow& row, std::uint32_t command, std::uint32_t layout,
                                const std::optional<Step>& step);

  const Plan& plan_;
  os::Launcher& launcher_;
  std::vector<Programs> programs_;  // by command, then by layout
  std::vector<bool> to_clean_up_;
  bool has_hooks_between_runs_ = false;
  std::chrono::nanoseconds time_{};
};

/// Measures how long the plan's shell takes to start for each command: the median of wall times,
/// and the means of CPU times. Returns an empty list without a shell, or if the user interrupts.
Result<std::vector<ShellOverhead>> measure_shell(const Plan& plan, os::Launcher& launcher,
                                                 const std::optional<User>& user,
                                                 const std::function<int()>& interrupt);

/// Measures the median wall time of the program `true`, in seconds; nullopt if it could not be
/// measured.
std::optional<double> measure_process_start(const Plan& plan, os::Launcher& launcher,
                                            const std::optional<User>& user,
                                            const std::function<int()>& interrupt);

/// Subtracts `overhead` from the times in `usage`, down to 0. Returns true if wall time or CPU time
/// would have become negative.
bool subtract(const ShellOverhead& overhead, Usage& usage);

}  // namespace lauka
