#include "format/hyperfine.h"

#include "core/numbers.h"
#include "core/text.h"
#include "format/sections.h"

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

// JSON of hyperfine 1.x has lists with an item for each run, and only the means of user and system
// time; schema 2 has an object for each run.

namespace lauka {

namespace {

double value_or_none(const ParsedJson* value) {
  const bool is_value = value != nullptr && value->is_number();
  const double number = is_value ? value->get<double>() : kNoValue;
  return is_in_numeric_range(number) && number >= 0.0 ? number : kNoValue;
}

std::optional<int> status_in(const ParsedJson* code) {
  constexpr int most = 255;
  if (code == nullptr || !code->is_number_integer()) return std::nullopt;
  const auto status = code->get<std::int64_t>();
  return status >= 0 && status <= most ? std::optional(static_cast<int>(status)) : std::nullopt;
}

void add_if_known(HyperfineValues metric, std::vector<HyperfineValues>& all) {
  const bool has_values =
      std::ranges::any_of(metric.values, [](double value) { return !std::isnan(value); });
  if (has_values || metric.mean) all.push_back(std::move(metric));
}

/// Reads the measurements of schema 2 to `to`. Returns false and leaves `to` unchanged if there are
/// no measurements, or if their number is not `runs`.
bool read_measured(const ParsedJson& result, std::size_t runs, HyperfineResult& to) {
  std::array<std::vector<double>, kHyperfineMetrics.size()> values;
  std::vector<std::optional<int>> statuses;
  for_each_run(result, "measurements", [&](const ParsedJson& of_run) {
    const std::size_t run = statuses.size();
    if (run == 0) statuses.reserve(runs);
    statuses.push_back(status_in(member(of_run, "exit_code")));
    for (std::size_t m = 0; m < kHyperfineMetrics.size() && run < runs; ++m) {
      if (kHyperfineMetrics[m].our_role == Role::WallTime) continue;
      const ParsedJson* quantity = object_in(of_run, kHyperfineMetrics[m].hyperfine_key);
      if (quantity == nullptr || text_in(*quantity, "unit") != kHyperfineMetrics[m].unit) continue;
      values[m].resize(runs, kNoValue);
      values[m][run] = value_or_none(member(*quantity, "value"));
    }
  });
  if (statuses.empty() || statuses.size() != runs) return false;
  to.statuses = std::move(statuses);
  for (std::size_t m = 0; m < kHyperfineMetrics.size(); ++m)
    add_if_known({kHyperfineMetrics[m].our_role, std::move(values[m])}, to.metrics);
  return true;
}

void add_listed(const ParsedJson& result, std::size_t runs, std::vector<HyperfineValues>& all) {
  const auto time_in = [&](std::string_view key) {
    const auto seconds = number_in(result, key);
    return seconds && *seconds >= 0.0 ? seconds : std::nullopt;
  };
  const auto user = time_in("user");
  const auto system = time_in("system");
  if (user && system) add_if_known({Role::CpuTime, {}, *user + *system}, all);
  add_if_known({Role::UserTime, {}, user}, all);
  add_if_known({Role::SystemTime, {}, system}, all);
  const ParsedJson* peaks = list_in(result, "memory_usage_byte");
  if (peaks == nullptr || peaks->size() != runs) return;
  HyperfineValues peak{Role::PeakRss};
  peak.values.reserve(runs);
  for (const ParsedJson& value : *peaks) peak.values.push_back(value_or_none(&value));
  add_if_known(std::move(peak), all);
}

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  if (what.empty()) return std::string(text);
  std::string made;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what)) {
    made.append(text.substr(0, at)).append(by);
    text.remove_prefix(at + what.size());
  }
  return made.append(text);
}

/// Returns "sleep {n}" for the command "sleep 3" with n = 3.
std::string pattern_of(const Command& command) {
  std::string pattern = command.name;
  for (const Parameter& parameter : command.parameters)
    pattern = replaced(pattern, parameter.value, "{" + parameter.name + "}");
  return pattern;
}

}  // namespace

HyperfineResult read_hyperfine_result(const ParsedJson& result, std::size_t runs) {
  HyperfineResult foreign;
  const bool has_measured = read_measured(result, runs, foreign);
  if (foreign.metrics.empty()) add_listed(result, runs, foreign.metrics);
  const ParsedJson* codes = list_in(result, "exit_codes");
  if (!has_measured && codes != nullptr && codes->size() == runs) {
    foreign.statuses.reserve(runs);
    for (const ParsedJson& code : *codes) foreign.statuses.push_back(status_in(&code));
  }
  if (const ParsedJson* parameters = object_in(result, "parameters")) {
    for (const auto& [name, value] : parameters->items()) {
      if (value.is_string()) foreign.parameters.push_back({name, value.get<std::string>()});
      if (value.is_object()) foreign.parameters.push_back({name, text_in(value, "value")});
    }
  }
  return foreign;
}

void infer_typed_indices_and_names(std::vector<Command>& commands) {
  // The second command with the same parameters comes from the second typed command.
  std::map<std::vector<std::pair<std::string, std::string>>, std::size_t> times;
  std::map<std::size_t, std::pair<std::string, bool>> patterns;
  std::map<std::string, std::size_t> namesakes;

  for (Command& command : commands) {
    ++namesakes[command.name];
    if (command.parameters.empty()) continue;

    std::vector<std::pair<std::string, std::string>> values;
    for (const Parameter& parameter : command.parameters)
      values.emplace_back(parameter.name, parameter.value);
    command.source_command_index = times[values]++;

    const std::string pattern = pattern_of(command);
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
