#include "results/baseline.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// A file from anywhere: each step asks whether what it takes is there, and of the right type.

namespace lauka {

namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_of(const Json& object, const char* key) {
  const Json* value = member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

Error foreign(std::string_view detail) {
  return Error{fmt::format("is neither lauka's nor hyperfine's JSON ({})", detail),
               "make one with lauka --export-json FILE"};
}

/// Enters a value that was measured; false where that cannot be. null: not measured in this run.
bool enter(const Json& value, std::vector<double>& values) {
  if (value.is_null()) return true;
  if (!value.is_number()) return false;
  const auto number = value.get<double>();
  if (!std::isfinite(number) || number < 0.0) return false;
  values.push_back(number);
  return true;
}

Result<std::vector<double>> values_of(const Json& list, const std::string& name) {
  std::vector<double> values;
  for (const Json& value : list) {
    if (!enter(value, values)) {
      return Error{fmt::format("has {} among the samples of '{}'",
                               value.dump(-1, ' ', true, Json::error_handler_t::replace), name),
                   "make it again"};
    }
  }
  return values;
}

/// A bound compares with nothing: such a metric is left out.
Result<void> add_metrics(const Json& metrics, BaselineCommand& command) {
  for (const auto& [name, metric] : metrics.items()) {
    const Json* samples = member(metric, "samples");
    if (samples == nullptr || !samples->is_array()) return foreign("a metric without samples");
    const Json* bound = member(metric, "at_most");
    if (bound != nullptr && !bound->is_null()) continue;
    auto values = values_of(*samples, command.name);
    if (!values) return values.error();
    if (!values->empty()) {
      command.series.push_back({name, text_of(metric, "unit"), *std::move(values)});
    }
  }
  return {};
}

/// The list of wall times in either of hyperfine's shapes; none where there is none.
std::optional<Json> wall_times(const Json& result) {
  if (const Json* times = member(result, "times"); times != nullptr && times->is_array()) {
    return *times;
  }
  const Json* measurements = member(result, "measurements");
  if (measurements == nullptr || !measurements->is_array()) return std::nullopt;
  Json times = Json::array();
  for (const Json& measurement : *measurements) {
    const Json* wall = member(measurement, "time_wall_clock");
    const Json* value = wall != nullptr ? member(*wall, "value") : nullptr;
    if (value == nullptr || text_of(*wall, "unit") != "second") return std::nullopt;
    times.push_back(*value);
  }
  return times;
}

Result<BaselineCommand> command_of(const Json& result, bool by_lauka) {
  BaselineCommand command;
  const std::string name = text_of(result, "name");
  command.name = name.empty() ? text_of(result, "command") : name;
  if (command.name.empty()) return foreign("a result without a command");
  if (by_lauka) {
    const Json* ours = member(result, "lauka");
    const Json* metrics = ours != nullptr ? member(*ours, "metrics") : nullptr;
    if (metrics == nullptr || !metrics->is_object()) return foreign("a result without metrics");
    if (auto added = add_metrics(*metrics, command); !added) return added.error();
  } else {
    const auto times = wall_times(result);
    if (!times) return foreign(fmt::format("no times of '{}'", command.name));
    auto values = values_of(*times, command.name);
    if (!values) return values.error();
    if (!values->empty()) command.series.push_back({"wall_time", "s", *std::move(values)});
  }
  if (command.series.empty()) {
    return Error{fmt::format("holds no run of '{}'", command.name), "make it again"};
  }
  return command;
}

Machine machine_of(const Json& there) {
  Machine machine;
  machine.name = text_of(there, "name");
  machine.system = text_of(there, "system");
  machine.os = text_of(there, "os");
  machine.kernel = text_of(there, "kernel");
  machine.architecture = text_of(there, "architecture");
  machine.cpu_model = text_of(there, "cpu_model");
  const Json* cpus = member(there, "cpus");
  if (cpus != nullptr && cpus->is_number_unsigned()) machine.cpus = cpus->get<unsigned>();
  return machine;
}

Result<void> add_session(const Json& session, Baseline& baseline) {
  const Json* format = member(session, "format");
  if (format == nullptr || !format->is_number_integer()) return foreign("no lauka.format");
  baseline.version = text_of(session, "version");
  if (*format != kFormat) {
    return Error{fmt::format("is of another lauka ({})", baseline.version),
                 "make it again with this one"};
  }
  if (const Json* machine = member(session, "machine")) baseline.machine = machine_of(*machine);
  return {};
}

}  // namespace

Result<Baseline> read_baseline(std::string_view text) {
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) return Error{"is no JSON, or not all of it", "make it again"};
  const Json* results = member(document, "results");
  if (results == nullptr || !results->is_array()) return foreign("no list of results");
  Baseline baseline;
  const Json* session = member(document, "lauka");
  baseline.by_lauka = session != nullptr;
  if (session != nullptr) {
    if (auto added = add_session(*session, baseline); !added) return added.error();
  }
  for (const Json& result : *results) {
    auto command = command_of(result, baseline.by_lauka);
    if (!command) return command.error();
    baseline.commands.push_back(*std::move(command));
  }
  if (baseline.commands.empty()) return Error{"holds no command", "make it again"};
  return baseline;
}

}  // namespace lauka
