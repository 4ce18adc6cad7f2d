#include "core/numbers.h"
#include "core/text.h"
#include "format/sections.h"

#include <cmath>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

// What hyperfine's JSON has of a command besides its wall times. 1.x has lists with an item for
// each run, and the means of user and system time; schema 2 has an object for each run.

namespace lauka {

namespace {

double value_or_none(const JsonIn* value) {
  const bool is_value = value != nullptr && value->is_number();
  const double number = is_value ? value->get<double>() : kNoValue;
  return is_measurable(number) && number >= 0.0 ? number : kNoValue;
}

std::optional<int> status_in(const JsonIn* code) {
  constexpr int most = 255;
  if (code == nullptr || !code->is_number_integer()) return std::nullopt;
  const auto status = code->get<std::int64_t>();
  return status >= 0 && status <= most ? std::optional(static_cast<int>(status)) : std::nullopt;
}

/// Returns item `run` of a list that has one for each run; null if not.
const JsonIn* item_of(const JsonIn* list, std::size_t run, std::size_t runs) {
  return list != nullptr && list->size() == runs ? &(*list)[run] : nullptr;
}

void add_if_known(ForeignMetric metric, std::vector<ForeignMetric>& all) {
  const bool has_values =
      std::ranges::any_of(metric.values, [](double value) { return !std::isnan(value); });
  if (has_values || metric.mean) all.push_back(std::move(metric));
}

/// Adds the metrics that each measurement of schema 2 has of itself.
void add_measured(const JsonIn* measurements, std::size_t runs, std::vector<ForeignMetric>& all) {
  for (const Namesake& name : kNamesakes) {
    if (name.ours == Role::WallTime) continue;
    ForeignMetric metric{name.ours, std::vector<double>(runs, kNoValue)};
    for (std::size_t run = 0; run < runs; ++run) {
      const JsonIn* of_run = item_of(measurements, run, runs);
      const JsonIn* quantity = of_run != nullptr ? object_in(*of_run, name.theirs) : nullptr;
      if (quantity == nullptr || text_in(*quantity, "unit") != name.unit) continue;
      metric.values[run] = value_or_none(member(*quantity, "value"));
    }
    add_if_known(std::move(metric), all);
  }
}

/// Adds those of 1.x: means of CPU time, and a list of peaks.
void add_listed(const JsonIn& result, std::size_t runs, std::vector<ForeignMetric>& all) {
  const auto user = number_in(result, "user");
  const auto system = number_in(result, "system");
  if (user && system) add_if_known({Role::CpuTime, {}, *user + *system}, all);
  add_if_known({Role::UserTime, {}, user}, all);
  add_if_known({Role::SystemTime, {}, system}, all);
  ForeignMetric peak{Role::PeakRss, std::vector<double>(runs, kNoValue)};
  const JsonIn* peaks = list_in(result, "memory_usage_byte");
  for (std::size_t run = 0; run < runs; ++run)
    peak.values[run] = value_or_none(item_of(peaks, run, runs));
  add_if_known(std::move(peak), all);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  if (what.empty()) return text;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), by);
    at += by.size();
  }
  return text;
}

/// "sleep {n}" of "sleep 3", whose n is 3.
std::string pattern_of(const Command& command) {
  std::string pattern = command.name;
  for (const Parameter& one : command.parameters)
    pattern = replaced(pattern, one.value, "{" + one.name + "}");
  return pattern;
}

}  // namespace

ForeignResult read_foreign(const JsonIn& result, std::size_t runs) {
  ForeignResult foreign;
  const JsonIn* measurements = list_in(result, "measurements");
  add_measured(measurements, runs, foreign.metrics);
  if (foreign.metrics.empty()) add_listed(result, runs, foreign.metrics);
  const JsonIn* codes = list_in(result, "exit_codes");
  for (std::size_t run = 0; run < runs; ++run) {
    const JsonIn* of_run = item_of(measurements, run, runs);
    foreign.statuses.push_back(
        status_in(of_run != nullptr ? member(*of_run, "exit_code") : item_of(codes, run, runs)));
  }
  if (const JsonIn* parameters = object_in(result, "parameters")) {
    for (const auto& [name, value] : parameters->items()) {
      if (value.is_string()) foreign.parameters.push_back({name, value.get<std::string>()});
      if (value.is_object()) foreign.parameters.push_back({name, text_in(value, "value")});
    }
  }
  return foreign;
}

void relate_commands(std::vector<Command>& commands) {
  // The second command with the same values was made of the second one typed.
  std::map<std::vector<std::pair<std::string, std::string>>, std::size_t> times;
  std::map<std::size_t, std::pair<std::string, bool>> patterns;  // and whether all agree
  std::map<std::string, std::size_t> namesakes;
  for (Command& command : commands) {
    ++namesakes[command.name];
    if (command.parameters.empty()) continue;
    std::vector<std::pair<std::string, std::string>> values;
    for (const Parameter& one : command.parameters) values.emplace_back(one.name, one.value);
    command.typed = times[values]++;
    const std::string pattern = pattern_of(command);
    const auto [known, is_new] = patterns.try_emplace(command.typed, pattern, true);
    if (!is_new && known->second.first != pattern) known->second.second = false;
  }
  for (std::size_t c = 0; c < commands.size(); ++c) {
    Command& command = commands[c];
    if (command.parameters.empty()) {
      command.typed = c;
      continue;
    }
    const auto& [pattern, is_common] = patterns.at(command.typed);
    command.pattern = is_common ? pattern : command.name;
    if (namesakes[command.name] == 1) continue;
    std::string values;
    for (const Parameter& one : command.parameters)
      values += (values.empty() ? "" : ", ") + one.name + " = " + one.value;
    command.name += " (" + values + ")";
  }
}

}  // namespace lauka
