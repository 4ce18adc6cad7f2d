#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace lauka::contract {

/// True if `value` has the shape that a JSON schema asks for: one line per fault, with its place.
/// Knows the part of the language that docs/*schema.json are written in, and finds an unknown word
/// of the language to be a fault, as it does a key of `value` that the schema does not mention:
/// what lauka writes must be in its documentation.
std::vector<std::string> faults(const nlohmann::json& value, const nlohmann::json& schema);

/// Fails the test case for each fault of a session's JSON, by docs/schema.json.
void check_schema(const nlohmann::json& document);

}  // namespace lauka::contract
