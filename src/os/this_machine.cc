#include "os/this_machine.h"

#include "core/text.h"
#include "os/clock.h"
#include "os/control_groups.h"
#include "os/mac_queries.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace lauka::os {

namespace {

Machine make_machine(const MachineFacts& facts) {
  Machine machine = facts.machine;
  utsname names{};
  if (uname(&names) == 0) {
    machine.name = std::data(names.nodename);
    machine.system = std::data(names.sysname);
    machine.kernel = std::data(names.release);
    machine.architecture = std::data(names.machine);
  }
  machine.os = os_name();
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  machine.cpus = online > 0 ? static_cast<unsigned>(online) : 0;
  if (machine.cpu_model.empty()) describe_cpu(machine);
  for (const CpuCountByName& governor : facts.governors)
    machine.governor += (machine.governor.empty() ? "" : ", ") + governor.name;
  if (facts.hypervisor)
    machine.hypervisor = facts.hypervisor->empty() ? "unknown" : *facts.hypervisor;
  return machine;
}

/// The features by which glibc chooses the functions of a program's libc, in the words of
/// /proc/cpuinfo: those of x86, then those of Arm.
constexpr auto kFeaturesOfLibc = std::to_array<std::string_view>(
    {"ssse3", "sse4_1", "sse4_2", "popcnt",  "movbe",   "abm",      "bmi1",     "bmi2",
     "fma",   "fma4",   "avx",    "avx2",    "avx512f", "avx512bw", "avx512vl", "erms",
     "fsrm",  "rtm",    "xsavec", "atomics", "sve",     "sve2",     "mops",     "mte"});

constexpr const char* kCpuFolder = "/sys/devices/system/cpu";

std::string cpu_file(std::string_view name) {
  return fmt::format("{}/{}", kCpuFolder, name);
}

/// Returns the first line of a file, without blanks at its end; nullopt if it is missing or empty.
std::optional<std::string> read_first_line(const LinuxCalls& calls, const std::string& path) {
  auto text = calls.read_file(path);
  if (!text) return std::nullopt;
  text->erase(std::min(text->find('\n'), text->size()));
  text->erase(text->find_last_not_of(" \t") + 1);
  if (text->empty()) return std::nullopt;
  return text;
}

std::string read_text(const LinuxCalls& calls, const std::string& path) {
  return calls.read_file(path).value_or("");
}

double to_number(std::string_view word) {
  return std::strtod(std::string(word).c_str(), nullptr);
}

void probe_clock(const LinuxCalls& calls, MachineFacts& facts) {
  const std::string folder = "/sys/devices/system/clocksource/clocksource0/";
  facts.clock_source = read_first_line(calls, folder + "current_clocksource");
  const std::string available = read_text(calls, folder + "available_clocksource");
  for (const std::string_view name : blank_separated(available)) {
    if (name == "tsc" || name == "kvm-clock") facts.good_clock_sources.emplace_back(name);
  }
}

void probe_governors(const LinuxCalls& calls, MachineFacts& facts) {
  std::map<std::string, std::size_t> cpus;
  for (const std::string& name : calls.list_folder(kCpuFolder)) {
    // The folder also has cpufreq, cpuidle and others.
    if (!name.starts_with("cpu") || name.size() < 4 || name[3] < '0' || name[3] > '9') continue;
    const std::string folder = cpu_file(name) + "/cpufreq/";
    const auto governor = read_first_line(calls, folder + "scaling_governor");
    if (!governor) continue;
    ++cpus[*governor];
    if (facts.governor_driver.empty())
      facts.governor_driver = read_first_line(calls, folder + "scaling_driver").value_or("");
  }
  for (const auto& [governor, count] : cpus) facts.governors.push_back({governor, count});
}

void probe_turbo(const LinuxCalls& calls, MachineFacts& facts) {
  const std::string no_turbo = cpu_file("intel_pstate/no_turbo");
  const std::string boost = cpu_file("cpufreq/boost");
  if (const auto off = read_first_line(calls, no_turbo))
    facts.turbo = SwitchFacts{*off == "0", "echo 1 | sudo tee " + no_turbo};
  else if (const auto on = read_first_line(calls, boost))
    facts.turbo = SwitchFacts{*on == "1", "echo 0 | sudo tee " + boost};
}

void probe_smt(const LinuxCalls& calls, MachineFacts& facts) {
  const auto active = read_first_line(calls, cpu_file("smt/active"));
  if (!active) return;
  const auto control = read_first_line(calls, cpu_file("smt/control"));
  const bool can_be_switched = control && (*control == "on" || *control == "off");
  facts.smt = SwitchFacts{*active == "1",
                          can_be_switched ? "echo off | sudo tee " + cpu_file("smt/control") : ""};
}

void probe_power(const LinuxCalls& calls, MachineFacts& facts) {
  const std::string folder = "/sys/class/power_supply";
  for (const std::string& name : calls.list_folder(folder)) {
    const std::string supply = fmt::format("{}/{}/", folder, name);
    const auto type = read_first_line(calls, supply + "type");
    // The scope "Device" means the battery of a mouse or the like.
    if (!type || read_first_line(calls, supply + "scope").value_or("") == "Device") continue;
    if (*type == "Battery" &&
        read_first_line(calls, supply + "status").value_or("") == "Discharging")
      facts.on_battery = true;
    if ((*type == "Mains" || *type == "USB") &&
        read_first_line(calls, supply + "online").value_or("") == "1" && !facts.on_battery)
      facts.on_battery = false;
  }
  const auto profile = read_first_line(calls, "/sys/firmware/acpi/platform_profile");
  if (profile && (*profile == "low-power" || *profile == "quiet" || *profile == "cool"))
    facts.power_saving = profile;
}

/// Returns the share of the time since the boot in which the hypervisor ran something else, from
/// the text of /proc/stat; nullopt if it does not tell.
std::optional<double> parse_stolen_share(const std::string& stat) {
  // "cpu", then the times: user nice system idle iowait irq softirq steal. What follows steal is a
  // part of user and nice.
  constexpr std::size_t steal_at = 8;
  const auto words = blank_separated(std::string_view(stat).substr(0, stat.find('\n')));
  if (words.size() <= steal_at || words.front() != "cpu") return std::nullopt;
  double sum = 0.0;
  for (std::size_t i = 1; i <= steal_at; ++i) sum += to_number(words[i]);
  if (sum <= 0.0) return std::nullopt;
  return to_number(words[steal_at]) / sum;
}

/// Words of the firmware of virtual machines, and the hypervisor that uses them. The first match
/// counts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kHypervisorNames = {{
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

/// Returns the name of the hypervisor under which this machine runs; nullopt if there is none that
/// lauka knows.
std::optional<std::string> find_hypervisor(const LinuxCalls& calls) {
  // Only some hypervisors, such as Xen, tell the kernel their name.
  if (auto type = read_first_line(calls, "/sys/hypervisor/type")) return type;

  // Others show in what the firmware of the virtual machine says about its maker and model (DMI).
  const std::string dmi = "/sys/class/dmi/id/";
  const std::string vendor = read_first_line(calls, dmi + "sys_vendor").value_or("");
  const std::string product = read_first_line(calls, dmi + "product_name").value_or("");

  const std::string vendor_and_product = vendor + " " + product;
  for (const auto& [firmware_words, name] : kHypervisorNames)
    if (vendor_and_product.find(firmware_words) != std::string::npos) return std::string(name);
  return std::nullopt;
}

void probe_hypervisor(const LinuxCalls& calls, const std::string& cpuinfo, MachineFacts& facts) {
  // x86 has a CPU flag for a hypervisor; Arm has no flags, so that without a name nothing is known.
  const auto flags = find_value(cpuinfo, "flags", ':');
  facts.hypervisor = find_hypervisor(calls);
  facts.hypervisor_is_certain = flags || facts.hypervisor;

  // A physical machine in a cloud may have the cloud's name, but lacks the flag. An empty name
  // means a hypervisor that lauka does not know.
  if (flags && !has_word(*flags, "hypervisor"))
    facts.hypervisor.reset();
  else if (flags && !facts.hypervisor)
    facts.hypervisor = std::string();
}

void probe_container(const LinuxCalls& calls, MachineFacts& facts) {
  for (const auto& [folder, file, name] :
       {std::tuple("/", ".dockerenv", "Docker"), std::tuple("/run", ".containerenv", "Podman")}) {
    const auto names = calls.list_folder(folder);
    if (std::ranges::find(names, file) != names.end()) facts.container = name;
  }
  if (const auto systemd = read_first_line(calls, "/run/systemd/container");
      systemd && !facts.container)
    facts.container = systemd;
}

std::optional<double> read_load(const DarwinCalls& calls) {
  // struct loadavg of macOS: the averages over 1, 5 and 15 minutes, multiplied by a scale.
  struct Load {
    std::array<std::uint32_t, 3> fixed{};
    std::int64_t scale = 0;
  } load;
  static_assert(sizeof(Load) == 24);
  std::size_t length = sizeof load;
  if (calls.sysctlbyname("vm.loadavg", &load, &length, nullptr, 0) != 0) return std::nullopt;
  if (length != sizeof load || load.scale <= 0) return std::nullopt;
  return static_cast<double>(load.fixed[0]) / static_cast<double>(load.scale);
}

std::vector<CpuCountByName> list_core_kinds(const DarwinCalls& calls) {
  std::vector<CpuCountByName> kinds;
  const std::int64_t levels = sysctl_number(calls, "hw.nperflevels").value_or(0);
  for (std::int64_t level = 0; level < levels && level < 8; ++level) {
    const std::string prefix = "hw.perflevel" + std::to_string(level) + ".";
    const auto cpus = sysctl_number(calls, prefix + "logicalcpu");
    const auto name = sysctl_text(calls, prefix + "name");
    if (cpus && *cpus > 0)
      kinds.push_back(
          {name.value_or("level " + std::to_string(level)), static_cast<std::size_t>(*cpus)});
  }
  return kinds;
}

/// True if the machine runs on battery; nullopt if unknown. IOKit returns -2 on external power.
std::optional<bool> is_on_battery(const DarwinCalls& calls) {
  static constexpr double kExternalPower = -2.0;
  void* library =
      calls.dlopen("/System/Library/Frameworks/IOKit.framework/Versions/A/IOKit", kLoadLazily);
  void* symbol =
      library != nullptr ? calls.dlsym(library, "IOPSGetTimeRemainingEstimate") : nullptr;
  if (symbol == nullptr) return std::nullopt;
  using EstimateCall = double (*)();
  EstimateCall estimate_time_left = nullptr;
  static_assert(sizeof estimate_time_left == sizeof symbol);
  std::memcpy(&estimate_time_left, &symbol, sizeof estimate_time_left);
  return estimate_time_left() != kExternalPower;
}

/// Returns the id of the process that owns tracing; 0 if none. Ignores a process that has ended,
/// and a process that owns tracing in the background.
std::int64_t find_owner_of_tracing(const DarwinCalls& calls) {
  constexpr std::int64_t foreground = 1;
  if (sysctl_number(calls, "ktrace.state").value_or(0) != foreground) return 0;
  const std::int64_t pid = sysctl_number(calls, "ktrace.owning_pid").value_or(0);
  std::array<char, 64> name{};
  const bool lives =
      pid > 0 && calls.proc_name(static_cast<int>(pid), name.data(), name.size()) > 0;
  return lives ? pid : 0;
}

TracingFacts probe_tracing(const DarwinCalls& calls) {
  TracingFacts tracing;
  const auto threads = sysctl_number(calls, "kpc.thread_counting");
  tracing.readable = threads.has_value();
  tracing.thread_counting = threads.value_or(0) != 0;
  tracing.owner_pid = find_owner_of_tracing(calls);
  tracing.owner_name = sysctl_text(calls, "ktrace.configured_by").value_or("");
  return tracing;
}

/// Returns the value of a key of /proc/cpuinfo; "" if it is missing.
std::string cpuinfo_value(std::string_view cpuinfo, std::string_view key) {
  return find_value(cpuinfo, key, ':').value_or("");
}

/// Returns the numbers that tell two processors with one model name apart; "" if they are unknown.
/// x86 has a family, and Arm has an implementer.
std::string make_cpu_identity(std::string_view cpuinfo) {
  const auto value_of = [&](std::string_view key) { return cpuinfo_value(cpuinfo, key); };
  const std::string family = value_of("cpu family");
  const std::string implementer = value_of("CPU implementer");
  if (!family.empty())
    return fmt::format("family {}, model {}, stepping {}", family, value_of("model"),
                       value_of("stepping"));
  if (implementer.empty()) return "";
  return fmt::format("implementer {}, part {}, variant {}, revision {}", implementer,
                     value_of("CPU part"), value_of("CPU variant"), value_of("CPU revision"));
}

/// Returns the features by which libc chooses its functions, because they affect times. x86 lists
/// the features as "flags", and Arm as "Features".
std::string select_cpu_features(std::string_view cpuinfo) {
  const std::string all_features =
      find_value(cpuinfo, "flags", ':').value_or(cpuinfo_value(cpuinfo, "Features"));
  std::string selected;
  for (const std::string_view feature : kFeaturesOfLibc)
    if (has_word(all_features, feature))
      selected.append(selected.empty() ? "" : " ").append(feature);
  return selected;
}

}  // namespace

