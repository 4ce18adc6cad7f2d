#include "report/json_machine.h"

#include "core/foreign_text.h"
#include "report/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka::report {
namespace {

std::string dumped_whole(const nlohmann::ordered_json& json, int indent) {
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
  std::string text = json.dump(indent, ' ', false, replace);
  if (!json.is_string() && !json.is_structured()) return text;
  // The line breaks between the members are the only ones.
  const auto breaks = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const bool steers = one_line(text).size() != text.size() + breaks;
  return steers ? json.dump(indent, ' ', true, replace) : text;
}

}  // namespace

std::string json_string(std::string_view text) {
  const bool is_clean = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (!is_clean) return dumped_whole(text, -1);
  std::string quoted;
  quoted.reserve(text.size() + 2);
  quoted += '"';
  quoted += text;
  quoted += '"';
  return quoted;
}

std::string json_real(double value) {
  // Beyond, the library begins an exponent where fmt does not yet.
  constexpr double large = 1e15;
  if (!(std::fabs(value) < large)) return dumped_whole(value, -1);
  std::string text = full_precision(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string dumped(const nlohmann::ordered_json& json, int indent) {
  // The library makes a writer with half a KB of blanks for each value.
  if (json.is_string()) return json_string(json.get_ref<const std::string&>());
  if (json.is_number_float()) return json_real(json.get<double>());
  if (json.is_number_unsigned()) return fmt::to_string(json.get<std::uint64_t>());
  if (json.is_number_integer()) return fmt::to_string(json.get<std::int64_t>());
  if (json.is_boolean()) return json.get<bool>() ? "true" : "false";
  if (json.is_null()) return "null";
  return dumped_whole(json, indent);
}

nlohmann::ordered_json json_of(const Machine& machine) {
  nlohmann::ordered_json json = {{"name", machine.name},
                                 {"system", machine.system},
                                 {"os", machine.os},
                                 {"kernel", machine.kernel},
                                 {"architecture", machine.architecture},
                                 {"cpu_model", machine.cpu_model},
                                 {"cpus", machine.cpus},
                                 {"governor", machine.governor},
                                 {"hypervisor", machine.hypervisor},
                                 {"class", class_of(machine)}};
  if (!machine.tuning.empty()) json["tuning"] = machine.tuning;
  return json;
}

}  // namespace lauka::report
