#include "results/read_suite.h"

#include "core/foreign_text.h"
#include "results/json_in.h"
#include "results/json_words.h"
#include "results/read_parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

// A benchmark is read as the session that it would be alone: its results, and below "lauka" what
// the whole suite has, with the benchmark's own over it.

namespace lauka {
namespace {

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

Result<ReadFile> read_file_of_sessions(std::string_view text) {
  auto document = parsed(text);
  if (!document) return document.error();
  ReadFile file;
  const JsonIn* ours = object_in(*document, "lauka");
  const JsonIn* benchmarks = ours != nullptr ? list_in(*ours, "benchmarks") : nullptr;
  if (benchmarks == nullptr) {
    auto session = read_session_of(*document);
    if (!session) return session.error();
    file.benchmarks.push_back({"", *std::move(session)});
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
    file.benchmarks.push_back({name, *std::move(read)});
  }
  if (file.benchmarks.empty()) return Error{"has no benchmarks", "export it again"};
  return file;
}

}  // namespace lauka
