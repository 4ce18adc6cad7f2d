#include "plan/plan.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace lauka {

namespace {

bool is_time(std::string_view name) {
  return name.ends_with("_time");
}

Shown shown_by(MetricSelection selection, const BuiltInMetric& metric) {
  switch (selection) {
    case MetricSelection::Default:
      return metric.shown;
    case MetricSelection::Time:
      return is_time(metric.name) ? Shown::Always : Shown::Verbose;
    case MetricSelection::All:
    case MetricSelection::Listed:
      break;
  }
  return Shown::Always;
}

std::optional<std::size_t> find_event(const EventSet& set, std::string_view name) {
  const auto found = std::find_if(set.events.begin(), set.events.end(),
                                  [&](const Event& event) { return event.name == name; });
  if (found == set.events.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - set.events.begin());
}

Unit unit_of(const Event& event) {
  if (event.is_energy) return Unit::Joules;
  return event.is_time ? Unit::Seconds : Unit::Count;
}

/// Whether one pass, and so one run, counts both.
bool are_counted_together(const EventSet& set, std::size_t a, std::size_t b) {
  const auto has = [](const Pass& pass, std::size_t event) {
    return std::find(pass.events.begin(), pass.events.end(), event) != pass.events.end();
  };
  return std::any_of(set.passes.begin(), set.passes.end(),
                     [&](const Pass& pass) { return has(pass, a) && has(pass, b); });
}

bool is_core_time(const EventSet& set, std::size_t event) {
  return std::find(set.core_times.begin(), set.core_times.end(), event) != set.core_times.end();
}

/// The times by kind of core, and the fastest kind's share of their sum: not of the accounted CPU
/// time, which has parts before exec and after the counters' end that no counter sees.
void add_core_metrics(const EventSet& set, MetricSelection selection,
                      std::vector<Metric>& metrics) {
  if (set.core_times.empty()) return;
  for (const std::size_t event : set.core_times) {
    metrics.push_back(Metric{.name = set.events[event].name,
                             .unit = Unit::Seconds,
                             .better = Better::Neither,
                             .shown = Shown::Always,
                             .source = CountedEvent{event}});
  }
  const std::string& fastest = set.events[set.core_times.front()].name;
  const std::string kind = fastest.substr(0, fastest.rfind('_'));
  metrics.push_back(
      Metric{.name = share_metric_of(kind),
             .unit = Unit::Fraction,
             .better = Better::Neither,
             .shown = selection == MetricSelection::Time ? Shown::Verbose : Shown::Always,
             .source = EventShare{set.core_times.front(), set.core_times}});
}

std::string note_of(const Event& event) {
  return event.simulated ? std::string(kSimulatedNote) : event.note;
}

/// What was counted on one kind of core is a part of another row.
Shown shown_of_event(const Event& event, Shown shown, MetricSelection selection) {
  return event.part_of && selection != MetricSelection::All ? Shown::Verbose : shown;
}

}  // namespace

std::vector<Metric> metrics_of(const EventSet& events, MetricSelection selection,
                               bool events_were_asked_for) {
  std::vector<Metric> metrics;
  metrics.reserve(kBuiltInMetrics.size() + events.events.size() + 2);
  for (const BuiltInMetric& metric : kBuiltInMetrics) {
    metrics.push_back(Metric{.name = std::string(metric.name),
                             .unit = metric.unit,
                             .better = Better::Less,
                             .shown = shown_by(selection, metric),
                             .source = metric.read});
  }
  add_core_metrics(events, selection, metrics);
  const Shown shown =
      selection == MetricSelection::Time && !events_were_asked_for ? Shown::Verbose : Shown::Always;
  for (std::size_t i = 0; i < events.events.size(); ++i) {
    if (is_core_time(events, i)) continue;
    const Event& event = events.events[i];
    metrics.push_back(Metric{.name = event.name,
                             .unit = unit_of(event),
                             .better = Better::Less,
                             .shown = shown_of_event(event, shown, selection),
                             .source = CountedEvent{i},
                             .note = note_of(event)});
  }
  const auto instructions = find_event(events, "instructions");
  const auto cycles = find_event(events, "cycles");
  if (instructions && cycles && are_counted_together(events, *instructions, *cycles)) {
    metrics.push_back(Metric{.name = "ipc",
                             .unit = Unit::Ratio,
                             .better = Better::More,
                             .shown = shown,
                             .source = EventRatio{*instructions, *cycles},
                             .note = note_of(events.events[*instructions])});
  }
  return metrics;
}

}  // namespace lauka
