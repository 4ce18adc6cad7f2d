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

std::vector<std::string> program_environment(const ProgramSpec& spec, const std::string& value) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    environment.emplace_back(*variable);

  if (spec.user) {
    set_variable(environment, "HOME=" + spec.user->home);
    set_variable(environment, "USER=" + spec.user->name);
    set_variable(environment, "LOGNAME=" + spec.user->name);
  }

  if (!spec.folder.empty()) {
    std::error_code error;
    const auto folder = std::filesystem::absolute(spec.folder, error).lexically_normal();
    if (!error) set_variable(environment, "PWD=" + folder.string());
  }

  for (const std::string& variable : spec.environment_changes) set_variable(environment, variable);

  // The launcher changes the values of these variables before each run.
  if (spec.jobs > 1) set_variable(environment, std::string(kJobEntryPrefix) + "0000");
  if (!spec.launch_variable.empty()) set_variable(environment, spec.launch_variable + "=" + value);
  if (spec.has_region) set_variable(environment, std::string(kRegionVariable) + "=");
  return environment;
}

}  // namespace lauka::os
