#include "plan/told.h"

#include "core/foreign_text.h"
#include "core/text.h"
#include "plan/baseline.h"
#include "plan/region.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace lauka {
namespace {

bool is_announcement(const std::string& row) {
  const std::size_t colon = row.rfind(':');
  return colon != std::string::npos && better_of(std::string_view(row).substr(colon + 1));
}

bool is_there(const std::vector<OwnMetric>& metrics, const std::string& name) {
  return std::ranges::any_of(metrics, [&](const OwnMetric& one) { return one.name == name; });
}

std::string_view option_of(const OwnMetric& metric) {
  if (metric.region) return "--region";
  return metric.is_scraped() ? "--scrape" : "--metrics";
}

}  // namespace

Result<Options> with_announced(Options options) {
  std::vector<OwnMetric> told;
  for (OwnMetric& metric : options.scraped) {
    if (is_there(told, metric.name))
      return Error{fmt::format("--scrape names {} twice", metric.name),
                   "give each metric a name of its own"};
    told.push_back(std::move(metric));
  }
  for (std::string& row : options.metric_list) {
    if (!is_announcement(row)) continue;
    auto metric = parse_own_metric(row);
    if (!metric)
      return Error{fmt::format("--metrics {} {}", cited(row), metric.error().what),
                   metric.error().remedy};
    if (is_there(told, metric->name))
      return Error{fmt::format("--metrics announces {}, which is there already", metric->name),
                   "leave out what stands behind its name"};
    row = metric->name;
    told.push_back(*std::move(metric));
  }
  if (options.region) {
    for (OwnMetric& metric : region_metrics()) {
      if (is_there(told, metric.name))
        return Error{fmt::format("{} is what --region measures", metric.name),
                     "give your metric a name of its own"};
      told.push_back(std::move(metric));
    }
  }
  options.scraped = std::move(told);
  return options;
}

Result<void> add_told(const std::vector<OwnMetric>& told, std::vector<Metric>& metrics) {
  for (std::size_t place = 0; place < told.size(); ++place) {
    if (find_metric(metrics, told[place].name))
      return Error{fmt::format("{} {} has the name of another metric", option_of(told[place]),
                               told[place].name),
                   "give it a name of its own"};
    metrics.push_back(metric_of(told[place], ToldValue{place}));
  }
  return {};
}

void add_discovered(const Plan& plan, const Discovered& discovered, Recording& recording) {
  std::size_t place = plan.told.size();
  for (const OwnMetric& one : discovered.metrics) {
    recording.metrics.push_back(metric_of(one, ToldValue{place++}));
    recording.metrics.back().shown = discovered.is_shown ? Shown::Always : Shown::Verbose;
  }
  extend_baseline(recording);
}

}  // namespace lauka
