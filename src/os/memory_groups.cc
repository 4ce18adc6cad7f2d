#include "core/numbers.h"
#include "core/text.h"
#include "os/setting_files.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

// A group can be made next to lauka's own, below one that passes the memory controller on to its
// children: a group with processes in it cannot do that itself, unless it is the root.

namespace lauka::os {
namespace {

constexpr std::string_view kGroupPrefix = "lauka-";
constexpr const char* kScope =
    "start lauka with systemd-run --user --scope, as root with systemd-run --scope";
constexpr const char* kUseVersion2 =
    "boot this machine with cgroup v2 alone (systemd.unified_cgroup_hierarchy=1), Linux 5.19 or "
    "later";
constexpr const char* kNewKernel = "use Linux 5.19 or later";

std::string read_text(SettingFiles& files, const std::string& path) {
  return files.read(path).value_or("");
}

/// The control groups of lauka's process.
struct OwnGroups {
  std::optional<std::string> group{};   ///< in version 2, below the root of the hierarchy
  bool is_memory_in_version_1 = false;  ///< the memory controller, which version 2 lacks then
};

/// "0::/x", and with version 1 "4:memory:/x".
OwnGroups find_own(SettingFiles& files) {
  OwnGroups own;
  const std::string text = read_text(files, "/proc/" + std::to_string(files.own_pid()) + "/cgroup");
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("0::/") && !own.group) own.group = line.substr(3);
    const auto fields = split(line, ':');
    if (fields.size() < 2) continue;
    const auto controllers = split(fields[1], ',');
    own.is_memory_in_version_1 |= std::ranges::find(controllers, "memory") != controllers.end();
  }
  return own;
}

struct Mount {
  std::string root;  ///< the hierarchy, as far as visible
  std::string folder;
};

/// "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw"
std::optional<Mount> mount_of_groups(SettingFiles& files) {
  const std::string text =
      read_text(files, "/proc/" + std::to_string(files.own_pid()) + "/mountinfo");
  for (const std::string_view line : split(text, '\n')) {
    if (line.find(" - cgroup2 ") == std::string_view::npos) continue;
    const auto fields = split(line, ' ');
    constexpr std::size_t root = 3;
    if (fields.size() > root + 1)
      return Mount{std::string(fields[root]), std::string(fields[root + 1])};
  }
  return std::nullopt;
}

bool hands_memory_on(SettingFiles& files, const std::string& folder) {
  return has_word(read_text(files, folder + "/cgroup.subtree_control"), "memory");
}

std::optional<std::uint64_t> read_peak(SettingFiles& files, const std::string& group) {
  const auto text = files.read(group + "/memory.peak");
  if (!text) return std::nullopt;
  const auto bytes =
      parse_whole_number(trimmed(*text), 0, std::numeric_limits<std::uint64_t>::max());
  return bytes ? std::optional(*bytes) : std::nullopt;
}

class Groups final : public MemoryGroups {
 public:
  Groups(SettingFiles& files, std::string folder, std::string own)
      : files_(files), folder_(std::move(folder)), own_(std::move(own)) {}

  ~Groups() override {
    if (!current_.empty()) left_.push_back(current_);
    for (const std::string& group : left_) {
      if (remove(group)) continue;
      // Remaining processes of a run continue in lauka's own group.
      const std::string pids = read_text(files_, group + "/cgroup.procs");
      for (const std::string_view pid : split(pids, '\n'))
        if (!pid.empty()) files_.write(own_ + "/cgroup.procs", pid);
      remove(group);
    }
  }

  Result<std::string> begin() override {
    const std::string group = folder_ + "/" + std::string(kGroupPrefix) +
                              std::to_string(files_.own_pid()) + "-" + std::to_string(number_++);
    if (const int error = files_.make_folder(group); error != 0)
      return Error{"no control group can be made: " + std::generic_category().message(error),
                   error == EROFS ? "mount /sys/fs/cgroup for writing" : kScope};
    current_ = group;
    return group + "/cgroup.procs";
  }

