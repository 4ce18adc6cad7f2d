#pragma once

#include "cli/options.h"
#include "core/exit_status.h"
#include "core/observer.h"
#include "core/result.h"
#include "core/user.h"
#include "cores/cores.h"
#include "engine/choose.h"
#include "gate/verdict.h"
#include "os/exports.h"
#include "os/files.h"
#include "os/memory_groups.h"
#include "os/process.h"
#include "plan/plan.h"
#include "plan/recording.h"
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
  std::unique_ptr<os::Launcher> launcher{};
  cores::Decided cores{};
  std::optional<User> user{};  ///< whom commands are run as, where that is not lauka's own
  engine::Chosen chosen{};     ///< the engine
  Plan plan{};
  std::vector<Label> labels{};                 ///< of the session, with git's
  std::vector<Recording> saved{};              ///< of --from
  gate::Findings found{};                      ///< in the first of them, while it went on
  std::unique_ptr<os::MemoryGroups> groups{};  ///< null: tree_peak_memory is not measured
  std::vector<os::OpenExport> exports{};
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
extern const Stage kLabelsFound;    ///< git is asked only where they are exported
extern const Stage kSavedRead;      ///< the sessions of --from, and the plan of them
extern const Stage kBaselineAdded;  ///< refused where it lacks what the plan needs
extern const Stage kExportsOpened;  ///< after a look at the files that the commands will open

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
int deliver(Invocation& call, const SessionResult& measured, std::chrono::sys_seconds began);

/// The same of the sessions of --from.
int deliver_saved(Invocation& call);

/// Says `error` on standard error and gives `status` for main to return.
int refuse(const Error& error, ExitStatus status);

/// Where standard error cannot be written, there is nobody left to tell.
void say_on_error(const std::string& text);

/// Where what is shown goes: an export that takes standard output stands there alone.
os::Stream shown_on(const Options& options);

}  // namespace lauka
