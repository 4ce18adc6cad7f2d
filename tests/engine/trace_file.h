#pragma once

#include "engine/kperf/strategy.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace lauka::engine::kperf {

/// A trace as the kernel's own code wrote it, with what a right reader reports (tests/data/traces).
struct TraceFile {
  std::string name;
  std::shared_ptr<const nlohmann::json> text;
  std::vector<KdebugRecord> records;

  const nlohmann::json& about() const { return *text; }

  bool at_exit() const { return about().at("strategy").get<std::string>().starts_with("exit"); }
  TraceReader reader() const {
    return {about().at("n").get<std::size_t>(), at_exit(),
            about().at("target").at("pid").get<std::int32_t>()};
  }
  /// The records of each read, in turn.
  std::vector<std::span<const KdebugRecord>> reads() const {
    std::vector<std::span<const KdebugRecord>> pieces;
    std::span<const KdebugRecord> rest(records);
    for (const auto& read : about().at("reads")) {
      const auto count = std::min(read.at("records").get<std::size_t>(), rest.size());
      pieces.push_back(rest.first(count));
      rest = rest.subspan(count);
    }
    pieces.push_back(rest);
    return pieces;
  }
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The traces of a folder, by name.
inline std::vector<TraceFile> traces_in(const std::filesystem::path& folder) {
  std::vector<TraceFile> traces;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    TraceFile& trace = traces.emplace_back();
    trace.name = entry.path().stem().string();
    trace.text =
        std::make_shared<const nlohmann::json>(nlohmann::json::parse(bytes_of(entry.path())));
    const std::string bytes =
        bytes_of(std::filesystem::path(entry.path()).replace_extension("kdebug"));
    trace.records.resize(bytes.size() / sizeof(KdebugRecord));
    std::memcpy(trace.records.data(), bytes.data(), trace.records.size() * sizeof(KdebugRecord));
  }
  std::sort(traces.begin(), traces.end(),
            [](const TraceFile& a, const TraceFile& b) { return a.name < b.name; });
  return traces;
}

}  // namespace lauka::engine::kperf
