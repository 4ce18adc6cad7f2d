#include "format/hyperfine.h"

#include "format/run_lists.h"

#include <cmath>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

// JSON of hyperfine 1.x has lists with an item for each run, and only the means of user and system
// time; schema 2 has an object for each run.

namespace lauka {

namespace {

void add_if_known(HyperfineValues metric, std::vector<HyperfineValues>& all) {
  const bool has_values =
      std::ranges::any_of(metric.values, [](double value) { return !std::isnan(value); });
  if (has_values || metric.mean) all.push_back(std::move(metric));
}

/// Reads the measurements of schema 2 to `to`. Returns false and leaves `to` unchanged if there are
/// no measurements, or if their number is not `runs`.
bool read_measurements(const MeasurementList* measurements, std::size_t runs, HyperfineResult& to) {
  if (measurements == nullptr || measurements->size() == 0 || measurements->size() != runs)
    return false;
  to.statuses = measurements->statuses();
  for (const HyperfineMetric& metric : kHyperfineMetrics)
    if (metric.our_role != Role::WallTime)
      add_if_known({metric.our_role, measurements->values_of(metric.our_role)}, to.metrics);
  return true;
}

void add_listed_values(const ParsedJson& result, const NumberList* peaks,
                       std::vector<HyperfineValues>& all) {
  const auto time_in = [&](std::string_view key) {
    const auto seconds = number_in(result, key);
    return seconds && *seconds >= 0.0 ? seconds : std::nullopt;
  };
  const auto user = time_in("user");
  const auto system = time_in("system");
  if (user && system) add_if_known({Role::CpuTime, {}, *user + *system}, all);
  add_if_known({Role::UserTime, {}, user}, all);
  add_if_known({Role::SystemTime, {}, system}, all);
  if (peaks == nullptr) return;
  HyperfineValues peak{Role::PeakRss};
  peak.values.reserve(peaks->size());
  for (std::size_t i = 0; i < peaks->size(); ++i)
    peak.values.push_back(read_value_or_nan(peaks->at(i)));
  add_if_known(std::move(peak), all);
}

std::string replace_all(std::string_view text, std::string_view what, std::string_view by) {
  if (what.empty()) return std::string(text);
  std::string result;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what)) {
    result.append(text.substr(0, at)).append(by);
    text.remove_prefix(at + what.size());
  }
  return result.append(text);
}

/// Returns "sleep {n}" for the command "sleep 3" with n = 3.
std::string infer_pattern(const Command& command) {
  std::string pattern = command.name;
  for (const Parameter& parameter : command.parameters)
    pattern = replace_all(pattern, parameter.value, "{" + parameter.name + "}");
  return pattern;
}

}  // namespace

HyperfineResult read_hyperfine_result(const ParsedJson& result, std::size_t runs,
                                      const RunLists& lists) {
  // A list that does not have an item for each run says nothing about the runs.
  const auto find_whole_list = [&](std::string_view key) {
    const NumberList* list = lists.numbers_in(result, key);
    return list != nullptr && list->size() == runs ? list : nullptr;
  };

  HyperfineResult read;
  const bool has_measurements = read_measurements(lists.measurements_in(result), runs, read);
  if (read.metrics.empty())
    add_listed_values(result, find_whole_list("memory_usage_byte"), read.metrics);

  if (const NumberList* codes = find_whole_list("exit_codes");
      codes != nullptr && !has_measurements) {
    read.statuses.reserve(runs);
    for (std::size_t i = 0; i < runs; ++i) read.statuses.push_back(read_exit_status(codes->at(i)));
  }

  if (const ParsedJson* parameters = object_in(result, "parameters")) {
    for (const auto& [name, value] : parameters->items()) {
      if (value.is_string()) read.parameters.push_back({name, value.get<std::string>()});
      if (value.is_object()) read.parameters.push_back({name, text_in(value, "value")});
    }
  }
  return read;
}

void infer_typed_indices_and_names(std::vector<Command>& commands) {
  // The second command with the same parameters comes from the second typed command.
  std::map<std::vector<std::pair<std::string, std::string>>, std::size_t> counts_by_values;
  std::map<std::size_t, std::pair<std::string, bool>> patterns;
  std::map<std::string, std::size_t> namesakes;

  for (Command& command : commands) {
    ++namesakes[command.name];
    if (command.parameters.empty()) continue;

    std::vector<std::pair<std::string, std::string>> values;
    for (const Parameter& parameter : command.parameters)
      values.emplace_back(parameter.name, parameter.value);
    command.source_command_index = counts_by_values[values]++;

    const std::string pattern = infer_pattern(command);
    const auto [known, is_new] = patterns.try_emplace(command.source_command_index, pattern, true);
    if (!is_new && known->second.first != pattern) known->second.second = false;
  }

  for (std::size_t c = 0; c < commands.size(); ++c) {
    Command& command = commands[c];
    if (command.parameters.empty()) {
      command.source_command_index = c;
      continue;
    }

    const auto& [pattern, is_common] = patterns.at(command.source_command_index);
    command.unfilled_name = is_common ? pattern : command.name;

    // Only commands that share their name need the parameters to be told apart.
    if (namesakes[command.name] == 1) continue;
    std::string values;
    for (const Parameter& parameter : command.parameters)
      values += (values.empty() ? "" : ", ") + parameter.name + " = " + parameter.value;
    command.name += " (" + values + ")";
  }
}

}  // namespace lauka
