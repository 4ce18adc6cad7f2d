#include "contract/schema.h"

#include "places.h"

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include <doctest/doctest.h>

namespace lauka::contract {
namespace {

using nlohmann::json;

bool is_of_type(const json& value, const std::string& type) {
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number_integer();
  return type == value.type_name();  // "object", "array", "string", "boolean", "null"
}

// NOLINTBEGIN(misc-no-recursion): a schema nests, as deep as docs/schema.json does
class Validator {
 public:
  explicit Validator(const json& root) : root_(root) {}

  void check(const json& value, const json& schema, const std::string& place) {
    static const std::set<std::string, std::less<>> kKnown = {
        "$schema",  "$defs",       "$ref",
        "title",    "description", "type",
        "required", "properties",  "additionalProperties",
        "items",    "enum",        "const",
        "oneOf",    "minimum",     "minItems",
        "maxItems", "pattern",     "examples"};
    for (const auto& [word, meaning] : schema.items()) {
      if (!kKnown.contains(word)) found(place, "the schema's '" + word + "' is not understood");
    }
    if (schema.contains("$ref")) check(value, target(schema.at("$ref")), place);
    check_type(value, schema, place);
    check_value(value, schema, place);
    if (value.is_object()) check_object(value, schema, place);
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i)
        check(value.at(i), schema.at("items"), place + "/" + std::to_string(i));
    }
    if (schema.contains("oneOf")) check_one_of(value, schema.at("oneOf"), place);
  }

  std::vector<std::string> all() const { return all_; }

 private:
  void found(const std::string& place, const std::string& what) {
    all_.push_back(place + ": " + what);
  }

  const json& target(const std::string& reference) const {
    return root_.at(json::json_pointer(reference.substr(1)));
  }

  void check_type(const json& value, const json& schema, const std::string& place) {
    if (!schema.contains("type")) return;
    const json types = schema.at("type").is_array() ? schema.at("type") : json({schema.at("type")});
    const bool fits = std::any_of(types.begin(), types.end(),
                                  [&](const json& type) { return is_of_type(value, type); });
    if (!fits) found(place, std::string("is of type ") + value.type_name());
  }

  void check_value(const json& value, const json& schema, const std::string& place) {
    if (schema.contains("const") && value != schema.at("const")) found(place, "has another value");
    if (schema.contains("enum")) {
      const json& choices = schema.at("enum");
      if (std::find(choices.begin(), choices.end(), value) == choices.end())
        found(place, "has none of the values");
    }
    if (schema.contains("pattern") && value.is_string() &&
        !std::regex_search(value.get<std::string>(),
                           std::regex(schema.at("pattern").get<std::string>())))
      found(place, "does not match the pattern");
    if (schema.contains("minItems") && value.is_array() && value.size() < schema.at("minItems"))
      found(place, "has too few items");
    if (schema.contains("maxItems") && value.is_array() && value.size() > schema.at("maxItems"))
      found(place, "has too many items");
    if (schema.contains("minimum") && value.is_number() && value < schema.at("minimum"))
      found(place, "is below the minimum");
  }

  void check_object(const json& value, const json& schema, const std::string& place) {
    if (schema.contains("required")) {
      for (const json& key : schema.at("required")) {
        if (!value.contains(key)) found(place, "has no " + key.dump());
      }
    }
    const json none = json::object();
    const json& properties = schema.contains("properties") ? schema.at("properties") : none;
    const bool is_described =
        schema.contains("properties") || schema.contains("additionalProperties");
    for (const auto& [key, member] : value.items()) {
      std::string there = place;
      there += "/" + key;
      if (properties.contains(key)) {
        check(member, properties.at(key), there);
      } else if (schema.contains("additionalProperties")) {
        check(member, schema.at("additionalProperties"), there);
      } else if (is_described) {
        found(there, "is not in the schema");
      }
    }
  }

  void check_one_of(const json& value, const json& choices, const std::string& place) {
    std::size_t fitting = 0;
    std::vector<std::string> last;
    for (const json& choice : choices) {
      Validator validator(root_);
      validator.check(value, choice, place);
      if (validator.all_.empty()) ++fitting;
      if (!validator.all_.empty()) last = validator.all_;
    }
    if (fitting == 1) return;
    found(place, "fits " + std::to_string(fitting) + " of the choices");
    if (fitting == 0) all_.insert(all_.end(), last.begin(), last.end());
  }

  const json& root_;
  std::vector<std::string> all_;
};
// NOLINTEND(misc-no-recursion)

}  // namespace

std::vector<std::string> faults(const json& value, const json& schema) {
  Validator validator(schema);
  validator.check(value, schema, "");
  return validator.all();
}

void check_schema(const json& document) {
  std::ifstream file(std::string(places::kRepository) + "/docs/schema.json");
  for (const std::string& fault : faults(document, json::parse(file))) FAIL_CHECK(fault);
}

}  // namespace lauka::contract
