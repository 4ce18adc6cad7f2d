#include "plan/rows.h"

#include "core/choices.h"
#include "core/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

/// A requested row. An event's own name may have colons too (cycles:u), so the whole text is tried
/// as a name first.
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
  if (name == "default" || name == "time" || name == "all")
    return Error{fmt::format("--metrics {} is a choice of its own", cited(name)),
                 fmt::format("write --metrics {}, or names only", name)};
  return Error{fmt::format("--metrics {} is not measured", cited(name)),
               meant.empty() ? "add an event with -e; --metrics all shows what there is"
                             : fmt::format("did you mean {}?", meant)};
}

Error unfit_unit(const Metric& metric, std::string_view unit) {
  const std::string fitting = units_for(metric.unit);
  return Error{fmt::format("--metrics: {} cannot be shown in {}", metric.name, cited(unit)),
               fitting.empty() ? "leave the unit out" : "write one of " + fitting};
}

/// In percent, each once.
std::vector<double> wanted(const Options& options) {
  std::vector<double> all = options.percentiles;
  const auto add = [&](std::string_view name) {
    const auto percent = percentile_in(name);
    if (percent && std::ranges::find(all, *percent) == all.end()) all.push_back(*percent);
  };
  for (const std::string& row : options.metric_list) add(name_of_row(row));
  for (const Condition& gate : options.gates) add(gate.metric);
  if (options.precision) add(options.precision_metric);
  return all;
}

/// Returns an error that names all of `percentiles` (in percent) that need more runs than are
/// allowed; nullopt if all fit.
std::optional<Error> too_few_runs(const Options& options, std::vector<double> percentiles) {
  const double confidence = options.confidence.value_or(kConfidence);
  const std::optional<std::uint64_t> most = options.runs ? options.runs : options.max_runs;
  const auto fewest = [&](double percent) {
    return fewest_runs_of(percent / 100.0, (1.0 - confidence) / 2.0);
  };
  if (!most) return std::nullopt;
  std::erase_if(percentiles, [&](double percent) { return fewest(percent) <= *most; });
  if (percentiles.empty()) return std::nullopt;
  std::string needs;
  for (const double percent : percentiles)
    needs +=
        fmt::format("{}{} {}{}",
                    needs.empty()                   ? ""
                    : percent == percentiles.back() ? " and "
                                                    : ", ",
                    name_of_percentile(percent), needs.empty() ? "needs " : "", fewest(percent));
  const bool is_one = percentiles.size() == 1;
  return Error{
      fmt::format("{} runs of each command for {} {}% interval{}, more than the {} that {} "
                  "allows",
                  needs, is_one ? "its" : "their", 100.0 * confidence, is_one ? "" : "s", *most,
                  options.runs ? "--runs" : "--max-runs"),
      fmt::format("allow {} runs, or ask for {} nearer to 50",
                  fewest(std::ranges::max(percentiles, {}, fewest)),
                  is_one ? "a percentile" : "percentiles")};
}

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
    return built_in_metric(without_unit(text).name) != nullptr;
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

Result<void> add_percentiles(const Options& options, std::vector<Metric>& metrics) {
  const auto wall_time = find_metric(metrics, Role::WallTime);
  if (!wall_time) return {};  // of a saved session: the name is refused later
  auto place = *wall_time;
  const std::vector<double> percentiles = wanted(options);
  if (auto few = too_few_runs(options, percentiles)) return *std::move(few);
  for (const double percent : percentiles) {
    const auto known = find_metric(metrics, name_of_percentile(percent));
    if (known && metrics[*known].percentile) continue;  // of a saved session
    Metric metric = metrics[*wall_time];
    metric.percentile = Percentile{metric.name, percent / 100.0};
    metric.name = name_of_percentile(percent);
    metric.shown = Shown::Always;
    metric.role = Role::Other;
    if (known)
      return Error{fmt::format("--percentiles: another metric is called {}", metric.name),
                   "give that one another name"};
    metrics.insert(metrics.begin() + static_cast<std::ptrdiff_t>(++place), std::move(metric));
  }
  return {};
}

std::vector<OwnMetric> region_metrics() {
  OwnMetric time{.name = std::string(kRegionTime), .region = RegionValue::Time};
  time.unit.unit = Unit::Seconds;
  OwnMetric entries{
      .name = "region_entries", .better = Better::Neither, .region = RegionValue::Entries};
  entries.unit.unit = Unit::Count;
  return {time, entries};
}

void show_region(MetricSelection selection, std::vector<Metric>& metrics) {
  const auto time = std::ranges::find(metrics, kRegionTime, &Metric::name);
  if (time == metrics.end()) return;
  std::rotate(metrics.begin(), time, time + 1);
  if (selection != MetricSelection::Default) return;
  for (Metric& metric : metrics) {
    const bool is_of_kernel = metric.event == std::nullopt && !metric.source.first_event();
    const bool is_of_whole_run = metric.role != Role::Other && is_of_kernel;
    if (is_of_whole_run || metric.name == "region_entries" || metric.role == Role::CoreTime ||
        metric.role == Role::CoreShare)
      metric.shown = Shown::Verbose;
  }
}

Result<Options> with_announced(Options options) {
  std::vector<OwnMetric> reported;
  for (OwnMetric& metric : options.scraped) {
    if (is_there(reported, metric.name))
      return Error{fmt::format("--scrape names {} twice", metric.name),
                   "give each metric a name of its own"};
    reported.push_back(std::move(metric));
  }
  for (std::string& row : options.metric_list) {
    if (!is_announcement(row)) continue;
    auto metric = parse_own_metric(row);
    if (!metric) return metric.error().about("--metrics " + cited(row));
    if (is_there(reported, metric->name))
      return Error{fmt::format("--metrics announces {}, which is there already", metric->name),
                   "leave out the part after its name"};
    row = metric->name;
    reported.push_back(*std::move(metric));
  }
  if (options.region) {
    for (OwnMetric& metric : region_metrics()) {
      if (is_there(reported, metric.name))
        return Error{fmt::format("{} is what --region measures", metric.name),
                     "give your metric a name of its own"};
      reported.push_back(std::move(metric));
    }
  }
  options.scraped = std::move(reported);
  return options;
}

Result<void> add_reported(const std::vector<OwnMetric>& reported, std::vector<Metric>& metrics) {
  for (std::size_t place = 0; place < reported.size(); ++place) {
    if (find_metric(metrics, reported[place].name))
      return Error{fmt::format("{} {} has the name of another metric", option_of(reported[place]),
                               reported[place].name),
                   "give it a name of its own"};
    metrics.push_back(metric_of(reported[place], ReportedValue{place}));
  }
  return {};
}

}  // namespace lauka
