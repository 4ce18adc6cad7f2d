#include "plan/rows.h"
#include "run/bench.h"
#include "run/output.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <variant>

#include <doctest/doctest.h>

namespace lauka {
namespace {

os::Ended ended_with(const os::RegionUse& use) {
  os::Ended ended{Exited{0}, {.wall_ns = 1000}};
  ended.region = use;
  return ended;
}

std::string why(const os::RegionUse& use) {
  const auto error = why_no_region(ended_with(use));
  return error ? error->what : "";
}

/// A session of two runs of one command that note this.
Session session_of(const os::RegionUse& use, bool ignores_failures, const Pass& pass = {}) {
  Bench bench;
  bench.launcher.adjust = [&](os::ProgramId, os::Ended& ended) { ended.region = use; };
  Plan plan = plan_of({"it"});
  plan.region = true;
  plan.reported = region_metrics();
  plan.events.events.resize(pass.events.size());
  if (!pass.events.empty()) plan.events.passes = {pass};
  if (ignores_failures) plan.ignore_failure = IgnoreFailure{.any = true};
  auto session = bench.carry_out(plan);
  REQUIRE(session.has_value());
  REQUIRE_FALSE(bench.launcher.programs().empty());
  CHECK(bench.launcher.programs().front().has_region);
  return *std::move(session);
}

}  // namespace

TEST_CASE("what a run noted of its region is its value") {
  const Session session = session_of({.entries = 3, .time_ns = 250}, false);
  CHECK_FALSE(session.cut_short);
  REQUIRE(session.runs.size() == 2);
  CHECK(session.runs[0].reported.at(0) == doctest::Approx(250e-9));
  CHECK(session.runs[0].reported.at(1) == 3.0);
}

TEST_CASE("no region, one left open, an end alone and more time than there was are refused") {
  CHECK(why({.entries = 1, .time_ns = 1000}).empty());
  CHECK(why({}).starts_with("it did not call lauka_region_begin"));
  CHECK(why({.entries = 1, .is_open = true}) == "its region was still open when it ended");
  CHECK(why({.entries = 1, .stray = 1}) ==
        "it called lauka_region_end without a lauka_region_begin before it");
  CHECK(why({.entries = 1, .time_ns = 1001}) == "it noted more time in its region than it took");
  os::Ended nothing{Exited{0}, {}};
  CHECK(why_no_region(nothing).has_value());
}

TEST_CASE("a run without a region ends the session and names the command") {
  const Session session = session_of({.entries = 1, .is_open = true}, false);
  REQUIRE(session.cut_short);
  const auto* error = std::get_if<Error>(&*session.cut_short);
  REQUIRE(error != nullptr);
  CHECK(error->what == "'it': its region was still open when it ended");
  CHECK(session.runs.empty());
}

TEST_CASE("with -i a run without a region has neither its time nor counts, and that is reported") {
  const Session session = session_of({.entries = 1, .is_open = true}, true, Pass{{0}});
  CHECK_FALSE(session.cut_short);
  REQUIRE(session.runs.size() == 2);
  CHECK(session.runs[0].reported.empty());
  const auto counts = session.runs[0].counts;
  CHECK(std::none_of(counts.begin(), counts.end(),
                     [](const auto& count) { return count.has_value(); }));
  const bool is_reported =
      std::any_of(session.notes.begin(), session.notes.end(), [](const std::string& note) {
        return note.find("'it': its region was still open when it ended; 2 runs") == 0;
      });
  CHECK(is_reported);
}

TEST_CASE("the time of the region is the first row, and what is of the whole run is hidden") {
  EventSet events;
  events.events = {{.name = "cycles", .meaning = "", .role = Role::Cycles}};
  events.passes = {Pass{{0}}};
  std::vector<Metric> metrics = make_metrics(events, MetricSelection::Default, false);
  for (const OwnMetric& own : region_metrics()) metrics.push_back(make_metric(own, 0.0));
  show_region(MetricSelection::Default, metrics);
  CHECK(metrics.front().name == "region_time");
  CHECK(metrics.front().unit == Unit::Seconds);
  for (const Metric& metric : metrics) {
    CAPTURE(metric.name);
    const bool is_shown = metric.name == "region_time" || metric.name == "cycles";
    CHECK((metric.shown == Shown::Always) == is_shown);
  }
}

}  // namespace lauka