  std::optional<std::uint64_t> end() override {
    if (current_.empty()) return std::nullopt;
    const std::string group = std::exchange(current_, "");
    const auto peak = read_peak(files_, group);
    if (!remove(group)) left_.push_back(group);
    // Groups without a process are not charged any more, and read as 0.
    return peak && *peak > 0 ? peak : std::nullopt;
  }

  /// Removes groups of killed laukas; the system keeps those with processes.
  void remove_stale() const {
    for (const std::string& name : files_.list(folder_)) {
      if (!name.starts_with(kGroupPrefix)) continue;
      const std::string_view pid = std::string_view(name).substr(kGroupPrefix.size());
      const auto number =
          parse_whole_number(pid.substr(0, pid.find('-')), 1, std::numeric_limits<int>::max());
      if (number && !files_.is_alive(static_cast<int>(*number))) remove(folder_ + "/" + name);
    }
  }

 private:
  bool remove(const std::string& group) const {
    const int error = files_.remove(group);
    return error == 0 || error == ENOENT;
  }

  SettingFiles& files_;
  std::string folder_;  // the groups are made in it
  std::string own_;
  std::string current_;
  std::vector<std::string> left_;
  unsigned number_ = 0;
};

Error missing(const Error& error) {
  return error.prefixed("tree_peak_memory cannot be measured");
}

/// Returns why groups in `folder` would not work; nullopt if they would.
std::optional<Error> why_not_in(SettingFiles& files, const std::string& folder, Groups& groups) {
  if (!hands_memory_on(files, folder))
    return Error{"no control group above lauka's hands the memory controller on", kScope};
  if (files.check_writable(folder + "/cgroup.procs") != 0)
    return Error{"the control groups that could be used belong to somebody else",
                 "start lauka as root, or with systemd-run --user --scope"};
  const auto made = groups.begin();
  if (!made) return made.error();
  const std::string group = made->substr(0, made->rfind('/'));
  const bool has_peak = files.read(group + "/memory.peak").has_value();
  static_cast<void>(groups.end());
  if (has_peak) return std::nullopt;
  return Error{"this kernel does not tell the peak of a control group", kNewKernel};
}

}  // namespace

Result<std::unique_ptr<MemoryGroups>> open_memory_groups(SettingFiles* files) {
  if (files == nullptr) return missing({"this system has no control groups", kNewKernel});
  const auto mount = mount_of_groups(*files);
  const auto [own, is_memory_in_version_1] = find_own(*files);
  if (is_memory_in_version_1)
    return missing({"the memory controller belongs to cgroup v1 here", kUseVersion2});
  if (!mount || !own) return missing({"cgroup v2 is not in use here", kUseVersion2});
  const bool is_below =
      mount->root == "/" || *own == mount->root || own->starts_with(mount->root + "/");
  if (!is_below || own->find("/..") != std::string::npos)
    return missing({"lauka's own control group is not visible here",
                    "start lauka where all of /sys/fs/cgroup is visible, such as outside of the "
                    "container"});
  std::string below = mount->root == "/" ? *own : own->substr(mount->root.size());
  while (below.ends_with('/')) below.pop_back();
  const std::string own_folder = mount->folder + below;
  std::optional<Error> why;
  while (true) {
    below.resize(below.empty() ? 0 : below.rfind('/'));
    const std::string folder = mount->folder + below;
    auto groups = std::make_unique<Groups>(*files, folder, own_folder);
    std::optional<Error> why_not = why_not_in(*files, folder, *groups);
    if (!why_not) {
      groups->remove_stale();
      return std::unique_ptr<MemoryGroups>(std::move(groups));
    }
    if (!why || hands_memory_on(*files, folder)) why = std::move(why_not);
    if (below.empty()) return missing(*why);
  }
}

}  // namespace lauka::os