Machine this_machine() {
  return make_machine({});
}

std::string parse_cpu_model(std::string_view cpuinfo) {
  for (const std::string_view key : {"model name", "cpu model", "Model", "cpu"}) {
    auto model = find_value(cpuinfo, key, ':');
    if (model && !model->empty()) return *std::move(model);
  }
  const std::string maker = cpuinfo_value(cpuinfo, "CPU implementer");
  const std::string part = cpuinfo_value(cpuinfo, "CPU part");
  return maker.empty() && part.empty() ? "" : "implementer " + maker + ", part " + part;
}

// Sets what /proc/cpuinfo tells about the processor. The keys depend on the architecture.
void take_cpuinfo(std::string_view cpuinfo, Machine& machine) {
  machine.cpu_model = parse_cpu_model(cpuinfo);  // a name for people
  if (std::string identity = make_cpu_identity(cpuinfo); !identity.empty())
    machine.cpu_identity = std::move(identity);
  machine.microcode = cpuinfo_value(cpuinfo, "microcode");
  machine.cpu_features = select_cpu_features(cpuinfo);
}

std::string parse_os_name(std::string_view os_release) {
  return find_value(os_release, "PRETTY_NAME", '=').value_or("");
}

std::string new_session_id() {
  std::array<std::uint32_t, 4> words{};
  if (getentropy(words.data(), sizeof words) != 0) {
    std::random_device random;
    for (std::uint32_t& word : words) word = random();
  }

  // Marks the id as random: version 4 and variant 10 of RFC 9562, 5.4.
  words[1] = (words[1] & 0xffff0fffU) | 0x4000U;
  words[2] = (words[2] & 0x3fffffffU) | 0x80000000U;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", words[0], words[1] >> 16U,
                     words[1] & 0xffffU, words[2] >> 16U, words[2] & 0xffffU, words[3]);
}

