#include "format/function_json.h"

#include "core/own_metric.h"

#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka {

namespace {

constexpr std::string_view kMetrics = "metrics";
constexpr std::string_view kRows = "rows";
constexpr std::string_view kName = "name";
constexpr std::string_view kOtherNames = "other_names";
constexpr std::string_view kFrames = "frames";
constexpr std::string_view kPaths = "paths";
constexpr std::string_view kFrame = "frame";
constexpr std::string_view kCaller = "caller";
constexpr std::size_t kMaxRounds = 100'000;

/// Most frames of a call path. A sample of the kernel's has at most 64 KiB, so 8,192 addresses.
/// Files with folded stacks grow with the square of the number of frames.
constexpr std::uint32_t kMaxFrames = 8'192;

void add_values(const RoundValues& values, std::string& to) {
  const auto add = [&](double value) { add_sample(value, Unit::Count, to); };
  if (values.size() == 1) return add(values.front());
  to += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) to += ", ";
    add(values[i]);
  }
  to += ']';
}

Error damaged() {
  return {"has functions whose values cannot be read", "export it again"};
}

Result<RoundValues> read_values(const ParsedJson& there, std::size_t rounds) {
  RoundValues values;
  const auto add = [&](const ParsedJson& value) {
    if (!value.is_number()) return false;
    values.push_back(value.get<double>());
    return is_in_numeric_range(values.back());
  };
  if (there.is_number()) return add(there) ? Result<RoundValues>(values) : damaged();
  if (!there.is_array() || there.size() != rounds || rounds < 2) return damaged();
  for (const ParsedJson& value : there)
    if (!add(value)) return damaged();
  return values;
}

/// Appends the row of a function as an object.
void add_row(const std::string& name, const std::vector<RoundValues>& values,
             const FunctionTable& table, std::string& to) {
  to.append("{\"").append(kName).append("\": ").append(json_string(name));

  if (const auto others = table.other_names_of(name); !others.empty()) {
    to.append(", ").append(json_string(kOtherNames)).append(": [");
    for (std::size_t i = 0; i < others.size(); ++i)
      to.append(i > 0 ? ", " : "").append(json_string(others[i]));
    to += ']';
  }

  for (std::size_t m = 0; m < values.size(); ++m) {
    if (values[m].empty()) continue;
    to.append(", ").append(json_string(table.metrics[m].name)).append(": ");
    add_values(values[m], to);
  }
  to += '}';
}

/// Appends a call path as an object.
void add_path(const PathTable& paths, std::size_t path, std::string& to) {
  const auto add_index = [&](std::string_view key, std::size_t index) {
    to.append(json_string(key)).append(": ").append(std::to_string(index));
  };

  to += '{';
  add_index(kFrame, paths.frame_of(path));
  if (paths.caller_of(path) != kNoCaller) {
    to += ", ";
    add_index(kCaller, paths.caller_of(path));
  }
  if (!paths.values_of(path).empty()) {
    to.append(", ").append(json_string(kSampledTime)).append(": ");
    add_values(paths.values_of(path), to);
  }
  to += '}';
}

void put_paths(JsonWriter& json, const PathTable& paths) {
  if (paths.empty()) return;

  json.open(kFrames, '[');
  for (const std::string& name : paths.names())
    json.put_with({}, [&](std::string& to) { to += json_string(name); });
  json.close();

  json.open(kPaths, '[');
  for (std::size_t path = 0; path < paths.size(); ++path)
    json.put_with({}, [&](std::string& to) { add_path(paths, path, to); });
  json.close();
}

/// Returns an index below `limit`; nullopt if `there` is none.
std::optional<std::uint32_t> read_index(const ParsedJson* there, std::size_t limit) {
  if (there == nullptr || !there->is_number_unsigned() || *there >= limit) return std::nullopt;
  return there->get<std::uint32_t>();
}

Result<std::vector<std::string>> read_frame_names(const ParsedJson& functions) {
  std::vector<std::string> names;
  for (const ParsedJson& name : items_in(functions, kFrames)) {
    if (!name.is_string()) return damaged();
    names.push_back(name.get<std::string>());
  }
  return names;
}

/// Returns the path of the caller of the path in `row`, which follows `paths_before` others;
/// kNoCaller if it has none. Returns nullopt if the file is damaged.
std::optional<std::uint32_t> read_caller(const ParsedJson& row, std::size_t paths_before) {
  // A caller must precede the paths of its callees, so that no path can be its own caller.
  const ParsedJson* stored = member(row, kCaller);
  return stored != nullptr ? read_index(stored, paths_before) : kNoCaller;
}

