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

namespace lauka {

/// A benchmark that is measured or was saved. Only a suite's benchmarks have names.
struct Benchmark {
  std::string name{};
  Options options{};
  cores::CoreDecision cores{};
  engine::ChosenEngine chosen{};
  os::MemoryGroups* groups = nullptr;  ///< null if tree_peak_memory is not measured
  Plan plan{};
  std::vector<Recording> saved{};
  SessionResult measured{};  ///< for a saved benchmark: only the findings of its first session
};

/// A suite's finished rounds, kept next to its JSON export for --resume.
struct RoundLog {
  std::string file{};
  std::unique_ptr<os::AppendLog> lines{};
  Seals seals{};  ///< checksums of lines, to detect changed lines
  std::vector<RoundKeeper> keepers{};
  std::uint64_t earlier_rounds = 0;  ///< counted rounds of an earlier process
};

struct GitQuestion {
  std::string repository{};  ///< path; empty if a variable names the repository
  std::unique_ptr<os::HelperProgram> program{};
};

/// One call of lauka. Each member outlives the members below it.
struct Call {
  Options options;  ///< as typed; after add_suite() the options that all benchmarks share
  std::unique_ptr<os::Launcher> launcher{};
  std::unique_ptr<os::SettingFiles> settings{};  ///< opened when first needed; null on macOS
  tune::CpuChoice tune_cpus{};
  std::optional<Tuning> tuning{};  ///< set by begin_tuning(); nullopt without --tune, and on macOS
  std::unique_ptr<tune::TuningSession> tuned{};
  std::optional<User> user{};
  std::unique_ptr<os::MemoryGroups> groups{};  ///< null if tree_peak_memory is not measured
  std::optional<GitQuestion> git{};
  std::vector<Label> labels{};
  std::optional<Allowance> allowance{};    ///< limits before --tune; nullopt if unknown
  std::optional<Throttling> throttling{};  ///< waiting for the CPU quota during the session
  std::string suite_text{};
  bool may_be_stopped_by_gates =
      false;  ///< true if gates or --precision may have ended a saved session
  std::vector<Benchmark> benchmarks{};
  gate::ErrorRate risk = gate::ErrorRate::Any;
  std::vector<os::OpenExport> exports{};
  UtcTime began{};
  std::optional<RoundLog> log{};

  bool is_saved() const { return !options.from.empty(); }
  bool is_suite() const { return !benchmarks.empty() && !benchmarks.front().name.empty(); }
};

/// Answers the inquiry of the options. Returns the exit status.
int answer(Call& call);

/// Adds the benchmarks, or reads saved ones. Returns an exit status if the call must end.
std::optional<int> add_benchmarks(Call& call);

/// Decides everything before the first run: plans, baselines, gates, exports. Returns an exit
/// status if the call must end.
std::optional<int> prepare(Call& call);

/// Measures all benchmarks. Returns an exit status if the call must end.
std::optional<int> measure(Call& call);

/// Shows and exports the results. Returns the exit status.
int deliver(Call& call);

Result<void> start_launcher(Call& call);
Result<void> find_user(Call& call);
Result<void> decide_cores(Benchmark& benchmark);
Result<void> choose_engine(const Call& call, Benchmark& benchmark);

/// Adds the benchmarks of the suite (--suite); possibly none, for a shard.
Result<void> add_suite(Call& call);

/// Restores the settings that the ended process `lauka` left tuned. Called by its launcher process.
void restore_after_lauka(int lauka);

/// Tries to restore the settings of a killed lauka, and prints notes about it.
void restore_leftovers(Call& call);

int untune(Call& call);
int list_tuning(Call& call);

/// Returns the names of --tune's switches that would help on this machine, with a "+" before those
/// that are off by default.
std::vector<std::string> tunable_settings();

/// Checks --tune and chooses CPUs for the commands. On macOS, makes commands prefer performance
/// cores instead.
Result<void> choose_tuning(Call& call);
/// Restricts a benchmark's commands to the CPUs that --tune chose. Has no effect if --cores chose
/// only other CPUs.
void use_tuned_cpus(const Call& call, Benchmark& benchmark);

/// Tunes the machine if --tune asks for it and lauka has root's rights. Sets Call::tuning.
Result<void> begin_tuning(Call& call);
void end_tuning(Call& call);

/// Returns the machine for RunContext; null without Call::tuning. `call` must outlive it.
std::unique_ptr<TunedMachine> tuned_machine(Call& call);

/// Compares tuned with untuned runs, if there are any, and prints the result.
void compare_tuning(Call& call);

Error named(const Error& error, const Benchmark& benchmark);

/// Returns nullopt if `made` has no error. Else returns a signal's status if the user interrupted,
/// or prints the error and returns `if_refused`.
std::optional<int> ended(const Result<void>& made, ExitStatus if_refused = ExitStatus::Usage);

/// Waits for git's answer. Returns the labels of commit and branch; empty if they are unknown.
std::vector<Label> find_head(Call& call);

/// Adds the labels `head`, and whether files are changed, if git knows it. Called after the runs,
/// because finding changed files in a large tree takes long.
void find_labels(Call& call, std::vector<Label> head);

/// True if results are exported, or compared with a baseline.
bool needs_machine(const Call& call);

/// True if results are exported as JSON or HTML.
bool describes_session(const OutputOptions& options);

/// Reads a file ("-": standard input) with the rights of Call::user. `what` names the file in
/// errors.
Result<std::string> read_text(const Call& call, const std::string& file, std::string_view what,
                              std::size_t most_bytes);

int show(const std::string& text);

int refuse(const Error& error, ExitStatus status);

/// Prints notes on standard error, unless --quiet is set.
void say_notes(const OutputOptions& options, const std::vector<std::string>& notes);

/// Prints `text` on standard error. Ignores failures.
void say_on_error(const std::string& text);

/// Runs the builds of --build, and checks that layouts differ. Returns an exit status if the call
/// must end.
std::optional<int> build_layouts(Call& call, Observer& shown);

/// Returns the stream for tables: standard error if an export goes to standard output, else
/// standard output.
os::Stream shown_on(const OutputOptions& options);

/// Removes the log of rounds if no benchmark was cut short and everything was exported.
void end_log(Call& call, bool is_exported);

}  // namespace lauka
