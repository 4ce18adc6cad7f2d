#include "os/clock.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/signals.h"
#include "os/users.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {

namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kAfterInterrupt = std::chrono::milliseconds(200);
constexpr nanoseconds kDyingAside = std::chrono::seconds(2);

bool become_for_good(const User& user) {
  return join_groups_of(user) == 0 && setgid(user.group) == 0 && setuid(user.id) == 0;
}

struct AsideFiles {
  int null;
  int output;
};

/// Turns the forked child into the program. System calls alone.
[[noreturn]] void become_program(const char* path, char* const* argv, char* const* environment,
                                 const std::optional<User>& user, AsideFiles files, pid_t parent) {
  setpgid(0, 0);
  if (!user || become_for_good(*user)) {
    when_parent_dies(SIGKILL);  // after the change of user, which undoes it
    for (const int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_DFL);
    const bool has_files = dup2(files.null, STDIN_FILENO) >= 0 &&
                           dup2(files.output, STDOUT_FILENO) >= 0 &&
                           dup2(files.null, STDERR_FILENO) >= 0;
    if (has_files && getppid() == parent) execve(path, argv, environment);
  }
  _exit(127);
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

/// Adds `variable` at the end, and removes others of its name: of two, some programs take the first
/// and some the last.
void set(std::vector<std::string>& environment, const std::string& variable) {
  std::erase_if(environment,
                [&](const std::string& other) { return name_of(other) == name_of(variable); });
  environment.push_back(variable);
}

}  // namespace

void ProgramAside::begin(const ProgramSpec& spec, nanoseconds timeout) {
  const auto path = find_program_of(spec);
  const Descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
  output_ = Descriptor(open_anonymous_file());
  if (!path || !null || !output_) return;
  std::vector<std::string> words = spec.words;
  std::vector<std::string> variables;
  if (!is_own_environment(spec)) variables = environment_of(spec, "");
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> environment = pointers_to(variables);
  char* const* const given = variables.empty() ? environ : environment.data();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0)
    become_program(path->c_str(), argv.data(), given, spec.user, {null.get(), output_.get()},
                   parent);
  if (pid < 0) return;
  setpgid(pid, pid);  // by whichever of the two processes is first
  pid_ = pid;
  deadline_ = MonotonicClock().now() + timeout;
}

/// It stays a zombie, so that its id is not reused.
bool ProgramAside::has_ended_until(nanoseconds deadline) const {
  constexpr nanoseconds pause = std::chrono::microseconds(100);
  const MonotonicClock clock;
  for (bool is_cut_short = false;;) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != 0)
      return true;
    const nanoseconds now = clock.now();
    if (!is_cut_short && interrupt() != 0) {
      is_cut_short = true;
      deadline = std::min(deadline, now + kAfterInterrupt);
    }
    if (now >= deadline) return false;
    sleep_for(pause);
  }
}

std::string ProgramAside::take(std::size_t most_bytes) {
  if (pid_ == 0) return {};
  if (!has_ended_until(deadline_)) {
    kill_it();
    return {};
  }
  int status = 0;
  const bool has_succeeded = waitpid(std::exchange(pid_, 0), &status, 0) > 0 && WIFEXITED(status) &&
                             WEXITSTATUS(status) == 0;
  const off_t size = lseek(output_.get(), 0, SEEK_END);
  if (!has_succeeded || size <= 0) return {};
  std::string written(std::min(static_cast<std::size_t>(size), most_bytes), '\0');
  written.resize(read_at(output_.get(), 0, written));
  return written;
}

void ProgramAside::kill_it() {
  if (pid_ == 0) return;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  if (has_ended_until(MonotonicClock().now() + kDyingAside)) waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

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
    std::error_code error;  // like cd: links stay
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
