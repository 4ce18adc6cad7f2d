#pragma once

#include "cli/options.h"
#include "core/choices.h"
#include "core/result.h"
#include "cores/cores.h"
#include "engine/engine.h"
#include "gate/verdict.h"
#include "os/files.h"
#include "os/process.h"
#include "os/setting_files.h"
#include "plan/plan.h"
#include "results/results.h"
#include "run/kept_rounds.h"
#include "run/runner.h"
#include "session/candidate_series.h"
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

/// A benchmark to measure, or a saved benchmark. Only a suite's benchmarks have names.
struct Benchmark {
  std::string name{};
  Options options{};
  std::vector<Note> notes{};  ///< notes that the plan takes over
  cores::CoreDecision cores{};
  engine::ChosenEngine chosen{};
  os::MemoryGroups* groups = nullptr;  ///< null if tree_peak_memory is not measured
  Plan plan{};
  std::vector<Recording> saved_recordings{};
  bool has_saved_gates = false;  ///< true if any of the files has verdicts
  /// Only findings, of the first session, if the benchmark was saved.
  SessionResult session_result{};

  bool was_cut_short() const { return session_result.session.cut_short.has_value(); }
};

/// The log of a suite's finished rounds for --resume, next to the file of the JSON export.
struct RoundLog {
  std::string file{};
  std::unique_ptr<os::AppendLog> lines{};
  Seals seals{};  ///< checksums, which detect changed lines
  std::vector<RoundKeeper> keepers{};
  /// Rounds finished by earlier processes, without warm-up and settling rounds.
  std::uint64_t earlier_rounds = 0;
};

/// The place of a call in its series (--series), and the open file.
struct SeriesEntry {
  os::SharedLog log;
  SeriesReservation reservation{};
  /// Program that should be the reference; nullopt for the first candidate.
  std::optional<SeriesProgram> expected_reference{};
  bool has_kept = false;  ///< true if a candidate was kept before
};

struct GitQuestion {
  std::string repository{};  ///< path; empty if the variable GIT_DIR names the repository
  std::unique_ptr<os::HelperProgram> program{};
};

/// A call of lauka. Each member outlives the members below it.
struct Call {
  Options options;  ///< as typed; after add_suite(), the options of the whole session
  std::unique_ptr<os::Launcher> launcher{};
  std::unique_ptr<os::SettingFiles> settings{};  ///< opened when first needed; null on macOS
  tune::CpuChoice tune_cpus{};
  std::optional<Tuning> tuning{};  ///< set by begin_tuning(); nullopt without --tune and on macOS
  std::unique_ptr<tune::TuningSession> tuning_session{};
  std::optional<User> user{};
  std::unique_ptr<os::MemoryGroups> groups{};  ///< null if tree_peak_memory is not measured
  std::optional<GitQuestion> git{};
  std::vector<Label> labels{};
  std::optional<Allowance> allowance{};   ///< CPUs, CPU time and memory that lauka was allowed
                                          ///< before --tune; nullopt if unknown or not needed
  std::optional<QuotaWait> throttling{};  ///< throttling by a CPU quota during the session; nullopt
                                          ///< without quota, or if not read
  std::string suite_text{};
  /// True if gates or --precision may have ended a saved session.
  bool gates_may_have_ended_session = false;
  std::vector<Benchmark> benchmarks{};
  gate::ErrorRate gate_error_rate = gate::ErrorRate::AnyFalseFail;
  std::vector<os::OpenExport> exports{};
  UtcTime measuring_began{};
  std::optional<RoundLog> log{};
  std::optional<SeriesEntry> series{};  ///< nullopt without --series, and before enter_series()
  bool continues_log = false;           ///< true if --resume found an earlier call's log

  bool reads_saved_sessions() const { return !options.saved_session_files.empty(); }
  bool is_suite() const { return !benchmarks.empty() && !benchmarks.front().name.empty(); }
};

/// Answers `call.options.inquiry`. Returns the exit status.
int answer_inquiry(Call& call);

/// Adds the benchmarks to measure, or reads saved benchmarks. Returns an exit status if the call
/// must end.
std::optional<int> add_benchmarks(Call& call);

/// Makes the plans, reads the baselines and opens the exports. Returns an exit status if the call
/// must end.
std::optional<int> prepare(Call& call);

