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

/// Adds the measurements of schema 2 to `to`. Returns false and leaves `to` unchanged if there are
/// no measurements, or if their number is not `runs`.
bool add_measurements(const MeasurementList* measurements, std::size_t runs, HyperfineResult& to) {
  if (measurements == nullptr || measurements->size() == 0 || measurements->size() != runs)
    return false;
  to.statuses = measurements->statuses();
  for (const HyperfineMetric& metric : kHyperfineMetrics)
    if (metric.our_role != Role::WallTime)
      add_if_known({metric.our_role, measurements->values_of(metric.our_role)}, to.metrics);
  return true;
}

/// Adds what the format of hyperfine 1.x has: mean CPU times, and a list of peaks of memory.
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

/// Returns the exit status of each run.
std::vector<std::optional<int>> read_statuses(const NumberList& codes) {
  std::vector<std::optional<int>> statuses;
  statuses.reserve(codes.size());
  for (std::size_t i = 0; i < codes.size(); ++i) statuses.push_back(read_exit_status(codes.at(i)));
  return statuses;
}

std::vector<Parameter> read_parameters(const ParsedJson& result) {
  const ParsedJson* stored = object_in(result, "parameters");
  if (stored == nullptr) return {};

  // The value of a parameter is a string in 1.x, and a member of an object in schema 2.
  std::vector<Parameter> parameters;
  for (const auto& [name, value] : stored->items()) {
    if (value.is_string()) parameters.push_back({name, value.get<std::string>()});
    if (value.is_object()) parameters.push_back({name, text_in(value, "value")});
  }
  return parameters;
}

/// The name of a typed command before its parameters were filled in.
struct InferredPattern {
  std::string text;
  bool fits_all_commands = true;  ///< false if its commands have different patterns
};

/// Returns "sleep {n}" for the command "sleep 3" with n = 3.
std::string infer_pattern(const Command& command) {
  std::string pattern = command.name;
  for (const Parameter& parameter : command.parameters)
    pattern = replace_all(pattern, parameter.value, "{" + parameter.name + "}");
  return pattern;
}

/// Sets from which typed command each command with parameters comes.
void infer_typed_indices(std::vector<Command>& commands) {
  using ParameterValues = std::vector<std::pair<std::string, std::string>>;
  std::map<ParameterValues, std::size_t> command_counts;
  for (Command& command : commands) {
    if (command.parameters.empty()) continue;

    // hyperfine runs all typed commands with the same values. So the second command with some
    // values comes from the second typed command.
    ParameterValues values;
    for (const Parameter& parameter : command.parameters)
      values.emplace_back(parameter.name, parameter.value);
    command.typed_command_index = command_counts[values]++;
  }
}

using PatternsByTypedIndex = std::map<std::size_t, InferredPattern>;

/// Returns the patterns of the typed commands that have parameters.
PatternsByTypedIndex infer_patterns(const std::vector<Command>& commands) {
  PatternsByTypedIndex patterns;
  for (const Command& command : commands) {
    if (command.parameters.empty()) continue;
    const std::string text = infer_pattern(command);
    const auto [entry, is_new] =
        patterns.try_emplace(command.typed_command_index, InferredPattern{text});
    InferredPattern& pattern = entry->second;
    if (pattern.text != text) pattern.fits_all_commands = false;
  }
  return patterns;
}

std::string write_parameters(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& parameter : parameters)
    text += (text.empty() ? "" : ", ") + parameter.name + " = " + parameter.value;
  return text;
}

}  // namespace

// `run_count`: number of the result's wall times.
HyperfineResult read_hyperfine_result(const ParsedJson& json, std::size_t run_count,
                                      const RunLists& lists) {
  // A list that does not have an item for each run is not used, because it does not say which
  // item belongs to which run.
  const auto find_list_of_all_runs = [&](std::string_view key) {
    const NumberList* list = lists.numbers_in(json, key);
    return list != nullptr && list->size() == run_count ? list : nullptr;
  };

  // Files of schema 2 have a measurement for each run, an object with all its values. Files of 1.x
  // have a few lists and means, which are also used if the measurements have only wall times.
  HyperfineResult result;
  const bool has_measurements = add_measurements(lists.measurements_in(json), run_count, result);
  if (result.metrics.empty())
    add_listed_values(json, find_list_of_all_runs("memory_usage_byte"), result.metrics);

  // Measurements include the exit statuses, so only files without them need the list.
  const NumberList* exit_codes = find_list_of_all_runs("exit_codes");
  if (!has_measurements && exit_codes != nullptr) result.statuses = read_statuses(*exit_codes);
  result.parameters = read_parameters(json);
  return result;
}

// hyperfine runs a typed command such as "sleep {n}" with each value of its parameter. Its file
// lists only the filled commands, such as "sleep 1" and "sleep 2", and does not say which of them
// come from the same typed command.
void infer_typed_indices_and_names(std::vector<Command>& commands) {
  infer_typed_indices(commands);
  const PatternsByTypedIndex patterns = infer_patterns(commands);
  std::map<std::string, std::size_t> name_counts;
  for (const Command& command : commands) ++name_counts[command.name];

  for (std::size_t c = 0; c < commands.size(); ++c) {
    Command& command = commands[c];
    // A command without parameters was typed as it is.
    if (command.parameters.empty()) {
      command.typed_command_index = c;
      continue;
    }

    const InferredPattern& pattern = patterns.at(command.typed_command_index);
    command.unfilled_name = pattern.fits_all_commands ? pattern.text : command.name;

    // Commands with the same name differ only in parameters that the name does not show.
    const bool is_name_unique = name_counts[command.name] == 1;
    if (!is_name_unique) command.name += " (" + write_parameters(command.parameters) + ")";
  }
}

}  // namespace lauka
