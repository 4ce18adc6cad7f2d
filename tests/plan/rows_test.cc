#include "plan/rows.h"

#include "core/choices.h"
#include "has.h"
#include "plan/make_plan.h"
#include "plan/options_of.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using Words = std::vector<std::string>;

std::vector<Metric> all_metrics() {
  EventSet events;
  events.events = {{"instructions", ""}, {"cycles:u", ""}};
  events.passes = {{{0, 1}}};
  return make_metrics(events, MetricSelection::Listed, false);
}

/// The rows shown, with their units.
Words shown(const Words& list) {
  auto metrics = all_metrics();
  const auto listed = move_rows_to_front(list, {}, metrics);
  if (!listed) return {listed.error().line()};
  Words rows;
  for (const Metric& metric : metrics) {
    if (metric.shown != Shown::Always) continue;
    rows.push_back(metric.name +
                   (metric.shown_in ? " in " + std::string(metric.shown_in->name) : ""));
  }
  CHECK(metrics.size() == all_metrics().size());
  return rows;
}

}  // namespace

TEST_CASE("the rows asked for are shown in the order asked for, in their units") {
  CHECK(shown({"peak_rss:MiB", "instructions", "wall_time:ms"}) ==
        Words{"peak_rss in MiB", "instructions", "wall_time in ms"});
}

TEST_CASE("percentiles that were asked for follow the rows that were asked for") {
  CountingOptions options;
  options.percentiles = {50.0, 90.0};
  auto metrics = all_metrics();
  REQUIRE(add_percentiles(options, {}, {}, metrics));
  REQUIRE(move_rows_to_front({"wall_time.p90", "cpu_time"}, options.percentiles, metrics));
  Words rows;
  for (const Metric& metric : metrics)
    if (metric.shown == Shown::Always) rows.push_back(metric.name);
  CHECK(rows == Words{"wall_time.p90", "cpu_time", "wall_time.p50"});
}

TEST_CASE("a name may have a colon of its own") {
  CHECK(shown({"cycles:u"}) == Words{"cycles:u"});
  CHECK(shown({"cycles:u:M"}) == Words{"cycles:u in M"});
}

TEST_CASE("--time-unit is the unit of all times that have none of their own") {
  auto metrics = all_metrics();
  REQUIRE(move_rows_to_front({"wall_time:s", "cpu_time", "peak_rss"}, {}, metrics));
  show_times_in(find_display_unit("us"), metrics);
  CHECK(metrics[0].shown_in == find_display_unit("s"));
  CHECK(metrics[1].shown_in == find_display_unit("us"));
  CHECK(metrics[2].shown_in == nullptr);
}

TEST_CASE("what is not measured is refused, with what was most likely meant") {
  CHECK(shown({"wal_time"}) ==
        Words{"--metrics asks for 'wal_time', which is not measured; did you mean wall_time?"});
  CHECK(shown({"xyzzy"}) ==
        Words{"--metrics asks for 'xyzzy', which is not measured; if it is an event, add it with "
              "-e; if the program reports it, write NAME:lower or NAME:higher; --metrics all shows "
              "everything that is measured"});
  CHECK(shown({"wall_time", "cpu_time", "wall_time:s"}) ==
        Words{"--metrics names wall_time twice; name it once"});
}

TEST_CASE("a unit that does not fit is refused, with those that do") {
  CHECK(shown({"wall_time:MiB"}) ==
        Words{"--metrics cannot show wall_time in 'MiB'; write one of ns, µs, ms, s, min"});
  check_order(shown({"peak_rss:mb"}).front(),
              {"peak_rss ", " 'mb'; ", " B, kB, MB, GB, KiB, MiB, GiB"});
  check_order(shown({"wall_time:"}).front(), {"wall_time ", " ''"});
}

TEST_CASE("where only accounted metrics are listed, nothing needs to be counted") {
  CHECK(are_all_built_in({"wall_time:ms", "peak_rss"}));
  CHECK_FALSE(are_all_built_in({"wall_time", "instructions"}));
}

namespace {

OwnMetric own(std::string_view head, std::string formula = "") {
  auto metric = parse_own_metric(head);
  REQUIRE(metric);
  metric->formula = std::move(formula);
  return *metric;
}

OwnMetric scraped(std::string_view head) {
  OwnMetric metric = own(head);
  metric.pattern = Pattern::compile("(x)").value();
  return metric;
}

Options with_rows(std::vector<std::string> rows = {}) {
  Options options = options_of({"a", "b"});
  options.counting.metric_selection =
      rows.empty() ? MetricSelection::Default : MetricSelection::Listed;
  options.counting.listed_metrics = std::move(rows);
  return options;
}

}  // namespace

