#include "plan/make_plan.h"

#include "has.h"
#include "notes.h"
#include "plan/gates.h"
#include "plan/make_commands.h"
#include "plan/options_of.h"
#include "plan/plan.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using Words = std::vector<std::string>;

/// A fake engine: one event per pass, "default" if none is requested; keeps the requests.
struct OneEventPerPass {
  std::optional<std::pair<Words, bool>> asked{};

  EventSelector select() {
    return [this](const EventRequest& wanted) -> Result<EventSet> {
      const Words& names = wanted.names;
      asked = {names, wanted.single_pass};
      EventSet set;
      for (const std::string& name : names.empty() ? Words{"default"} : names) {
        if (name == "nosuch") return Error{"'nosuch' is not an event", "lauka -l lists them"};
        set.passes.push_back(Pass{{set.events.size()}});
        set.events.push_back({.name = name, .meaning = name, .role = role_of_event(name)});
      }
      return set;
    };
  }
};

Plan plan_of(const Options& options, std::uint64_t clock_seed = 77) {
  OneEventPerPass engine;
  auto plan = make_plan(options, engine.select(), {.clock_seed = clock_seed});
  if (!plan) FAIL("refused: " << plan.error().line());
  return *std::move(plan);
}

std::string refusal_of(const Options& options) {
  OneEventPerPass engine;
  const auto plan = make_plan(options, engine.select(), {.clock_seed = 1});
  return plan ? "accepted" : plan.error().line();
}

}  // namespace

TEST_CASE("an engine that was named and counts nothing here is refused with the reason") {
  const EventSelector counts_nothing = [](const EventRequest& wanted) -> Result<EventSet> {
    if (wanted.names.empty()) return EventSet{};
    return Error{"'instructions' cannot be counted: there is no PMU here", "switch it on"};
  };
  Options options = options_of({"./old"});
  CHECK(make_plan(options, counts_nothing, {.clock_seed = 1}));
  options.counting.engine = EngineChoice::Perf;
  const auto refused = make_plan(options, counts_nothing, {.clock_seed = 1});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().line() ==
        "--engine perf: 'instructions' cannot be counted: there is no PMU here; switch it on");
}

TEST_CASE("a command is split into words and named by its text, or by the name it was given") {
  Options options = options_of({"./old", "./new -O2 'a b'", "./newer"});
  options.commands.names = {"", "second"};
  const Plan plan = plan_of(options);
  REQUIRE(plan.commands.size() == 3);
  CHECK(plan.commands[0].name == "./old");
  CHECK(plan.commands[0].words == Words{"./old"});
  CHECK(plan.commands[1].name == "second");
  CHECK(plan.commands[1].text == "./new -O2 'a b'");
  CHECK(plan.commands[1].words == Words{"./new", "-O2", "a b"});
  CHECK(plan.commands[2].name == "./newer");
}

TEST_CASE("with a shell the command is one word of it, as typed") {
  Options options = options_of({"FOO=1 ./x | wc \"", "a 'b"});
  options.commands.shell = Shell{{"bash", "--norc"}};
  const Plan plan = plan_of(options);
  CHECK(plan.commands[0].words == Words{"bash", "--norc", "-c", "FOO=1 ./x | wc \""});
  CHECK(plan.commands[1].words == Words{"bash", "--norc", "-c", "a 'b"});
}

TEST_CASE("a command that cannot be run is refused by its number and text") {
  CHECK(refusal_of(options_of({"./old", "./new 'x"})).starts_with("command 2 \"./new 'x\" "));
  CHECK(refusal_of(options_of({"./old", "  "})) ==
        "command 2 '  ' is empty; write a program and its arguments");
  CHECK(refusal_of(options_of({""})).starts_with("command 1 '' "));
  CHECK(refusal_of(options_of({"'' x"})).starts_with("command 1 \"'' x\" "));
  Options shell = options_of({" \n"});
  shell.commands.shell = Shell{{"sh"}};
  CHECK(refusal_of(shell).starts_with("command 1 ' \\n' "));
}

TEST_CASE("a command that a shell would take for an option is refused") {
  Options options = options_of({"./a", "-r", "3"});
  options.commands.shell = Shell{{"sh"}};
  CHECK(refusal_of(options) ==
        "command 2 '-r' begins with a hyphen, so the shell would take it for an option; lauka's "
        "own options belong before --");
}

