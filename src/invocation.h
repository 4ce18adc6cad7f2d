#pragma once

#include "cli/options.h"
#include "core/choices.h"
#include "core/command.h"
#include "core/record.h"
#include "core/result.h"
#include "cores/cores.h"
#include "engine/choose.h"
#include "gate/verdict.h"
#include "os/aside.h"
#include "os/exports.h"
#include "os/files.h"
#include "os/memory_groups.h"
#include "os/process.h"
#include "plan/plan.h"
#include "plan/recording.h"
#include "results/report.h"
#include "results/results.h"
#include "run/runner.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// What main is made of: the stages, the inquiries and the delivery.

namespace lauka {

/// One call of lauka: what was typed, and what its stages make, each of what those before it made.
/// Each part outlives what stands below it.
struct Invocation {
  Options options;
  std::shared_ptr<os::Launcher> launcher{};  ///< that of all benchmarks of a suite
  cores::Decided cores{};
  std::optional<User> user{};  ///< whom commands are run as, where that is not lauka's own
  engine::Chosen chosen{};     ///< the engine
  Plan plan{};
  std::unique_ptr<os::ProgramAside> git{};     ///< null: it is not asked, or has answered
  std::vector<Label> labels{};                 ///< of the session, with git's
  std::vector<Recording> saved{};              ///< of --from
  gate::Findings found{};                      ///< in the first of them, while it went on
  std::shared_ptr<os::MemoryGroups> groups{};  ///< null: tree_peak_memory is not measured
  std::vector<os::OpenExport> exports{};
  bool has_lost_export = false;       ///< one could not be written
  std::string benchmark{};            ///< of a suite, of which this is a part; empty: of none
  std::vector<Invocation> parts{};    ///< a suite's benchmarks; none: it is no suite
  gate::Risk risk = gate::Risk::Any;  ///< of the gates of all parts
};

/// A part of an invocation is made, or refused.
struct Stage {
  Result<void> (*make)(Invocation& call);
  ExitStatus if_refused;
};

extern const Stage kLauncherStarted;  ///< where it is not there yet
extern const Stage kCoresDecided;
extern const Stage kUserFound;
extern const Stage kEngineChosen;  ///< an inquiry's takes nothing of the system
extern const Stage kPlanMade;
extern const Stage kGitAsked;       ///< only in a repository, and where its labels are exported
extern const Stage kSavedRead;      ///< the sessions of --from, and the plan of them
extern const Stage kBaselineAdded;  ///< refused where it lacks what the plan needs
extern const Stage kExportsOpened;  ///< after a look at the files that the commands will open

/// Waits for git's answer, where it is asked, and adds its labels.
void find_labels(Invocation& call);

/// Makes them in order; at the first that is refused, or interrupted, the exit status.
std::optional<int> pass(std::span<const Stage> stages, Invocation& call);

/// Answers the inquiry of the options and gives the exit status.
int answer(Invocation& call);

/// Whether an export tells which session it is of, and of what.
bool tells_of_session(const Options& options);

/// Who is told how far the session is: the progress bar, or nobody.
std::unique_ptr<Observer> choose_observer(const Options& options, const Plan& plan);

/// Tells on standard error what is likely a slip, before anything is run.
void tell_before(const Options& options, const Plan& plan);

/// The files of LAUKA_METRICS; null where they cannot be made and no metric was announced.
Result<std::unique_ptr<os::ToldFiles>> open_told_files(const Invocation& call);

/// Shows and exports all there is, also of a session that was cut short, and gives the exit status.
/// `began`: when the first run did.
int deliver(Invocation& call, const SessionResult& measured, TimeOfDay began);

/// The same of the sessions of --from.
int deliver_saved(Invocation& call);

/// Measures the suite of --suite and delivers what came of it; the exit status.
int measure_suite(Invocation& call);

/// Shows and exports a suite; gives `status`, or that of a failure to do so.
int put_out(Invocation& call, const Report& report, int status, bool keeps_status);

/// The same of the suites of --from.
int deliver_saved_suite(Invocation& call);

/// What the saved sessions of `call` say together; their gates, where some were typed, share one
/// rate of false fails with so many decisions (0: with each other).
Results results_of_saved(Invocation& call, std::size_t gates_of_job);

/// Where and when the numbers of a session were taken that began then and has just ended.
Circumstances circumstances_of(const Invocation& call, TimeOfDay began);

/// With the rights of the user, up to so many bytes of a file; "-" is standard input. `what` it is,
/// for a refusal.
Result<std::string> read_text(const Invocation& call, const std::string& file,
                              std::string_view what, std::size_t most_bytes);

/// Says `error` on standard error and gives `status` for main to return.
int refuse(const Error& error, ExitStatus status);

/// Where standard error cannot be written, there is nobody left to tell.
void say_on_error(const std::string& text);

/// Where what is shown goes: an export that takes standard output stands there alone.
os::Stream shown_on(const Options& options);

}  // namespace lauka
