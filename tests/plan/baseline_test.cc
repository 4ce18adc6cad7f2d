#include "plan/baseline.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Plan plan_of(const std::vector<std::string>& names) {
  Plan plan;
  for (const std::string& name : names) plan.commands.push_back({name, name, {name}});
  return plan;
}

Baseline baseline_of(const std::vector<std::string>& names) {
  Baseline baseline{.file = "b.json"};
  for (const std::string& name : names)
    baseline.commands.push_back({name, {{"wall_time", "s", {1.0, 2.0}}}});
  return baseline;
}

std::vector<std::string> matched(const std::vector<std::string>& commands,
                                 const std::vector<std::string>& there) {
  Plan plan = plan_of(commands);
  REQUIRE(use_baseline(plan, baseline_of(there)));
  std::vector<std::string> names;
  for (const BaselineCommand& command : plan.baseline->commands) names.push_back(command.name);
  return names;
}

std::string fault(Plan plan, Baseline baseline) {
  const auto used = use_baseline(plan, std::move(baseline));
  REQUIRE_FALSE(used.has_value());
  return used.error().line();
}

}  // namespace

TEST_CASE("a command's reference is the one of its name, wherever it stands") {
  CHECK(matched({"b", "a"}, {"a", "b", "c"}) == std::vector<std::string>{"b", "a"});
  CHECK(matched({"a", "a"}, {"x", "a", "a"}) == std::vector<std::string>{"a", "a"});
}

TEST_CASE("a command whose name is not there has the reference at its place") {
  CHECK(matched({"new"}, {"old", "other"}) == std::vector<std::string>{"old"});
  CHECK(matched({"a", "new"}, {"a", "old"}) == std::vector<std::string>{"a", "old"});
}

TEST_CASE("a reference that another command has by its name is not lent by its place") {
  CHECK(fault(plan_of({"b", "new"}), baseline_of({"a", "b"})) ==
        "the baseline 'b.json' lacks 'new': it has 'a', 'b'; give the command one of these names "
        "with -n, or leave it out");
}

TEST_CASE("a command more than the baseline has is refused") {
  CHECK(fault(plan_of({"a", "b"}), baseline_of({"x"})).find("lacks 'b'") != std::string::npos);
}

TEST_CASE("a baseline has to have what a gate or --precision looks at") {
  Plan plan = plan_of({"a"});
  plan.gates = {{"cpu_time", 5.0}};
  CHECK(fault(plan, baseline_of({"a"})) ==
        "the baseline 'b.json' has no cpu_time of 'a', which a gate is on; measure the baseline "
        "again with it");
  Baseline of_hyperfine = baseline_of({"a"});
  of_hyperfine.by_lauka = false;
  CHECK(fault(plan, of_hyperfine).find("hyperfine's files are read for wall_time only") !=
        std::string::npos);
  plan.gates = {{"wall_time", 5.0}};
  plan.precision = 0.01;
  CHECK(use_baseline(plan, baseline_of({"a"})).has_value());
}

TEST_CASE("with a baseline every command is a candidate, compared as independent samples") {
  Plan plan = plan_of({"a"});
  CHECK(first_candidate(plan) == 1);
  CHECK(compares_within_rounds(plan));
  REQUIRE(use_baseline(plan, baseline_of({"a"})));
  CHECK(first_candidate(plan) == 0);
  CHECK_FALSE(compares_within_rounds(plan));
  const Metric metric{"wall_time", Unit::Seconds, Better::Less, Shown::Always,
                      kBuiltInMetrics[0].read};
  MetricSeries series(metric, plan.events, 1);
  series.take({{}, Exited{0}, {.wall_ns = 3'000'000'000}, {}});
  const Comparison samples = samples_of(plan, metric, series, 0);
  CHECK(samples.reference == std::vector{1.0, 2.0});
  CHECK(samples.candidate == std::vector{3.0});
  CHECK_FALSE(samples.paired);
}

TEST_CASE("values in another unit are refused") {
  Plan plan = plan_of({"a"});
  plan.metrics = metrics_of({}, MetricSelection::Default, false);
  Baseline baseline = baseline_of({"a"});
  baseline.commands[0].series[0].unit = "ms";
  CHECK(fault(plan, baseline) ==
        "the baseline 'b.json' has wall_time of 'a' in 'ms', not in 's'; make it again");
  baseline.commands[0].series[0].metric = "another_lauka's";
  CHECK(use_baseline(plan, baseline));
}

}  // namespace lauka
