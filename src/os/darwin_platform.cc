#include "os/clock.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"
#include "os/mac_queries.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/setting_files.h"
#include "os/spawning_launcher.h"
#include "os/this_machine.h"
#include "os/users.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace lauka::os {

const LinuxCalls* linux_calls() {
  return nullptr;
}

std::unique_ptr<SettingFiles> open_setting_files(const std::string& /*root*/) {
  return nullptr;
}

Descriptor open_anonymous_file() {
  std::array<char, 1024> folder{};
  const std::size_t bytes = confstr(_CS_DARWIN_USER_TEMP_DIR, folder.data(), folder.size());
  std::string path = bytes > 0 && bytes <= folder.size() ? folder.data() : "/tmp/";
  path += "lauka-standard-error.XXXXXX";
  Descriptor file(mkostemp(path.data(), O_CLOEXEC | O_APPEND));
  if (file) unlink(path.c_str());
  return file;
}

Descriptor open_shared_memory(off_t size) {
  // macOS lets the size of shared memory be set only once, so lauka's mapping stays valid.
  constexpr int attempts = 100;
  for (int i = 0; i < attempts; ++i) {
    const std::string name = "/lauka." + std::to_string(arc4random());
    Descriptor file(shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR));
    if (!file && errno == EEXIST) continue;
    if (!file) break;
    shm_unlink(name.c_str());
    return ftruncate(file.get(), size) == 0 ? std::move(file) : Descriptor();
  }
  return {};
}

void free_front_space(int fd, off_t size, off_t keep) {
  struct stat file {};
  if (size <= keep || fstat(fd, &file) != 0 || file.st_blksize <= 0) return;
  fpunchhole_t hole{};
  hole.fp_length = (size - keep) / file.st_blksize * file.st_blksize;
  if (hole.fp_length > 0) fcntl(fd, F_PUNCHHOLE, &hole);
}

int join_groups(const User& user) {
  // initgroups, unlike setgroups, also covers memberships beyond kMaxGroups.
  if (initgroups(user.name.c_str(), static_cast<int>(user.group)) == 0) return 0;
  const std::size_t count = std::min<std::size_t>(user.groups.size(), kMaxGroups);
  return setgroups(static_cast<int>(count), user.groups.data());
}

void signal_after_parent_death(int /*signal_number*/) {}

pid_t start_child(void (*become)(void* data), void* data) {
  const pid_t pid = fork();
  if (pid == 0) become(data);
  return pid;
}

void unblock_signals_in_child(const sigset_t& mask) {
  sigprocmask(SIG_SETMASK, &mask, nullptr);
}

int open_unnamed(const char* /*folder*/) {
  errno = ENOTSUP;
  return -1;
}

int name_unnamed(int /*fd*/, const char* /*path*/) {
  errno = ENOTSUP;
  return -1;
}

bool is_mount_point(const char* /*path*/) {
  return false;  // on macOS, only folders can be mount points
}

void take_account(User& user) {
  const passwd* entry = getpwuid(user.id);
  if (entry == nullptr) return;
  user.name = entry->pw_name;
  user.home = entry->pw_dir;
  std::array<int, 1024> groups{};
  int count = static_cast<int>(groups.size());
  const int error =
      getgrouplist(user.name.c_str(), static_cast<int>(entry->pw_gid), groups.data(), &count);
  user.groups.assign(groups.begin(), groups.begin() + (error < 0 ? 0 : count));
}

std::optional<std::chrono::nanoseconds> scheduler_tick() {
  return std::nullopt;
}

Result<std::unique_ptr<Launcher>> start_launcher(ExitHandler /*after_lauka*/) {
  return start_spawning_launcher(*darwin_calls());
}

std::optional<Priority> own_priority() {
  errno = 0;
  const int nice = getpriority(PRIO_PROCESS, 0);
  if (errno != 0) return std::nullopt;
  return Priority{nice, ""};
}

void describe_cpu(Machine& machine) {
  const DarwinCalls& calls = *darwin_calls();
  machine.cpu_model = sysctl_text(calls, "machdep.cpu.brand_string").value_or("");
  // Only Intel's processors have these; the name of Apple's says all.
  const auto family = sysctl_number(calls, "machdep.cpu.family");
  const auto model = sysctl_number(calls, "machdep.cpu.model");
  const auto stepping = sysctl_number(calls, "machdep.cpu.stepping");
  if (family && model && stepping)
    machine.cpu_identity =
        fmt::format("family {}, model {}, stepping {}", *family, *model, *stepping);
}

int stop_signal_of_descendant(pid_t /*root*/) {
  return 0;
}

std::string os_name() {
  const std::string version = sysctl_text(*darwin_calls(), "kern.osproductversion").value_or("");
  return version.empty() ? "macOS" : "macOS " + version;
}

}  // namespace lauka::os
