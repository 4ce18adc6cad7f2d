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

// Foreign JSON, with checks that members exist and have the right type; and JSON written in pieces.

namespace lauka {

using JsonIn = nlohmann::json;

/// True if the value of `key` is kept. `top`: the document's own key above it; `depth`: 1 for the
/// document's own keys, and one more for each object or array around it.
using WantedKey = std::function<bool(std::string_view top, int depth, std::string_view key)>;

/// Parses `text`, without keeping unwanted parts. Refuses a document that is too deep or too large.
/// `packs_runs`: lists of runs are packed, for for_each_run() alone.
Result<JsonIn> parsed(std::string_view text, const WantedKey& wanted = {}, bool packs_runs = false);

/// Frees the memory of `value`, which becomes null. Its destructor would first copy all that is in
/// it to one more list.
void release(JsonIn& value);

/// null if it is missing, or is null.
const JsonIn* member(const JsonIn& object, std::string_view key);
const JsonIn* list_in(const JsonIn& object, std::string_view key);
const JsonIn& items_in(const JsonIn& object, std::string_view key);  ///< an empty list if missing

/// Calls `take` with each item of a list of runs ("runs" or "measurements"), packed or not. False
/// if the list is missing.
bool for_each_run(const JsonIn& object, std::string_view key,
                  const std::function<void(const JsonIn&)>& take);

const JsonIn* object_in(const JsonIn& object, std::string_view key);

/// Returns a string; empty if it is missing or not a string.
std::string text_in(const JsonIn& object, std::string_view key);
std::vector<std::string> texts_in(const JsonIn& object, std::string_view key);

bool flag_in(const JsonIn& object, std::string_view key, bool otherwise = false);
std::optional<double> number_in(const JsonIn& object, std::string_view key);
std::optional<std::uint64_t> count_in(const JsonIn& object, std::string_view key);

/// Keys stay in the order in which they are set.
using Json = nlohmann::ordered_json;

/// `json` as text; `indent` below 0: on one line. What is not UTF-8 is replaced by U+FFFD, and
/// where a character would steer a terminal (see one_line), all beyond ASCII is escaped.
std::string dumped(const Json& json, int indent = -1);

/// The same of a text alone.
std::string json_string(std::string_view text);

/// The same of a number: the fewest digits that read back as it; null if it is not finite.
std::string json_real(double value);

/// Appends a sample as JSON: a whole number where it counts something; null if missing.
void add_sample(std::optional<double> value, Unit unit, std::string& to);

/// null if missing.
Json json_number(std::optional<double> value);

/// null if the word is empty.
Json json_word(std::string_view word);

/// Writes a document in pieces, so that it need not be in memory whole. Objects and lists that are
/// opened have a line for each member; a whole value is on one line if it holds plain values only.
/// Writes JSON; replaces what is not UTF-8 in a name by U+FFFD.
class JsonWriter {
 public:
  explicit JsonWriter(const Sink& sink) : sink_(sink) {}

  /// Opens an object ('{') or list ('[') in the innermost one; `key` where that is an object.
  void open(char bracket) { open({}, bracket); }
  void open(std::string_view key, char bracket);
  void close();

  void put(std::string_view key, const Json& value);

  /// Writes a value that `add` appends as JSON.
  template <typename Add>
  void put_with(std::string_view key, const Add& add) {
    begin_member(key);
    add(text_);
    pass_on();
  }

  /// Writes a list on one line; `add` appends the JSON of each index below `count`.
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
  std::string text_{};      // waits for more
  std::vector<char> open_;  // the brackets that close what is open
  bool is_first_ = true;    // of the innermost one
};

/// Returns the machine as every JSON of lauka has it.
Json to_json(const Machine& machine);

}  // namespace lauka