TEST_CASE("what is scraped and what is announced are metrics, which gates and formulas may be on") {
  Options options = with_rows({"wall_time", "served:1:higher", "rate"});
  options.counting.scraped_metrics = {scraped("rate:higher")};
  options.counting.derived_metrics = {own("each:ms", "wall_time / served")};
  options.gates.conditions.push_back(
      {.metric = "served", .limit = GateLimit::of_change(-5), .fails_below_limit = true});
  const auto plan = make_plan(options, no_events, {.clock_seed = 1});
  if (!plan) FAIL(plan.error().line());
  REQUIRE(plan->reported_metrics.size() == 2);
  CHECK(plan->reported_metrics[0].name == "rate");
  CHECK(plan->reported_metrics[1].name == "served");
  CHECK(plan->metrics[1].name == "served");
  CHECK(plan->metrics[1].better == Better::More);
  CHECK(plan->metrics[1].shown == Shown::Always);
  CHECK(plan->metrics[2].name == "rate");
}

TEST_CASE("two metrics of one name are refused") {
  Options twice = with_rows();
  twice.counting.scraped_metrics = {scraped("rate"), scraped("rate")};
  CHECK(answer_to(twice) == "--scrape names rate twice; give each metric a name of its own");
  Options taken = with_rows();
  taken.counting.scraped_metrics = {scraped("wall_time")};
  CHECK(answer_to(taken) ==
        "--scrape wall_time has the name of another metric; give it a name of its own");
  CHECK(answer_to(with_rows({"wall_time:ms:higher"})).starts_with("--metrics wall_time "));
  Options both = with_rows({"rate:higher"});
  both.counting.scraped_metrics = {scraped("rate")};
  CHECK(answer_to(both) ==
        "--metrics defines rate, but lauka already measures a metric of this name; leave out the "
        "part after its name");
  CHECK(answer_to(with_rows({"1x:higher"})) ==
        "--metrics '1x:higher' has the name '1x'; begin a name with a letter, and continue with "
        "letters, digits, _ . - / or %");
}

namespace {

Options with_percentiles(std::vector<double> percentiles) {
  Options options = options_of({"a", "b"});
  options.counting.percentiles = std::move(percentiles);
  return options;
}

/// Returns the names of the rows shown, or the reason of a refusal.
std::vector<std::string> rows_of(const Options& options) {
  const auto plan = make_plan(options, no_events, {.clock_seed = 1});
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
  options.counting.metric_selection = MetricSelection::Listed;
  options.counting.listed_metrics = {"wall_time.p75:ms"};
  CHECK(rows_of(options) == Names{"wall_time.p75"});
  options = with_percentiles({90});
  options.gates.conditions = {{.metric = "wall_time.p90", .limit = GateLimit::of_change(5)},
                              {.metric = "wall_time.p95"}};
  options.gates.max_half_width = 0.01;
  options.gates.precision_metric = "wall_time.p60";
  CHECK(rows_of(options) == Names{"wall_time", "wall_time.p90", "wall_time.p95", "wall_time.p60",
                                  "cpu_time", "peak_rss"});
}

TEST_CASE("runs that are too few for a percentile are refused with those that it needs") {
  Options options = with_percentiles({99});
  options.run.runs = 367;
  CHECK(rows_of(options) ==
        Names{"wall_time.p99 needs 368 runs of each command for its 95% interval, more than the "
              "367 that --runs allows; allow 368 runs, or ask for a percentile nearer to 50"});
  options.run.runs = 368;
  CHECK(rows_of(options).size() == 4);
  options.run.runs.reset();
  options.run.max_runs = 100;
  options.gates.confidence = 0.8;  // ln 0.1 / ln 0.99
  check_order(rows_of(options).front(),
              {"wall_time.p99 ", " 230 ", " 80% ", " 100 ", " --max-runs "});
}

TEST_CASE("a refusal for too few runs names all percentiles that need more") {
  Options options = with_percentiles({50, 90, 99});
  options.run.runs = 15;
  CHECK(rows_of(options) ==
        Names{"wall_time.p90 needs 36 and wall_time.p99 368 runs of each command for their 95% "
              "intervals, more than the 15 that --runs allows; allow 368 runs, or ask for "
              "percentiles nearer to 50"});
  options.run.runs = 5;
  CHECK(rows_of(options).front().starts_with(
      "wall_time.p50 needs 6, wall_time.p90 36 and wall_time.p99 368 "));
}

TEST_CASE("a metric of one's own with a percentile's name is refused") {
  Options options = with_percentiles({90});
  auto metric = parse_own_metric("wall_time.p90").value();
  metric.formula = "cpu_time";
  options.counting.derived_metrics = {metric};
  CHECK(rows_of(options) == Names{"--percentiles would add a second metric wall_time.p90; give the "
                                  "other metric another name"});
}

TEST_CASE("names of percentiles have one spelling") {
  CHECK(percentile_in("wall_time.p99.9") == 99.9);
  for (const char* name : {"wall_time.p", "wall_time.p090", "wall_time.p90.0", "wall_time.p100",
                           "wall_time.p0", "cpu_time.p90", "wall_time.p-1", "wall_time.p1e1"})
    CHECK_MESSAGE(!percentile_in(name), name);
}

}  // namespace lauka
