#pragma once

#include "core/machine.h"
#include "core/text.h"
#include "must.h"
#include "os/setting_files.h"
#include "tune/switches.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace lauka::tune {

/// The files of a machine, in a folder of its own, with what Linux makes of writes to them: a plain
/// file would keep the end of a longer value.
class FakeMachine final : public os::SettingFiles {
 public:
  using Tree = std::map<std::string, std::string>;

  explicit FakeMachine(const Tree& tree) {
    // In memory, as /run is: a disk would take seconds to keep the journals.
    const bool has_memory = std::filesystem::is_directory("/dev/shm");
    std::string folder = has_memory ? "/dev/shm/lauka-machine-XXXXXX" : "/tmp/lauka-machine-XXXXXX";
    root_ = mkdtemp(folder.data());
    for (const auto& [path, text] : tree) put(path, text);
    put("/proc/sys/kernel/random/boot_id", "boot-1\n");
    std::filesystem::create_directories(root_ + "/run");
    files_ = os::open_setting_files(root_);
  }
  FakeMachine(FakeMachine&&) = delete;
  FakeMachine& operator=(FakeMachine&&) = delete;
  ~FakeMachine() override { std::filesystem::remove_all(root_); }

  // What tests set.
  std::map<std::string, int> refused{};  ///< by path: errno of a write
  int pid = 4242;
  std::function<void()> before_change{};  ///< called before each call that changes something
  std::function<void(const std::string&, const std::string&)> on_write{};
  bool partitions_are_valid = true;
  bool tears_journal = false;     ///< the next append writes half of it
  bool moves_preference = false;  ///< as intel_pstate does when a governor changes
  bool stores_other_value = false;

  const std::string& root() const { return root_; }

  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::trunc) << text;
  }

  std::string get(const std::string& path) const {
    std::ifstream in(root_ + path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// All files with what is in them, settings as their values, and folders. What is written to the
  /// device of latencies is in force only as long as that is open.
  Tree tree() const {
    Tree all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      const std::string path = entry.path().string().substr(root_.size());
      const Switch* const row = find_switch(path);
      all[path] = entry.is_regular_file() ? get(path) : "folder";
      if (row != nullptr) all[path] = parse_value(row->form, all[path]).value_or("");
    }
    return all;
  }

  std::optional<std::string> read(const std::string& path) override { return files_->read(path); }
  Result<std::optional<std::string>> read_journal(const std::string& path) override {
    return files_->read_journal(path);
  }
  std::vector<std::string> list(const std::string& folder) override { return files_->list(folder); }
  int check_writable(const std::string& path) override {
    const auto found = refused.find("not writable " + path);
    if (found != refused.end()) return found->second;
    return files_->check_writable(path);
  }

  int write(const std::string& path, std::string_view text) override {
    changing();
    if (on_write) on_write(path, std::string(text));
    if (const auto found = refused.find(path); found != refused.end()) return found->second;
    if (files_->check_writable(path) != 0) return ENOENT;
    put(path, stored(path, std::string(text)));
    const std::string governor = "/scaling_governor";
    if (moves_preference && path.ends_with(governor)) {
      const std::string preference =
          path.substr(0, path.size() - governor.size()) + "/energy_performance_preference";
      if (files_->read(preference))
        put(preference, text == "performance" ? "performance\n" : "default\n");
    }
    return 0;
  }

  int append(const std::string& path, std::string_view text) override {
    changing();
    if (std::exchange(tears_journal, false)) {
      files_->append(path, text.substr(0, text.size() / 2));
      changing();
    }
    return files_->append(path, text);
  }

  int make_folder(const std::string& path) override {
    changing();
    const int error = files_->make_folder(path);
    if (error == 0 && path.starts_with("/sys/fs/cgroup/")) {
      put(path + "/cpuset.cpus", "\n");
      put(path + "/cpuset.cpus.partition", "member\n");
      put(path + "/cgroup.procs", "");
    }
    return error;
  }

  int remove(const std::string& path) override {
    changing();
    if (path.starts_with("/sys/fs/cgroup/")) {
      if (!get(path + "/cgroup.procs").empty()) return EBUSY;
      return std::filesystem::remove_all(root_ + path) > 0 ? 0 : ENOENT;
    }
    return files_->remove(path);
  }

  int lock(const std::string& folder) override {
    changing();
    return files_->lock(folder);
  }
  void unlock() override {
    changing();
    files_->unlock();
  }
  int hold_latency(const std::string& device, std::int32_t latency_us) override {
    changing();
    return files_->hold_latency(device, latency_us);
  }
  void release_latency() override {
    changing();
    files_->release_latency();
  }
  int own_pid() override { return pid; }
  bool is_alive(int other) override { return other == pid || files_->is_alive(other); }
  void pause() override {}

 private:
  void changing() const {
    if (before_change) before_change();
  }

  std::string stored(const std::string& path, std::string text) const {
    if (path.ends_with("/enabled")) {
      std::string all = " always madvise never ";
      const std::size_t at = all.find(" " + text + " ");
      return all.replace(at, text.size() + 2, " [" + text + "] ").substr(1) + "\n";
    }
    if (path.ends_with("subtree_control"))
      return text == "+cpuset" ? "cpuset cpu memory\n" : "cpu memory\n";
    if (path.ends_with(".partition") && !partitions_are_valid)
      text += " invalid (Cpu list is empty)";
    if (path.ends_with("/cgroup.procs")) return get(path) + text + "\n";
    if (stores_other_value && path.ends_with("swappiness")) text = "1";
    return text + "\n";
  }

  std::string root_;
  std::unique_ptr<os::SettingFiles> files_;
};