TEST_CASE("an assignment before a command needs a shell or env") {
  CHECK(refusal_of(options_of({"FOO_1=1 ./x"})) ==
        "command 1 'FOO_1=1 ./x' begins with an assignment, which only a shell understands; write "
        "'env FOO_1=1 ./x', or use -S to run it in a shell");
  check_order(refusal_of(options_of({"A=\nB"})), {"command 1 'A=\\nB' ", " 'env A=\\nB'"});
  for (const char* text : {"./a=b", "1a=b", "=b", "a-b=c", "./x FOO=1"}) {
    CAPTURE(text);
    CHECK(refusal_of(options_of({text})) == "accepted");
  }
}

TEST_CASE("more names than commands are refused") {
  Options options = options_of({"./old"});
  options.commands.names = {"a", "b"};
  CHECK(refusal_of(options).starts_with("there are 2 names (-n) for 1 "));
}

TEST_CASE("the order is random unless asked otherwise, and its seed the clock's") {
  Options options = options_of({"./old", "./new"});
  CHECK(plan_of(options).setting.order == Order::Random);
  CHECK(plan_of(options, 77).setting.seed == 77);
  options.run.order = Order::Sequential;
  options.run.seed = 0;
  CHECK(plan_of(options).setting.order == Order::Sequential);
  CHECK(plan_of(options, 77).setting.seed == 0);
}

TEST_CASE("what the options say of runs is in the plan") {
  Options options = options_of({"./old", "./new"});
  options.run.min_runs = 3;
  options.run.max_runs = 9;
  options.run.time_per_command = std::chrono::seconds(2);
  options.run.warmup = 4;
  options.run.timeout = std::chrono::milliseconds(5);
  options.run.ignore_failure = IgnoreFailure{.ignores_all = false, .statuses = {3}};
  options.commands.inputs = {"in.txt"};
  options.commands.outputs = {OutputChoice{OutputKind::Pipe}};
  options.gates.conditions = {Condition{"cpu_time", GateLimit::of_change(5.0)}};
  options.gates.confidence = 0.99;
  const Plan plan = plan_of(options);
  CHECK_FALSE(plan.setting.stop.exact_runs.has_value());
  CHECK(plan.setting.stop.min_runs == 3);
  CHECK(plan.setting.stop.max_runs == 9);
  CHECK(plan.setting.stop.budget_per_command == std::chrono::seconds(2));
  CHECK(plan.setting.warmup_runs == 4);
  CHECK(plan.timeout == std::chrono::milliseconds(5));
  CHECK(plan.ignore_failure.value().statuses == std::vector<int>{3});
  CHECK(plan.commands.front().input == "in.txt");
  CHECK(plan.commands.front().output.kind == OutputKind::Pipe);
  REQUIRE(plan.gates.size() == 1);
  CHECK(plan.gates.front().condition.limit == GateLimit::of_change(5.0));
  CHECK(plan.metrics[plan.gates.front().metric].name == "cpu_time");
  CHECK(plan.confidence == 0.99);
  options.run.max_runs.reset();
  options.run.runs = 6;
  CHECK(plan_of(options).setting.stop.exact_runs == 6);
}

TEST_CASE("the engine is asked for the wanted events, and its refusal is the plan's") {
  OneEventPerPass engine;
  Options options = options_of({"./old"});
  options.counting.events = {"a", "b"};
  options.counting.single_pass = true;
  const auto plan = make_plan(options, engine.select(), {.clock_seed = 1}).value();
  CHECK(engine.asked.value() == std::pair<Words, bool>{{"a", "b"}, true});
  CHECK(plan.setting.events.events.size() == 2);
  options.counting.events = {"a", "nosuch"};
  CHECK(refusal_of(options) == "'nosuch' is not an event; lauka -l lists them");
}

TEST_CASE("a command that cannot be run is found before the engine is asked") {
  OneEventPerPass engine;
  CHECK_FALSE(make_plan(options_of({"'"}), engine.select(), {.clock_seed = 1}).has_value());
  CHECK_FALSE(engine.asked.has_value());
}

TEST_CASE("where only times are wanted nothing is counted, but what was asked for") {
  OneEventPerPass engine;
  Options options = options_of({"./old"});
  options.counting.metric_selection = MetricSelection::Time;
  const auto times = make_plan(options, engine.select(), {.clock_seed = 1}).value();
  CHECK_FALSE(engine.asked.has_value());
  CHECK(times.setting.events.events.empty());
  options.counting.events = {"a"};
  const Plan with_event = plan_of(options);
  CHECK(with_event.metrics.back().name == "a");
  CHECK(with_event.metrics.back().shown == Shown::Always);
}

