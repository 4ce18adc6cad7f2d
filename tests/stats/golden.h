#pragma once

#include "places.h"

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace lauka::golden {

using Json = nlohmann::json;

/// One section of the golden cases, which were computed with Python and SciPy, and again by a
/// program that shares no code with lauka.
inline Json section(const char* name, const char* cases_of = "statistics-golden.json") {
  std::ifstream file(std::string(places::kRepository) + "/tests/data/" + cases_of);
  REQUIRE(file.is_open());
  Json cases = Json::parse(file).at(name);
  REQUIRE_FALSE(cases.empty());
  return cases;
}

/// The same of the typical round as the delta, and of gates that stop early.
inline Json section_2(const char* name) {
  return section(name, "statistics-golden-2.json");
}

/// The same of noise that neighbouring rounds share (scripts/make golden).
inline Json section_3(const char* name) {
  return section(name, "statistics-golden-3.json");
}

inline std::vector<double> series(const Json& golden, const char* key) {
  return golden.at(key).get<std::vector<double>>();
}

/// Ten digits; six of a probability below 1e-12. What is exactly 0 there is 0 here.
inline bool agrees(double value, double expected) {
  const double tolerance = std::abs(expected) < 1e-12 ? 1e-6 : 1e-10;
  return std::abs(value - expected) <= tolerance * std::abs(expected);
}

/// `null` stands for what is not defined.
template <typename Optional>
bool agrees_or_neither(const Optional& value, const Json& expected) {
  if (expected.is_null()) return !value.has_value();
  return value.has_value() && agrees(*value, expected.get<double>());
}

}  // namespace lauka::golden

/// Compares with ten digits and shows all of them where it fails.
#define CHECK_GOLDEN(value, expected_json)                                                         \
  do {                                                                                             \
    const double golden_value = (value);                                                           \
    const double golden_expected = (expected_json).get<double>();                                  \
    INFO(#value, ": ", lauka::golden::Json(golden_value).dump(), " for ", (expected_json).dump()); \
    CHECK(lauka::golden::agrees(golden_value, golden_expected));                                   \
  } while (false)
