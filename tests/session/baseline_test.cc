#include "session/baseline.h"

#include "core/recording.h"
#include "fakes/gates.h"
#include "fakes/made_session.h"
#include "fakes/recorded.h"
#include "has.h"
#include "plan/rows.h"
#include "session/make_recording.h"
#include "session/series.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Plan plan_of(const std::vector<std::string>& names) {
  Plan plan;
  for (const std::string& name : names) plan.commands.push_back({name, name, {name}});
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  return plan;
}

std::shared_ptr<Recording> baseline_of(const std::vector<std::string>& names) {
  return fakes::recorded(names, {1.0, 2.0});
}

std::vector<std::string> matched(const std::vector<std::string>& commands,
                                 const std::vector<std::string>& there) {
  Plan plan = plan_of(commands);
  REQUIRE(use_baseline(plan, "b.json", baseline_of(there)));
  std::vector<std::string> names;
  for (const std::size_t command : plan.reference.baseline->reference_places)
    names.push_back(there.at(command));
  return names;
}

std::string fault(Plan plan, std::shared_ptr<const Recording> session) {
  const auto used = use_baseline(plan, "b.json", std::move(session));
  REQUIRE_FALSE(used.has_value());
  return used.error().line();
}

}  // namespace

TEST_CASE("a command's reference is the one of its name, at any place") {
  CHECK(matched({"b", "a"}, {"a", "b", "c"}) == std::vector<std::string>{"b", "a"});
  CHECK(matched({"a", "a"}, {"x", "a", "a"}) == std::vector<std::string>{"a", "a"});
}

TEST_CASE("a command whose name is not there has the reference at its place") {
  CHECK(matched({"new"}, {"old", "other"}) == std::vector<std::string>{"old"});
  CHECK(matched({"a", "new"}, {"a", "old"}) == std::vector<std::string>{"a", "old"});
}

TEST_CASE("a reference that another command has by its name is not lent by its place") {
  CHECK(fault(plan_of({"b", "new"}), baseline_of({"a", "b"})) ==
        "the baseline 'b.json' has no command named 'new'; it contains 'a', 'b'; use -n to give "
        "the command one of these names, or leave it out");
}

TEST_CASE("a command more than the baseline has is refused") {
  CHECK(has(fault(plan_of({"a", "b"}), baseline_of({"x"})), "has no command named 'b'"));
}

TEST_CASE("commands with other names are matched at the same parameter values") {
  Plan plan = plan_of({"new 2", "new 3"});
  const auto session = baseline_of({"old 1", "old 2", "old 3"});
  const auto set_value = [](Command& command, const char* value) {
    command.parameters = {{"n", value}};
    command.typed_command_index = 0;
  };
  set_value(plan.commands[0], "2");
  set_value(plan.commands[1], "3");
  set_value(session->commands[0], "1");
  set_value(session->commands[1], "2");
  set_value(session->commands[2], "3");
  REQUIRE(use_baseline(plan, "b.json", session));
  CHECK(plan.reference.baseline->reference_places == std::vector<std::size_t>{1, 2});
  set_value(plan.commands[1], "4");
  CHECK(has(fault(plan, session), "has no command named 'new 3'"));
}

TEST_CASE("a reference without a run is refused") {
  const auto session = fakes::recorded({"a"}, {});
  session->runs = Runs();
  CHECK(fault(plan_of({"a"}), session) ==
        "the baseline 'b.json' has no runs of 'a'; export it again");
}

TEST_CASE("a baseline has to have what a gate or --precision looks at") {
  Plan plan = plan_of({"a"});
  plan.gates = fakes::gates_of(plan, {{"cpu_time", GateLimit::of_change(5.0)}});
  CHECK(fault(plan, baseline_of({"a"})) ==
        "the baseline 'b.json' has no cpu_time of 'a', which a gate needs; measure the baseline "
        "again with it");
  const auto of_hyperfine = baseline_of({"a"});
  of_hyperfine->was_written_by_lauka = false;
  CHECK(has(fault(plan, of_hyperfine), "lauka --export-json"));
  plan.gates = fakes::gates_of(plan, {{"wall_time", GateLimit::of_change(5.0)}});
  plan.precision = PrecisionGoal{0.01};
  CHECK(use_baseline(plan, "b.json", baseline_of({"a"})).has_value());
}

