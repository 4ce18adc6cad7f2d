#include "os/machine.h"

#include <array>
#include <cstring>

// Compiled everywhere: it knows the calls, not macOS.

namespace lauka::os {
namespace {

class Sysctls {
 public:
  explicit Sysctls(const DarwinCalls& calls) : calls_(calls) {}

  std::optional<std::string> text(const char* name) const {
    std::array<char, 256> bytes{};
    std::size_t length = bytes.size() - 1;
    if (calls_.sysctlbyname(name, bytes.data(), &length, nullptr, 0) != 0) return std::nullopt;
    return std::string(bytes.data());
  }

  /// Reads a number of 4 or 8 bytes.
  std::optional<std::int64_t> number(const char* name) const {
    std::array<char, 8> bytes{};
    std::size_t length = bytes.size();
    if (calls_.sysctlbyname(name, bytes.data(), &length, nullptr, 0) != 0) return std::nullopt;
    if (length == sizeof(std::int32_t)) {
      std::int32_t value = 0;
      std::memcpy(&value, bytes.data(), sizeof value);
      return value;
    }
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return length == sizeof value ? std::optional(value) : std::nullopt;
  }

  /// struct loadavg: three fixed-point numbers and their scale, which is a long.
  std::optional<double> load() const {
    struct Load {
      std::array<std::uint32_t, 3> fixed{};
      std::int64_t scale = 0;
    } load;
    static_assert(sizeof(Load) == 24);
    std::size_t length = sizeof load;
    if (calls_.sysctlbyname("vm.loadavg", &load, &length, nullptr, 0) != 0) return std::nullopt;
    if (length != sizeof load || load.scale <= 0) return std::nullopt;
    return static_cast<double>(load.fixed[0]) / static_cast<double>(load.scale);
  }

 private:
  const DarwinCalls& calls_;
};

std::vector<NamedCpus> kinds_of(const Sysctls& sysctls) {
  std::vector<NamedCpus> kinds;
  const std::int64_t levels = sysctls.number("hw.nperflevels").value_or(0);
  for (std::int64_t level = 0; level < levels && level < 8; ++level) {
    const std::string prefix = "hw.perflevel" + std::to_string(level) + ".";
    const auto cpus = sysctls.number((prefix + "logicalcpu").c_str());
    const auto name = sysctls.text((prefix + "name").c_str());
    if (cpus && *cpus > 0)
      kinds.push_back(
          {name.value_or("level " + std::to_string(level)), static_cast<std::size_t>(*cpus)});
  }
  return kinds;
}

/// IOKit gives in seconds how long the battery lasts: -2 on external power, -1 while it estimates.
std::optional<bool> on_battery(const DarwinCalls& calls) {
  static constexpr double kExternalPower = -2.0;
  static constexpr int kLazy = 1;  // RTLD_LAZY
  void* library =
      calls.dlopen("/System/Library/Frameworks/IOKit.framework/Versions/A/IOKit", kLazy);
  void* symbol =
      library != nullptr ? calls.dlsym(library, "IOPSGetTimeRemainingEstimate") : nullptr;
  if (symbol == nullptr) return std::nullopt;
  using Estimate = double (*)();
  Estimate estimate = nullptr;
  static_assert(sizeof estimate == sizeof symbol);
  std::memcpy(&estimate, &symbol, sizeof estimate);
  return estimate() != kExternalPower;
}

/// The pid of an owner that has ended stays, and one in the background gives way.
std::int64_t owner_of_tracing(const DarwinCalls& calls, const Sysctls& sysctls) {
  constexpr std::int64_t foreground = 1;
  if (sysctls.number("ktrace.state").value_or(0) != foreground) return 0;
  const std::int64_t pid = sysctls.number("ktrace.owning_pid").value_or(0);
  std::array<char, 64> name{};
  const bool lives =
      pid > 0 && calls.proc_name(static_cast<int>(pid), name.data(), name.size()) > 0;
  return lives ? pid : 0;
}

TracingFacts tracing_of(const DarwinCalls& calls, const Sysctls& sysctls) {
  TracingFacts tracing;
  const auto threads = sysctls.number("kpc.thread_counting");  // root only
  tracing.readable = threads.has_value();
  tracing.thread_counting = threads.value_or(0) != 0;
  tracing.owner = owner_of_tracing(calls, sysctls);
  tracing.owner_name = sysctls.text("ktrace.configured_by").value_or("");
  return tracing;
}

}  // namespace

void add_darwin_class(const DarwinCalls& calls, MachineFacts& facts) {
  if (const auto virtual_machine = Sysctls(calls).number("kern.hv_vmm_present")) {
    facts.knows_hypervisor = true;
    if (*virtual_machine != 0) facts.hypervisor = std::string();
  }
}

MachineFacts darwin_facts(const DarwinCalls& calls) {
  const Sysctls sysctls(calls);
  MachineFacts facts;
  facts.is_linux = false;
  const auto logical = sysctls.number("hw.logicalcpu");
  const auto physical = sysctls.number("hw.physicalcpu");
  if (logical && physical) facts.smt = SwitchFacts{*logical > *physical, ""};
  facts.core_kinds = kinds_of(sysctls);
  facts.load = sysctls.load();
  facts.on_battery = on_battery(calls);
  add_darwin_class(calls, facts);
  facts.aslr = true;  // macOS cannot do without
  facts.tracing = tracing_of(calls, sysctls);
  return facts;
}

}  // namespace lauka::os
