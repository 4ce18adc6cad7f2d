#include "plan/rows.h"

#include "core/choices.h"
#include "core/foreign_text.h"
#include "core/text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

/// A row as asked for; an event's own name may have colons too (cycles:u), so that the whole text
/// is tried as a name first.
struct RowRequest {
  std::string_view name;
  std::string_view unit{};
};

RowRequest without_unit(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Error unknown_metric(std::string_view name, const std::vector<Metric>& metrics) {
  if (auto why = why_not_derived(name, metrics)) return *std::move(why);
  std::vector<std::string_view> names;
  names.reserve(metrics.size());
  for (const Metric& metric : metrics) names.push_back(metric.name);
  const std::string_view meant = nearest(name, names);
  return Error{fmt::format("--metrics {} is not measured", cited(name)),
               meant.empty() ? "add an event with -e; --metrics all shows what there is"
                             : fmt::format("did you mean {}?", meant)};
}

Error unfit_unit(const Metric& metric, std::string_view unit) {
  const std::string fitting = units_for(metric.unit);
  return Error{fmt::format("--metrics: {} cannot be shown in {}", metric.name, cited(unit)),
               fitting.empty() ? "leave the unit out" : "write one of " + fitting};
}

}  // namespace

std::string units_for(Unit unit) {
  std::string names;
  for (const DisplayUnit& one : kDisplayUnits) {
    if (one.unit != unit || one.name == "us") continue;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  return names;
}

std::optional<Error> why_not_derived(std::string_view name, const std::vector<Metric>& metrics) {
  for (const DerivedMetric& derived : kDerivedMetrics) {
    if (name != derived.name || find_metric(metrics, derived.role)) continue;
    const std::string_view above = event_name_of(derived.numerator);
    const std::string_view below = event_name_of(derived.denominator);
    if (!find_metric(metrics, derived.numerator) || !find_metric(metrics, derived.denominator))
      return Error{fmt::format("{} needs {} and {}, which are not counted", name, below, above),
                   fmt::format("add -e {},{}; lauka --check says whether they can be counted here",
                               below, above)};
    return Error{
        fmt::format("{} cannot be measured: there are counters for either {} or {}, not for "
                    "both at once",
                    name, below, above),
        "lauka --check shows who holds the others"};
  }
  return std::nullopt;
}

bool are_all_built_in(const std::vector<std::string>& list) {
  return std::ranges::all_of(list, [](const std::string& text) {
    const std::string_view name = without_unit(text).name;
    return std::ranges::any_of(kBuiltInMetrics,
                               [&](const BuiltInMetric& metric) { return metric.name == name; });
  });
}

Result<void> list_rows(const std::vector<std::string>& list, std::vector<Metric>& metrics) {
  std::size_t listed = 0;
  for (const std::string& text : list) {
    RowRequest wanted{text};
    auto place = find_metric(metrics, wanted.name);
    if (!place) {
      wanted = without_unit(text);
      place = find_metric(metrics, wanted.name);
    }
    if (!place) return unknown_metric(wanted.name, metrics);
    const auto metric = metrics.begin() + static_cast<std::ptrdiff_t>(*place);
    if (*place < listed) {
      return Error{fmt::format("--metrics names {} twice", metric->name), "use only one of them"};
    }
    if (!wanted.unit.empty() || text.ends_with(':')) {
      const DisplayUnit* unit = find_display_unit(wanted.unit);
      if (unit == nullptr || unit->unit != metric->unit) return unfit_unit(*metric, wanted.unit);
      metric->shown_in = unit;
    }
    std::rotate(metrics.begin() + static_cast<std::ptrdiff_t>(listed), metric, metric + 1);
    ++listed;
  }
  for (std::size_t i = 0; i < metrics.size(); ++i)
    metrics[i].shown = i < listed ? Shown::Always : Shown::Verbose;
  return {};
}

void show_times_in(const DisplayUnit* unit, std::vector<Metric>& metrics) {
  for (Metric& metric : metrics)
    if (metric.unit == Unit::Seconds && metric.shown_in == nullptr) metric.shown_in = unit;
}

}  // namespace lauka
