#include "plan/options_of.h"
#include "plan/plan.h"
#include "plan/rows.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Options with_percentiles(std::vector<double> percentiles) {
  Options options = options_of({"a", "b"});
  options.percentiles = std::move(percentiles);
  return options;
}

/// Returns the names of the rows shown, or the reason of a refusal.
std::vector<std::string> rows_of(const Options& options) {
  const auto plan = make_plan(options, no_events, 1);
  if (!plan) return {plan.error().line()};
  std::vector<std::string> names;
  for (const Metric& metric : plan->metrics)
    if (metric.shown == Shown::Always) names.push_back(metric.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("percentiles follow wall time, in the order asked for") {
  CHECK(rows_of(with_percentiles({99.9, 50})) ==
        Names{"wall_time", "wall_time.p99.9", "wall_time.p50", "cpu_time", "peak_rss"});
}

TEST_CASE("a row, a gate or a precision that names a percentile asks for it") {
  Options options = with_percentiles({});
  options.metrics = MetricSelection::Listed;
  options.metric_list = {"wall_time.p75:ms"};
  CHECK(rows_of(options) == Names{"wall_time.p75"});
  options = with_percentiles({90});
  options.gates = {{.metric = "wall_time.p90", .limit_percent = 5}, {.metric = "wall_time.p95"}};
  options.precision = 0.01;
  options.precision_metric = "wall_time.p60";
  CHECK(rows_of(options) == Names{"wall_time", "wall_time.p90", "wall_time.p95", "wall_time.p60",
                                  "cpu_time", "peak_rss"});
}

TEST_CASE("runs that are too few for a percentile are refused with those that it needs") {
  Options options = with_percentiles({99});
  options.runs = 367;
  CHECK(rows_of(options) ==
        Names{"wall_time.p99 needs 368 runs of each command for its 95% interval, more than the "
              "367 that --runs allows; allow 368 runs, or ask for a percentile nearer to 50"});
  options.runs = 368;
  CHECK(rows_of(options).size() == 4);
  options.runs.reset();
  options.max_runs = 100;
  options.confidence = 0.8;  // ln 0.1 / ln 0.99
  CHECK(rows_of(options).front().starts_with(
      "wall_time.p99 needs 230 runs of each command for its 80% interval, more than the 100 that "
      "--max-runs allows"));
}

TEST_CASE("a refusal for too few runs names all percentiles that need more") {
  Options options = with_percentiles({50, 90, 99});
  options.runs = 15;
  CHECK(rows_of(options) ==
        Names{"wall_time.p90 needs 36 and wall_time.p99 368 runs of each command for their 95% "
              "intervals, more than the 15 that --runs allows; allow 368 runs, or ask for "
              "percentiles nearer to 50"});
  options.runs = 5;
  CHECK(rows_of(options).front().starts_with(
      "wall_time.p50 needs 6, wall_time.p90 36 and wall_time.p99 368 runs of each command for "));
}

TEST_CASE("a metric of one's own with a percentile's name is refused") {
  Options options = with_percentiles({90});
  auto metric = parse_own_metric("wall_time.p90");
  REQUIRE(metric);
  metric->text = "cpu_time";
  options.derived = {*metric};
  CHECK(rows_of(options) == Names{"--percentiles: another metric is called wall_time.p90; give "
                                  "that one another name"});
}

TEST_CASE("names of percentiles have one spelling") {
  CHECK(percentile_in("wall_time.p99.9") == 99.9);
  for (const char* name : {"wall_time.p", "wall_time.p090", "wall_time.p90.0", "wall_time.p100",
                           "wall_time.p0", "cpu_time.p90", "wall_time.p-1", "wall_time.p1e1"})
    CHECK_FALSE(percentile_in(name));
}

}  // namespace lauka
