#include "core/text.h"
#include "os/machine.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

// Compiled everywhere: it knows files, not Linux.

namespace lauka::os {
namespace {

const std::string kCpuFolder = "/sys/devices/system/cpu";

class Files {
 public:
  explicit Files(const LinuxCalls& calls) : calls_(calls) {}

  /// Without the line's end; none where there is no such file or nothing in it.
  std::optional<std::string> line(const std::string& path) const {
    auto text = calls_.read_file(path);
    if (!text) return std::nullopt;
    text->erase(std::min(text->find('\n'), text->size()));
    text->erase(text->find_last_not_of(" \t") + 1);
    if (text->empty()) return std::nullopt;
    return text;
  }

  std::string text(const std::string& path) const {
    return calls_.read_file(path).value_or(std::string());
  }

  std::vector<std::string> folder(const std::string& path) const {
    return calls_.list_folder(path);
  }

 private:
  const LinuxCalls& calls_;
};

double number_of(std::string_view word) {
  return std::strtod(std::string(word).c_str(), nullptr);
}

void probe_clock(const Files& files, MachineFacts& facts) {
  const std::string folder = "/sys/devices/system/clocksource/clocksource0/";
  facts.clock_source = files.line(folder + "current_clocksource");
  const std::string available = files.text(folder + "available_clocksource");
  for (const std::string_view name : blank_separated(available)) {
    if (name == "tsc" || name == "kvm-clock") facts.better_clock_sources.emplace_back(name);
  }
}

void probe_governors(const Files& files, MachineFacts& facts) {
  std::map<std::string, std::size_t> cpus;
  for (const std::string& name : files.folder(kCpuFolder)) {
    if (!name.starts_with("cpu") || name.size() < 4 || name[3] < '0' || name[3] > '9') continue;
    std::string folder = kCpuFolder;
    folder.append("/").append(name).append("/cpufreq/");
    const auto governor = files.line(folder + "scaling_governor");
    if (!governor) continue;
    ++cpus[*governor];
    if (facts.governor_driver.empty())
      facts.governor_driver = files.line(folder + "scaling_driver").value_or("");
  }
  for (const auto& [governor, count] : cpus) facts.governors.push_back({governor, count});
}

void probe_turbo(const Files& files, MachineFacts& facts) {
  if (const auto off = files.line(kCpuFolder + "/intel_pstate/no_turbo")) {
    facts.turbo =
        SwitchFacts{*off == "0", "echo 1 | sudo tee " + kCpuFolder + "/intel_pstate/no_turbo"};
  } else if (const auto boost = files.line(kCpuFolder + "/cpufreq/boost")) {
    facts.turbo = SwitchFacts{*boost == "1", "echo 0 | sudo tee " + kCpuFolder + "/cpufreq/boost"};
  }
}

void probe_smt(const Files& files, MachineFacts& facts) {
  const auto active = files.line(kCpuFolder + "/smt/active");
  if (!active) return;
  const auto control = files.line(kCpuFolder + "/smt/control");
  const bool can_be_switched = control && (*control == "on" || *control == "off");
  facts.smt = SwitchFacts{
      *active == "1", can_be_switched ? "echo off | sudo tee " + kCpuFolder + "/smt/control" : ""};
}

void probe_load(const Files& files, MachineFacts& facts) {
  const std::string load_text = files.text("/proc/loadavg");
  const auto load = blank_separated(load_text);
  if (!load.empty()) facts.load = number_of(load.front());
  // Version 2 of control groups, as a container sees its own.
  const std::string quota_text = files.text("/sys/fs/cgroup/cpu.max");
  const auto quota = blank_separated(quota_text);
  if (quota.size() == 2 && quota[0] != "max") {
    const double period = number_of(quota[1]);
    if (period > 0) facts.cpu_quota = number_of(quota[0]) / period;
  }
}

void probe_power(const Files& files, MachineFacts& facts) {
  const std::string folder = "/sys/class/power_supply";
  for (const std::string& name : files.folder(folder)) {
    std::string supply = folder;
    supply.append("/").append(name).append("/");
    const auto type = files.line(supply + "type");
    // The battery of a mouse has the scope "Device".
    if (!type || files.line(supply + "scope").value_or("") == "Device") continue;
    if (*type == "Battery" && files.line(supply + "status").value_or("") == "Discharging")
      facts.on_battery = true;
    if ((*type == "Mains" || *type == "USB") && files.line(supply + "online").value_or("") == "1" &&
        !facts.on_battery)
      facts.on_battery = false;
  }
  const auto profile = files.line("/sys/firmware/acpi/platform_profile");
  if (profile && (*profile == "low-power" || *profile == "quiet" || *profile == "cool"))
    facts.power_saving = profile;
}

/// Fraction of CPU time since the start that the hypervisor gave to others.
std::optional<double> stolen_of(const std::string& stat) {
  const auto words = blank_separated(std::string_view(stat).substr(0, stat.find('\n')));
  if (words.size() < 9 || words.front() != "cpu") return std::nullopt;
  double sum = 0.0;  // user nice system idle iowait irq softirq steal
  for (std::size_t i = 1; i <= 8; ++i) sum += number_of(words[i]);
  if (sum <= 0.0) return std::nullopt;
  return number_of(words[8]) / sum;
}

/// Who sells the machine, where that is a hypervisor.
std::optional<std::string> hypervisor_of(const Files& files) {
  if (auto type = files.line("/sys/hypervisor/type")) return type;
  const std::string dmi = "/sys/class/dmi/id/";
  const std::string vendor = files.line(dmi + "sys_vendor").value_or("");
  const std::string product = files.line(dmi + "product_name").value_or("");
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNames = {{
      {"QEMU", "QEMU"},
      {"KVM", "KVM"},
      {"VMware", "VMware"},
      {"VirtualBox", "VirtualBox"},
      {"innotek", "VirtualBox"},
      {"Xen", "Xen"},
      {"Microsoft Corporation Virtual Machine", "Hyper-V"},
      {"Amazon EC2", "Amazon EC2"},
      {"Google Compute Engine", "Google Compute Engine"},
  }};
  const std::string both = vendor + " " + product;
  for (const auto& [mark, name] : kNames) {
    if (both.find(mark) != std::string::npos) return std::string(name);
  }
  return std::nullopt;
}

void probe_virtual(const Files& files, const std::string& cpuinfo, MachineFacts& facts) {
  // x86 says by a flag whether there is a hypervisor; Arm does not.
  const auto flags = value_of(cpuinfo, "flags", ':');
  facts.hypervisor = hypervisor_of(files);
  if (flags) {
    const bool flagged = has_word(*flags, "hypervisor");
    facts.knows_hypervisor = true;
    // A cloud's machine may be a real one ("metal"), which has no such flag.
    if (!flagged) facts.hypervisor.reset();
    if (flagged && !facts.hypervisor) facts.hypervisor = std::string();
  } else {
    facts.knows_hypervisor = facts.hypervisor.has_value();
  }
  if (facts.hypervisor) facts.stolen = stolen_of(files.text("/proc/stat"));
  for (const auto& [path, name] :
       {std::pair("/.dockerenv", "Docker"), std::pair("/run/.containerenv", "Podman")}) {
    const std::string whole(path);
    const std::size_t slash = whole.rfind('/');
    const auto names = files.folder(slash == 0 ? "/" : whole.substr(0, slash));
    if (std::ranges::find(names, whole.substr(slash + 1)) != names.end()) facts.container = name;
  }
  if (const auto systemd = files.line("/run/systemd/container"); systemd && !facts.container)
    facts.container = systemd;
}

}  // namespace

void add_linux_class(const LinuxCalls& calls, MachineFacts& facts) {
  const Files files(calls);
  probe_governors(files, facts);
  probe_virtual(files, files.text("/proc/cpuinfo"), facts);
}

MachineFacts linux_facts(const LinuxCalls& calls) {
  const Files files(calls);
  MachineFacts facts;
  probe_clock(files, facts);
  probe_turbo(files, facts);
  probe_smt(files, facts);
  probe_load(files, facts);
  probe_power(files, facts);
  add_linux_class(calls, facts);
  if (const auto aslr = files.line("/proc/sys/kernel/randomize_va_space"))
    facts.aslr = *aslr != "0";
  return facts;
}

}  // namespace lauka::os
