#include "history/encoding.h"

#include "core/numbers.h"
#include "core/sha256.h"
#include "core/text.h"
#include "format/sections.h"
#include "format/text.h"
#include "format/words.h"

#include <cmath>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka::history {

namespace {

constexpr char kBetweenMetrics = ';';
constexpr char kBetweenNumbers = ' ';
constexpr std::string_view kNothing = "-";

std::string shortest(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? fmt::format("{}", *number) : std::string(kNothing);
}

std::optional<double> parse_value(std::string_view word) {
  if (word.empty() || word == kNothing) return std::nullopt;
  const std::string text(word);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<LogRatio> ratio_of(std::string_view value, std::string_view error) {
  const auto number = parse_value(value);
  if (!number) return std::nullopt;
  return LogRatio{*number, parse_value(error)};
}

}  // namespace

std::int64_t text_id(std::string_view text) {
  constexpr std::size_t digits = 16;
  if (text.empty()) return 0;
  Sha256 hash;
  hash.add(text);
  const auto number = parse_hex(hash.digest().substr(0, digits));
  return static_cast<std::int64_t>(number.value_or(0) >> 1U);
}

std::string encode_layout(const std::vector<MetricRecord>& metrics) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const MetricRecord& metric : metrics)
    list.push_back({metric.name, unit_symbol(metric.unit), word_in(kBetterWords, metric.better)});
  return dumped(list, -1);
}

std::string encode_values(const std::vector<MetricRecord>& metrics) {
  std::string text;
  for (const MetricRecord& metric : metrics) {
    if (!text.empty()) text += kBetweenMetrics;
    text += shortest(metric.mean) + kBetweenNumbers + shortest(metric.stddev) + kBetweenNumbers +
            std::to_string(metric.runs);
    for (const auto* ratio : {&metric.to_reference, &metric.to_anchor}) {
      text += kBetweenNumbers + (*ratio ? shortest((*ratio)->value) : std::string(kNothing));
      text += kBetweenNumbers + (*ratio ? shortest((*ratio)->error) : std::string(kNothing));
    }
    text += kBetweenNumbers + shortest(metric.median) + kBetweenNumbers + shortest(metric.mad);
  }
  return text;
}

std::vector<MetricRecord> decode_layout(std::string_view layout) {
  std::vector<MetricRecord> metrics;
  const auto list = parsed(layout);
  if (!list || !list->is_array()) return metrics;
  for (const JsonIn& one : *list) {
    constexpr std::size_t parts = 3;
    if (!one.is_array() || one.size() != parts || !one[0].is_string() || !one[1].is_string() ||
        !one[2].is_string())
      return {};
    metrics.push_back({.name = one[0].get<std::string>(),
                       .unit = value_in(kUnitWords, one[1].get<std::string>()),
                       .better = value_in(kBetterWords, one[2].get<std::string>())});
  }
  return metrics;
}

bool decode_values(MetricRecord& metric, std::size_t place, std::string_view numbers) {
  for (; place > 0; --place) {
    const std::size_t end = numbers.find(kBetweenMetrics);
    if (end == std::string_view::npos) return false;
    numbers.remove_prefix(end + 1);
  }
  const auto words = split(numbers.substr(0, numbers.find(kBetweenMetrics)), kBetweenNumbers);
  constexpr std::size_t parts = 9;
  constexpr std::size_t without_median = 7;  // as an older lauka-history wrote them
  if (words.size() != parts && words.size() != without_median) return false;
  const auto mean = parse_value(words[0]);
  if (!mean) return false;
  metric.mean = *mean;
  metric.stddev = parse_value(words[1]);
  metric.runs = parse_number(words[2]).value_or(0);
  metric.to_reference = ratio_of(words[3], words[4]);
  metric.to_anchor = ratio_of(words[5], words[6]);
  metric.median = words.size() == parts ? parse_value(words[7]) : std::nullopt;
  metric.mad = words.size() == parts ? parse_value(words[8]) : std::nullopt;
  return true;
}

std::string encode_machine(const Machine& machine) {
  auto json = json_of(machine);
  for (const char* const of_one : {"name", "os", "class"}) json.erase(of_one);
  return dumped(json, -1);
}

Machine decode_machine(std::string_view parts) {
  const auto json = parsed(parts);
  return json ? machine_of(*json) : Machine();
}

std::string variant_key(const BenchmarkRecord& result, std::string_view machine_class) {
  // With their lengths, so that parts cannot be confused.
  std::string key;
  for (const std::string_view part :
       {std::string_view(result.benchmark), std::string_view(result.role),
        std::string_view(result.command), machine_class})
    key += fmt::format("{}:{} ", part.size(), part);
  return key;
}

}  // namespace lauka::history
