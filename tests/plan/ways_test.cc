#include "plan/commands.h"
#include "plan/options_of.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Result<Plan> plan_without_events(const Options& options, bool has_tree_peak = false) {
  return make_plan(options, no_events, 1, {}, has_tree_peak);
}

}  // namespace

TEST_CASE("copies at once bring their throughput along, where more is better") {
  Options options = options_of({"a"});
  CHECK_FALSE(find_metric(plan_without_events(options)->metrics, "throughput"));
  options.jobs = 4;
  const auto plan = plan_without_events(options);
  REQUIRE(plan);
  CHECK(plan->jobs == 4);
  const auto place = find_metric(plan->metrics, "throughput");
  REQUIRE(place);
  CHECK(plan->metrics[*place].better == Better::More);
  CHECK(plan->metrics[*place].shown == Shown::Always);
}

TEST_CASE("ways of running that do not go together are refused") {
  Options options = options_of({"a", "b"});
  options.until = "ready";
  CHECK(answer_to(options) == "accepted");
  options.expected = {{}};
  CHECK(answer_to(options).starts_with("--until ends runs early"));
  options.expected.clear();
  options.jobs = 2;
  CHECK(answer_to(options).starts_with("--until ends a run at its first line"));
  Options alone = options_of({"a"});
  alone.expected = {{}};
  CHECK(answer_to(alone).starts_with("--expect-output same has nothing to compare with"));
  alone.expected = {{ExpectedOutput::Kind::File, "x"}};
  CHECK(answer_to(alone) == "accepted");
}

TEST_CASE("tree_peak_memory is asked for by name or with all, and is there where it can be had") {
  Options options = options_of({"a"});
  CHECK(asks_for_tree_peak(options) == Asked::No);
  options.verbosity = Verbosity::Verbose;
  CHECK(asks_for_tree_peak(options) == Asked::No);
  options.metrics = MetricSelection::All;
  CHECK(asks_for_tree_peak(options) == Asked::WithAll);
  CHECK_FALSE(find_metric(plan_without_events(options)->metrics, kTreePeakMemory));
  CHECK(find_metric(plan_without_events(options, true)->metrics, kTreePeakMemory));
  options.metrics = MetricSelection::Listed;
  options.metric_list = {"wall_time", "tree_peak_memory:MiB"};
  CHECK(asks_for_tree_peak(options) == Asked::ByName);
  CHECK(plan_without_events(options, true));
  options.metric_list = {"wall_time"};
  options.gates = {{.metric = "tree_peak_memory", .limit_percent = 1}};
  CHECK(asks_for_tree_peak(options) == Asked::ByName);
}

}  // namespace lauka
