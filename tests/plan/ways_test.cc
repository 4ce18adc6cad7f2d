#include "plan/ways.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Options options_of(std::vector<std::string> commands) {
  Options options;
  options.commands = std::move(commands);
  return options;
}

Result<Plan> plan_of(const Options& options, bool has_tree_peak = false) {
  return make_plan(
      options, [](const EventRequest&) { return Result<EventSet>(EventSet{}); }, 1, {},
      has_tree_peak);
}

std::string refusal(const Options& options) {
  const auto plan = plan_of(options);
  return plan ? "accepted" : plan.error().what;
}

}  // namespace

TEST_CASE("copies at once bring their throughput along, where more is better") {
  Options options = options_of({"a"});
  CHECK_FALSE(find_metric(plan_of(options)->metrics, "throughput"));
  options.jobs = 4;
  const auto plan = plan_of(options);
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
  CHECK(refusal(options) == "accepted");
  options.expected = {{}};
  CHECK(refusal(options).starts_with("--until ends runs early"));
  options.expected.clear();
  options.jobs = 2;
  CHECK(refusal(options).starts_with("--until ends a run at its first line"));
  Options alone = options_of({"a"});
  alone.expected = {{}};
  CHECK(refusal(alone) == "--expect-output same has nothing to compare with");
  alone.expected = {{ExpectedOutput::Kind::File, "x"}};
  CHECK(refusal(alone) == "accepted");
}

TEST_CASE("tree_peak_memory is asked for by name or with all, and is there where it can be had") {
  Options options = options_of({"a"});
  CHECK(asks_for_tree_peak(options) == Asked::No);
  options.verbosity = Verbosity::Verbose;
  CHECK(asks_for_tree_peak(options) == Asked::No);
  options.metrics = MetricSelection::All;
  CHECK(asks_for_tree_peak(options) == Asked::WithAll);
  CHECK_FALSE(find_metric(plan_of(options)->metrics, kTreePeakMemory));
  CHECK(find_metric(plan_of(options, true)->metrics, kTreePeakMemory));
  options.metrics = MetricSelection::Listed;
  options.metric_list = {"wall_time", "tree_peak_memory:MiB"};
  CHECK(asks_for_tree_peak(options) == Asked::ByName);
  CHECK(plan_of(options, true));
  options.metric_list = {"wall_time"};
  options.gates = {{.metric = "tree_peak_memory", .limit_percent = 1}};
  CHECK(asks_for_tree_peak(options) == Asked::ByName);
}

}  // namespace lauka
