#include "core/metric_reader.h"

#include <algorithm>
#include <iterator>
#include <variant>

namespace lauka {

MetricReader::MetricReader(const Metric& metric, const EventSet& events) {
  for (const Pass& pass : events.passes) simulated_.push_back(pass.simulated);
  if (const auto* usage = std::get_if<UsageReader>(&metric.source)) {
    usage_ = *usage;
    may_be_bound_ = metric.name == kPeakRss;
  } else if (const auto* counted = std::get_if<CountedEvent>(&metric.source)) {
    numerator_ = places_of(counted->event, events);
    const Event& event = events.events.at(counted->event);
    is_nano_ = event.is_time || event.is_energy;
  } else if (const auto* ratio = std::get_if<EventRatio>(&metric.source)) {
    is_ratio_ = true;
    numerator_ = places_of(ratio->numerator, events);
    denominators_.push_back(places_of(ratio->denominator, events));
  } else if (const auto* share = std::get_if<EventShare>(&metric.source)) {
    is_ratio_ = true;
    numerator_ = places_of(share->part, events);
    for (const std::size_t event : share->whole) denominators_.push_back(places_of(event, events));
  }
}

std::optional<double> MetricReader::value(const RunRecord& run) const {
  if (std::holds_alternative<TimedOut>(run.outcome)) return std::nullopt;
  if (usage_ != nullptr) {
    if (is_simulated(run) || bound(run)) return std::nullopt;
    return usage_(run.usage);
  }
  const auto numerator = count(run, numerator_);
  if (is_nano_ && numerator) return *numerator / 1e9;
  if (!is_ratio_ || !numerator) return numerator;
  double denominator = 0.0;
  for (const Places& places : denominators_) {
    const auto counted = count(run, places);
    if (!counted) return std::nullopt;
    denominator += *counted;
  }
  if (denominator <= 0) return std::nullopt;
  return *numerator / denominator;
}

std::optional<double> MetricReader::bound(const RunRecord& run) const {
  if (std::holds_alternative<TimedOut>(run.outcome)) return std::nullopt;
  if (!may_be_bound_ || is_simulated(run) || run.usage.peak_rss_is_known()) return std::nullopt;
  return usage_(run.usage);
}

bool MetricReader::is_simulated(const RunRecord& run) const {
  return run.step.pass < simulated_.size() && simulated_[run.step.pass];
}

MetricReader::Places MetricReader::places_of(std::size_t event, const EventSet& events) {
  Places places;
  for (const Pass& pass : events.passes) {
    const auto found = std::find(pass.events.begin(), pass.events.end(), event);
    if (found == pass.events.end()) {
      places.emplace_back();
    } else {
      places.emplace_back(static_cast<std::size_t>(std::distance(pass.events.begin(), found)));
    }
  }
  return places;
}

std::optional<double> MetricReader::count(const RunRecord& run, const Places& places) {
  if (run.step.pass >= places.size()) return std::nullopt;
  const auto place = places[run.step.pass];
  if (!place || *place >= run.counts.size()) return std::nullopt;
  const auto counted = run.counts[*place];
  if (!counted) return std::nullopt;
  return static_cast<double>(*counted);
}

}  // namespace lauka
