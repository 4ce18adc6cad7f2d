#include "core/choices.h"
#include "report/json_parts.h"
#include "results/json_words.h"

#include <utility>

#include <nlohmann/json.hpp>

// What was measured, and in which passes.

namespace lauka::report {

Json metrics_of(const Results& results) {
  Json metrics = Json::array();
  for (const Metric& metric : results.metrics) {
    metrics.push_back(
        {{"name", metric.name},
         {"unit", unit_symbol(metric.unit)},
         {"better", word_in(kBetterWords, metric.better)},
         {"note", metric.note},
         {"role", json_word(word_in(kRoleWords, metric.role))},
         {"kind", word_in(kKindWords, metric.kind)},
         {"event", metric.event ? Json(*metric.event) : Json(nullptr)},
         {"part", metric.is_part},
         {"percentile", metric.percentile ? Json(metric.percentile->share) : Json(nullptr)},
         {"percentile_of", metric.percentile ? Json(metric.percentile->of) : Json(nullptr)},
         {"shown", metric.shown == Shown::Always},
         {"shown_in", metric.shown_in ? Json(metric.shown_in->name) : Json(nullptr)}});
  }
  return metrics;
}

Json events_of(const EventSet& events) {
  Json list = Json::array();
  for (const Event& event : events.events) {
    list.push_back({{"name", event.name},
                    {"meaning", event.meaning},
                    {"zero_is_doubtful", event.zero_is_doubtful}});
  }
  return list;
}

Json passes_of(const EventSet& events) {
  Json passes = Json::array();
  for (const Pass& pass : events.passes) {
    Json names = Json::array();
    for (const std::size_t event : pass.events) names.push_back(events.events[event].name);
    passes.push_back(std::move(names));
  }
  return passes;
}

Json pass_kinds_of(const EventSet& events) {
  Json kinds = Json::array();
  for (const Pass& pass : events.passes) kinds.push_back(word_in(kKindWords, pass.kind));
  return kinds;
}

}  // namespace lauka::report
