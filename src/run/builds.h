#pragma once

#include "core/command.h"
#include "core/record.h"
#include "core/result.h"
#include "os/clock.h"
#include "os/process.h"
#include "plan/plan.h"
#include "run/fingerprints.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka {

/// A --build command to run.
struct Build {
  std::string name_in_messages{};  ///< text for messages, as "./new-{layout}: layout 3 of 8"
  std::string line{};
  std::string folder{};  ///< working folder; empty: lauka's own folder
  std::vector<std::string> environment{};
};

/// Returns the builds that all commands of `plans` need in all layouts, without duplicates.
std::vector<Build> list_builds(std::span<const Plan* const> plans);

/// Returns the builds without those that have made the files of a command already. A command's
/// files are its program and words, if they depend on the layout.
std::vector<Build> list_missing_builds(std::span<const Plan* const> plans,
                                       const std::optional<User>& user);

struct BuildFailed {
  Build build;
  Outcome outcome;
  std::string output_end{};
};

/// How builds are run.
struct BuildContext {
  std::size_t max_parallel_builds = 1;
  std::optional<User> user{};  ///< user who runs the builds; nullopt: lauka's own user
  const os::Clock& clock;
  /// Called again and again until all builds have ended.
  std::function<void(const BuildProgress&)> show_progress = [](const BuildProgress& /*progress*/) {
  };
};

/// Runs `builds` in order. Begins no build after a failure. Returns the first failure; nullopt if
/// all builds succeeded.
std::optional<BuildFailed> run_builds(std::span<const Build> builds, const BuildContext& context);

/// Runs `builds` one after the other by `launcher`, which ends all processes of a build if lauka is
/// killed (not on macOS). Begins no build after a failure. Returns the first failure; nullopt if
/// all builds succeeded. Returns an error if the launcher fails.
Result<std::optional<BuildFailed>> run_builds_by(os::Launcher& launcher,
                                                 std::span<const Build> builds,
                                                 const std::optional<User>& user);

/// Refuses a plan if the files of a command that depend on the layout are the same in two layouts.
/// Returns no error if the user interrupts.
Result<void> check_layout_files_differ(const Plan& plan, const ReadContext& reader);

}  // namespace lauka
