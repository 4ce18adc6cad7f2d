#include "os/control_groups.h"

#include "fakes/fake_files.h"
#include "must.h"
#include "os/linux_calls.h"
#include "os/setting_files.h"

#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::os {
namespace {

/// A hierarchy of control groups in memory. One at a time.
class FakeGroups final : public SettingFiles {
 public:
  std::map<std::string, std::string> files{};
  std::set<std::string> folders{};
  std::set<std::string> unwritable{};
  std::map<std::string, std::string> joined{};  // by the file written to
  std::set<std::string> busy{};                 // groups that have processes
  std::set<int> alive{42};
  std::string peak = "1048576\n";
  bool has_peak = true;
  int make_error = 0;

  FakeGroups() {
    files["/proc/42/cgroup"] = "0::/user.slice/app.slice/x.scope\n";
    files["/proc/42/mountinfo"] =
        "22 1 8:1 / / rw - ext4 /dev/sda rw\n"
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    hand_on("/sys/fs/cgroup", "cpu memory pids\n");
    hand_on("/sys/fs/cgroup/user.slice", "memory\n");
    hand_on("/sys/fs/cgroup/user.slice/app.slice", "cpu memory\n");
  }

  void hand_on(const std::string& group, const std::string& controllers) {
    files[group + "/cgroup.subtree_control"] = controllers;
  }

  std::optional<std::string> read(const std::string& path) override {
    return fakes::text_in(files, path);
  }
  Result<std::optional<std::string>> read_journal(const std::string& path) override {
    return read(path);
  }
  int write(const std::string& path, std::string_view text) override {
    joined[path] += std::string(text) + " ";
    if (path.ends_with("/cgroup.procs")) busy.clear();
    return 0;
  }
  int make_folder(const std::string& path) override {
    if (make_error != 0) return make_error;
    if (!folders.insert(path).second) return EEXIST;
    if (has_peak) files[path + "/memory.peak"] = peak;
    return 0;
  }
  int remove(const std::string& path) override {
    if (busy.contains(path)) return EBUSY;
    return folders.erase(path) == 1 ? 0 : ENOENT;
  }
  int check_writable(const std::string& path) override {
    return unwritable.contains(path) ? EACCES : 0;
  }
  std::vector<std::string> list(const std::string& path) override {
    std::vector<std::string> names;
    for (const std::string& folder : folders)
      if (folder.starts_with(path + "/")) names.push_back(folder.substr(path.size() + 1));
    return names;
  }
  int own_pid() override { return 42; }
  bool is_alive(int pid) override { return alive.contains(pid); }

  int append(const std::string& /*path*/, std::string_view /*text*/) override { return ENOSYS; }
  int lock(const std::string& /*folder*/) override { return ENOSYS; }
  void unlock() override {}
  int hold_latency(const std::string& /*device*/, std::int32_t /*us*/) override { return ENOSYS; }
  void release_latency() override {}
  void pause() override {}
};

constexpr const char* kApp = "/sys/fs/cgroup/user.slice/app.slice";

/// Returns why no group can be made, without the beginning of all such lines.
std::string refusal(SettingFiles* files) {
  const auto groups = open_memory_groups(files);
  if (groups) return "opened";
  const std::string begin = "tree_peak_memory cannot be measured: ";
  REQUIRE(groups.error().what.starts_with(begin));
  return groups.error().line().substr(begin.size());
}

}  // namespace

TEST_CASE("each run gets a group of its own next to lauka's, whose peak is read and which goes") {
  FakeGroups fake;
  auto groups = must(open_memory_groups(&fake));
  const std::string first = must(groups->begin());
  CHECK(first.starts_with(std::string(kApp) + "/lauka-42-"));
  CHECK(first.ends_with("/cgroup.procs"));
  CHECK(fake.folders.size() == 1);
  CHECK(groups->end() == 1048576);
  CHECK(fake.folders.empty());
  CHECK(must(groups->begin()) != first);
  groups.reset();
  CHECK(fake.folders.empty());
}

