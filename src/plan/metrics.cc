#include "core/metric.h"
#include "plan/plan.h"

namespace lauka {

namespace {

Shown shown_by(MetricSelection selection, const BuiltInMetric& metric) {
  switch (selection) {
    case MetricSelection::Default:
      return metric.shown;
    case MetricSelection::Time:
      return metric.unit == Unit::Seconds ? Shown::Always : Shown::Verbose;
    case MetricSelection::All:
    case MetricSelection::Listed:
      break;
  }
  return Shown::Always;
}

/// The event that is `role` as a whole.
std::optional<std::size_t> find_event(const EventSet& set, Role role) {
  const auto found = std::ranges::find_if(
      set.events, [role](const Event& event) { return event.role == role && !event.part_of; });
  if (found == set.events.end()) return std::nullopt;
  return static_cast<std::size_t>(found - set.events.begin());
}

Unit unit_of(const Event& event) {
  if (event.is_energy) return Unit::Joules;
  return event.is_time ? Unit::Seconds : Unit::Count;
}

/// True if one pass, and so one run, counts both.
bool are_counted_together(const EventSet& set, std::size_t a, std::size_t b) {
  const auto has = [](const Pass& pass, std::size_t event) {
    return std::ranges::find(pass.events, event) != pass.events.end();
  };
  return std::ranges::any_of(set.passes,
                             [&](const Pass& pass) { return has(pass, a) && has(pass, b); });
}

/// Times are counted in nanoseconds, and energy in nanojoules.
Formula count_of(const EventSet& set, std::size_t event) {
  const Formula count = CountedEvent{event};
  const bool is_nano = set.events[event].is_time || set.events[event].is_energy;
  return is_nano ? count / 1e9 : count;
}

/// Adds the times by kind of core, and the fastest kind's share of their sum: not of the accounted
/// CPU time, of which no counter sees the parts before exec and after the counters' end.
void add_core_metrics(const EventSet& set, MetricSelection selection,
                      std::vector<Metric>& metrics) {
  const std::vector<std::size_t> times = set.core_times();
  if (times.empty()) return;
  for (const std::size_t event : times) {
    metrics.push_back(Metric{.name = set.events[event].name,
                             .unit = Unit::Seconds,
                             .better = Better::Neither,
                             .shown = Shown::Always,
                             .source = count_of(set, event),
                             .role = Role::CoreTime,
                             .event = event});
  }
  const Formula fastest = CountedEvent{times.front()};
  Formula sum = fastest;
  for (std::size_t i = 1; i < times.size(); ++i) sum = sum + CountedEvent{times[i]};
  metrics.push_back(
      Metric{.name = share_metric_of(set.events[times.front()].core_kind),
             .unit = Unit::Fraction,
             .better = Better::Neither,
             .shown = selection == MetricSelection::Time ? Shown::Verbose : Shown::Always,
             .source = fastest / sum,
             .role = Role::CoreShare});
}

std::string note_of(const Event& event) {
  return event.simulated ? std::string(kSimulatedNote) : event.note;
}

/// An event on one kind of core is a part of another row.
Shown shown_of_event(const Event& event, Shown shown, MetricSelection selection) {
  return event.part_of && selection != MetricSelection::All ? Shown::Verbose : shown;
}

}  // namespace

std::vector<Metric> metrics_of(const EventSet& events, MetricSelection selection,
                               bool events_were_asked_for, bool has_tree_peak) {
  std::vector<Metric> metrics;
  metrics.reserve(kBuiltInMetrics.size() + events.events.size() + 2);
  for (const BuiltInMetric& metric : kBuiltInMetrics) {
    if (metric.name == kTreePeakMemory && !has_tree_peak) continue;
    metrics.push_back(Metric{.name = std::string(metric.name),
                             .unit = metric.unit,
                             .better = Better::Less,
                             .shown = shown_by(selection, metric),
                             .source = metric.read,
                             .role = metric.role});
  }
  add_core_metrics(events, selection, metrics);
  const Shown shown =
      selection == MetricSelection::Time && !events_were_asked_for ? Shown::Verbose : Shown::Always;
  for (std::size_t i = 0; i < events.events.size(); ++i) {
    const Event& event = events.events[i];
    if (event.role == Role::CoreTime) continue;
    metrics.push_back(Metric{.name = event.name,
                             .unit = unit_of(event),
                             .better = Better::Less,
                             .shown = shown_of_event(event, shown, selection),
                             .source = count_of(events, i),
                             .note = note_of(event),
                             .role = event.role,
                             .event = i,
                             .is_part = event.part_of.has_value()});
  }
  for (const DerivedMetric& derived : kDerivedMetrics) {
    const auto numerator = find_event(events, derived.numerator);
    const auto denominator = find_event(events, derived.denominator);
    if (!numerator || !denominator || !are_counted_together(events, *numerator, *denominator))
      continue;
    metrics.push_back(
        Metric{.name = std::string(derived.name),
               .unit = derived.unit,
               .better = derived.better,
               .shown = shown,
               .source = Formula(CountedEvent{*numerator}) / CountedEvent{*denominator},
               .note = note_of(events.events[*numerator]),
               .role = derived.role});
  }
  for (Metric& metric : metrics) metric.kind = kind_of(metric, events);
  return metrics;
}

}  // namespace lauka
