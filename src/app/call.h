#pragma once

#include "cli/options.h"
#include "core/recording.h"
#include "core/result.h"
#include "core/seals.h"
#include "cores/cores.h"
#include "engine/engine.h"
#include "gate/verdict.h"
#include "os/control_groups.h"
#include "os/export_files.h"
#include "os/files.h"
#include "os/helper_program.h"
#include "os/process.h"
#include "os/setting_files.h"
#include "plan/plan.h"
#include "run/kept_rounds.h"
#include "run/runner.h"
#include "session/candidate_series.h"
#include "tune/switches.h"
#include "tune/transaction.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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
  Seals seals{};                             ///< checksums, which detect changed lines
  std::vector<RoundKeeper> round_keepers{};  ///< one for each benchmark
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
  std::optional<SeriesEntry>
      series{};                ///< nullopt without --series, and before reserve_in_series()
  bool continues_log = false;  ///< true if --resume found an earlier call's log
  bool says_hints = true;      ///< false: an earlier session of this process has said them

  bool reads_saved_sessions() const { return !options.saved_session_files.empty(); }
  bool is_suite() const { return !benchmarks.empty() && !benchmarks.front().name.empty(); }
};

}  // namespace lauka