TEST_CASE("--verbose shows all rows, unless a choice was made") {
  const auto shows_user_time_and_peak = [](const Options& options) {
    std::pair<bool, bool> shown;
    for (const Metric& metric : plan_of(options).metrics) {
      if (metric.name == "user_time") shown.first = metric.shown == Shown::Always;
      if (metric.name == "peak_rss") shown.second = metric.shown == Shown::Always;
    }
    return shown;
  };
  Options options = options_of({"./old"});
  CHECK(shows_user_time_and_peak(options) == std::pair{false, true});
  options.output.verbosity = Verbosity::Verbose;
  CHECK(shows_user_time_and_peak(options) == std::pair{true, true});
  options.counting.metric_selection = MetricSelection::Time;
  CHECK(shows_user_time_and_peak(options) == std::pair{true, false});
}

TEST_CASE("every pass gets a run: events that were asked for are refused where runs are too few") {
  Options options = options_of({"./old"});
  options.counting.events = {"a", "b", "c"};
  options.run.runs = 3;
  CHECK(refusal_of(options) == "accepted");
  options.run.runs = 2;
  CHECK(refusal_of(options) ==
        "the events need 3 passes, more than the 2 runs of each command; allow 3 runs, or count "
        "fewer events");
  options.run.runs.reset();
  options.run.max_runs = 1;
  options.run.min_runs = 1;
  check_order(refusal_of(options), {" 3 passes", " the 1 run ", " 3 runs"});
  options.run.max_runs.reset();
  CHECK(plan_of(options).setting.stop.min_runs == 3);
}

TEST_CASE("default events may stay uncounted where runs are too few") {
  Options options = options_of({"./old"});
  options.run.runs = 1;
  const EventSelector two_passes = [](const EventRequest&) -> Result<EventSet> {
    EventSet set;
    set.events = {Event{"a", "a"}, Event{"b", "b"}};
    set.passes = {Pass{{0}}, Pass{{1}}};
    return set;
  };
  CHECK(make_plan(options, two_passes, {.clock_seed = 1}).has_value());
  options.run.runs.reset();
  options.run.min_runs = 1;
  options.run.max_runs = 1;
  const auto plan = make_plan(options, two_passes, {.clock_seed = 1}).value();
  CHECK(plan.setting.stop.min_runs == 1);
}

TEST_CASE("ipc without counters for both of its events names the counters, not the events") {
  const EventSelector in_turns = [](const EventRequest&) -> Result<EventSet> {
    EventSet set;
    set.events = {{.name = "cycles", .meaning = "", .role = Role::Cycles},
                  {.name = "instructions", .meaning = "", .role = Role::Instructions}};
    set.passes = {{{0}}, {{1}}};
    return set;
  };
  const std::string why =
      "ipc cannot be measured: there are counters for either cycles or instructions, not for both "
      "at once; lauka --check shows who holds the others";
  Options options = options_of({"./old", "./new"});
  options.gates.conditions = {Condition{"ipc", GateLimit::of_change(1.0)}};
  const auto gated = make_plan(options, in_turns, {.clock_seed = 1});
  REQUIRE_FALSE(gated.has_value());
  CHECK(gated.error().line() == why);
  options.gates.conditions.clear();
  options.counting.metric_selection = MetricSelection::Listed;
  options.counting.listed_metrics = {"ipc"};
  const auto listed = make_plan(options, in_turns, {.clock_seed = 1});
  REQUIRE_FALSE(listed.has_value());
  CHECK(listed.error().line() == why);
}