// Shapes of real machines.

inline void add_cpus(FakeMachine::Tree& tree, const std::string& online,
                     const std::vector<std::string>& cores) {
  const std::string folder = "/sys/devices/system/cpu/";
  tree[folder + "online"] = online + "\n";
  for (std::size_t i = 0; i < cores.size(); ++i)
    tree[folder + "cpu" + std::to_string(i) + "/topology/core_cpus_list"] = cores[i] + "\n";
}

inline void add_policies(FakeMachine::Tree& tree, int count, const std::string& governor,
                         const std::string& preference = "", bool has_boost = false) {
  for (int i = 0; i < count; ++i) {
    const std::string policy = "/sys/devices/system/cpu/cpufreq/policy" + std::to_string(i) + "/";
    tree[policy + "scaling_governor"] = governor + "\n";
    tree[policy + "scaling_available_governors"] = "performance " + governor + "\n";
    if (!preference.empty()) {
      tree[policy + "energy_performance_preference"] = preference + "\n";
      tree[policy + "energy_performance_available_preferences"] =
          "default performance balance_performance power \n";
    }
    if (has_boost) tree[policy + "boost"] = "1\n";
  }
}

inline void add_kernel(FakeMachine::Tree& tree, const std::string& cpus, const std::string& mask) {
  tree["/proc/irq/default_smp_affinity"] = mask + "\n";
  for (const char* const irq : {"0", "9", "120", "121"})
    tree[std::string("/proc/irq/") + irq + "/smp_affinity_list"] = cpus + "\n";
  tree["/proc/irq/9/name"] = "acpi\n";
  tree["/sys/devices/virtual/workqueue/cpumask"] = mask + "\n";
  tree["/proc/sys/kernel/numa_balancing"] = "1\n";
  tree["/proc/sys/kernel/perf_event_max_sample_rate"] = "100000\n";
  tree["/proc/sys/kernel/timer_migration"] = "1\n";
  tree["/proc/sys/vm/swappiness"] = "60\n";
  tree["/sys/kernel/mm/transparent_hugepage/enabled"] = "always [madvise] never\n";
  tree["/sys/kernel/mm/ksm/run"] = "0\n";
  tree["/dev/cpu_dma_latency"] = "";
}

inline void add_groups(FakeMachine::Tree& tree, const std::string& handed_on) {
  tree["/sys/fs/cgroup/cgroup.controllers"] = "cpuset cpu io memory pids\n";
  tree["/sys/fs/cgroup/cgroup.subtree_control"] = handed_on + "\n";
  tree["/sys/fs/cgroup/cgroup.procs"] = "";
  tree["/proc/4242/cgroup"] = "0::/\n";
}

