#include "results/json_in.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka {

namespace {

// What no session has: such a file was made to do harm, or is broken.
constexpr int kMostDepth = 16;
constexpr std::size_t kMostValues = 100'000'000;

}  // namespace

Result<JsonIn> parsed(std::string_view text) {
  bool too_deep = false;
  std::size_t values = 0;
  const auto keep = [&](int depth, JsonIn::parse_event_t /*event*/, const JsonIn& /*value*/) {
    too_deep = too_deep || depth > kMostDepth;
    return !too_deep && ++values <= kMostValues;
  };
  JsonIn document = JsonIn::parse(text, keep, false);
  if (too_deep)
    return Error{fmt::format("is nested more than {} deep", kMostDepth), "export it again"};
  if (values > kMostValues)
    return Error{fmt::format("holds more than {} values", kMostValues), "make it with fewer runs"};
  if (document.is_discarded()) return Error{"is not JSON, or is incomplete", "export it again"};
  return document;
}

const JsonIn* member(const JsonIn& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const JsonIn* list_in(const JsonIn& object, std::string_view key) {
  const JsonIn* value = member(object, key);
  return value != nullptr && value->is_array() ? value : nullptr;
}

const JsonIn* object_in(const JsonIn& object, std::string_view key) {
  const JsonIn* value = member(object, key);
  return value != nullptr && value->is_object() ? value : nullptr;
}

std::string text_in(const JsonIn& object, std::string_view key) {
  const JsonIn* value = member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

bool flag_in(const JsonIn& object, std::string_view key, bool otherwise) {
  const JsonIn* value = member(object, key);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : otherwise;
}

std::optional<double> number_in(const JsonIn& object, std::string_view key) {
  const JsonIn* value = member(object, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const auto number = value->get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> count_in(const JsonIn& object, std::string_view key) {
  const JsonIn* value = member(object, key);
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  return value->get<std::uint64_t>();
}

std::vector<std::string> texts_in(const JsonIn& object, std::string_view key) {
  std::vector<std::string> texts;
  if (const JsonIn* list = list_in(object, key)) {
    for (const JsonIn& one : *list)
      if (one.is_string()) texts.push_back(one.get<std::string>());
  }
  return texts;
}

std::optional<double> fraction_in(const JsonIn& object, std::string_view key) {
  const auto percent = number_in(object, key);
  if (!percent) return std::nullopt;
  const double near = *percent / 100.0;
  constexpr double far = std::numeric_limits<double>::infinity();
  for (const double one : {near, std::nextafter(near, -far), std::nextafter(near, far)})
    if (100.0 * one == *percent) return one;
  return near;
}

}  // namespace lauka
