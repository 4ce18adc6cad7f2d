#pragma once

#include "core/choices.h"
#include "core/machine.h"
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

// JSON from outside, with checks that members exist and have the right type; and JSON that is
// written in pieces.

namespace lauka {

using JsonIn = nlohmann::json;

/// True if the value of `key` is kept. `top`: key at the document's top level that contains it.
/// `depth`: 1 for keys at the top level, plus 1 for each object or array around `key`.
using WantedKey = std::function<bool(std::string_view top, int depth, std::string_view key)>;

/// Parses `text` and drops unwanted parts. Refuses a document that is too deep or too large.
/// `packs_runs`: stores lists of runs compactly, for for_each_run() only.
Result<JsonIn> parsed(std::string_view text, const WantedKey& wanted = {}, bool packs_runs = false);

/// Frees the memory of `value`, which becomes null. (Its destructor would first copy everything in
/// it to another list.)
void release(JsonIn& value);

/// Returns the value of `key`; null if it is missing or JSON's null.
const JsonIn* member(const JsonIn& object, std::string_view key);
/// Returns the list under `key`; null if it is missing or not a list.
const JsonIn* list_in(const JsonIn& object, std::string_view key);
/// Returns the list under `key`; an empty list if it is missing or not a list.
const JsonIn& items_in(const JsonIn& object, std::string_view key);

/// Calls `take` with each element of a list of runs ("runs" or "measurements"), packed or not.
/// Returns false if the list is missing.
bool for_each_run(const JsonIn& object, std::string_view key,
                  const std::function<void(const JsonIn&)>& take);

/// Returns the object under `key`; null if it is missing or not an object.
const JsonIn* object_in(const JsonIn& object, std::string_view key);

/// Returns the string under `key`; empty if it is missing or not a string.
std::string text_in(const JsonIn& object, std::string_view key);
std::vector<std::string> texts_in(const JsonIn& object, std::string_view key);

bool flag_in(const JsonIn& object, std::string_view key, bool otherwise = false);
std::optional<double> number_in(const JsonIn& object, std::string_view key);
std::optional<std::uint64_t> count_in(const JsonIn& object, std::string_view key);

/// JSON to be written; its keys stay in the order in which they are set.
using Json = nlohmann::ordered_json;

/// Returns `json` as text; on one line if `indent` is negative. Replaces invalid UTF-8 by U+FFFD,
/// and escapes all characters beyond ASCII if one of them would control a terminal (see one_line).
std::string dumped(const Json& json, int indent = -1);

/// Returns `text` as a JSON string, in quotes; replaces invalid UTF-8 by U+FFFD.
std::string json_string(std::string_view text);

/// Returns a number as JSON, with the fewest digits that read back as the same double; null if it
/// is not finite.
std::string json_real(double value);

/// Appends a sample as JSON: an integer if it is whole and the unit counts something; null if
/// missing or not finite.
void add_sample(std::optional<double> value, Unit unit, std::string& to);

/// Returns a number as JSON; null if missing or not finite.
Json json_number(std::optional<double> value);

/// Returns a word as JSON; null if empty.
Json json_word(std::string_view word);

/// Writes a JSON document in pieces, so that it never has to be in memory as a whole. An open
/// object or list has a line for each member; a complete value is on one line if it contains plain
/// values only, and not more than eight keys. Replaces invalid UTF-8 in names by U+FFFD.
class JsonWriter {
 public:
  explicit JsonWriter(const Sink& sink) : sink_(sink) {}

  /// Opens an object ('{') or list ('[') inside the innermost open one; `key` is needed inside an
  /// object.
  void open(char bracket) { open({}, bracket); }
  void open(std::string_view key, char bracket);
  void close();

  void put(std::string_view key, const Json& value);

  /// Writes a value; `add` appends it as JSON.
  template <typename Add>
  void put_with(std::string_view key, const Add& add) {
    begin_member(key);
    add(text_);
    pass_on();
  }

  /// Writes a list of `count` elements on one line; `add` appends the element with the given index
  /// as JSON.
  template <typename Add>
  void list(std::string_view key, std::size_t count, const Add& add) {
    begin_member(key);
    text_ += '[';
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) text_ += std::string_view(", ");
      add(i, text_);
      pass_on();
    }
    text_ += ']';
    pass_on();
  }

 private:
  void begin_member(std::string_view key);
  void pass_on();

  const Sink& sink_;
  std::string text_{};      // text that is not written yet
  std::vector<char> open_;  // closing brackets of what is open
  bool is_first_ = true;    // true until the innermost open object or list has a member
};

/// Returns a machine as JSON, in the form that all of lauka's JSON uses.
Json to_json(const Machine& machine);

}  // namespace lauka
