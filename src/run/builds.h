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

/// One --build to be run.
struct Build {
  std::string of{};    ///< the program that it makes: "./new-{layout}: layout 3 of 8"
  std::string line{};  ///< command line for sh -c
  std::string folder{};
  std::vector<std::string> environment{};
};

/// Returns the builds of the plans' commands, layout by layout, each once: equal lines in one
/// folder with equal variables make the same.
std::vector<Build> list_builds(std::span<const Plan* const> plans);

/// A build that failed.
struct BuildFailed {
  Build build;
  Outcome outcome;
  std::string output_end{};  ///< the last lines of what it wrote; may be empty
};

/// Runs `builds` in order, `at_once` of them at a time, as `user`. `show` is called with Build::of
/// when a build begins. The first that fails ends the others that have not begun; an interruption
/// ends all.
std::optional<BuildFailed> run_builds(std::span<const Build> builds, std::size_t at_once,
                                      const std::optional<User>& user,
                                      const std::function<void(std::string_view)>& show);

/// Refuses a plan two of whose layouts are made of the same files: each word of a command that
/// names a file is compared.
Result<void> check_programs_differ(const Plan& plan, const ProgramReader& reader);

}  // namespace lauka
