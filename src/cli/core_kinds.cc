#include "cli/values.h"
#include "core/foreign_text.h"
#include "core/machine.h"
#include "core/metric.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace lauka::cli {
namespace {

constexpr std::string_view kExample = "write, for example, P=0-3,E=4-7";
constexpr std::size_t kLongestName = 16;

/// "P=0-3,8" and "E=4-7": a comma before NAME= begins another kind, any other belongs to the CPUs.
std::vector<std::string_view> parts_of_kinds(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t equals = text.find('=');
    const std::size_t next = text.find('=', equals == std::string_view::npos ? equals : equals + 1);
    const std::size_t comma = next == std::string_view::npos ? next : text.rfind(',', next);
    const bool more = comma != std::string_view::npos && comma > equals;
    parts.push_back(text.substr(0, more ? comma : std::string_view::npos));
    if (!more) return parts;
    text.remove_prefix(comma + 1);
  }
}

bool is_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && name.size() <= kLongestName && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

bool is_taken(const std::string& metric) {
  return std::ranges::any_of(kBuiltInMetrics,
                             [&](const BuiltInMetric& known) { return known.name == metric; });
}

Result<CoreKind> kind_of(std::string_view part, const Given& given) {
  const std::size_t equals = part.find('=');
  const std::string name(part.substr(0, equals));
  if (equals == std::string_view::npos || !is_name(name)) {
    return refused(given, {fmt::format("has {} where a kind is wanted", cited(std::string(part))),
                           std::string(kExample)});
  }
  if (is_taken(time_metric_of(name))) {
    return refused(given,
                   {fmt::format("makes a metric {}, which already exists", time_metric_of(name)),
                    "use another name"});
  }
  const auto cpus = parse_cpu_list(part.substr(equals + 1));
  if (!cpus || cpus->empty()) {
    return refused(given,
                   {fmt::format("does not say which CPUs {} are", name), std::string(kExample)});
  }
  if (const auto twice = std::adjacent_find(cpus->begin(), cpus->end()); twice != cpus->end()) {
    return refused(given, {fmt::format("names CPU {} twice", *twice), "name each CPU once"});
  }
  return CoreKind{name, *cpus};
}

/// Why `kind` cannot stand beside `others`; empty where it can.
std::string clash_with(const CoreKinds& others, const CoreKind& kind) {
  for (const CoreKind& other : others) {
    if (time_metric_of(other.name) == time_metric_of(kind.name)) {
      return fmt::format("names {} twice", kind.name);
    }
    std::vector<std::uint32_t> both;
    std::ranges::set_intersection(other.cpus, kind.cpus, std::back_inserter(both));
    if (!both.empty()) {
      return fmt::format("has CPU {} in both {} and {}", cpu_list_text(both), other.name,
                         kind.name);
    }
  }
  return "";
}

}  // namespace

Result<CoreKinds> core_kinds(const Given& given) {
  CoreKinds kinds;
  for (const std::string_view part : parts_of_kinds(given.value)) {
    auto kind = kind_of(part, given);
    if (!kind) return kind.error();
    if (const std::string clash = clash_with(kinds, *kind); !clash.empty()) {
      return refused(given, {clash, "put each CPU into one kind"});
    }
    kinds.push_back(*std::move(kind));
  }
  if (kinds.size() < 2) {
    return refused(given, {"names only one kind of core", std::string(kExample)});
  }
  return kinds;
}

}  // namespace lauka::cli
