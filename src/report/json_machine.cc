#include "report/json_machine.h"

#include "core/foreign_text.h"

#include <algorithm>
#include <cstddef>

#include <nlohmann/json.hpp>

namespace lauka::report {

std::string dumped(const nlohmann::ordered_json& json, int indent) {
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
  std::string text = json.dump(indent, ' ', false, replace);
  if (!json.is_string() && !json.is_structured()) return text;
  // The line breaks between the members are the only ones.
  const auto breaks = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const bool steers = one_line(text).size() != text.size() + breaks;
  return steers ? json.dump(indent, ' ', true, replace) : text;
}

nlohmann::ordered_json json_of(const Machine& machine) {
  return {{"name", machine.name},
          {"system", machine.system},
          {"os", machine.os},
          {"kernel", machine.kernel},
          {"architecture", machine.architecture},
          {"cpu_model", machine.cpu_model},
          {"cpus", machine.cpus},
          {"governor", machine.governor},
          {"hypervisor", machine.hypervisor},
          {"class", class_of(machine)}};
}

}  // namespace lauka::report
