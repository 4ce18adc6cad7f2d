#include "report/exports.h"
#include "report/format.h"
#include "report/json_machine.h"
#include "report/json_parts.h"
#include "results/json_words.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka::report {

namespace {

constexpr int kHyperfineSchema = 2;

/// {"value": 1, "unit": "second"}
std::string on_one_line(const Json& json) {
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text += json_string(key) + ": ";
    text += dumped(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// as deep as the document, which is our own
void print(const Json& json, std::size_t depth, std::string& text) {
  const bool is_flat = std::none_of(json.begin(), json.end(),
                                    [](const Json& member) { return member.is_structured(); });
  if (!json.is_structured()) {
    text += dumped(json);
    return;
  }
  // An object of many keys is read by people: one line for each.
  constexpr std::size_t most_keys_of_a_line = 8;
  if (is_flat && (json.is_array() || json.size() <= most_keys_of_a_line)) {
    text += on_one_line(json);
    return;
  }
  const std::string indent(2 * (depth + 1), ' ');
  text += json.is_object() ? "{" : "[";
  const char* before = "\n";
  for (const auto& [key, value] : json.items()) {
    text += before + indent;
    if (json.is_object()) text += json_string(key) + ": ";
    print(value, depth + 1, text);
    before = ",\n";
  }
  text += "\n" + std::string(2 * depth, ' ') + (json.is_object() ? "}" : "]");
}

}  // namespace

std::string json_sample(std::optional<double> value, Unit unit) {
  if (!value || !std::isfinite(*value)) return "null";
  constexpr double largest_exact = 9007199254740992.0;  // 2^53
  const bool is_whole = *value == std::floor(*value) && std::fabs(*value) <= largest_exact;
  const bool counts = unit == Unit::Bytes || unit == Unit::Count;
  return full_precision(*value) + (is_whole && !counts ? ".0" : "");
}

Json json_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json json_word(std::string_view word) {
  return word.empty() ? Json(nullptr) : Json(word);
}

void JsonWriter::begin_member(std::string_view key) {
  if (open_.empty()) return;
  std::string begin = is_first_ ? "\n" : ",\n";
  is_first_ = false;
  begin.append(2 * open_.size(), ' ');
  if (open_.back() == '}') begin += json_string(key) + ": ";
  sink_(begin);
}

void JsonWriter::open(std::string_view key, char bracket) {
  begin_member(key);
  sink_(bracket == '{' ? "{" : "[");
  open_.push_back(bracket == '{' ? '}' : ']');
  is_first_ = true;
}

void JsonWriter::close() {
  const std::string bracket(1, open_.back());
  open_.pop_back();
  sink_(is_first_ ? bracket : "\n" + std::string(2 * open_.size(), ' ') + bracket);
  if (open_.empty()) sink_("\n");
  is_first_ = false;
}

void JsonWriter::put(std::string_view key, const Json& value) {
  std::string text;
  print(value, open_.size(), text);
  put_text(key, text);
}

void JsonWriter::put_text(std::string_view key, std::string_view text) {
  begin_member(key);
  sink_(text);
}

void JsonWriter::list(std::string_view key, std::size_t count,
                      const std::function<std::string(std::size_t)>& text_of) {
  begin_member(key);
  sink_("[");
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) sink_(", ");
    sink_(text_of(i));
  }
  sink_("]");
}

namespace {

void put_head(JsonWriter& json, const Circumstances& circumstances) {
  json.put("schema_version", kHyperfineSchema);
  json.put("metadata", hyperfine_metadata(circumstances));
  json.put("primary_metric", "time_wall_clock");
}

void put_results(JsonWriter& json, const Results& results) {
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    json.open('{');
    put_hyperfine_result(json, results, c);
    json.open("lauka", '{');
    if (!results.benchmark.empty()) {
      json.put("benchmark", results.benchmark);
      json.put("role", role_of(results.reference, c));
    }
    put_lauka_result(json, results, c);
    json.close();
    json.close();
  }
}

Json geomeans_of(const Report& report) {
  Json all = Json::array();
  for (const Geomean& mean : report.geomeans) {
    const auto& bounds = mean.change.bounds;
    all.push_back({{"candidate", mean.place},
                   {"name", json_word(mean.candidate)},
                   {"metric", mean.metric},
                   {"benchmarks", mean.benchmarks},
                   {"percent", mean.change.change ? Json(100.0 * *mean.change.change) : Json()},
                   {"low_percent", bounds ? Json(100.0 * bounds->low) : Json()},
                   {"high_percent", bounds ? Json(100.0 * bounds->high) : Json()}});
  }
  return all;
}

void put_suite(JsonWriter& json, const Report& report) {
  put_lauka_identity(json, report.benchmarks.front(), report.complete());
  json.put("gates_control", word_in(kRiskWords, report.risk));
  json.put("geomeans", geomeans_of(report));
  json.open("benchmarks", '[');
  for (const Results& one : report.benchmarks) {
    json.open('{');
    json.put("name", one.benchmark);
    json.put("complete", one.complete);
    put_lauka_measured(json, one);
    json.close();
  }
  json.close();
}

}  // namespace

void write_json(const Report& report, const Sink& sink) {
  const Results& first = report.benchmarks.front();
  JsonWriter json(sink);
  json.open('{');
  put_head(json, first.circumstances);
  json.open("results", '[');
  for (const Results& one : report.benchmarks) put_results(json, one);
  json.close();
  json.open("lauka", '{');
  if (report.is_suite()) {
    put_suite(json, report);
  } else {
    put_lauka_session(json, first);
  }
  json.close();
  json.close();
}

}  // namespace lauka::report
