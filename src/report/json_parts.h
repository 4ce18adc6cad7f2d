#pragma once

#include "core/choices.h"
#include "results/results.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// The parts of the document of json.h. Internal to report/.

namespace lauka::report {

/// Keys stay in the order in which they are set.
using Json = nlohmann::ordered_json;

/// A sample as JSON, as a whole number where it counts something; null where there is none.
std::string json_sample(std::optional<double> value, Unit unit);

/// null where there is none.
Json json_number(std::optional<double> value);

/// null where the word is empty.
Json json_word(std::string_view word);

/// Writes a document as it comes, so that none has to be in memory whole. Objects and lists that
/// are opened have a line for each member; what is put whole stands on one line if it holds plain
/// values only. What is not UTF-8 in a name is replaced by U+FFFD.
class JsonWriter {
 public:
  explicit JsonWriter(const Sink& sink) : sink_(sink) {}

  /// Opens an object ('{') or list ('[') in the innermost one; `key` where that is an object.
  void open(char bracket) { open({}, bracket); }
  void open(std::string_view key, char bracket);
  void close();

  void put(std::string_view key, const Json& value);

  /// The same of a value that is JSON already.
  void put_text(std::string_view text) { put_text({}, text); }
  void put_text(std::string_view key, std::string_view text);

  /// A list on one line: the texts of 0 … `count` - 1.
  void list(std::string_view key, std::size_t count,
            const std::function<std::string(std::size_t)>& text_of);

 private:
  void begin_member(std::string_view key);

  const Sink& sink_;
  std::vector<char> open_;  // the brackets that close what is open
  bool is_first_ = true;    // of the innermost one
};

/// Writes what hyperfine has of `command`: the keys of 1.x and those of schema 2.
void put_hyperfine_result(JsonWriter& json, const Results& results, std::size_t command);

/// "metadata" of hyperfine's schema 2.
Json hyperfine_metadata(const Circumstances& circumstances);

/// Writes what lauka knows of `command` beyond that.
void put_lauka_result(JsonWriter& json, const Results& results, std::size_t command);

/// What makes the wall time's delta of `command` up; null: the reference, or no wall time that
/// could be compared.
Json why_of(const Results& results, std::size_t command);

/// The metrics of a session, its events, the names of those of each pass, and the passes' kinds.
Json metrics_of(const Results& results);
Json events_of(const EventSet& events);
Json passes_of(const EventSet& events);
Json pass_kinds_of(const EventSet& events);

/// Writes what lauka knows of the session: which it was, and what was measured in it. In a suite
/// the first is there once, the second for each benchmark.
void put_lauka_session(JsonWriter& json, const Results& results);
void put_lauka_identity(JsonWriter& json, const Results& results, bool complete);
void put_lauka_measured(JsonWriter& json, const Results& results);

}  // namespace lauka::report
