#include "core/text.h"
#include "os/machine.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/format.h>

// Compiled everywhere: it knows files, not Linux.

namespace lauka::os {
namespace {

constexpr const char* kCpuFolder = "/sys/devices/system/cpu";

std::string cpu_file(std::string_view name) {
  return fmt::format("{}/{}", kCpuFolder, name);
}

/// The first line of a file, without blanks at its end; none where there is no such file or nothing
/// in it.
std::optional<std::string> line_in(const LinuxCalls& calls, const std::string& path) {
  auto text = calls.read_file(path);
  if (!text) return std::nullopt;
  text->erase(std::min(text->find('\n'), text->size()));
  text->erase(text->find_last_not_of(" \t") + 1);
  if (text->empty()) return std::nullopt;
  return text;
}

std::string text_of(const LinuxCalls& calls, const std::string& path) {
  return calls.read_file(path).value_or("");
}

double number_of(std::string_view word) {
  return std::strtod(std::string(word).c_str(), nullptr);
}

void probe_clock(const LinuxCalls& calls, MachineFacts& facts) {
  const std::string folder = "/sys/devices/system/clocksource/clocksource0/";
  facts.clock_source = line_in(calls, folder + "current_clocksource");
  const std::string available = text_of(calls, folder + "available_clocksource");
  for (const std::string_view name : blank_separated(available)) {
    if (name == "tsc" || name == "kvm-clock") facts.better_clock_sources.emplace_back(name);
  }
}

void probe_governors(const LinuxCalls& calls, MachineFacts& facts) {
  std::map<std::string, std::size_t> cpus;
  for (const std::string& name : calls.list_folder(kCpuFolder)) {
    if (!name.starts_with("cpu") || name.size() < 4 || name[3] < '0' || name[3] > '9') continue;
    const std::string folder = cpu_file(name) + "/cpufreq/";
    const auto governor = line_in(calls, folder + "scaling_governor");
    if (!governor) continue;
    ++cpus[*governor];
    if (facts.governor_driver.empty())
      facts.governor_driver = line_in(calls, folder + "scaling_driver").value_or("");
  }
  for (const auto& [governor, count] : cpus) facts.governors.push_back({governor, count});
}

void probe_turbo(const LinuxCalls& calls, MachineFacts& facts) {
  if (const auto off = line_in(calls, cpu_file("intel_pstate/no_turbo"))) {
    facts.turbo =
        SwitchFacts{*off == "0", "echo 1 | sudo tee " + cpu_file("intel_pstate/no_turbo")};
  } else if (const auto boost = line_in(calls, cpu_file("cpufreq/boost"))) {
    facts.turbo = SwitchFacts{*boost == "1", "echo 0 | sudo tee " + cpu_file("cpufreq/boost")};
  }
}

void probe_smt(const LinuxCalls& calls, MachineFacts& facts) {
  const auto active = line_in(calls, cpu_file("smt/active"));
  if (!active) return;
  const auto control = line_in(calls, cpu_file("smt/control"));
  const bool can_be_switched = control && (*control == "on" || *control == "off");
  facts.smt = SwitchFacts{*active == "1",
                          can_be_switched ? "echo off | sudo tee " + cpu_file("smt/control") : ""};
}

void probe_load(const LinuxCalls& calls, MachineFacts& facts) {
  const std::string load_text = text_of(calls, "/proc/loadavg");
  const auto load = blank_separated(load_text);
  if (!load.empty()) facts.load = number_of(load.front());
  // Version 2 of control groups, as a container sees its own.
  const std::string quota_text = text_of(calls, "/sys/fs/cgroup/cpu.max");
  const auto quota = blank_separated(quota_text);
  if (quota.size() == 2 && quota[0] != "max") {
    const double period = number_of(quota[1]);
    if (period > 0) facts.cpu_quota = number_of(quota[0]) / period;
  }
}

void probe_power(const LinuxCalls& calls, MachineFacts& facts) {
  const std::string folder = "/sys/class/power_supply";
  for (const std::string& name : calls.list_folder(folder)) {
    std::string supply = folder;
    supply.append("/").append(name).append("/");
    const auto type = line_in(calls, supply + "type");
    // The battery of a mouse has the scope "Device".
    if (!type || line_in(calls, supply + "scope").value_or("") == "Device") continue;
    if (*type == "Battery" && line_in(calls, supply + "status").value_or("") == "Discharging")
      facts.on_battery = true;
    if ((*type == "Mains" || *type == "USB") &&
        line_in(calls, supply + "online").value_or("") == "1" && !facts.on_battery)
      facts.on_battery = false;
  }
  const auto profile = line_in(calls, "/sys/firmware/acpi/platform_profile");
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

/// Returns the vendor of the machine, if that is a hypervisor.
std::optional<std::string> hypervisor_of(const LinuxCalls& calls) {
  if (auto type = line_in(calls, "/sys/hypervisor/type")) return type;
  const std::string dmi = "/sys/class/dmi/id/";
  const std::string vendor = line_in(calls, dmi + "sys_vendor").value_or("");
  const std::string product = line_in(calls, dmi + "product_name").value_or("");
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

void probe_hypervisor(const LinuxCalls& calls, const std::string& cpuinfo, MachineFacts& facts) {
  // x86 has a flag for a hypervisor; Arm has not.
  const auto flags = value_of(cpuinfo, "flags", ':');
  facts.hypervisor = hypervisor_of(calls);
  if (flags) {
    const bool flagged = has_word(*flags, "hypervisor");
    facts.knows_hypervisor = true;
    // A cloud's machine may be a real one ("metal"), which has no such flag.
    if (!flagged) facts.hypervisor.reset();
    if (flagged && !facts.hypervisor) facts.hypervisor = std::string();
  } else {
    facts.knows_hypervisor = facts.hypervisor.has_value();
  }
}

void probe_container(const LinuxCalls& calls, MachineFacts& facts) {
  for (const auto& [path, name] :
       {std::pair("/.dockerenv", "Docker"), std::pair("/run/.containerenv", "Podman")}) {
    const std::string whole(path);
    const std::size_t slash = whole.rfind('/');
    const auto names = calls.list_folder(slash == 0 ? "/" : whole.substr(0, slash));
    if (std::ranges::find(names, whole.substr(slash + 1)) != names.end()) facts.container = name;
  }
  if (const auto systemd = line_in(calls, "/run/systemd/container"); systemd && !facts.container)
    facts.container = systemd;
}

}  // namespace

void add_linux_class(const LinuxCalls& calls, MachineFacts& facts) {
  probe_governors(calls, facts);
  const std::string cpuinfo = text_of(calls, "/proc/cpuinfo");
  facts.machine.cpu_model = cpu_model_of(cpuinfo);
  probe_hypervisor(calls, cpuinfo, facts);
}

MachineFacts linux_facts(const LinuxCalls& calls) {
  MachineFacts facts;
  probe_clock(calls, facts);
  probe_turbo(calls, facts);
  probe_smt(calls, facts);
  probe_load(calls, facts);
  probe_power(calls, facts);
  add_linux_class(calls, facts);
  if (facts.hypervisor) facts.stolen = stolen_of(text_of(calls, "/proc/stat"));
  probe_container(calls, facts);
  if (const auto aslr = line_in(calls, "/proc/sys/kernel/randomize_va_space"))
    facts.aslr = *aslr != "0";
  return facts;
}

}  // namespace lauka::os
