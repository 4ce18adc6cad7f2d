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

// The steps of main. Each takes the call as the steps before it left it.

namespace lauka {

/// A benchmark, measured or saved. A plain call has one without a name, a suite has several.
struct Benchmark {
  std::string name{};
  Options options{};
  cores::Decided cores{};
  engine::Chosen chosen{};             ///< the engine
  os::MemoryGroups* groups = nullptr;  ///< the call's; null if tree_peak_memory is not measured
  Plan plan{};
  std::vector<Recording> saved{};  ///< the sessions of --from; empty if it is measured
  SessionResult measured{};  ///< runs and findings; if several saved sessions were joined, the
                             ///< findings are the first one's
};

/// The log of a suite's finished rounds, kept next to its JSON export for --resume.
struct RoundLog {
  std::string file{};
  std::unique_ptr<os::AppendLog> lines{};
  Seals seals{};                       ///< seal its lines
  std::vector<RoundKeeper> keepers{};  ///< one for each benchmark
  std::uint64_t rounds = 0;            ///< rounds that an earlier process finished
};

/// git, asked for commit and branch.
struct GitQuestion {
  std::string repository{};  ///< empty if a variable names it
  std::unique_ptr<os::ProgramAside> program{};
};

/// One call of lauka. Each member outlives those below it.
struct Call {
  Options options;  ///< options as typed; in a suite, the options of all benchmarks
  std::unique_ptr<os::Launcher> launcher{};
  std::unique_ptr<os::SettingFiles> settings{};  ///< null until --tune needs them
  tune::CpuChoice tune_cpus{};                   ///< CPUs that --tune chose; empty without --tune
  std::optional<Tuning> tuning{};                ///< tuning in force, now or in the saved session
  std::unique_ptr<tune::Tuned> tuned{};  ///< tuned settings, while they are in force; else null
  std::optional<User> user{};            ///< the commands' user if that is not lauka's own
  std::unique_ptr<os::MemoryGroups> groups{};  ///< null unless tree_peak_memory is measured
  std::optional<GitQuestion> git{};            ///< nullopt unless it is asked, or once answered
  std::vector<Label> labels{};                 ///< the session's, with git's at its end
  std::optional<Allowance>
      allowance{};  ///< CPU and memory quotas before --tune; nullopt: unknown or not needed
  std::optional<Throttling> throttling{};  ///< during the session; nullopt: no quota
  std::string suite_text{};                ///< the suite's file
  bool was_watched = false;             ///< a saved session ended when its own gates were content
  std::vector<Benchmark> benchmarks{};  ///< benchmarks, at least one once they are added
  gate::Risk risk = gate::Risk::Any;    ///< error rate that all gates of the call share
  std::vector<os::OpenExport> exports{};
  TimeOfDay began{};
  std::optional<RoundLog> log{};  ///< nullopt if the rounds are not kept

  bool is_saved() const { return !options.from.empty(); }
  bool is_suite() const { return !benchmarks.empty() && !benchmarks.front().name.empty(); }
};

/// Answers the inquiry of the options; returns the exit status.
int answer(Call& call);

/// Adds the benchmarks, or reads saved ones. Returns an exit status if the call ends here, like the
/// next two.
std::optional<int> add_benchmarks(Call& call);

/// Decides all that can be decided before the first run: plans, baselines, gates, exports.
std::optional<int> prepare(Call& call);

/// Measures all benchmarks. Their runs are kept, even if they were cut short.
std::optional<int> measure(Call& call);

/// Shows and exports the results; returns the exit status.
int deliver(Call& call);

// Parts of these.

Result<void> start_launcher(Call& call);
Result<void> find_user(Call& call);
Result<void> decide_cores(Benchmark& benchmark);
Result<void> choose_engine(const Call& call, Benchmark& benchmark);

/// Reads the suite of --suite and adds its benchmarks; a part of it may be empty.
Result<void> add_suite(Call& call);

// --tune (app/tune.cc).

/// Restores settings that a killed lauka left; called by its launcher process at its end.
void restore_after_lauka(int lauka);

/// Restores what a killed lauka left, or reports which user can.
void restore_leftovers(Call& call);

/// Answer --untune and --tune=list; return the exit status.
int untune(Call& call);
int list_tuning(Call& call);

/// Names the switches of --tune that would help here; those by name only with a "+".
std::vector<std::string> tunable_settings();

/// Chooses the commands' CPUs, and has a benchmark use them.
Result<void> choose_tuning(Call& call);
void use_tuned_cpus(const Call& call, Benchmark& benchmark);

/// Tunes the machine, and restores it.
Result<void> begin_tuning(Call& call);
void end_tuning(Call& call);

/// Returns RunContext::machine; null if nothing is tuned. `call` outlives it.
std::unique_ptr<TunedMachine> tuned_machine(Call& call);

/// Compares tuned with untuned runs, and prints the result.
void compare_tuning(Call& call);

/// Returns `error` with the name of the benchmark that it is about.
Error named(const Error& error, const Benchmark& benchmark);

/// Prints a refusal. Returns the exit status of the refusal, or of an interruption (it may have
/// waited for a named pipe); nullopt if `made` is neither.
std::optional<int> ended(const Result<void>& made, ExitStatus if_refused = ExitStatus::Usage);

/// Waits until git has said commit and branch; empty if it was not asked, or knows neither.
std::vector<Label> find_head(Call& call);

/// Adds git's labels after the runs: whether files are changed takes git long in a large tree.
void find_labels(Call& call, std::vector<Label> head);

/// True if an export or a baseline needs a description of the machine.
bool needs_machine(const Call& call);

/// True if an export describes its session.
bool describes_session(const OutputOptions& options);

/// Reads a file with the rights of the user; "-" is standard input. A refusal calls it `what`.
Result<std::string> read_text(const Call& call, const std::string& file, std::string_view what,
                              std::size_t most_bytes);

/// Prints an answer on standard output; returns the exit status.
int show(const std::string& text);

/// Prints `error` on standard error and returns `status`.
int refuse(const Error& error, ExitStatus status);

/// Prints `notes` on standard error, unless the call is quiet.
void say_notes(const OutputOptions& options, const std::vector<std::string>& notes);

/// Writes on standard error; ignores failures.
void say_on_error(const std::string& text);

/// Runs the builds of --build, which `shown` shows, and checks that layouts differ. Returns the
/// exit status if the call ends here.
std::optional<int> build_layouts(Call& call, Observer& shown);

/// Returns the stream of the tables: standard error if an export takes standard output.
os::Stream shown_on(const OutputOptions& options);

/// Removes the log once all is exported; else it stays.
void end_log(Call& call, bool is_exported);

}  // namespace lauka