TEST_CASE("what a run leaves in its group is moved to lauka's own when all is over") {
  FakeGroups fake;
  auto groups = must(open_memory_groups(&fake));
  const std::string procs = must(groups->begin());
  const std::string group = procs.substr(0, procs.rfind('/'));
  fake.busy.insert(group);
  fake.files[procs] = "77\n78\n";
  CHECK(groups->end() == 1048576);
  CHECK(fake.folders.size() == 1);
  groups.reset();
  CHECK(fake.folders.empty());
  CHECK(fake.joined[std::string(kApp) + "/x.scope/cgroup.procs"] == "77 78 ");
}

TEST_CASE("the groups of a killed lauka go, a living one's stay") {
  FakeGroups fake;
  fake.alive = {42, 7};
  fake.folders = {std::string(kApp) + "/lauka-7-0", std::string(kApp) + "/lauka-8-3",
                  std::string(kApp) + "/other"};
  REQUIRE(open_memory_groups(&fake));
  CHECK(fake.folders.size() == 2);
  CHECK_FALSE(fake.folders.contains(std::string(kApp) + "/lauka-8-3"));
}

TEST_CASE("the nearest group above lauka's that hands memory on is taken") {
  FakeGroups fake;
  fake.hand_on(kApp, "cpu pids\n");
  auto groups = must(open_memory_groups(&fake));
  CHECK(must(groups->begin()).starts_with("/sys/fs/cgroup/user.slice/lauka-42-"));
  fake.files["/proc/42/cgroup"] = "0::/\n";
  CHECK(must(must(open_memory_groups(&fake))->begin()).starts_with("/sys/fs/cgroup/lauka-42-"));
}

TEST_CASE("if no group can be made the reason is reported, with its remedy") {
  CHECK(refusal(nullptr).starts_with("this system has no control groups"));
  FakeGroups fake;
  fake.has_peak = false;
  CHECK(refusal(&fake) ==
        "this kernel does not report the peak memory of a control group; use Linux 5.19 or later");
  CHECK(fake.folders.empty());
  fake.make_error = EROFS;
  CHECK(
      refusal(&fake) ==
      "lauka cannot make a control group: Read-only file system; mount /sys/fs/cgroup for writing");
  for (const char* group : {"", "/user.slice", "/user.slice/app.slice"})
    fake.unwritable.insert("/sys/fs/cgroup" + std::string(group) + "/cgroup.procs");
  CHECK(refusal(&fake).starts_with(
      "the control groups that lauka could use belong to somebody else"));
  const std::string no_memory = "no control group above lauka's passes on the memory controller";
  for (const char* group : {"", "/user.slice", "/user.slice/app.slice"})
    fake.hand_on("/sys/fs/cgroup" + std::string(group), "cpu\n");
  CHECK(refusal(&fake).starts_with(no_memory));
  fake.files["/proc/42/cgroup"] = "0::/../elsewhere\n";
  CHECK(refusal(&fake).starts_with("lauka's own control group is not visible here"));
  fake.files["/proc/42/cgroup"] = "4:cpuset:/x\n";
  CHECK(refusal(&fake).starts_with("this system does not use cgroup v2"));
  // cgroup v1 may have the memory controller; the remedy helps root too.
  fake.files["/proc/42/cgroup"] = "5:devices:/\n4:memory:/x\n0::/\n";
  fake.hand_on("/sys/fs/cgroup", "\n");
  CHECK(refusal(&fake) ==
        "the memory controller belongs to cgroup v1 here; boot this machine with cgroup v2 alone "
        "(systemd.unified_cgroup_hierarchy=1) and Linux 5.19 or later");
  fake.files["/proc/42/cgroup"] = "0::/\n";
  CHECK(refusal(&fake).starts_with(no_memory));
}

