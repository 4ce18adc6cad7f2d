#pragma once

#include "cli/options.h"
#include "core/exit_status.h"
#include "core/result.h"
#include "core/user.h"
#include "os/files.h"
#include "os/process.h"
#include "plan/plan.h"
#include "results/results.h"
#include "run/runner.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

// Part of main: what is found goes where the user wants it.

namespace lauka {

/// Says `error` on standard error and gives `status` for main to return.
int refuse(const Error& error, ExitStatus status);

/// Shows the threads of a process, and gives the exit status.
int deliver_threads(const ShowThreads& wanted, const CoreKinds& kinds);

/// A file that was found writable, and what makes its bytes.
struct Export {
  os::ExportFile file;
  std::string (*bytes_of)(const Results&);
};

/// Has the plan take its references from the --baseline file, if there is one; refuses a file that
/// cannot be read as one, or lacks what the plan needs.
Result<void> add_baseline(const Options& options, const std::optional<User>& user, Plan& plan);

/// Opens the exports that the options ask for, after a look at the files that the commands will
/// open, all with the rights of the user whom they are run as: the files then belong to that user,
/// and root is led by no link to where the user could not write. Refused, and nothing changed,
/// where one cannot be read or written.
Result<std::vector<Export>> open_exports(const Options& options, const Plan& plan,
                                         const std::optional<User>& user);

/// Shows and exports all there is, also of a session that was cut short, and gives the exit status.
/// `began`: when the first run did.
int deliver(const Options& options, const Plan& plan, const std::optional<User>& user,
            const Carried& carried, std::vector<Export> exports, std::chrono::sys_seconds began);

/// Looks at this machine (--check), shows what was found and exports it; gives the exit status.
/// `launcher`: what counters are tried with, which are taken as if to count and given back.
int deliver_check(const Options& options, const std::optional<User>& user, os::Launcher& launcher);

}  // namespace lauka
