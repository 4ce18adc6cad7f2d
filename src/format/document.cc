#include "core/text.h"
#include "format/exports.h"
#include "format/sections.h"
#include "format/words.h"

#include <map>
#include <utility>

#include <nlohmann/json.hpp>

namespace lauka {

namespace {

constexpr int kHyperfineSchema = 2;

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
      json.put("role", report::role_of(results.reference, c));
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

/// The results of each benchmark, taken out of the document.
std::map<std::string, JsonIn> results_by_benchmark(JsonIn& document) {
  std::map<std::string, JsonIn> all;
  const auto results = document.find("results");
  if (results == document.end() || !results->is_array()) return all;
  for (JsonIn& result : *results) {
    const JsonIn* ours = object_in(result, "lauka");
    if (ours == nullptr) continue;
    JsonIn& list = all[text_in(*ours, "benchmark")];
    if (list.is_null()) list = JsonIn::array();
    list.push_back(std::move(result));
  }
  return all;
}

JsonIn document_of(const JsonIn& document, const JsonIn& session, const JsonIn& benchmark,
                   JsonIn results) {
  JsonIn alone = JsonIn::object();
  if (const JsonIn* metadata = object_in(document, "metadata")) alone["metadata"] = *metadata;
  alone["results"] = std::move(results);
  JsonIn& ours = alone["lauka"] = session;
  if (benchmark.is_object()) ours.update(benchmark);
  return alone;
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

Result<ReadSession> read_session(std::string_view text) {
  const auto document = parsed(text);
  if (!document) return document.error();
  return read_session_of(*document);
}

Result<ReadFile> read_file_of_sessions(std::string_view text) {
  auto document = parsed(text);
  if (!document) return document.error();
  ReadFile file;
  const JsonIn* ours = object_in(*document, "lauka");
  const JsonIn* benchmarks = ours != nullptr ? list_in(*ours, "benchmarks") : nullptr;
  if (benchmarks == nullptr) {
    auto session = read_session_of(*document);
    if (!session) return session.error();
    file.benchmarks.push_back(*std::move(session));
    return file;
  }
  file.risk = value_in(kRiskWords, text_in(*ours, "gates_control"));
  JsonIn session = *ours;
  session.erase("benchmarks");
  const JsonIn names = *benchmarks;
  auto results = results_by_benchmark(*document);
  for (const JsonIn& benchmark : names) {
    const std::string name = text_in(benchmark, "name");
    const auto found = results.find(name);
    if (name.empty() || found == results.end())
      return Error{"has a benchmark " + cited(name) + " without results", "export it again"};
    auto read =
        read_session_of(document_of(*document, session, benchmark, std::move(found->second)));
    if (!read) return read.error();
    results.erase(found);
    file.benchmarks.push_back(*std::move(read));
    file.benchmarks.back().benchmark = name;
  }
  if (file.benchmarks.empty()) return Error{"has no benchmarks", "export it again"};
  return file;
}

}  // namespace lauka
