#include "session/function_metrics.h"

#include "fakes/gates.h"
#include "run/bench.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Plan plan_of_functions(const std::string& gated = "") {
  Plan plan = plan_of({"old", "new"});
  plan.setting.events.events = {{.name = "instructions", .meaning = "", .simulated = true}};
  plan.setting.events.passes = {Pass{}, Pass{{0}, RoundKind::Simulated}};
  if (gated.empty()) return plan;
  plan.setting.events.events.push_back(
      {.name = "instructions@" + gated, .meaning = "", .simulated = true, .only_function = gated});
  plan.setting.events.passes[1].event_indices.push_back(1);
  return plan;
}

Step step(std::uint32_t command, std::uint32_t round = 0) {
  return {command, round, 1, RoundKind::Simulated};
}

}  // namespace

TEST_CASE("the functions of each command are kept, for the events that are not of one function") {
  const Plan plan = plan_of_functions("main");
  FunctionTableBuilder runs(plan);
  runs.add(step(0), {{"main", {10}}});
  runs.add(step(1), {{"main", {11}}, {"read", {5}}});
  CHECK_FALSE(runs.find_unknown().has_value());
  const std::vector<FunctionTable> tables = runs.close();
  REQUIRE(tables.size() == 2);
  CHECK(tables[0].metrics == std::vector<FunctionMetric>{{"instructions", 1}});
  CHECK(tables[1].functions.at("read") == std::vector<RoundValues>{{5}});
}

TEST_CASE("the functions of sampled runs are kept in seconds") {
  Plan plan = plan_of({"old"});
  plan.setting.events.events = {
      {.name = "sampled_time", .meaning = "", .is_time = true, .role = Role::SampledTime}};
  plan.setting.events.passes = {Pass{}, Pass{{0}, RoundKind::Counting}};
  FunctionTableBuilder runs(plan);
  runs.add({0, 0, 1, RoundKind::Counting}, {{"main", {2'500'000}}});
  CHECK(runs.close()[0].functions.at("main") == std::vector<RoundValues>{{0.0025}});
}

TEST_CASE("a run without a sample is a round of zeros, also before the first sample") {
  Plan plan = plan_of({"old"});
  plan.setting.events.events = {
      {.name = "sampled_time", .meaning = "", .is_time = true, .role = Role::SampledTime}};
  plan.setting.events.passes = {Pass{}, Pass{{0}, RoundKind::Counting}};
  FunctionTableBuilder runs(plan);
  runs.add({0, 0, 1, RoundKind::Counting}, {});
  runs.add({0, 1, 1, RoundKind::Counting}, {{"main", {1'000'000}}});
  runs.add({0, 2, 1, RoundKind::Counting}, {});
  const FunctionTable table = runs.close().at(0);
  CHECK(table.metrics == std::vector<FunctionMetric>{{"sampled_time", 3}});
  CHECK(table.functions.at("main") == std::vector<RoundValues>{{0.0, 0.001, 0.0}});
}

TEST_CASE("a gate's function that no command has is an error with the nearest names") {
  const Plan plan = plan_of_functions("parse_nmber");
  FunctionTableBuilder runs(plan);
  runs.add(step(0), {{"main", {10}}, {"parse_number", {10}}});
  CHECK_FALSE(runs.find_unknown().has_value());  // the other command may have it
  runs.add(step(1), {{"main", {11}}});
  const auto unknown = runs.find_unknown();
  REQUIRE(unknown.has_value());
  CHECK(unknown->unknown_name == "parse_nmber");
  CHECK(unknown->remedy.find("parse_number") != std::string::npos);
}

TEST_CASE("an event that one run could not count leaves the functions of the others") {
  Plan plan = plan_of_functions();
  plan.setting.events.events.push_back({.name = "cache-misses", .meaning = "", .simulated = true});
  plan.setting.events.passes[1].event_indices.push_back(1);
  FunctionTableBuilder runs(plan);
  runs.add(step(0), {{"main", {10, 3}}});
  runs.add(step(0, 1), {{"main", {10, 0}}}, {1});
  runs.add(step(1), {{"main", {11, 4}}});
  const std::vector<FunctionTable> tables = runs.close();
  CHECK(tables[0].metrics == std::vector<FunctionMetric>{{"instructions", 2}, {"cache-misses", 1}});
  CHECK(tables[0].functions.at("main") == std::vector<RoundValues>{{10}, {3}});
}

TEST_CASE("a gate's function is known by any of its names") {
  const Plan plan = plan_of_functions("__libc_malloc");
  FunctionTableBuilder runs(plan);
  runs.add(step(0), {{"malloc", {10}, {"__libc_malloc"}}});
  runs.add(step(1), {{"malloc", {10}, {"__libc_malloc"}}});
  CHECK_FALSE(runs.find_unknown().has_value());
}

TEST_CASE("a gate's function that one side alone has is 0 on the other") {
  const Plan plan = plan_of_functions("parse");
  FunctionTableBuilder runs(plan);
  runs.add(step(0), {{"main", {10}}});
  runs.add(step(1), {{"main", {11}}, {"parse(char const*)", {3}}});
  CHECK_FALSE(runs.find_unknown().has_value());
}

TEST_CASE("functions are in the line of kept rounds, and are read from it") {
  FinishedRounds rounds{.first = step(0), .step_count = 1};
  rounds.functions.push_back({step(0),
                              {{"main", {10, 2}}, {"a::f(int)", {0, 1}, {"a::g(int)"}}},
                              {{kNoCaller, "prog", 0}, {0, "main", 7}},
                              {1}});
  const auto read = parse_rounds(to_line(0, rounds));
  REQUIRE(read.has_value());
  REQUIRE(read->second.functions.size() == 1);
  CHECK(read->second.functions[0].functions == rounds.functions[0].functions);
  CHECK(read->second.functions[0].paths == rounds.functions[0].paths);
  CHECK(read->second.functions[0].step.kind == RoundKind::Simulated);
  CHECK(read->second.functions[0].uncounted_events == std::vector<std::size_t>{1});
}

}  // namespace lauka