TEST_CASE("a gate needs a metric that is measured, and something to compare with") {
  Options options = options_of({"./old", "./new"});
  options.gates.conditions = {{"wal_time", GateLimit::of_change(5.0)}};
  options.counting.engine = EngineChoice::None;
  const auto refused_by_engine = [](const EventRequest& wanted) -> Result<EventSet> {
    if (wanted.names.empty()) return EventSet{};
    return Error{"no counters", "none"};
  };
  CHECK(make_plan(options, refused_by_engine, {.clock_seed = 1}).error().line() ==
        "there is no metric 'wal_time'; did you mean wall_time? lauka --list-metrics lists them");
  options.gates.conditions = {{"instructions", GateLimit::of_change(5.0)}};
  CHECK(make_plan(options, refused_by_engine, {.clock_seed = 1}).error().line() ==
        "no counters; none");
  options.gates.conditions = {{"p_share", GateLimit::of_change(5.0)}};
  CHECK(refusal_of(options) ==
        "a gate needs 'p_share', which is not measured; add it with -e, or name another metric");
  options = options_of({"./old"});
  options.gates.conditions = {{"wall_time", GateLimit::of_change(5.0)}};
  CHECK(refusal_of(options) ==
        "a gate of --fail-if-slower or --fail-if has nothing to compare './old' with; add another "
        "command, --reference COMMAND or "
        "--baseline FILE");
}

TEST_CASE("a gate on one command over several values is refused without a reference") {
  Options options = options_of({"./new {n}"}, {{.name = "n", .values = {"10", "20"}}});
  options.gates.conditions = {{"wall_time", GateLimit::of_change(5.0)}};
  CHECK(
      refusal_of(options) ==
      "a gate of --fail-if-slower or --fail-if has nothing to compare './new {n}' with, because "
      "the first value of n is the "
      "reference only in the table; add --reference COMMAND; if it has {n}, each value is compared "
      "with the same value of it, and otherwise all values are compared with the one COMMAND");
  options.gates.baseline_file = "b.json";
  CHECK(plan_of(options).gates.size() == 1);
}

TEST_CASE("gates of several values are decisions of one job, each against its own reference") {
  Options options =
      options_of({"./old {n}", "./new {n}"}, {{.name = "n", .values = {"1", "2", "3"}}});
  options.gates.conditions = {{"wall_time", GateLimit::of_change(5.0)},
                              {"cpu_time", GateLimit::of_change(5.0)}};
  const Plan plan = plan_of(options);
  CHECK(count_decisions(plan) == 6);
  CHECK(plan.reference.index_for(5) == 4);
}

TEST_CASE("a gate on a value judges every value of a single command, the first one included") {
  Options options = options_of({"./new {n}"}, {{.name = "n", .values = {"10", "20"}}});
  options.gates.conditions = {{"wall_time", GateLimit::of_value(0.2, "200ms", Unit::Seconds)}};
  CHECK(count_decisions(plan_of(options)) == 2);
  Options pair = options_of({"./old {n}", "./new {n}"}, {{.name = "n", .values = {"10", "20"}}});
  pair.gates.conditions = options.gates.conditions;
  CHECK(count_decisions(plan_of(pair)) == 2);
}

TEST_CASE("a gate on a command that lacks the reference's parameter is refused") {
  Options options = options_of({"./old {n}", "./new"}, {{.name = "n", .values = {"10", "20"}}});
  options.gates.conditions = {{"wall_time", GateLimit::of_change(5.0)}};
  CHECK(refusal_of(options) ==
        "a gate cannot compare './new', which has no {n}, with './old {n}', which has several "
        "values of it; put the command without {n} first, so that every value is compared with it");
  options.commands.command_lines = {"./old", "./new {n}"};
  CHECK(count_decisions(plan_of(options)) == 2);
}

TEST_CASE("an anchor is found by the name that was typed for it") {
  Options options =
      options_of({"./old {n}", "./new {n}", "./anchor {n}"}, {{.name = "n", .values = {"10"}}});
  options.gates.anchor_command = "./anchor {n}";
  CHECK(plan_of(options).reference.anchor_index == 2);
  options.gates.anchor_command = "./old {n}";
  CHECK(refusal_of(options) ==
        "--anchor './old {n}' is the reference; put the anchor after the base and the candidate");
}

TEST_CASE("a gate on a value needs no reference, but the metric's unit") {
  Options options = options_of({"./old"});
  options.gates.conditions = {{"wall_time", GateLimit::of_value(0.2, "200ms", Unit::Seconds)}};
  CHECK(plan_of(options).gates.size() == 1);
  options.gates.conditions[0].metric = "peak_rss";
  CHECK(refusal_of(options) ==
        "a gate on peak_rss cannot have the limit '200ms'; write the limit in B, kB, MB, GB, KiB, "
        "MiB, GiB, or as a percentage of the reference");
}