namespace {

fakes::Files& tree() {
  static fakes::Files all;
  return all;
}

LinuxCalls calls_with(const fakes::Files& all) {
  tree() = all;
  LinuxCalls calls{};
  calls.read_file = [](const std::string& path) { return fakes::text_in(tree(), path); };
  calls.allowed_cpus = [] { return std::vector<std::uint32_t>{1, 3}; };
  return calls;
}

const std::string kRoot = "/sys/fs/cgroup";

/// Version 2: a service in a slice.
fakes::Files version_2() {
  return {{"/proc/self/cgroup", "0::/a.slice/b.service\n"},
          {"/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
          {"/proc/meminfo", "MemTotal:        8000000 kB\nMemFree:   1 kB\n"},
          {kRoot + "/a.slice/cpu.max", "max 100000\n"},
          {kRoot + "/a.slice/memory.max", "max\n"},
          {kRoot + "/a.slice/b.service/cpu.max", "150000 100000\n"},
          {kRoot + "/a.slice/b.service/memory.max", "2000000000\n"}};
}

/// Version 1: a container, whose hierarchies begin at its own group.
fakes::Files version_1() {
  return {{"/proc/self/cgroup", "9:memory:/docker/c\n4:cpu,cpuacct:/docker/c/in\n0::/\n"},
          {"/proc/self/mountinfo",
           "31 23 0:27 /docker/c /sys/fs/cgroup/memory ro shared:7 - cgroup cgroup rw,memory\n"
           "32 23 0:28 /docker/c /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
           "33 23 0:29 / /sys/fs/cgroup/unified ro - cgroup2 cgroup2 rw\n"},
          {"/proc/meminfo", "MemTotal:        8000000 kB\n"},
          {kRoot + "/memory/memory.limit_in_bytes", "1000000000\n"},
          {kRoot + "/cpu,cpuacct/cpu.cfs_quota_us", "50000\n"},
          {kRoot + "/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
          {kRoot + "/cpu,cpuacct/cpu.stat",
           "nr_periods 40\nnr_throttled 7\nthrottled_time 123456789\n"},
          {kRoot + "/cpu,cpuacct/in/cpu.cfs_quota_us", "-1\n"},
          {kRoot + "/cpu,cpuacct/in/cpu.cfs_period_us", "100000\n"}};
}

}  // namespace

TEST_CASE("the smallest quota and memory limit of lauka's group and those above it hold") {
  fakes::Files files = version_2();
  CHECK(read_allowance(calls_with(files)) == Allowance{{1, 3}, 1.5, 2'000'000'000});
  files[kRoot + "/a.slice/cpu.max"] = "20000 50000\n";
  files[kRoot + "/a.slice/memory.max"] = "1000000000\n";
  CHECK(read_allowance(calls_with(files)) == Allowance{{1, 3}, 0.4, 1'000'000'000});
  CHECK(read_allowance(calls_with(version_1())) == Allowance{{1, 3}, 0.5, 1'000'000'000});
}

TEST_CASE("a limit that grants all, or a group that is not visible, limits nothing") {
  fakes::Files files = version_2();
  files[kRoot + "/a.slice/b.service/cpu.max"] = "max 100000\n";
  files[kRoot + "/a.slice/b.service/memory.max"] = "8192000000\n";  // all of MemTotal
  CHECK(read_allowance(calls_with(files)) == Allowance{{1, 3}});
  files = version_2();
  files["/proc/self/cgroup"] = "0::/../other\n";
  CHECK(read_allowance(calls_with(files)) == Allowance{{1, 3}});
  CHECK(read_allowance(calls_with({})) == Allowance{{1, 3}});
  CHECK(read_throttling(calls_with({})).empty());
}

TEST_CASE("throttling is read of each group with a quota, and compared with what it was before") {
  const std::vector<QuotaWait> before = read_throttling(calls_with(version_1()));
  CHECK(before == std::vector<QuotaWait>{{40, 7, 123'456'789}});
  fakes::Files files = version_2();
  files[kRoot + "/a.slice/cpu.max"] = "200000 100000\n";
  files[kRoot + "/a.slice/cpu.stat"] =
      "usage_usec 9\nnr_periods 5\nnr_throttled 1\nthrottled_usec 10\n";
  files[kRoot + "/a.slice/b.service/cpu.stat"] =
      "nr_periods 3\nnr_throttled 2\nthrottled_usec 70\n";
  const std::vector<QuotaWait> now = read_throttling(calls_with(files));
  CHECK(now == std::vector<QuotaWait>{{3, 2, 70'000}, {5, 1, 10'000}});
  CHECK(longest_quota_wait({{1, 1, 20'000}, {1, 0, 0}}, now) == QuotaWait{2, 1, 50'000});
  CHECK_FALSE(longest_quota_wait(before, now).has_value());  // a quota came or went meanwhile
  CHECK_FALSE(longest_quota_wait({}, {}).has_value());
}

}  // namespace lauka::os
