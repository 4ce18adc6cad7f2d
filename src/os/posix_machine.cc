#include "os/machine.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <sys/utsname.h>
#include <unistd.h>

namespace lauka::os {
namespace {

/// What follows the first line that is `key`, blanks, and `separator`; without blanks around it.
std::string value_after(std::string_view text, std::string_view key, char separator) {
  constexpr std::string_view blanks = " \t\r";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t split = line.find(separator);
    if (split == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, split);
    if (name.substr(0, name.find_last_not_of(blanks) + 1) != key) continue;
    const std::string_view value = line.substr(split + 1);
    const std::size_t begin = std::min(value.find_first_not_of(blanks), value.size());
    return std::string(value.substr(begin, value.find_last_not_of(blanks) + 1 - begin));
  }
  return "";
}

}  // namespace

Machine this_machine() {
  Machine machine;
  utsname names{};
  if (uname(&names) == 0) {
    machine.name = std::data(names.nodename);
    machine.system = std::data(names.sysname);
    machine.kernel = std::data(names.release);
    machine.architecture = std::data(names.machine);
  }
  machine.os = os_name();
  machine.cpu_model = cpu_model();
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  machine.cpus = online > 0 ? static_cast<unsigned>(online) : 0;
  return machine;
}

std::string cpu_model_of(std::string_view cpuinfo) {
  for (const std::string_view key : {"model name", "cpu model", "Model", "cpu"}) {
    std::string model = value_after(cpuinfo, key, ':');
    if (!model.empty()) return model;
  }
  const std::string maker = value_after(cpuinfo, "CPU implementer", ':');
  const std::string part = value_after(cpuinfo, "CPU part", ':');
  return maker.empty() && part.empty() ? "" : "implementer " + maker + ", part " + part;
}

std::string os_name_of(std::string_view os_release) {
  std::string name = value_after(os_release, "PRETTY_NAME", '=');
  if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') &&
      name.back() == name.front()) {
    name = name.substr(1, name.size() - 2);
  }
  return name;
}

}  // namespace lauka::os
