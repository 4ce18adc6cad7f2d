#include "plan/baseline.h"

#include "core/words.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka {

namespace {

/// For each command the index of its reference in the file; none where there is none.
std::vector<std::optional<std::size_t>> places_of(const std::vector<Command>& commands,
                                                  const std::vector<BaselineCommand>& there) {
  std::vector<bool> taken(there.size(), false);
  std::vector<std::optional<std::size_t>> places(commands.size());
  for (std::size_t c = 0; c < commands.size(); ++c) {
    for (std::size_t b = 0; b < there.size() && !places[c]; ++b) {
      if (!taken[b] && there[b].name == commands[c].name) {
        places[c] = b;
        taken[b] = true;
      }
    }
  }
  for (std::size_t c = 0; c < commands.size(); ++c) {
    if (places[c] || c >= there.size() || taken[c]) continue;
    places[c] = c;
    taken[c] = true;
  }
  return places;
}

std::string names_of(const std::vector<BaselineCommand>& commands) {
  constexpr std::size_t most = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(commands.size(), most); ++i) {
    names += (i == 0 ? "" : ", ") + cited(commands[i].name);
  }
  return commands.size() > most ? names + ", ..." : names;
}

Result<void> check_metrics(const Plan& plan, const Baseline& baseline) {
  struct Needed {
    std::string_view metric;
    std::string_view by;
  };
  std::vector<Needed> all;
  for (const Condition& gate : plan.gates) all.push_back({gate.metric, "a gate is"});
  if (plan.precision) all.push_back({"wall_time", "--precision looks"});
  for (std::size_t c = 0; c < plan.commands.size(); ++c) {
    for (const auto& [metric, by] : all) {
      const auto* values = baseline.commands[c].values_of(std::string(metric));
      if (values != nullptr && !values->empty()) continue;
      return Error{fmt::format("the baseline {} has no {} of {}, which {} on", cited(baseline.file),
                               metric, cited(baseline.commands[c].name), by),
                   baseline.by_lauka ? "measure the baseline again with it"
                                     : "make the baseline with lauka --export-json: hyperfine's "
                                       "files are read for wall_time only"};
    }
  }
  return {};
}

/// What has another unit than lauka's is no file of lauka's, or was changed.
Result<void> check_units(const Plan& plan, const Baseline& baseline) {
  for (const BaselineCommand& command : baseline.commands) {
    for (const BaselineSeries& series : command.series) {
      const auto metric =
          std::find_if(plan.metrics.begin(), plan.metrics.end(),
                       [&series](const Metric& one) { return one.name == series.metric; });
      if (metric == plan.metrics.end() || unit_symbol(metric->unit) == series.unit) continue;
      return Error{fmt::format("the baseline {} has {} of {} in {}, not in '{}'",
                               cited(baseline.file), series.metric, cited(command.name),
                               cited(series.unit), unit_symbol(metric->unit)),
                   "make it again"};
    }
  }
  return {};
}

}  // namespace

Result<void> use_baseline(Plan& plan, Baseline baseline) {
  const auto places = places_of(plan.commands, baseline.commands);
  std::vector<BaselineCommand> matched;
  for (std::size_t c = 0; c < places.size(); ++c) {
    if (!places[c]) {
      return Error{fmt::format("the baseline {} lacks {}: it has {}", cited(baseline.file),
                               cited(plan.commands[c].name), names_of(baseline.commands)),
                   "give the command one of these names with -n, or leave it out"};
    }
    matched.push_back(baseline.commands[*places[c]]);
  }
  baseline.commands = std::move(matched);
  if (auto measured = check_metrics(plan, baseline); !measured) return measured;
  if (auto comparable = check_units(plan, baseline); !comparable) return comparable;
  plan.baseline = std::move(baseline);
  return {};
}

std::size_t first_candidate(const Plan& plan) {
  return plan.baseline ? 0 : 1;
}

bool compares_within_rounds(const Plan& plan) {
  return plan.order != Order::Sequential && !plan.baseline;
}

Comparison samples_of(const Plan& plan, const Metric& metric, const MetricSeries& series,
                      std::size_t candidate) {
  if (!plan.baseline) {
    return compare(series.of(0), series.of(candidate), compares_within_rounds(plan));
  }
  const auto* values = plan.baseline->commands[candidate].values_of(metric.name);
  if (values == nullptr) return {{}, {}, false};
  return compare(Series{*values, {}, std::nullopt}, series.of(candidate), false);
}

}  // namespace lauka
