#include "os/process.h"

#include "os/descriptor.h"
#include "os/platform.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace lauka::os {

namespace {

/// Adds `variable` (NAME=VALUE) at the end, and removes other variables with the same name.
void set_variable(std::vector<std::string>& environment, const std::string& variable) {
  std::erase_if(environment, [&](const std::string& other) {
    return name_of_variable(other) == name_of_variable(variable);
  });
  environment.push_back(variable);
}

std::vector<std::string> list_own_variables() {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    environment.emplace_back(*variable);
  return environment;
}

/// Sets what a program that runs as another user finds: that user's account, as after su.
void set_account(const User& user, std::vector<std::string>& environment) {
  set_variable(environment, "HOME=" + user.home);
  set_variable(environment, "USER=" + user.name);
  set_variable(environment, "LOGNAME=" + user.name);
}

/// Sets PWD, the working folder as shells show it. lauka's own PWD would be wrong in another
/// folder.
void set_working_folder(const std::string& folder, std::vector<std::string>& environment) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(folder, error).lexically_normal();
  if (!error) set_variable(environment, "PWD=" + absolute.string());
}

}  // namespace

std::string_view name_of_variable(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// Later changes replace earlier ones: the user's own win over those for the account and the folder,
// and lauka's variables win over all.
std::vector<std::string> program_environment(const ProgramSpec& spec,
                                             const std::string& launch_value) {
  std::vector<std::string> environment = list_own_variables();
  if (spec.user) set_account(*spec.user, environment);
  if (!spec.folder.empty()) set_working_folder(spec.folder, environment);
  for (const std::string& variable : spec.environment_changes) set_variable(environment, variable);

  // The launcher overwrites the values of these variables before each run. The zeros make room for
  // the digits of a copy's number.
  if (spec.jobs > 1) set_variable(environment, std::string(kJobEntryPrefix) + "0000");
  if (!spec.launch_variable.empty())
    set_variable(environment, spec.launch_variable + "=" + launch_value);
  if (spec.has_region) set_variable(environment, std::string(kRegionVariable) + "=");
  return environment;
}

ExecStrings::ExecStrings(std::vector<std::string> words, std::vector<std::string> variables)
    : words_(std::move(words)),
      variables_(std::move(variables)),
      argv_(pointers_to(words_)),
      changed_environment_(pointers_to(variables_)) {}

char* const* ExecStrings::environment() const {
  return variables_.empty() ? environ : changed_environment_.data();
}

}  // namespace lauka::os
