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
constexpr const char* kScope =
    "start lauka with systemd-run --user --scope, or as root with systemd-run --scope";
constexpr const char* kUseVersion2 =
    "boot this machine with cgroup v2 alone (systemd.unified_cgroup_hierarchy=1) and Linux 5.19 or "
    "later";
constexpr const char* kNewKernel = "use Linux 5.19 or later";

std::string read_text(SettingFiles& files, const std::string& path) {
  return files.read(path).value_or("");
}

struct Mount {
  std::string root;
  std::string folder;
};

/// Returns the path of a process's group from the text of /proc/PID/cgroup. An empty `controller`
/// means version 2, with the line "0::/x"; a line of version 1 is "4:cpu,cpuacct:/x".
std::optional<std::string> group_in(std::string_view cgroup, std::string_view controller) {
  for (const std::string_view line : split(cgroup, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second >= line.size()) continue;
    const auto controllers = split(line.substr(first + 1, second - first - 1), ',');
    const bool is_it = controller.empty()
                           ? line.starts_with("0::/")
                           : std::ranges::find(controllers, controller) != controllers.end();
    if (is_it) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

/// Finds the mount of a hierarchy in the text of /proc/PID/mountinfo. A line is "30 23 0:26 /
/// /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw". An empty `controller` means version 2.
std::optional<Mount> mount_in(std::string_view mountinfo, std::string_view controller) {
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::size_t end = line.find(controller.empty() ? " - cgroup2 " : " - cgroup ");
    if (end == std::string_view::npos) continue;
    const auto options = split(line.substr(line.rfind(' ') + 1), ',');
    if (!controller.empty() && std::ranges::find(options, controller) == options.end()) continue;
    const auto fields = split(line, ' ');
    constexpr std::size_t root = 3;
    if (fields.size() > root + 1)
      return Mount{std::string(fields[root]), std::string(fields[root + 1])};
  }
  return std::nullopt;
}

std::optional<std::string> path_below(const Mount& mount, const std::string& group) {
  const bool is_below =
      mount.root == "/" || group == mount.root || group.starts_with(mount.root + "/");
  if (!is_below || group.find("/..") != std::string::npos) return std::nullopt;
  std::string below = mount.root == "/" ? group : group.substr(mount.root.size());
  while (below.ends_with('/')) below.pop_back();
  return below;
}

std::string file_of_process(SettingFiles& files, std::string_view name) {
  return read_text(files, "/proc/" + std::to_string(files.own_pid()) + "/" + std::string(name));
}

bool hands_memory_on(SettingFiles& files, const std::string& folder) {
  return has_word(read_text(files, folder + "/cgroup.subtree_control"), "memory");
}

class Groups final : public MemoryGroups {
 public:
  Groups(SettingFiles& files, std::string folder, std::string own)
      : files_(files), folder_(std::move(folder)), own_(std::move(own)) {}

  ~Groups() override {
    if (!current_.empty()) left_.push_back(current_);
    for (const std::string& group : left_) {
      if (remove(group)) continue;
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
      return Error{"lauka cannot make a control group: " + std::generic_category().message(error),
                   error == EROFS ? "mount /sys/fs/cgroup for writing" : kScope};
    current_ = group;
    return group + "/cgroup.procs";
  }

  std::optional<std::uint64_t> end() override {
    if (current_.empty()) return std::nullopt;
    const std::string group = std::exchange(current_, "");
    const auto peak = parse_number(trimmed(read_text(files_, group + "/memory.peak")));
    if (!remove(group)) left_.push_back(group);
    return peak > 0 ? peak : std::nullopt;
  }

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
  std::string folder_;
  std::string own_;
  std::string current_;
  std::vector<std::string> left_;
  unsigned number_ = 0;
};

Error tree_peak_unmeasured(const Error& reason) {
  return reason.prefixed("tree_peak_memory cannot be measured");
}

std::optional<Error> why_not_in(SettingFiles& files, const std::string& folder, Groups& groups) {
  if (!hands_memory_on(files, folder))
    return Error{"no control group above lauka's passes on the memory controller", kScope};
  if (files.check_writable(folder + "/cgroup.procs") != 0)
    return Error{"the control groups that lauka could use belong to somebody else",
                 "start lauka as root, or with systemd-run --user --scope"};
  const auto made = groups.begin();
  if (!made) return made.error();
  const std::string group = made->substr(0, made->rfind('/'));
  const bool has_peak = files.read(group + "/memory.peak").has_value();
  static_cast<void>(groups.end());
  if (has_peak) return std::nullopt;
  return Error{"this kernel does not report the peak memory of a control group", kNewKernel};
}

struct Limiting {
  bool is_version_2 = false;
  std::vector<std::string> folders{};
};

Limiting find_limiting(const LinuxCalls& calls, std::string_view controller) {
  const std::string cgroup = calls.read_file("/proc/self/cgroup").value_or("");
  const std::string mounts = calls.read_file("/proc/self/mountinfo").value_or("");
  Limiting limiting{!group_in(cgroup, controller)};
  const std::string_view hierarchy = limiting.is_version_2 ? std::string_view() : controller;
  const auto own = group_in(cgroup, hierarchy);
  const auto mount = mount_in(mounts, hierarchy);
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

std::uint64_t value_in(const std::string& stat, std::string_view name) {
  return parse_number(find_value(stat, name, ' ').value_or("")).value_or(0);
}

std::optional<std::uint64_t> read_memory(const LinuxCalls& calls) {
  const std::string text =
      find_value(calls.read_file("/proc/meminfo").value_or(""), "MemTotal", ':').value_or("");
  const auto words = blank_separated(text);
  constexpr std::uint64_t kibibyte = 1024;
  const auto number = words.empty() ? std::nullopt : parse_number(words.front());
  return number ? std::optional(*number * kibibyte) : std::nullopt;
}

template <typename T>
void take_smaller(std::optional<T>& least, const std::optional<T>& other) {
  if (other && (!least || *other < *least)) least = other;
}

}  // namespace

Result<std::unique_ptr<MemoryGroups>> open_memory_groups(SettingFiles* files) {
  if (files == nullptr)
    return tree_peak_unmeasured({"this system has no control groups", kNewKernel});

  const std::string cgroup = file_of_process(*files, "cgroup");
  const auto mount = mount_in(file_of_process(*files, "mountinfo"), "");
  const auto own_group = group_in(cgroup, "");

  if (group_in(cgroup, "memory"))
    return tree_peak_unmeasured({"the memory controller belongs to cgroup v1 here", kUseVersion2});
  if (!mount || !own_group)
    return tree_peak_unmeasured({"this system does not use cgroup v2", kUseVersion2});

  const auto own_path = path_below(*mount, *own_group);
  if (!own_path)
    return tree_peak_unmeasured(
        {"lauka's own control group is not visible here",
         "start lauka where all of /sys/fs/cgroup is visible, for example outside of "
         "the container"});

  const std::string own_folder = mount->folder + *own_path;
  std::string path = *own_path;
  std::optional<Error> reason;

  // Tries the ancestors of lauka's own group, from its parent to the root group, whose path is "".
  while (true) {
    const std::size_t parent_size = path.empty() ? 0 : path.rfind('/');
    path.resize(parent_size);
    const std::string folder = mount->folder + path;
    auto groups = std::make_unique<Groups>(*files, folder, own_folder);

    std::optional<Error> why_not_here = why_not_in(*files, folder, *groups);
    if (!why_not_here) {
      groups->remove_stale();
      return std::unique_ptr<MemoryGroups>(std::move(groups));
    }

    // A group that passes on the memory controller was nearly usable, so the user learns what its
    // obstacle is.
    if (!reason || hands_memory_on(*files, folder)) reason = std::move(why_not_here);
    if (path.empty()) return tree_peak_unmeasured(*reason);
  }
}

Allowance read_allowance(const LinuxCalls& calls) {
  Allowance allowance{.cpus = calls.allowed_cpus()};
  const Limiting of_cpu = find_limiting(calls, "cpu");
  for (const std::string& folder : of_cpu.folders)
    take_smaller(allowance.cpu_quota, read_quota(calls, of_cpu.is_version_2, folder));
  const Limiting of_memory = find_limiting(calls, "memory");
  const char* const file = of_memory.is_version_2 ? "/memory.max" : "/memory.limit_in_bytes";
  for (const std::string& folder : of_memory.folders)
    take_smaller(allowance.memory_limit, read_number(calls, folder + file));
  if (const auto all = read_memory(calls); all && allowance.memory_limit >= *all)
    allowance.memory_limit.reset();
  return allowance;
}

std::vector<QuotaWait> read_throttling(const LinuxCalls& calls) {
  constexpr std::uint64_t ns_per_us = 1000;
  std::vector<QuotaWait> all;
  const Limiting of_cpu = find_limiting(calls, "cpu");
  for (const std::string& folder : of_cpu.folders) {
    if (!read_quota(calls, of_cpu.is_version_2, folder)) continue;
    const std::string stat = calls.read_file(folder + "/cpu.stat").value_or("");
    all.push_back({value_in(stat, "nr_periods"), value_in(stat, "nr_throttled"),
                   of_cpu.is_version_2 ? value_in(stat, "throttled_usec") * ns_per_us
                                       : value_in(stat, "throttled_time")});
  }
  return all;
}

}  // namespace lauka::os
