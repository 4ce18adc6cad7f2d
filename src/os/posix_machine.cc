#include "core/text.h"
#include "os/clock.h"
#include "os/machine.h"

#include <array>
#include <iterator>
#include <random>

#include <fmt/format.h>

#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace lauka::os {
namespace {

Machine machine_without_cpu() {
  Machine machine;
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
  return machine;
}

/// The class may have been found where the CPU's name is, too.
Machine with_class(const MachineFacts& facts) {
  Machine machine = machine_without_cpu();
  machine.cpu_model = facts.machine.cpu_model.empty() ? cpu_model() : facts.machine.cpu_model;
  for (const GovernorFacts& governor : facts.governors)
    machine.governor += (machine.governor.empty() ? "" : ", ") + governor.name;
  if (facts.hypervisor)
    machine.hypervisor = facts.hypervisor->empty() ? "unknown" : *facts.hypervisor;
  return machine;
}

}  // namespace

Machine this_machine() {
  Machine machine = machine_without_cpu();
  machine.cpu_model = cpu_model();
  return machine;
}

std::string cpu_model_of(std::string_view cpuinfo) {
  for (const std::string_view key : {"model name", "cpu model", "Model", "cpu"}) {
    auto model = value_of(cpuinfo, key, ':');
    if (model && !model->empty()) return *std::move(model);
  }
  const std::string maker = value_of(cpuinfo, "CPU implementer", ':').value_or("");
  const std::string part = value_of(cpuinfo, "CPU part", ':').value_or("");
  return maker.empty() && part.empty() ? "" : "implementer " + maker + ", part " + part;
}

std::string os_name_of(std::string_view os_release) {
  return value_of(os_release, "PRETTY_NAME", '=').value_or("");
}

std::string new_session_id() {
  std::array<std::uint32_t, 4> words{};
  if (getentropy(words.data(), sizeof words) != 0) {
    // Not at first: it asks the processor what it has, which takes 24 us on a virtual machine.
    std::random_device random;
    for (std::uint32_t& word : words) word = random();
  }
  words[1] = (words[1] & 0xffff0fffU) | 0x4000U;
  words[2] = (words[2] & 0x3fffffffU) | 0x80000000U;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", words[0], words[1] >> 16U,
                     words[1] & 0xffffU, words[2] >> 16U, words[2] & 0xffffU, words[3]);
}

Machine this_machine_whole() {
  MachineFacts facts;
  if (const DarwinCalls* darwin_system = darwin_calls()) {
    add_darwin_class(*darwin_system, facts);
  } else if (const LinuxCalls* linux_system = linux_calls()) {
    add_linux_class(*linux_system, facts);
  }
  return with_class(facts);
}

MachineFacts machine_facts() {
  MachineFacts facts;
  if (const DarwinCalls* darwin_system = darwin_calls()) {
    facts = darwin_facts(*darwin_system);
  } else if (const LinuxCalls* linux_system = linux_calls()) {
    facts = linux_facts(*linux_system);
  }
  facts.machine = with_class(facts);
  facts.clock_step = MonotonicClock().resolution();
  return facts;
}

}  // namespace lauka::os