/// Two P cores with two CPUs each, four E cores.
inline FakeMachine::Tree intel_hybrid() {
  FakeMachine::Tree tree;
  add_cpus(tree, "0-7", {"0-1", "0-1", "2-3", "2-3", "4", "5", "6", "7"});
  add_policies(tree, 8, "powersave", "balance_performance");
  add_kernel(tree, "0-7", "ff");
  add_groups(tree, "cpu memory");
  tree["/sys/devices/system/cpu/intel_pstate/no_turbo"] = "0\n";
  tree["/sys/devices/system/cpu/smt/control"] = "on\n";
  tree["/proc/sys/kernel/nmi_watchdog"] = "1\n";
  tree["/proc/irq/120/smp_affinity_list"] = "2-3\n";
  return tree;
}

/// amd-pstate, a boost for each policy and one for all.
inline FakeMachine::Tree amd_with_boost() {
  FakeMachine::Tree tree;
  add_cpus(tree, "0-3", {"0,2", "1,3", "0,2", "1,3"});
  add_policies(tree, 4, "powersave", "balance_performance", true);
  tree["/sys/devices/system/cpu/cpufreq/policy1/boost"] = "0\n";
  tree["/sys/devices/system/cpu/cpufreq/boost"] = "1\n";
  add_kernel(tree, "0-3", "f");
  add_groups(tree, "cpuset cpu memory");
  tree["/sys/devices/system/cpu/smt/control"] = "on\n";
  tree["/proc/sys/kernel/nmi_watchdog"] = "1\n";
  return tree;
}

/// acpi-cpufreq without boost.
inline FakeMachine::Tree amd_without_boost() {
  FakeMachine::Tree tree;
  add_cpus(tree, "0-3", {"0", "1", "2", "3"});
  add_policies(tree, 4, "schedutil");
  add_kernel(tree, "0-3", "0000000f");
  tree["/sys/devices/system/cpu/smt/control"] = "notsupported\n";
  tree["/proc/sys/kernel/nmi_watchdog"] = "0\n";
  return tree;
}

/// Two nodes of four cores, one policy for each, more than 32 bits in a mask.
inline FakeMachine::Tree arm_server() {
  FakeMachine::Tree tree;
  add_cpus(tree, "0-7", {"0", "1", "2", "3", "4", "5", "6", "7"});
  add_policies(tree, 2, "ondemand");
  add_kernel(tree, "0-7", "00000000,000000ff");
  add_groups(tree, "cpu memory");
  tree["/sys/devices/system/node/node0/cpulist"] = "0-3\n";
  tree["/sys/devices/system/node/node1/cpulist"] = "4-7\n";
  tree["/sys/devices/system/cpu/smt/control"] = "notimplemented\n";
  return tree;
}

/// Two CPUs, no policy, cgroup v1.
inline FakeMachine::Tree virtual_machine() {
  FakeMachine::Tree tree;
  add_cpus(tree, "0-1", {"0", "1"});
  add_kernel(tree, "0-1", "3");
  tree["/proc/sys/kernel/nmi_watchdog"] = "0\n";
  tree["/sys/devices/system/cpu/smt/control"] = "notsupported\n";
  return tree;
}

/// A container that has nothing.
inline FakeMachine::Tree bare_container() {
  FakeMachine::Tree tree;
  tree["/sys/devices/system/cpu/online"] = "0-3\n";
  return tree;
}

struct SharedFields {
  const char* name;
  FakeMachine::Tree tree;
  std::vector<std::uint32_t> fastest{};
};

inline std::vector<SharedFields> shapes() {
  return {{"intel hybrid", intel_hybrid(), {0, 1, 2, 3}}, {"amd with boost", amd_with_boost()},
          {"amd without boost", amd_without_boost()},     {"arm server", arm_server()},
          {"virtual machine", virtual_machine()},         {"bare container", bare_container()}};
}

inline const TuneRequest kAllSwitches{
    .choices = {{"smt", true}, {"swap", true}, {"thp", true}, {"ksm", true}}};

/// Chooses the commands' CPUs where lauka may run on eight.
inline CpuChoice own_cpus_of(FakeMachine& machine, const std::vector<std::uint32_t>& fastest = {},
                             const TuneRequest& request = kAllSwitches) {
  return must(choose_cpus(machine, request, {{0, 1, 2, 3, 4, 5, 6, 7}, fastest}));
}

}  // namespace lauka::tune