/// Returns the values of a path. Only a path that was seen in a sample itself has values; others
/// only lead to such paths.
Result<RoundValues> read_values_of_path(const ParsedJson& row, std::size_t rounds) {
  const ParsedJson* sampled_time = member(row, kSampledTime);
  return sampled_time != nullptr ? read_values(*sampled_time, rounds) : RoundValues();
}

/// Reads the call paths of sampled runs. A call path is stored as the index of its last frame,
/// which is a function's name, and the index of its caller's path. So the paths form trees.
/// `rounds`: number of rounds in which time was sampled.
Result<PathTable> read_paths(const ParsedJson& functions, std::size_t rounds) {
  const Result<std::vector<std::string>> frame_names = read_frame_names(functions);
  if (!frame_names) return frame_names.error();

  PathTable paths;
  std::vector<std::uint32_t> frame_counts;  // number of frames of each path, by its index
  for (const ParsedJson& row : items_in(functions, kPaths)) {
    const auto frame_index = read_index(member(row, kFrame), frame_names->size());
    if (!frame_index) return damaged();

    const auto caller = read_caller(row, paths.size());
    if (!caller) return damaged();

    const bool has_caller = *caller != kNoCaller;
    frame_counts.push_back(has_caller ? frame_counts[*caller] + 1 : 1);
    if (frame_counts.back() > kMaxFrames)
      return Error{fmt::format("has a call path of more than {} frames", kMaxFrames),
                   "export it again with lauka, whose paths are shorter"};

    auto values = read_values_of_path(row, rounds);
    if (!values) return values.error();
    const std::string& frame_name = (*frame_names)[*frame_index];

    // Each path is stored once.
    const bool is_new = paths.add_path(*caller, frame_name, *std::move(values), rounds);
    if (!is_new) return damaged();
  }

  return paths;
}

/// Adds a function to the table, whose metrics are known.
Result<void> add_function(const ParsedJson& row, FunctionTable& table) {
  const std::string name = text_in(row, kName);
  for (const ParsedJson& other : items_in(row, kOtherNames))
    if (other.is_string()) table.other_names[name].insert(other.get<std::string>());

  std::vector<RoundValues>& values = table.functions[name];
  values.resize(table.metrics.size());
  for (std::size_t m = 0; m < values.size(); ++m) {
    const ParsedJson* of_metric = member(row, table.metrics[m].name);
    if (of_metric == nullptr) continue;
    auto read = read_values(*of_metric, table.metrics[m].rounds);
    if (!read) return read.error();
    values[m] = *std::move(read);
  }
  return {};
}

}  // namespace

void put_functions(JsonWriter& json, std::string_view key, const FunctionTable& table) {
  if (table.empty()) return;

  json.open(key, '{');
  Json rounds;
  for (const FunctionMetric& metric : table.metrics) rounds[metric.name] = metric.rounds;
  json.put(kMetrics, rounds);

  json.open(kRows, '[');
  for (const auto& row : table.functions)
    json.put_with({}, [&](std::string& to) { add_row(row.first, row.second, table, to); });

  json.close();
  put_paths(json, table.paths);
  json.close();
}

// The file has, under "metrics", the number of rounds of each metric that was measured by function.
// Under "rows", it has the values of each function, one for each round. Returns an empty table if
// `object` has no functions.
Result<FunctionTable> read_functions(const ParsedJson& object, std::string_view key) {
  FunctionTable table;
  const ParsedJson* functions = object_in(object, key);
  if (functions == nullptr) return table;

  const ParsedJson* metrics = object_in(*functions, kMetrics);
  if (metrics == nullptr) return damaged();
  for (const auto& [name, rounds] : metrics->items()) {
    if (!rounds.is_number_unsigned() || rounds > kMaxRounds) return damaged();
    table.metrics.push_back({name, rounds.get<std::size_t>()});
  }

  for (const ParsedJson& row : items_in(*functions, kRows))
    if (auto added = add_function(row, table); !added) return added.error();

  // Only sampled runs can have call paths.
  const std::size_t sampled_time_index = table.find(kSampledTime);
  const bool was_sampled = sampled_time_index < table.metrics.size();
  if (!was_sampled) return table;

  auto paths = read_paths(*functions, table.metrics[sampled_time_index].rounds);
  if (!paths) return paths.error();
  table.paths = *std::move(paths);
  return table;
}

}  // namespace lauka