TEST_CASE("with a baseline every command is a candidate, compared as independent samples") {
  Plan plan = plan_of({"a"});
  CHECK_FALSE(plan.reference.is_candidate(0));
  CHECK(plan.reference.is_candidate(1));
  CHECK(pair_of(plan, 0).is_within_rounds);
  REQUIRE(use_baseline(plan, "b.json", baseline_of({"a"})));
  CHECK(plan.reference.is_candidate(0));
  const Pair pair = pair_of(plan, 0);
  CHECK_FALSE(pair.is_within_rounds);

  Runs runs(plan.metrics);
  runs.set_value(runs.add({}), 0, 3.0);
  const Comparison samples = collect_samples(pair, make_all_series(plan, runs, 0));
  CHECK(samples.reference == std::vector{1.0, 2.0});
  CHECK(samples.candidate == std::vector{3.0});
  CHECK_FALSE(samples.paired);
  CHECK_MESSAGE(collect_samples(pair, make_all_series(plan, runs, 1)).is_empty(),
                "cpu_time is not there");
}

TEST_CASE("a pair is within rounds if one session measured both commands, and alternated them") {
  Recording session;
  session.commands = plan_of({"a", "b", "c", "d", "anchor"}).commands;
  session.reference.anchor_index = 4;
  const auto are_within_rounds = [&session] {
    std::vector<bool> all;
    for (const Pair& pair : list_pairs(session)) all.push_back(pair.is_within_rounds);
    return all;
  };
  CHECK(are_within_rounds() == std::vector{true, true, true});

  session.origins = {{.file = "a.json", .command_count = 2},
                     {.file = "b.json", .command_count = 3}};
  CHECK(are_within_rounds() == std::vector{true, false, false});
  session.reference.indices = {0, 0, 2, 2, 4};
  CHECK(are_within_rounds() == std::vector{true, true});
  session.origins[1].order = Order::Sequential;
  CHECK(are_within_rounds() == std::vector{true, false});
}

TEST_CASE("what is known of a reference in a baseline is found by its number") {
  const auto there = baseline_of({"b", "a"});
  there->circumstances.version = "1.0.0";
  there->setting.layouts = 6;
  Plan plan = plan_of({"a", "b"});
  REQUIRE(use_baseline(plan, "b.json", there));
  Recording session;
  session.commands = plan.commands;
  session.metrics = plan.metrics;
  session.reference = plan.reference;
  session.circumstances.version = "2.0.0";

  const std::vector<Pair> pairs = list_pairs(session);
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[1].reference == 3);
  CHECK(pairs[1].candidate == 1);
  const MeasuredCommand reference = find_measured(session, pairs[0].reference);
  CHECK(reference.command().name == "a");
  CHECK(reference.index == 1);
  CHECK(reference.place_of(0) == 0U);
  CHECK_FALSE(reference.place_of(1));
  CHECK(circumstances_of(session, pairs[0].reference).version == "1.0.0");
  CHECK(circumstances_of(session, pairs[0].candidate).version == "2.0.0");
  CHECK(count_layouts(session, pairs[0].reference) == 6);
  CHECK(count_layouts(session, pairs[0].candidate) == 1);
}

TEST_CASE("deltas are from the command that is the reference, at any place") {
  Plan plan = plan_of({"a", "b"});
  plan.reference.indices = {1, 1};
  const std::vector<Series> series = {{{3.0}, {0}}, {{4.0}, {0}}};
  CHECK(plan.reference.is_candidate(0));
  CHECK_FALSE(plan.reference.is_candidate(1));
  CHECK(collect_samples(pair_of(plan, 0), series).reference == std::vector{4.0});
}

TEST_CASE("deltas are from each command's own reference") {
  Plan plan = plan_of({"a", "b", "c", "d"});
  plan.reference.indices = {0, 0, 2, 2};
  const std::vector<Series> series = {{{3.0}, {0}}, {{4.0}, {0}}, {{5.0}, {0}}, {{6.0}, {0}}};
  CHECK(collect_samples(pair_of(plan, 1), series).reference == std::vector{3.0});
  CHECK(collect_samples(pair_of(plan, 3), series).reference == std::vector{5.0});
}