Machine this_machine_with_class_facts() {
  MachineFacts facts;
  if (const DarwinCalls* darwin_system = darwin_calls())
    add_darwin_class_facts(*darwin_system, facts);
  else
    add_linux_class_facts(*linux_calls(), facts);
  return make_machine(facts);
}

MachineFacts machine_facts() {
  const DarwinCalls* const darwin_system = darwin_calls();
  MachineFacts facts =
      darwin_system != nullptr ? darwin_facts(*darwin_system) : linux_facts(*linux_calls());
  facts.machine = make_machine(facts);
  facts.clock_step = MonotonicClock().resolution();
  return facts;
}

void add_linux_class_facts(const LinuxCalls& calls, MachineFacts& facts) {
  probe_governors(calls, facts);
  const std::string cpuinfo = read_text(calls, "/proc/cpuinfo");
  take_cpuinfo(cpuinfo, facts.machine);
  probe_hypervisor(calls, cpuinfo, facts);
}

MachineFacts linux_facts(const LinuxCalls& calls) {
  MachineFacts facts;
  probe_clock(calls, facts);
  probe_turbo(calls, facts);
  probe_smt(calls, facts);
  const std::string load = read_text(calls, "/proc/loadavg");
  if (const auto averages = blank_separated(load); !averages.empty())
    facts.load = to_number(averages.front());
  probe_power(calls, facts);
  add_linux_class_facts(calls, facts);
  if (facts.hypervisor) facts.stolen_share = parse_stolen_share(read_text(calls, "/proc/stat"));
  probe_container(calls, facts);
  facts.machine.allowance = read_allowance(calls);
  if (const auto aslr = read_first_line(calls, "/proc/sys/kernel/randomize_va_space"))
    facts.aslr = *aslr != "0";
  return facts;
}

void add_darwin_class_facts(const DarwinCalls& calls, MachineFacts& facts) {
  if (const auto virtual_machine = sysctl_number(calls, "kern.hv_vmm_present")) {
    facts.hypervisor_is_certain = true;
    if (*virtual_machine != 0) facts.hypervisor = std::string();
  }
}

MachineFacts darwin_facts(const DarwinCalls& calls) {
  MachineFacts facts;
  facts.is_linux = false;
  const auto logical = sysctl_number(calls, "hw.logicalcpu");
  const auto physical = sysctl_number(calls, "hw.physicalcpu");
  if (logical && physical) facts.smt = SwitchFacts{*logical > *physical, ""};
  facts.core_kinds = list_core_kinds(calls);
  facts.load = read_load(calls);
  facts.on_battery = is_on_battery(calls);
  add_darwin_class_facts(calls, facts);
  facts.aslr = true;
  facts.tracing = probe_tracing(calls);
  return facts;
}

}  // namespace lauka::os
