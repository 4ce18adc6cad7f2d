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

/// A benchmark that is measured or was saved. A plain call has one, without a name; those of a
/// suite have names.
struct Benchmark {
  std::string name{};
  Options options{};
  cores::CoreDecision cores{};
  engine::ChosenEngine chosen{};       ///< engine of the benchmark; null if it was saved
  os::MemoryGroups* groups = nullptr;  ///< Call::groups; null if tree_peak_memory is not measured
  Plan plan{};
  std::vector<Recording> saved{};  ///< sessions of --from; else empty
  SessionResult
      measured{};  ///< runs and findings; if saved, only the findings of its first session
};

/// The log of a suite's finished rounds for --resume, which is kept next to its JSON export.
struct RoundLog {
  std::string file{};
  std::unique_ptr<os::AppendLog> lines{};
  Seals seals{};  ///< checksums of the log's lines, so that changes to them are noticed
  std::vector<RoundKeeper> keepers{};  ///< one for each benchmark
  std::uint64_t earlier_rounds =
      0;  ///< number of rounds that an earlier process finished, without warm-up and settling ones
};

/// A running git that is asked for commit and branch.
struct GitQuestion {
  std::string repository{};  ///< path; empty if a variable names the repository
  std::unique_ptr<os::ProgramAside> program{};
};

/// One call of lauka. The order of members matters: each outlives those below it.
struct Call {
  Options options;  ///< options as typed; after add_suite, those that all benchmarks share
  std::unique_ptr<os::Launcher> launcher{};
  std::unique_ptr<os::SettingFiles>
      settings{};  ///< null until --tune, --untune, control groups or settings of a killed lauka
                   ///< need it, and on macOS
  tune::CpuChoice tune_cpus{};     ///< CPUs that --tune chose; empty if missing
  std::optional<Tuning> tuning{};  ///< tuning of this session, from begin_tuning on; nullopt if
                                   ///< missing, without --tune, or on macOS
  std::unique_ptr<tune::Tuned> tuned{};  ///< set while --tune, with root's rights, has the machine
                                         ///< tuned or paused; else null
  std::optional<User> user{};            ///< user who runs the commands; nullopt: lauka's own
  std::unique_ptr<os::MemoryGroups> groups{};  ///< null unless tree_peak_memory is measured
  std::optional<GitQuestion> git{};            ///< nullopt if git is not asked, or was waited for
  std::vector<Label> labels{};  ///< labels of the session, by key; git's are added after the runs
  std::optional<Allowance>
      allowance{};  ///< limits on CPUs and memory before --tune; nullopt: unknown or not needed
  std::optional<Throttling> throttling{};  ///< waiting for the CPU quota during the session;
                                           ///< nullopt: no quota, unknown, or not needed
  std::string suite_text{};                ///< contents of the suite's file
  bool was_watched = false;  ///< true if its own gates or precision may have ended a saved session
  std::vector<Benchmark>
      benchmarks{};  ///< benchmarks; at least one after add_benchmarks, unless it ends the call
  gate::Risk risk = gate::Risk::Any;  ///< error rate that all gates of the call share
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

/// Restores the settings that the ended process `lauka` left tuned; called by its launcher process.
void restore_after_lauka(int lauka);

/// Restores the settings of a killed lauka, if there are any; reports why it cannot, or that only
/// root can.
void restore_leftovers(Call& call);

/// Answers --untune. Returns the exit status.
int untune(Call& call);
/// Answers --tune=list. Returns the exit status.
int list_tuning(Call& call);

/// Returns the names of --tune's switches that would help on this machine; a "+" marks those that
/// must be named. Empty on macOS.
std::vector<std::string> tunable_settings();

/// Checks --tune, and chooses CPUs for the commands; on macOS, makes them prefer performance cores
/// instead.
Result<void> choose_tuning(Call& call);
/// Makes a benchmark's commands use these CPUs; if --cores chose others only, they use those.
void use_tuned_cpus(const Call& call, Benchmark& benchmark);

/// Tunes the machine if --tune asks for it and lauka has root's rights. Sets Call::tuning.
Result<void> begin_tuning(Call& call);
/// Restores the machine, if it was tuned.
void end_tuning(Call& call);

/// Returns RunContext::machine; null without Call::tuning. `call` must outlive it.
std::unique_ptr<TunedMachine> tuned_machine(Call& call);

/// Compares tuned runs with untuned runs, and prints the result; does nothing if there are none.
void compare_tuning(Call& call);

/// Returns `error` with the name of its benchmark, if it has one.
Error named(const Error& error, const Benchmark& benchmark);

/// Returns nullopt if `made` has no error. Else returns a signal's status if the user interrupted,
/// or prints the error and returns `if_refused`.
std::optional<int> ended(const Result<void>& made, ExitStatus if_refused = ExitStatus::Usage);

/// Waits until git has printed commit and branch. Returns their labels; empty if git was not asked,
/// failed, or knows neither.
std::vector<Label> find_head(Call& call);

/// Adds git's labels after the runs, because in a large tree git takes long to find changed files.
/// Adds none if `head` is empty, or git does not say whether files are changed.
void find_labels(Call& call, std::vector<Label> head);

/// True if an export or a baseline needs a description of the machine.
bool needs_machine(const Call& call);

/// True if an export describes its session.
bool describes_session(const OutputOptions& options);

/// Reads a file ("-" is standard input) with the rights of the user. Refuses more than
/// `most_bytes`. `what` names the file in errors.
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

/// Removes the log if no benchmark was cut short and everything was exported (`is_exported`); else
/// keeps it.
void end_log(Call& call, bool is_exported);

}  // namespace lauka
