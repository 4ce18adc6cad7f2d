#include "os/process.h"
#include "os/users.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <unistd.h>

// NOLINTNEXTLINE: POSIX wants this global declared by whoever uses it
extern char** environ;

namespace lauka::os {
namespace {

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

/// Last, in place of all of that name: programs differ in which of two they take.
void set(std::vector<std::string>& environment, const std::string& variable) {
  environment.erase(
      std::remove_if(environment.begin(), environment.end(),
                     [&](const std::string& other) { return name_of(other) == name_of(variable); }),
      environment.end());
  environment.push_back(variable);
}

}  // namespace

Result<std::string> find_program_of(const ProgramSpec& spec) {
  const ActAs user(spec.user);
  if (!user.error().empty()) return Error{user.error(), "use --as-root to keep root"};
  constexpr std::string_view name = "PATH=";
  std::optional<std::string> path;
  for (const std::string& variable : spec.environment) {
    if (variable.starts_with(name)) path = variable.substr(name.size());
  }
  return find_program(spec.words.at(0), path, spec.folder);
}

std::vector<std::string> environment_of(const ProgramSpec& spec, const std::string& value) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    environment.emplace_back(*variable);
  if (spec.user) {
    set(environment, "HOME=" + spec.user->home);
    set(environment, "USER=" + spec.user->name);
    set(environment, "LOGNAME=" + spec.user->name);
  }
  if (!spec.folder.empty()) {
    std::error_code error;  // as cd has it: links stay
    const auto folder = std::filesystem::absolute(spec.folder, error).lexically_normal();
    if (!error) set(environment, "PWD=" + folder.string());
  }
  for (const std::string& variable : spec.environment) set(environment, variable);
  if (spec.jobs > 1) set(environment, std::string(kJobVariable) + "0000");
  if (!spec.launch_variable.empty()) set(environment, spec.launch_variable + "=" + value);
  if (spec.has_region) set(environment, std::string(kRegionVariable) + "=");
  return environment;
}

}  // namespace lauka::os
