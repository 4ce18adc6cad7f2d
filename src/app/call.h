#pragma once

#include "cli/options.h"
#include "core/choices.h"
#include "core/record.h"
#include "core/result.h"
#include "cores/cores.h"
#include "engine/engine.h"
#include "gate/verdict.h"
#include "os/files.h"
#include "os/process.h"
#include "os/setting_files.h"
#include "plan/plan.h"
#include "run/kept_rounds.h"
#include "run/runner.h"
#include "session/recording.h"
#include "tune/tune.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The steps of main. Each step continues from the call as earlier steps left it.

namespace lauka {

/// A benchmark that is measured or was saved. A plain call has one, without a name; a suite has
/// several.
struct Benchmark {
  std::string name{};
  Options options{};
  cores::CoreDecision cores{};
  engine::ChosenEngine chosen{};       ///< engine of the benchmark
  os::MemoryGroups* groups = nullptr;  ///< Call::groups; null if tree_peak_memory is not measured
  Plan plan{};
  std::vector<Recording> saved{};  ///< sessions of --from; empty if the benchmark is measured
  SessionResult measured{};  ///< runs and findings; of joined sessions, the findings of the first
};

/// The log of a suite's finished rounds for --resume, which is kept next to its JSON export.
struct RoundLog {
  std::string file{};
  std::unique_ptr<os::AppendLog> lines{};
  Seals seals{};                       ///< seals of the log's lines
  std::vector<RoundKeeper> keepers{};  ///< one for each benchmark
  std::uint64_t earlier_rounds = 0;    ///< number of rounds that an earlier process finished
};

/// A running git that is asked for commit and branch.
struct GitQuestion {
  std::string repository{};  ///< path; empty if a variable names the repository
  std::unique_ptr<os::ProgramAside> program{};
};

/// One call of lauka. The order of members matters: each outlives those below it.
struct Call {
  Options options;  ///< options as typed; in a suite, shared by all benchmarks
  std::unique_ptr<os::Launcher> launcher{};
  std::unique_ptr<os::SettingFiles>
      settings{};  ///< null until --tune, control groups or settings of a killed lauka need it
  tune::CpuChoice tune_cpus{};     ///< CPUs that --tune chose; empty without --tune
  std::optional<Tuning> tuning{};  ///< tuning in force, now or in the saved session; nullopt: none
  std::unique_ptr<tune::Tuned> tuned{};        ///< set while the machine is tuned; else null
  std::optional<User> user{};                  ///< user who runs the commands; nullopt: lauka's own
  std::unique_ptr<os::MemoryGroups> groups{};  ///< null unless tree_peak_memory is measured
  std::optional<GitQuestion> git{};            ///< nullopt if git is not asked, or has answered
  std::vector<Label> labels{};                 ///< labels of the session; git's come last
  std::optional<Allowance>
      allowance{};  ///< limits on CPUs and memory before --tune; nullopt: unknown or not needed
  std::optional<Throttling> throttling{};  ///< waiting for the CPU quota during the session;
                                           ///< nullopt: no quota, or not needed
  std::string suite_text{};             ///< contents of the suite's file
  bool was_watched = false;             ///< true if a saved session's own gates may have ended it
  std::vector<Benchmark> benchmarks{};  ///< at least one after add_benchmarks
  gate::Risk risk = gate::Risk::Any;    ///< error rate that all gates of the call share
  std::vector<os::OpenExport> exports{};
  TimeOfDay began{};
  std::optional<RoundLog> log{};  ///< nullopt if rounds are not kept

  bool is_saved() const { return !options.from.empty(); }
  bool is_suite() const { return !benchmarks.empty() && !benchmarks.front().name.empty(); }
};

/// Answers the inquiry of the options. Returns the exit status.
int answer(Call& call);

/// Adds the benchmarks, or reads saved ones. Returns an exit status if the call must end, else
/// nullopt.
std::optional<int> add_benchmarks(Call& call);

/// Decides everything before the first run: plans, baselines, gates, exports. Returns an exit
/// status if the call must end, else nullopt.
std::optional<int> prepare(Call& call);

/// Measures all benchmarks, and keeps their runs even if they are cut short. Returns an exit status
/// if the call must end, else nullopt.
std::optional<int> measure(Call& call);

/// Shows and exports the results. Returns the exit status.
int deliver(Call& call);

// Parts of the steps above.

Result<void> start_launcher(Call& call);
Result<void> find_user(Call& call);
Result<void> decide_cores(Benchmark& benchmark);
Result<void> choose_engine(const Call& call, Benchmark& benchmark);

/// Reads the suite of --suite and adds its benchmarks; a shard may be empty.
Result<void> add_suite(Call& call);

// --tune (app/tune.cc).

/// Restores the settings of a killed lauka; called by its launcher process at the end.
void restore_after_lauka(int lauka);

/// Restores the settings of a killed lauka, or reports which user can.
void restore_leftovers(Call& call);

/// Answers --untune. Returns the exit status.
int untune(Call& call);
/// Answers --tune=list. Returns the exit status.
int list_tuning(Call& call);

/// Returns the names of --tune's switches that would help on this machine; a "+" marks those that
/// must be named.
std::vector<std::string> tunable_settings();

/// Chooses CPUs for the commands.
Result<void> choose_tuning(Call& call);
/// Makes a benchmark's commands use these CPUs.
void use_tuned_cpus(const Call& call, Benchmark& benchmark);

/// Tunes the machine.
Result<void> begin_tuning(Call& call);
/// Restores the machine.
void end_tuning(Call& call);

/// Returns RunContext::machine; null if nothing is tuned. `call` must outlive it.
std::unique_ptr<TunedMachine> tuned_machine(Call& call);

/// Compares tuned runs with untuned runs, and prints the result.
void compare_tuning(Call& call);

/// Returns `error` with the name of its benchmark.
Error named(const Error& error, const Benchmark& benchmark);

/// Prints the error of `made`, if it has one. Returns the exit status: `if_refused`, or a signal's
/// status if the user interrupted. nullopt if there is no error.
std::optional<int> ended(const Result<void>& made, ExitStatus if_refused = ExitStatus::Usage);

/// Waits until git has told commit and branch. Returns their labels; empty if git was not asked, or
/// knows neither.
std::vector<Label> find_head(Call& call);

/// Adds git's labels after the runs, because in a large tree git takes long to find changed files.
void find_labels(Call& call, std::vector<Label> head);

/// True if an export or a baseline needs a description of the machine.
bool needs_machine(const Call& call);

/// True if an export describes its session.
bool describes_session(const OutputOptions& options);

/// Reads a file ("-" is standard input) with the rights of the user. `what` names the file in
/// errors.
Result<std::string> read_text(const Call& call, const std::string& file, std::string_view what,
                              std::size_t most_bytes);

/// Prints `text` on standard output. Returns the exit status.
int show(const std::string& text);

/// Prints `error` on standard error and returns `status`.
int refuse(const Error& error, ExitStatus status);

/// Prints `notes` on standard error, unless --quiet is set.
void say_notes(const OutputOptions& options, const std::vector<std::string>& notes);

/// Prints `text` on standard error; ignores failures.
void say_on_error(const std::string& text);

/// Runs the builds of --build, reports them to `shown`, and checks that layouts differ. Returns an
/// exit status if the call must end, else nullopt.
std::optional<int> build_layouts(Call& call, Observer& shown);

/// Returns the stream for tables: standard error if an export uses standard output, else standard
/// output.
os::Stream shown_on(const OutputOptions& options);

/// Removes the log if everything was exported (`is_exported`); else keeps it.
void end_log(Call& call, bool is_exported);

}  // namespace lauka
