#include "os/process.h"

#include "os/platform.h"

#include <filesystem>
#include <system_error>

namespace lauka::os {

namespace {

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

/// Adds `variable` (NAME=VALUE) at the end, and removes other variables with the same name.
void set_variable(std::vector<std::string>& environment, const std::string& variable) {
  std::erase_if(environment,
                [&](const std::string& other) { return name_of(other) == name_of(variable); });
  environment.push_back(variable);
}

}  // namespace

// Later changes replace earlier ones: the user's own win over those for the account and the folder,
// and lauka's variables win over all.
std::vector<std::string> program_environment(const ProgramSpec& spec,
                                             const std::string& launch_value) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    environment.emplace_back(*variable);

  // A program that runs as another user finds that user's account, as after su.
  if (spec.user) {
    set_variable(environment, "HOME=" + spec.user->home);
    set_variable(environment, "USER=" + spec.user->name);
    set_variable(environment, "LOGNAME=" + spec.user->name);
  }

  // PWD is the working folder as shells show it. lauka's own PWD would be wrong in another folder.
  if (!spec.folder.empty()) {
    std::error_code error;
    const auto folder = std::filesystem::absolute(spec.folder, error).lexically_normal();
    if (!error) set_variable(environment, "PWD=" + folder.string());
  }

  for (const std::string& variable : spec.environment_changes) set_variable(environment, variable);

  // The launcher overwrites the values of these variables before each run. The zeros make room for
  // the digits of a copy's number.
  if (spec.jobs > 1) set_variable(environment, std::string(kJobEntryPrefix) + "0000");
  if (!spec.launch_variable.empty())
    set_variable(environment, spec.launch_variable + "=" + launch_value);
  if (spec.has_region) set_variable(environment, std::string(kRegionVariable) + "=");
  return environment;
}

}  // namespace lauka::os
