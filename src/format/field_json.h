#pragma once

#include "core/fields.h"
#include "core/numbers.h"
#include "format/json_text.h"
#include "format/sections.h"
#include "format/tables.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// What writes and reads JSON by the tables of format/tables.h.

namespace lauka {

/// Writes an object with a text under the key of each known setting.
void encode_value(const SettingValues& values, Json& to);
bool decode_value(const ParsedJson& there, SettingValues& values);

/// Writes an object with a text under each label's key.
void encode_value(const std::vector<Label>& labels, Json& to);
bool decode_value(const ParsedJson& there, std::vector<Label>& labels);

/// Writes a time as RFC 3339 does, and a duration in nanoseconds.
void encode_value(UtcTime time, Json& to);
bool decode_value(const ParsedJson& there, UtcTime& time);
void encode_value(std::chrono::nanoseconds duration, Json& to);
/// Takes at most 1000 seconds.
bool decode_value(const ParsedJson& there, std::chrono::nanoseconds& duration);

/// Writes a value: `to` becomes an object if the value's fields are described, a list for a vector,
/// a word for an enumeration, null for a missing value.
template <typename Value>
void encode(const Value& value, Json& to);

/// Reads what encode() wrote. Returns false if `json` is of another type; an optional value is
/// then missing.
template <typename Value>
bool decode(const ParsedJson& json, Value& value);

/// Writes a value as a member of the object that is open in `json`.
template <typename Value>
void put_value(JsonWriter& json, std::string_view key, const Value& value) {
  json.put_filled(key, [&](Json& to) { encode(value, to); });
}

/// True for a std::optional.
template <typename Value>
concept IsOptional = requires(const Value& value) {
  value.has_value();
};

/// True for a std::map.
template <typename Value>
concept IsMap = requires {
  typename Value::mapped_type;
};

/// True if a value is not empty, and not what it is without being set.
template <typename Value>
bool is_set(const Value& value, const Value& unset) {
  if constexpr (IsOptional<Value>)
    return value.has_value();
  else if constexpr (requires { value.empty(); })
    return !value.empty();
  else
    return value != unset;
}

/// Writes the fields of a struct as members of an object.
class FieldEncoder : public ShowingVisitor<FieldEncoder> {
 public:
  /// Writes into `object`.
  explicit FieldEncoder(Json& object) : object_(&object) {}
  /// Writes into the object that is open in `json`.
  explicit FieldEncoder(JsonWriter& json) : json_(&json) {}

  template <typename Value>
  void operator()(std::string_view key, const Value& value) {
    if (object_ != nullptr)
      encode(value, add_member(*object_, key));
    else
      put_value(*json_, key, value);
  }

  template <typename Value>
  void if_set(std::string_view key, const Value& value, const Value& unset = {}) {
    if (is_set(value, unset)) (*this)(key, value);
  }

  template <typename Group>
  void if_known(bool is_known, const Group& group) {
    if (is_known) group();
  }

 private:
  Json* object_ = nullptr;
  JsonWriter* json_ = nullptr;
};

/// Reads the fields of a struct. A member that is missing, or is of another type, leaves its field
/// as it is.
class FieldDecoder {
 public:
  explicit FieldDecoder(const ParsedJson& object) : object_(object) {}

  template <typename Value>
  void operator()(std::string_view key, Value& value) {
    if (const ParsedJson* there = member(object_, key)) decode(*there, value);
  }

  template <typename Value>
  void if_set(std::string_view key, Value& value, const Value& /*unset*/ = {}) {
    (*this)(key, value);
  }

  template <typename Get, typename Set>
  void as(std::string_view key, const Get& get, const Set& set) {
    const ParsedJson* there = member(object_, key);
    std::decay_t<decltype(get())> stored{};
    if (there != nullptr && decode(*there, stored)) set(std::move(stored));
  }
  template <typename Get, typename Set>
  void as_if_set(std::string_view key, const Get& get, const Set& set) {
    as(key, get, set);
  }

  template <typename Get>
  void written(std::string_view /*key*/, const Get& /*get*/) {}
  template <typename Get>
  void written_if_set(std::string_view /*key*/, const Get& /*get*/) {}

  template <typename Group>
  void if_known(bool /*is_known*/, const Group& group) {
    group();
  }