TEST_CASE("a gate has its event counted: in addition to the default ones, or to -e's") {
  OneEventPerPass engine;
  const auto asked_for = [&engine](const Options& options) {
    const auto plan = make_plan(options, engine.select(), {.clock_seed = 1});
    REQUIRE(plan.has_value());
    return engine.asked.value().first;
  };
  Options options = options_of({"./old", "./new"});
  options.gates.conditions = {{"faults", GateLimit::of_change(1.0)},
                              {"wall_time", GateLimit::of_change(1.0)}};
  CHECK(asked_for(options) == Words{"default", "faults"});
  options.gates.conditions[0].metric = "default";
  CHECK(asked_for(options).empty());  // is there anyway
  options.gates.conditions[0].metric = "ipc";
  CHECK_FALSE(make_plan(options, engine.select(), {.clock_seed = 1})
                  .has_value());  // not counted in one pass here
  CHECK(engine.asked.value().first == Words{"default", "instructions", "cycles"});
  options.gates.conditions[0].metric = "faults";
  options.counting.events = {"a"};
  CHECK(asked_for(options) == Words{"a", "faults"});
  options.counting.adds_default_events = true;
  CHECK(asked_for(options) == Words{"default", "a", "faults"});
  options = options_of({"./old", "./new"});
  options.counting.metric_selection = MetricSelection::Time;
  options.gates.conditions = {{"faults", GateLimit::of_change(1.0)}};
  CHECK(asked_for(options) == Words{"faults"});
}

TEST_CASE("a gate that fails where its metric gets better says so") {
  const auto notes_of = [](const Condition& gate) {
    Options options = options_of({"./old", "./new"});
    options.gates.conditions = {gate};
    OneEventPerPass engine;
    const EventSelector counting = [](const EventRequest&) -> Result<EventSet> {
      return EventSet{{{.name = "instructions", .meaning = "", .role = Role::Instructions},
                       {.name = "cycles", .meaning = "", .role = Role::Cycles}},
                      {Pass{{0, 1}}},
                      {}};
    };
    return texts_of(make_plan(options, counting, {.clock_seed = 1})->setting.events.notes);
  };
  CHECK(notes_of({"ipc", GateLimit::of_change(5.0)}) ==
        Words{"the gate on ipc fails if the metric improves (more is "
              "better); to fail if it gets worse, write 'ipc < -5'"});
  CHECK(notes_of({"ipc", GateLimit::of_change(-5.0), true}).empty());
  CHECK(notes_of({"cycles", GateLimit::of_change(5.0)}).empty());
  CHECK(notes_of({"cycles", GateLimit::of_change(-5.0), true}).size() == 1);
}

TEST_CASE("times by kind of core are in every pass, and in one of their own where nothing counts") {
  CorePlan cores;
  cores.timed_kinds = {"P", "E"};
  OneEventPerPass engine;
  Options options = options_of({"old"});
  options.counting.events = {"a", "b"};
  const auto plan = make_plan(options, engine.select(), {.clock_seed = 1, .cores = cores}).value();
  REQUIRE(plan.setting.events.passes.size() == 2);
  CHECK(plan.setting.events.passes[0].event_indices == std::vector<std::size_t>{0, 2, 3});
  CHECK(plan.setting.events.passes[1].event_indices == std::vector<std::size_t>{1, 2, 3});
  CHECK(plan.setting.events.events[2].name == "p_time");
  CHECK(plan.setting.events.core_time_indices() == std::vector<std::size_t>{2, 3});
  options.counting.events.clear();
  options.counting.metric_selection = MetricSelection::Time;
  const auto times = make_plan(options, engine.select(), {.clock_seed = 1, .cores = cores}).value();
  REQUIRE(times.setting.events.passes.size() == 1);
  CHECK(times.setting.events.passes[0].event_indices == std::vector<std::size_t>{0, 1});
}

TEST_CASE("simulated runs have no times by kind of core") {
  CorePlan cores;
  cores.timed_kinds = {"P", "E"};
  cores.measures_unsplit_time = true;
  const EventSelector simulating = [](const EventRequest&) -> Result<EventSet> {
    EventSet set;
    set.events = {{"instructions", ""}};
    set.passes = {Pass{}, Pass{{0}, RoundKind::Simulated}};
    return set;
  };
  const auto plan =
      make_plan(options_of({"old"}), simulating, {.clock_seed = 1, .cores = cores}).value();
  CHECK(plan.setting.events.passes[0].event_indices == std::vector<std::size_t>{1, 2, 3});
  CHECK(plan.setting.events.passes[1].event_indices == std::vector<std::size_t>{0});
  CHECK(plan.setting.events.events[3].name == "unsplit_time");
}

