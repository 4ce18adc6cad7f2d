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
constexpr std::size_t kMostValues = 50'000'000;

constexpr std::size_t kUsualSamples = 10;  // of a command

/// Makes the document of what the parser meets, but for what is not wanted.
class Builder final : public nlohmann::json_sax<JsonIn> {
 public:
  Builder(JsonIn& document, const WantedKey& wanted) : document_(document), wanted_(wanted) {}

  bool is_too_deep() const { return depth_ > kMostDepth; }
  bool is_too_much() const { return values_ > kMostValues; }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*text*/) override { return add(value); }
  bool string(std::string& value) override { return add(value); }
  bool binary(JsonIn::binary_t& /*value*/) override { return false; }  // JSON has none
  bool start_object(std::size_t /*size*/) override { return begin(JsonIn::value_t::object); }
  bool start_array(std::size_t /*size*/) override { return begin(JsonIn::value_t::array); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool key(std::string& key) override {
    if (unwanted_depth_ > 0) return true;
    if (depth_ == 1) top_ = key;
    if (wanted_ && !wanted_(top_, depth_, key)) {
      unwanted_depth_ = depth_;
      return true;
    }
    value_ = &(*within_.back())[key];
    return true;
  }

  bool parse_error(std::size_t /*place*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  template <typename Value>
  bool add(const Value& value) {
    if (++values_ > kMostValues) return false;
    if (unwanted_depth_ > 0) {
      value_is_over();
    } else {
      *next() = value;
    }
    return true;
  }

  bool begin(JsonIn::value_t type) {
    ++depth_;
    if (++values_ > kMostValues || depth_ > kMostDepth) return false;
    if (unwanted_depth_ > 0) return true;
    JsonIn* made = next();
    *made = type;
    within_.push_back(made);
    return true;
  }

  bool end() {
    --depth_;
    if (unwanted_depth_ > 0) {
      value_is_over();
    } else {
      within_.pop_back();
    }
    return true;
  }

  /// Of an unwanted key: what is wanted begins again where the value itself is over.
  void value_is_over() {
    if (unwanted_depth_ == depth_) unwanted_depth_ = 0;
  }

  /// Where the value that comes now belongs.
  JsonIn* next() {
    if (within_.empty()) return &document_;
    if (within_.back()->is_object()) return value_;
    auto& list = within_.back()->get_ref<JsonIn::array_t&>();
    if (list.empty()) list.reserve(kUsualSamples);
    return &list.emplace_back();
  }

  JsonIn& document_;
  const WantedKey& wanted_;
  std::vector<JsonIn*> within_{};  // the arrays and objects that are not over
  JsonIn* value_ = nullptr;        // of the key that was met last
  std::string top_{};
  int depth_ = 0;
  int unwanted_depth_ = 0;  // of the object whose key was not wanted; 0: none
  std::size_t values_ = 0;
};

}  // namespace

Result<JsonIn> parsed(std::string_view text, const WantedKey& wanted) {
  JsonIn document;
  Builder builder(document, wanted);
  if (JsonIn::sax_parse(text, &builder)) return document;
  if (builder.is_too_deep())
    return Error{fmt::format("is nested more than {} deep", kMostDepth), "export it again"};
  if (builder.is_too_much())
    return Error{fmt::format("holds more than {} values", kMostValues), "make it with fewer runs"};
  return Error{"is not JSON, or is incomplete", "export it again"};
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