 private:
  const ParsedJson& object_;
};

/// Writes the fields of `value` as members of the object that is open in `json`.
template <typename Struct>
void put_fields(JsonWriter& json, const Struct& value) {
  FieldEncoder encoder(json);
  show_fields(encoder, value);
}

/// The integer types that have an encode_value() and a decode_value().
template <typename Integer>
using WidestInteger = std::conditional_t<std::is_signed_v<Integer>, std::int64_t, std::uint64_t>;

template <typename Value>
void encode(const Value& value, Json& to) {
  // `to` is null at first. If a type matches several of these cases, the first one counts.
  if constexpr (HasFields<Value>) {
    // A struct whose fields are listed by a describe_fields().
    make_object(to);
    FieldEncoder encoder(to);
    show_fields(encoder, value);
  } else if constexpr (requires { encode_value(value, to); }) {
    // A type with an overload of its own, such as double, std::string or UtcTime.
    encode_value(value, to);
  } else if constexpr (std::is_integral_v<Value>) {
    encode_value(static_cast<WidestInteger<Value>>(value), to);
  } else if constexpr (std::is_enum_v<Value>) {
    encode_word(word_of(value), to);
  } else if constexpr (IsOptional<Value>) {
    // A missing value leaves `to` null.
    if (value) encode(*value, to);
  } else if constexpr (IsMap<Value>) {
    make_object(to);
    for (const auto& [key, item] : value) encode(item, add_member(to, key));
  } else {
    // A std::vector.
    make_list(to);
    for (const auto& item : value) encode(item, add_item(to));
  }
}

template <typename List>
bool decode_items(const ParsedJson& json, List& list);

/// Decodes a struct whose fields are listed by a describe_fields(). A missing field stays as it is.
template <typename Struct>
bool decode_fields(const ParsedJson& json, Struct& value) {
  if (!is_object(json)) return false;
  FieldDecoder decoder(json);
  describe_fields(decoder, value);
  return true;
}

template <typename Integer>
bool decode_integer(const ParsedJson& json, Integer& value) {
  WidestInteger<Integer> wide{};
  if (!decode_value(json, wide)) return false;
  value = static_cast<Integer>(wide);
  return true;
}

template <typename Enum>
bool decode_word(const ParsedJson& json, Enum& value) {
  std::string word;
  if (!decode_value(json, word)) return false;
  value = value_of_word(word, As<Enum>());
  return true;
}

template <typename Value>
bool decode(const ParsedJson& json, Value& value) {
  // The cases are those of encode(), in the same order. If a type matches several, the first one
  // counts. The result is false if the JSON is of another type than `value`.
  if constexpr (HasFields<Value>) {
    return decode_fields(json, value);
  } else if constexpr (requires { decode_value(json, value); }) {
    // A type with an overload of its own, such as double, std::string or UtcTime.
    return decode_value(json, value);
  } else if constexpr (std::is_integral_v<Value>) {
    return decode_integer(json, value);
  } else if constexpr (std::is_enum_v<Value>) {
    return decode_word(json, value);
  } else if constexpr (IsOptional<Value>) {
    // JSON of another type counts as a missing value, which is no failure.
    if (!decode(json, value.emplace())) value.reset();
    return true;
  } else if constexpr (IsMap<Value>) {
    // The map gets no entry for a member that is of another type.
    return for_each_member(json, [&](const std::string& key, const ParsedJson& item) {
      if (!decode(item, value[key])) value.erase(key);
    });
  } else {
    // A std::vector.
    return decode_items(json, value);
  }
}

template <typename List>
bool decode_items(const ParsedJson& json, List& list) {
  // Indices refer to structs of a list, so one of another type becomes an empty one.
  constexpr bool keeps_place = HasFields<typename List::value_type>;
  return for_each_item(json, [&](const ParsedJson& item) {
    if (!decode(item, list.emplace_back()) && !keeps_place) list.pop_back();
  });
}

/// Returns the value under `key`; an empty one if it is missing or of another type.
template <typename Value>
Value decode_in(const ParsedJson& object, std::string_view key) {
  Value value{};
  FieldDecoder decoder(object);
  decoder(key, value);
  return value;
}

}  // namespace lauka