TEST_CASE("a precision is of a metric that every timed run measures") {
  OneEventPerPass engine;
  Options options = options_of({"./old"});
  options.gates.max_half_width = 0.01;
  options.gates.precision_metric = "cpu_tim";
  const auto mistyped = make_plan(options, engine.select(), {.clock_seed = 1});
  REQUIRE_FALSE(mistyped);
  CHECK(mistyped.error().line() ==
        "--precision names 'cpu_tim', which is not measured; did you mean cpu_time?");
  options.gates.precision_metric = "cpu_time";
  const Plan precise = make_plan(options, engine.select(), {.clock_seed = 1}).value();
  CHECK(precise.metrics[precise.precision.value().metric].role == Role::CpuTime);
}

namespace {

Result<Plan> plan_without_events(const Options& options, bool has_tree_peak = false) {
  return make_plan(options, no_events, {.clock_seed = 1, .has_tree_peak = has_tree_peak});
}

}  // namespace

TEST_CASE("copies at once bring their throughput along, where more is better") {
  Options options = options_of({"a"});
  CHECK_FALSE(find_metric(plan_without_events(options)->metrics, "throughput"));
  options.run.copies_per_run = 4;
  const auto plan = plan_without_events(options).value();
  CHECK(plan.setting.jobs == 4);
  const auto place = find_metric(plan.metrics, "throughput").value();
  CHECK(plan.metrics[place].better == Better::More);
  CHECK(plan.metrics[place].shown == Shown::Always);
}

TEST_CASE("ways of running that do not go together are refused") {
  Options options = options_of({"a", "b"});
  options.run.end_pattern = Pattern::compile("ready", Pattern::Groups::NotNeeded).value();
  CHECK(answer_to(options) == "accepted");
  options.commands.expected_outputs = {{}};
  CHECK(answer_to(options).starts_with("--until ends runs early"));
  options.commands.expected_outputs.clear();
  options.run.copies_per_run = 2;
  CHECK(answer_to(options).starts_with("--until ends a run at the first line that matches"));
  Options alone = options_of({"a"});
  alone.commands.expected_outputs = {{}};
  CHECK(answer_to(alone).starts_with(
      "--expect-output same has nothing to compare with, because there is only one command"));
  alone.commands.expected_outputs = {{ExpectedOutput::Kind::File, "x"}};
  CHECK(answer_to(alone) == "accepted");
}

TEST_CASE("of all metrics zeros are left out, unless everything is asked for with -v") {
  Options options = options_of({"a"});
  CHECK_FALSE(plan_without_events(options)->presentation.hides_all_zero_rows);
  options.counting.metric_selection = MetricSelection::All;
  CHECK(plan_without_events(options)->presentation.hides_all_zero_rows);
  options.output.verbosity = Verbosity::Verbose;
  CHECK_FALSE(plan_without_events(options)->presentation.hides_all_zero_rows);
}

TEST_CASE("tree_peak_memory is asked for by name or with all, and is there where it can be had") {
  Options options = options_of({"a"});
  CHECK(tree_peak_request(options) == TreePeakRequest::No);
  options.output.verbosity = Verbosity::Verbose;
  CHECK(tree_peak_request(options) == TreePeakRequest::No);
  options.counting.metric_selection = MetricSelection::All;
  CHECK(tree_peak_request(options) == TreePeakRequest::WithAll);
  CHECK_FALSE(find_metric(plan_without_events(options)->metrics, kTreePeakMemory));
  CHECK(find_metric(plan_without_events(options, true)->metrics, kTreePeakMemory));
  options.counting.metric_selection = MetricSelection::Listed;
  options.counting.listed_metrics = {"wall_time", "tree_peak_memory:MiB"};
  CHECK(tree_peak_request(options) == TreePeakRequest::ByName);
  CHECK(plan_without_events(options, true));
  options.counting.listed_metrics = {"wall_time"};
  options.gates.conditions = {{.metric = "tree_peak_memory", .limit = GateLimit::of_change(1)}};
  CHECK(tree_peak_request(options) == TreePeakRequest::ByName);
}

}  // namespace lauka
