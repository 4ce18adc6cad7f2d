#include "plan/rows.h"

#include "core/choices.h"
#include "plan/plan.h"

#include <string>
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
  const auto listed = list_rows(list, metrics);
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

TEST_CASE("a name may have a colon of its own") {
  CHECK(shown({"cycles:u"}) == Words{"cycles:u"});
  CHECK(shown({"cycles:u:M"}) == Words{"cycles:u in M"});
}

TEST_CASE("--time-unit is the unit of all times that have none of their own") {
  auto metrics = all_metrics();
  REQUIRE(list_rows({"wall_time:s", "cpu_time", "peak_rss"}, metrics));
  show_times_in(find_display_unit("us"), metrics);
  CHECK(metrics[0].shown_in == find_display_unit("s"));
  CHECK(metrics[1].shown_in == find_display_unit("us"));
  CHECK(metrics[2].shown_in == nullptr);
}

TEST_CASE("what is not measured is refused, with what was most likely meant") {
  CHECK(shown({"wal_time"}) ==
        Words{"--metrics 'wal_time' is not measured; did you mean wall_time?"});
  CHECK(shown({"xyzzy"}) == Words{"--metrics 'xyzzy' is not measured; add an event with -e; "
                                  "--metrics all shows what there is"});
  CHECK(shown({"wall_time", "cpu_time", "wall_time:s"}) ==
        Words{"--metrics names wall_time twice; use only one of them"});
}

TEST_CASE("a unit that does not fit is refused, with those that do") {
  CHECK(shown({"wall_time:MiB"}) ==
        Words{"--metrics: wall_time cannot be shown in 'MiB'; write one "
              "of ns, µs, ms, s, min"});
  CHECK(shown({"peak_rss:mb"}) == Words{"--metrics: peak_rss cannot be shown in 'mb'; write one of "
                                        "B, kB, MB, GB, KiB, MiB, GiB"});
  CHECK(shown({"wall_time:"}).front().starts_with("--metrics: wall_time cannot be shown in ''"));
}

TEST_CASE("where only accounted metrics are listed, nothing needs to be counted") {
  CHECK(are_all_built_in({"wall_time:ms", "peak_rss"}));
  CHECK_FALSE(are_all_built_in({"wall_time", "instructions"}));
}

}  // namespace lauka
