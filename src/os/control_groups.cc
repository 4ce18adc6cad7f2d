#include "os/control_groups.h"

#include "core/numbers.h"
#include "core/text.h"
#include "os/setting_files.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

// Control groups: a group for each run, and the limits of lauka's own group. A group with processes
// cannot pass the memory controller on to its children, unless it is the root group. So the groups
// for runs are made in an ancestor of lauka's own group, or in the root group.

namespace lauka::os {
namespace {

constexpr std::string_view kGroupPrefix = "lauka-";
constexpr const char* kScopeRemedy =
    "start lauka with systemd-run --user --scope, or as root with systemd-run --scope";
constexpr const char* kVersion2Remedy =
    "boot this machine with cgroup v2 alone (systemd.unified_cgroup_hierarchy=1) and Linux 5.19 or "
    "later";
constexpr const char* kKernelRemedy = "use Linux 5.19 or later";

/// Takes the place of a controller's name where the only hierarchy of version 2 is meant. In
/// version 1, each controller names its own hierarchy.
constexpr std::string_view kVersion2 = "";

std::string read_text(SettingFiles& files, const std::string& path) {
  return files.read(path).value_or("");
}

struct HierarchyMount {
  std::string root;    // the group that is mounted; "/" for the whole hierarchy
  std::string folder;  // where it is mounted
};

/// Returns the path of a process's group from the text of /proc/PID/cgroup. The line of version 2
/// is "0::/x" (`controller` is kVersion2); a line of version 1 is "4:cpu,cpuacct:/x".
std::optional<std::string> find_group_in(std::string_view cgroup, std::string_view controller) {
  for (const std::string_view line : split(cgroup, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second >= line.size()) continue;
    const auto controllers = split(line.substr(first + 1, second - first - 1), ',');
    const bool is_wanted = controller.empty()
                               ? line.starts_with("0::/")
                               : std::ranges::find(controllers, controller) != controllers.end();
    if (is_wanted) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

/// Finds the mount of a hierarchy in the text of /proc/PID/mountinfo. A line is "30 23 0:26 /
/// /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw". `controller`: may be kVersion2.
std::optional<HierarchyMount> find_mount_in(std::string_view mountinfo,
                                            std::string_view controller) {
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::size_t end = line.find(controller.empty() ? " - cgroup2 " : " - cgroup ");
    if (end == std::string_view::npos) continue;
    const auto options = split(line.substr(line.rfind(' ') + 1), ',');
    if (!controller.empty() && std::ranges::find(options, controller) == options.end()) continue;

    const auto fields = split(line, ' ');
    constexpr std::size_t root_at = 3;
    constexpr std::size_t folder_at = 4;
    if (fields.size() > folder_at)
      return HierarchyMount{std::string(fields[root_at]), std::string(fields[folder_at])};
  }
  return std::nullopt;
}

/// Returns the path of `group` below the folder of its hierarchy: "" for the mounted group itself.
/// Returns nullopt if the group cannot be seen there.
std::optional<std::string> path_below(const HierarchyMount& mount, const std::string& group) {
  const bool is_below =
      mount.root == "/" || group == mount.root || group.starts_with(mount.root + "/");
  if (!is_below || group.find("/..") != std::string::npos) return std::nullopt;
  std::string below = mount.root == "/" ? group : group.substr(mount.root.size());
  while (below.ends_with('/')) below.pop_back();
  return below;
}

std::string read_own_proc_file(SettingFiles& files, std::string_view name) {
  return read_text(files, "/proc/" + std::to_string(files.own_pid()) + "/" + std::string(name));
}

bool is_memory_passed_on(SettingFiles& files, const std::string& folder) {
  return has_word(read_text(files, folder + "/cgroup.subtree_control"), "memory");
}

class RunGroups final : public MemoryGroups {
 public:
  RunGroups(SettingFiles& files, std::string folder, std::string own)
      : files_(files), folder_(std::move(folder)), own_folder_(std::move(own)) {}

  ~RunGroups() override {
    if (!current_.empty()) unremoved_.push_back(current_);
    for (const std::string& group : unremoved_) {
      if (remove(group)) continue;

      // Processes that outlived their run go on in lauka's group, because a group with processes
      // cannot be removed.
      const std::string pids = read_text(files_, group + "/cgroup.procs");
      for (const std::string_view pid : split(pids, '\n'))
        if (!pid.empty()) files_.write(own_folder_ + "/cgroup.procs", pid);
      remove(group);
    }
  }

  Result<std::string> begin() override {
    const std::string group = folder_ + "/" + std::string(kGroupPrefix) +
                              std::to_string(files_.own_pid()) + "-" + std::to_string(number_++);
    if (const int error = files_.make_folder(group); error != 0)
      return Error{"lauka cannot make a control group: " + std::generic_category().message(error),
                   error == EROFS ? "mount /sys/fs/cgroup for writing" : kScopeRemedy};
    current_ = group;
    return group + "/cgroup.procs";
  }

  std::optional<std::uint64_t> end() override {
    if (current_.empty()) return std::nullopt;
    const std::string group = std::exchange(current_, "");
    const auto peak = parse_number(trimmed(read_text(files_, group + "/memory.peak")));
    if (!remove(group)) unremoved_.push_back(group);
    return peak > 0 ? peak : std::nullopt;  // false without a peak, too
  }

  /// Removes the groups that other laukas left, which have ended.
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
  /// Returns true if the group no longer exists.
  bool remove(const std::string& group) const {
    const int error = files_.remove(group);
    return error == 0 || error == ENOENT;
  }

  SettingFiles& files_;
  std::string folder_;
  std::string own_folder_;
  std::string current_;
  std::vector<std::string> unremoved_;
  unsigned number_ = 0;
};

Error make_unmeasured_error(const Error& reason) {
  return reason.prefixed("tree_peak_memory cannot be measured");
}

/// Returns why no groups for runs can be made in `folder`; nullopt if they can. Tries it with a
/// group of `groups`.
std::optional<Error> find_obstacle_in(SettingFiles& files, const std::string& folder,
                                      RunGroups& groups) {
  if (!is_memory_passed_on(files, folder))
    return Error{"no control group above lauka's passes on the memory controller", kScopeRemedy};
  if (files.check_writable(folder + "/cgroup.procs") != 0)
    return Error{"the control groups that lauka could use belong to somebody else",
                 "start lauka as root, or with systemd-run --user --scope"};
  const auto procs_file = groups.begin();
  if (!procs_file) return procs_file.error();
  const std::string group = procs_file->substr(0, procs_file->rfind('/'));
  const bool has_peak = files.read(group + "/memory.peak").has_value();
  static_cast<void>(groups.end());
  if (has_peak) return std::nullopt;
  return Error{"this kernel does not report the peak memory of a control group", kKernelRemedy};
}

/// The folders of lauka's own group and its ancestors, each of which may limit lauka.
struct LimitingGroups {
  bool is_version_2 = false;
  std::vector<std::string> folders{};  // lauka's own group first; empty if they cannot be seen
};

LimitingGroups find_limiting_groups(const LinuxCalls& calls, std::string_view controller) {
  const std::string cgroup = calls.read_file("/proc/self/cgroup").value_or("");
  const std::string mounts = calls.read_file("/proc/self/mountinfo").value_or("");
  LimitingGroups limiting{!find_group_in(cgroup, controller)};
  const std::string_view hierarchy = limiting.is_version_2 ? std::string_view() : controller;
  const auto own = find_group_in(cgroup, hierarchy);
  const auto mount = find_mount_in(mounts, hierarchy);
  auto below = own && mount ? path_below(*mount, *own) : std::nullopt;
  while (below) {
    limiting.folders.push_back(mount->folder + *below);
    if (below->empty()) break;
    below->resize(below->rfind('/'));
  }
  return limiting;
}

std::optional<std::uint64_t> read_number(const LinuxCalls& calls, const std::string& path) {
  return parse_number(trimmed(calls.read_file(path).value_or("")));
}

/// Returns how many CPUs a group may use at a time, such as 0.5; nullopt without a limit.
std::optional<double> read_quota(const LinuxCalls& calls, bool is_version_2,
                                 const std::string& folder) {
  std::optional<std::uint64_t> quota;
  std::optional<std::uint64_t> period;
  if (is_version_2) {
    const std::string text = calls.read_file(folder + "/cpu.max").value_or("");
    const auto words = blank_separated(text);  // "50000 100000" or "max 100000"
    if (words.size() != 2) return std::nullopt;
    quota = parse_number(words[0]);
    period = parse_number(words[1]);
  } else {
    quota = read_number(calls, folder + "/cpu.cfs_quota_us");
    period = read_number(calls, folder + "/cpu.cfs_period_us");
  }
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::uint64_t stat_value(const std::string& stat, std::string_view name) {
  return parse_number(find_value(stat, name, ' ').value_or("")).value_or(0);
}

std::optional<std::uint64_t> read_physical_memory(const LinuxCalls& calls) {
  const std::string text =
      find_value(calls.read_file("/proc/meminfo").value_or(""), "MemTotal", ':').value_or("");
  const auto words = blank_separated(text);
  constexpr std::uint64_t kibibyte = 1024;
  const auto number = words.empty() ? std::nullopt : parse_number(words.front());
  return number ? std::optional(*number * kibibyte) : std::nullopt;
}

template <typename T>
void keep_smaller(std::optional<T>& least, const std::optional<T>& other) {
  if (other && (!least || *other < *least)) least = other;
}

/// A control group, and where its hierarchy is mounted.
struct MountedGroup {
  std::string hierarchy;  // the folder of the mount
  std::string path;       // of the group below that folder; "" for the mounted group itself
};

/// Returns lauka's own group, or why groups for runs cannot be made above it.
Result<MountedGroup> find_own_group(SettingFiles& files) {
  const std::string cgroup = read_own_proc_file(files, "cgroup");
  const auto mount = find_mount_in(read_own_proc_file(files, "mountinfo"), kVersion2);
  const auto own_group = find_group_in(cgroup, kVersion2);

  // A controller works in only one hierarchy. If version 1 has this one, version 2 lacks it.
  const bool has_version_1_memory = find_group_in(cgroup, "memory").has_value();
  if (has_version_1_memory)
    return Error{"the memory controller belongs to cgroup v1 here", kVersion2Remedy};
  if (!mount || !own_group) return Error{"this system does not use cgroup v2", kVersion2Remedy};

  auto own_path = path_below(*mount, *own_group);
  if (!own_path)
    return Error{"lauka's own control group is not visible here",
                 "start lauka where all of /sys/fs/cgroup is visible, for example outside of "
                 "the container"};
  return MountedGroup{.hierarchy = mount->folder, .path = *std::move(own_path)};
}

/// Opens groups for runs in the nearest ancestor of lauka's own group that takes them, from its
/// parent to the root group, whose path is "". If lauka is in the root group, tries that alone.
Result<std::unique_ptr<MemoryGroups>> open_groups_above(SettingFiles& files,
                                                        const MountedGroup& own) {
  // Processes that outlive their run are moved there.
  const std::string own_folder = own.hierarchy + own.path;
  std::string ancestor_path = own.path;
  std::optional<Error> reported_obstacle;

  while (true) {
    // Goes up to the parent. The root group has none.
    const bool is_root_group = ancestor_path.empty();
    if (!is_root_group) ancestor_path.resize(ancestor_path.rfind('/'));

    const std::string folder = own.hierarchy + ancestor_path;
    auto groups = std::make_unique<RunGroups>(files, folder, own_folder);

    std::optional<Error> obstacle = find_obstacle_in(files, folder, *groups);
    if (!obstacle) {
      groups->remove_stale();
      return std::unique_ptr<MemoryGroups>(std::move(groups));
    }

    // Only one obstacle is reported. A group that passes on the memory controller was nearly
    // usable, so its obstacle helps the user most.
    if (!reported_obstacle || is_memory_passed_on(files, folder))
      reported_obstacle = std::move(obstacle);

    const bool is_last_ancestor = ancestor_path.empty();
    if (is_last_ancestor) return *reported_obstacle;
  }
}

}  // namespace

// If each run has a control group, the kernel measures the peak memory of all its processes
// together. These groups cannot be made in lauka's own group, because it has processes. So this
// looks for the nearest ancestor that takes them.
Result<std::unique_ptr<MemoryGroups>> open_memory_groups(SettingFiles* files) {
  if (files == nullptr)
    return make_unmeasured_error({"this system has no control groups", kKernelRemedy});
  const auto own = find_own_group(*files);
  if (!own) return make_unmeasured_error(own.error());
  auto groups = open_groups_above(*files, *own);
  if (!groups) return make_unmeasured_error(groups.error());
  return groups;
}

Allowance read_allowance(const LinuxCalls& calls) {
  Allowance allowance{.cpus = calls.allowed_cpus()};
  const LimitingGroups of_cpu = find_limiting_groups(calls, "cpu");
  for (const std::string& folder : of_cpu.folders)
    keep_smaller(allowance.cpu_quota, read_quota(calls, of_cpu.is_version_2, folder));
  const LimitingGroups of_memory = find_limiting_groups(calls, "memory");
  const char* const file = of_memory.is_version_2 ? "/memory.max" : "/memory.limit_in_bytes";
  for (const std::string& folder : of_memory.folders)
    keep_smaller(allowance.memory_limit, read_number(calls, folder + file));

  // Version 1 has a huge limit in place of none.
  if (const auto all = read_physical_memory(calls); all && allowance.memory_limit >= *all)
    allowance.memory_limit.reset();
  return allowance;
}

std::vector<QuotaWait> read_throttling(const LinuxCalls& calls) {
  constexpr std::uint64_t ns_per_us = 1000;
  std::vector<QuotaWait> all;
  const LimitingGroups of_cpu = find_limiting_groups(calls, "cpu");
  for (const std::string& folder : of_cpu.folders) {
    if (!read_quota(calls, of_cpu.is_version_2, folder)) continue;
    const std::string stat = calls.read_file(folder + "/cpu.stat").value_or("");
    all.push_back({stat_value(stat, "nr_periods"), stat_value(stat, "nr_throttled"),
                   of_cpu.is_version_2 ? stat_value(stat, "throttled_usec") * ns_per_us
                                       : stat_value(stat, "throttled_time")});
  }
  return all;
}

}  // namespace lauka::os
