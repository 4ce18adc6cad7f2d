#pragma once

#include "core/choices.h"
#include "core/metric.h"
#include "core/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace lauka {

using ParsedJson = nlohmann::json;

/// Returns true to keep the value of `key`. `depth`: number of objects and lists around `key`, at
/// least 1. `top`: key at depth 1 that contains `key` or is `key`; empty if the document is a list.
using KeyFilter = std::function<bool(std::string_view top, int depth, std::string_view key)>;

/// Takes the items of long lists while a document is parsed, so that it is never whole in memory.
class ListTaker : NonCopyable {
 public:
  virtual ~ListTaker() = default;

  /// Returns a number for a list whose items are taken; nullopt for a list that stays in the
  /// document. `path`: the keys around the list and its own key; an empty one for a list's items.
  virtual std::optional<std::size_t> begin_list(const std::vector<std::string_view>& path) = 0;

  /// Takes the next item of a list. Returns true if the item was moved, and still needs its memory.
  virtual bool take(std::size_t list, ParsedJson& item) = 0;
};

/// Returns the next bytes of a text, which are valid until the next call; no bytes at its end.
using TextSource = std::function<std::string_view()>;

/// Returns the source of a text that is in memory.
TextSource source_of(std::string_view text);

/// Parses JSON. Refuses text that is not JSON, or is too deep or too large. `taker`: the document
/// has the numbers of the lists whose items were taken in their places.
Result<ParsedJson> parse_json(const TextSource& source, ListTaker& taker);

/// Parses JSON likewise, but without the values that `wanted` rejects; an empty `wanted` keeps all
/// values.
Result<ParsedJson> parse_json(std::string_view text, const KeyFilter& wanted = {});

/// Parses JSON, and calls `read` with it. Returns false if `text` is not JSON, or if `read` does.
bool read_json(std::string_view text, const std::function<bool(const ParsedJson&)>& read);

/// Returns the number of a list whose items were taken; nullopt for other JSON.
std::optional<std::size_t> number_of_taken_list(const ParsedJson& value);

/// Sets `value` to null and frees its memory. Unlike the destructor, it needs no additional memory
/// for a list of the inner values.
void free_json(ParsedJson& value);

/// Returns the value of `key`; a null pointer if it is missing or is null in JSON.
const ParsedJson* member(const ParsedJson& object, std::string_view key);

/// Returns the value of `key`; null in JSON, which has no members either, if it is missing.
const ParsedJson& part_in(const ParsedJson& object, std::string_view key);

const ParsedJson* list_in(const ParsedJson& object, std::string_view key);
const ParsedJson& items_in(const ParsedJson& object, std::string_view key);

const ParsedJson* object_in(const ParsedJson& object, std::string_view key);

std::string text_in(const ParsedJson& object, std::string_view key);
std::vector<std::string> texts_in(const ParsedJson& object, std::string_view key);

bool flag_in(const ParsedJson& object, std::string_view key, bool otherwise = false);
std::optional<double> number_in(const ParsedJson& object, std::string_view key);
std::optional<std::uint64_t> unsigned_in(const ParsedJson& object, std::string_view key);

/// Returns an item of a list; a null pointer if it is missing.
const ParsedJson* item_at(const ParsedJson& list, std::size_t index);

bool is_null(const ParsedJson& value);
bool is_object(const ParsedJson& value);

/// Reads a value. Returns false, and changes nothing, if `there` has another type. A number must
/// be finite; an integer must be written as one, and without a sign for an unsigned type.
bool decode_value(const ParsedJson& there, bool& value);
bool decode_value(const ParsedJson& there, double& value);
bool decode_value(const ParsedJson& there, std::uint64_t& value);
bool decode_value(const ParsedJson& there, std::int64_t& value);
bool decode_value(const ParsedJson& there, std::string& value);

/// Calls `take` with each element of a list. Returns false if `list` is none.
bool for_each_item(const ParsedJson& list, const std::function<void(const ParsedJson&)>& take);

/// Calls `take` with each key of an object and its value. Returns false if `object` is none.
bool for_each_member(const ParsedJson& object,
                     const std::function<void(const std::string&, const ParsedJson&)>& take);

using Json = nlohmann::ordered_json;

/// Sets `to` to a value; to null if the number is not finite.
void encode_value(bool value, Json& to);
void encode_value(double value, Json& to);
void encode_value(std::uint64_t value, Json& to);
void encode_value(std::int64_t value, Json& to);
void encode_value(std::string_view value, Json& to);

/// Sets `to` to a word; to null if the word is empty.
void encode_word(std::string_view word, Json& to);

/// Sets `to` to an object or list without members.
void make_object(Json& to);
void make_list(Json& to);

/// Adds a null to an object or list, and returns it.
Json& add_member(Json& object, std::string_view key);
Json& add_item(Json& list);

/// Returns JSON as text, on one line if `indent` is negative. Replaces invalid UTF-8 by U+FFFD.
/// Escapes all characters except printable ASCII if one of them could control a terminal.
std::string json_text(const Json& json, int indent = -1);

/// Returns the JSON that `fill` sets, as text like json_text().
std::string filled_json_text(const std::function<void(Json&)>& fill, int indent = -1);

/// Returns `text` as a JSON string in quotes. Replaces invalid UTF-8 by U+FFFD.
std::string json_string(std::string_view text);

/// Appends `text` as a JSON string, like json_string().
void add_string(std::string_view text, std::string& to);

/// Returns a number as JSON that reads back as the same double; null if it is not finite.
std::string json_real(double value);

/// Appends a value as JSON; null if it is missing or not finite. Counts and bytes that are whole
/// numbers have no ".0".
void add_sample(std::optional<double> value, Unit unit, std::string& to);

/// Returns a value that is written as add_sample() does.
Json json_sample(double value, Unit unit);

/// Returns a JSON number; null if `value` is missing or not finite.
Json json_number(std::optional<double> value);

Json json_text_or_null(std::string_view word);

/// Writes a JSON document piece by piece, so that the whole document is never in memory.
class JsonWriter {
 public:
  explicit JsonWriter(const Sink& sink) : sink_(sink) {}

  /// Opens an object ('{') or a list ('['). An element of a list needs no `key`.
  void open(char bracket) { open({}, bracket); }
  void open(std::string_view key, char bracket);
  void close();

  void put(std::string_view key, const Json& value);

  /// Writes a member whose value `fill` sets.
  void put_filled(std::string_view key, const std::function<void(Json&)>& fill);

  /// Writes a member or an element of a list: `add(text)` appends its value as JSON to `text`.
  template <typename Add>
  void put_with(std::string_view key, const Add& add) {
    begin_member(key);
    add(text_);
    flush_if_large();
  }

  /// Writes a list of `count` elements on one line: `add(i, text)` appends element `i` as JSON to
  /// `text`.
  template <typename Add>
  void list(std::string_view key, std::size_t count, const Add& add) {
    begin_member(key);
    text_ += '[';
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) text_ += std::string_view(", ");
      add(i, text_);
      flush_if_large();
    }
    text_ += ']';
    flush_if_large();
  }

 private:
  void begin_member(std::string_view key);
  void flush_if_large();

  const Sink& sink_;
  std::string text_{};
  std::vector<char> closing_brackets_;
  bool is_first_ = true;  // true until the innermost open object or list has a member
};

}  // namespace lauka
