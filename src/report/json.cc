#include "report/json.h"

#include "report/json_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

namespace lauka::report {

namespace {

constexpr int kHyperfineSchema = 2;

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// {"value": 1, "unit": "second"}
std::string on_one_line(const Json& json) {
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text += dumped(key) + ": ";
    text += dumped(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the document, which is our own
void print(const Json& json, std::size_t depth, std::string& text) {
  const bool is_flat = std::none_of(json.begin(), json.end(),
                                    [](const Json& member) { return member.is_structured(); });
  if (!json.is_structured()) {
    text += dumped(json);
    return;
  }
  // An object of many keys is read by people: one line for each.
  constexpr std::size_t most_keys_of_a_line = 8;
  if (is_flat && (json.is_array() || json.size() <= most_keys_of_a_line)) {
    text += on_one_line(json);
    return;
  }
  const std::string indent(2 * (depth + 1), ' ');
  text += json.is_object() ? "{" : "[";
  const char* before = "\n";
  for (const auto& [key, value] : json.items()) {
    text += before + indent;
    if (json.is_object()) text += dumped(key) + ": ";
    print(value, depth + 1, text);
    before = ",\n";
  }
  text += "\n" + std::string(2 * depth, ' ') + (json.is_object() ? "}" : "]");
}

}  // namespace

Json json_value(double value, Unit unit) {
  constexpr double largest_exact = 9007199254740992.0;  // 2^53
  const bool counts = unit == Unit::Bytes || unit == Unit::Count;
  if (counts && value >= 0.0 && value <= largest_exact && value == std::floor(value)) {
    return static_cast<std::uint64_t>(value);
  }
  return value;
}

Json json_number(std::optional<double> value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string text_of(const Json& json) {
  std::string text;
  print(json, 0, text);
  return text + "\n";
}

std::string results_json(const Results& results) {
  Json document;
  document["schema_version"] = kHyperfineSchema;
  document["metadata"] = hyperfine_metadata(results.circumstances);
  document["primary_metric"] = "time_wall_clock";
  Json list = Json::array();
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    Json result;
    add_hyperfine_result(result, results, c);
    result["lauka"] = lauka_result(results, c);
    list.push_back(std::move(result));
  }
  document["results"] = std::move(list);
  document["lauka"] = lauka_session(results);
  return text_of(document);
}

}  // namespace lauka::report