/// Measures all benchmarks. Returns an exit status if the call must end.
std::optional<int> measure(Call& call);

/// With --series, reserves the candidate's number and level in the file, and sets
/// Plan::error_of_keeping. Refuses a file that is no series, is damaged, has other terms or cannot
/// be written.
Result<void> enter_series(Call& call);

/// With --series, adds the decision to the file and to the report. `status`: the exit status
/// without the series. Returns the exit status, which says that lauka failed if the file cannot be
/// written.
int leave_series(Call& call, Report& report, int status);

/// Reads the series of --series for an answer. Refuses a file without a series.
Result<CandidateSeries> read_series_of(const Call& call);

/// Shows and exports the results. Returns the exit status.
int deliver(Call& call);

/// Takes the session that was measured last, and analyses it without the facts about the machine.
/// The call has a single benchmark.
Results analyse_session(Call& call);

Result<void> start_launcher(Call& call);
Result<void> find_user(Call& call);
Result<void> decide_cores(const Call& call, Benchmark& benchmark);
Result<void> choose_engine(const Call& call, Benchmark& benchmark);

/// Adds the benchmarks of the suite (--suite).
Result<void> add_suite(Call& call);

/// Restores the settings that the process `lauka` left tuned. Called by the launcher process at its
/// end.
void restore_after_lauka(int lauka);

/// Tries to restore the settings of a killed lauka, if any, and prints notes.
void restore_leftovers(Call& call);

int untune(Call& call);
int list_tuning(Call& call);

/// Returns the names of --tune's switches that can change a setting of this machine, once for each
/// setting; "+NAME" if the switch is off by default.
std::vector<std::string> tunable_settings();

/// With --tune, checks its value and chooses CPUs for the commands. On macOS, may set the
/// benchmarks' CountingOptions::core_preference instead.
Result<void> choose_tuning(Call& call);
/// Restricts a benchmark's commands to the CPUs that --tune chose. Has no effect if --cores chose
/// only other CPUs.
void use_tuned_cpus(const Call& call, Benchmark& benchmark);

/// With --tune, sets Call::tuning, and tunes the machine if lauka has root's rights. Does nothing
/// on macOS.
Result<void> begin_tuning(Call& call);
void end_tuning(Call& call);

/// Returns the machine for RunContext; null without Call::tuning. `call` must outlive the result.
std::unique_ptr<TunedMachine> tuned_machine(Call& call);

/// Compares tuned with untuned runs and prints the result, if there are untuned runs.
void compare_tuning(Call& call);

Error with_benchmark_name(const Error& error, const Benchmark& benchmark);

/// Returns nullopt if `made` has no error. Else, if a signal asked lauka to end, returns the
/// signal's exit status; if not, prints the error and returns `if_refused`.
std::optional<int> status_if_failed(const Result<void>& made,
                                    ExitStatus if_refused = ExitStatus::Usage);

/// Waits for git's answer. Returns the labels of commit and branch; empty if unknown.
std::vector<Label> await_head_labels(Call& call);

/// Adds the labels `head` and a label "dirty" to Call::labels, if git reports whether files are
/// changed. Called after the runs, because git status takes long in a large tree.
void add_git_labels(Call& call, std::vector<Label> head);

/// True if results are exported or compared with a baseline.
bool needs_machine(const Call& call);

/// True if results are exported as JSON or HTML.
bool describes_session(const OutputOptions& options);

/// Reads a file ("-": standard input) with the rights of Call::user. `what` precedes the file's
/// name in errors.
Result<std::string> read_text(const Call& call, const std::string& file, std::string_view what,
                              std::size_t most_bytes);

int show(const std::string& text);

int refuse(const Error& error, ExitStatus status);

/// Prints notes on standard error, unless --quiet is set.
void say_notes(const Call& call, const std::vector<std::string>& notes);

/// Prints `text` on standard error. Ignores failures.
void print_to_standard_error(const std::string& text);

/// Returns the stream for tables: standard error if an export goes to standard output, else
/// standard output.
os::StandardStream shown_on(const OutputOptions& options);

/// Completes the log of rounds. Removes the log if no benchmark was cut short and all exports were
/// written (`is_exported`).
void end_log(Call& call, bool is_exported);

}  // namespace lauka
