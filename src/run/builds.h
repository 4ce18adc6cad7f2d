#pragma once

#include "core/command.h"
#include "core/record.h"
#include "core/result.h"
#include "plan/plan.h"
#include "run/programs.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// A --build command to run.
struct Build {
  std::string of{};      ///< program that the command makes: "./new-{layout}: layout 3 of 8"
  std::string line{};    ///< command line for sh -c
  std::string folder{};  ///< folder in which it runs; empty: lauka's own
  std::vector<std::string> environment{};  ///< NAME=VALUE entries for it
};

/// Returns the builds of all plans' commands, plan by plan and layout by layout, without
/// duplicates: equal lines in the same folder with the same variables make the same program.
std::vector<Build> list_builds(std::span<const Plan* const> plans);

struct BuildFailed {
  Build build;
  Outcome outcome;
  std::string output_end{};  ///< last lines of the build's output; may be empty
};

/// Runs `builds` in order, `at_once` at a time, as `user` (nullopt: lauka's own user). Calls `show`
/// with Build::of when a build begins. If a build fails, no other build begins; if the user
/// interrupts, all builds end. Returns the first failure; nullopt if missing.
std::optional<BuildFailed> run_builds(std::span<const Build> builds, std::size_t at_once,
                                      const std::optional<User>& user,
                                      const std::function<void(std::string_view)>& show);

/// Refuses a plan if two layouts of a command have the same files. Compares the files whose names
/// have the layout's number in them. Returns no error if the user interrupts.
Result<void> check_programs_differ(const Plan& plan, const ProgramReader& reader);

}  // namespace lauka