TEST_CASE("metrics that the baseline counted otherwise, or simulated, are named in a note") {
  const auto notes_of = [](CountedPrivilegeLevels there, RoundKind kind,
                           CountedPrivilegeLevels here) {
    Plan plan = plan_of({"a"});
    plan.metrics.push_back({.name = "loads", .counted_privilege_levels = here});
    const auto session = baseline_of({"a"});
    session->metrics.push_back({.name = "loads", .kind = kind, .counted_privilege_levels = there});
    REQUIRE(use_baseline(plan, "b.json", session));
    return plan.setting.events.notes;
  };
  const auto all = CountedPrivilegeLevels::UserAndKernel;
  const auto user = CountedPrivilegeLevels::UserOnly;
  const std::vector<Note> notes = notes_of(user, RoundKind::Counting, all);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].kind == "other_levels");
  CHECK(notes[0].text ==
        "loads: counted in user space only in 'b.json', and user space and the kernel here; such "
        "values are not compared");
  CHECK(notes_of(user, RoundKind::Simulated, user).size() == 1);
  CHECK(notes_of(user, RoundKind::Counting, user).empty());
  CHECK(notes_of(CountedPrivilegeLevels::Unknown, RoundKind::Counting, all).empty());
}

TEST_CASE("values in another unit are refused") {
  const Plan plan = plan_of({"a"});
  const auto baseline = baseline_of({"a"});
  baseline->metrics[0].unit = Unit::Count;
  CHECK(fault(plan, baseline) ==
        "the baseline 'b.json' has wall_time in '1', not in 's'; export it again");
  baseline->metrics[0].name = "another_lauka's";
  Plan other = plan;
  CHECK(use_baseline(other, "b.json", baseline));
}

TEST_CASE("what was reported unannounced is added after the other metrics, and to the baseline's") {
  Plan plan;
  plan.commands = {{"a", "a", {"a"}}};
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  plan.reference.baseline = Baseline{.session = std::make_shared<Recording>()};
  const auto requests = parse_own_metric("requests:1:higher").value();
  const Recording recording =
      make_recording(plan, Session{}, {.discovered = {.metrics = {requests}, .is_shown = false}});
  REQUIRE(recording.metrics.size() == plan.metrics.size() + 1);
  const Metric& added = recording.metrics.back();
  CHECK(added.name == "requests");
  CHECK(std::get<ReportedValue>(added.source.terms.front()).place == 0);
  CHECK(added.unit == Unit::Count);
  CHECK(added.shown == Shown::Verbose);
  CHECK(recording.reference.baseline->metric_places.size() == recording.metrics.size());
}

TEST_CASE("each run of a long session keeps its own values, in whatever order they are read") {
  Plan plan;
  plan.commands = {{"a", "a", {"a"}}};
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  MadeSession session;
  constexpr std::size_t count = 1000;
  for (std::uint32_t i = 0; i < count; ++i) {
    RunRecord run{};
    run.step.round = i;
    run.outcome = Exited{0};
    run.usage.wall_ns = 1'000'000'000ULL * (i + 1);
    session.runs.push_back(run);
  }
  const Recording recording = make_recording(plan, session);
  const auto wall_time = find_metric(recording.metrics, Role::WallTime).value();
  for (const std::size_t step : {1U, 7U, 999U})
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = i * step % count;
      REQUIRE(recording.runs.value(at, wall_time) == static_cast<double>(at + 1));
      REQUIRE(recording.runs.row(at).round == at);
    }
}

TEST_CASE("one name twice on one side is refused with how often the baseline has it") {
  const std::string said =
      fault(plan_of({"work 20", "work 20"}), baseline_of({"work 10", "work 20"}));
  CHECK(has(
      said,
      "has 'work 20' once, but this session has a different number of commands with that name"));
  CHECK(has(said, "'work 10', 'work 20'"));
}

}  // namespace lauka
