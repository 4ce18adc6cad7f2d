#include "core/metric.h"
#include "plan/make_plan.h"
#include "plan/options_of.h"
#include "plan/plan.h"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Options with_formulas(const std::vector<std::string>& formulas) {
  Options options;
  options.commands.command_lines = {"a", "b"};
  for (const std::string& text : formulas) {
    const std::size_t sign = text.find('=');
    auto metric = parse_own_metric(text.substr(0, sign)).value();
    metric.formula = text.substr(sign + 1);
    options.counting.derived_metrics.push_back(metric);
  }
  return options;
}

/// An engine that counts all events in one pass of that kind, or each in one of its own.
struct Engine {
  RoundKind kind = RoundKind::Timed;
  bool apart = false;
  CountedPrivilegeLevels levels = CountedPrivilegeLevels::UserAndKernel;
  std::vector<EventRequest> asked{};

  EventSelector select() {
    return [this](const EventRequest& wanted) -> Result<EventSet> {
      asked.push_back(wanted);
      EventSet set;
      for (const std::string& name :
           wanted.names.empty() ? std::vector<std::string>{"cycles"} : wanted.names) {
        if (name == "nosuch" || name == "wal_time" || name == "wall_time-1")
          return Error{"there is no event '" + name + "'", "", name};
        if (set.passes.empty() || apart) set.passes.push_back({{}, kind});
        set.passes.back().event_indices.push_back(set.events.size());
        // The words are for users: what decides is `levels`.
        set.events.push_back({.name = name,
                              .meaning = "perf, user space and kernel only",
                              .privilege_levels = levels,
                              .role = role_of_event(name)});
      }
      return set;
    };
  }
};

std::string refusal_of_formulas(const Options& options, Engine engine = {}) {
  return answer_to(options, engine.select());
}

/// The value of `name` in a run with these counts.
std::optional<double> value(const Plan& plan, std::string_view name,
                            std::vector<std::optional<std::uint64_t>> counts) {
  const auto place = find_metric(plan.metrics, name).value();
  RunRecord run;
  run.step.kind = plan.setting.events.kind_of(0);
  run.usage.wall_ns = 2'000'000'000;
  run.usage.user_ns = 1'500'000'000;
  run.usage.system_ns = 500'000'000;
  run.counts = std::move(counts);
  return MetricReader(plan.metrics[place], plan.setting.events).value(run);
}

}  // namespace

TEST_CASE("a formula over what the kernel accounts needs no events") {
  Engine engine;
  Options options = with_formulas({"idle:ms=wall_time - 0.5*cpu_time", "twice=idle*2"});
  options.counting.metric_selection = MetricSelection::Time;
  const auto plan = make_plan(options, engine.select(), {.clock_seed = 1}).value();
  CHECK(engine.asked.empty());
  CHECK(*value(plan, "idle", {}) == doctest::Approx(1.0));
  CHECK(*value(plan, "twice", {}) == doctest::Approx(2.0));
  const Metric& idle = plan.metrics[*find_metric(plan.metrics, "idle")];
  CHECK(idle.unit == Unit::Seconds);
  CHECK(idle.shown == Shown::Always);
}

TEST_CASE("a formula beyond what can be measured has no value, be it one constant") {
  Engine engine;
  const auto plan =
      make_plan(with_formulas({"much=1e40", "little=1e-40", "some=1e20", "more=1e20*1e20"}),
                engine.select(), {.clock_seed = 1})
          .value();
  CHECK_FALSE(value(plan, "much", {}));
  CHECK_FALSE(value(plan, "little", {}));
  CHECK_FALSE(value(plan, "more", {}));
  CHECK(*value(plan, "some", {}) == 1e20);
}

TEST_CASE("the events of a formula are counted alongside the default ones, and at once") {
  Engine engine;
  const auto plan = make_plan(with_formulas({"x=1000*cache-misses/(instructions + branches)"}),
                              engine.select(), {.clock_seed = 1})
                        .value();
  const EventRequest& asked = engine.asked.back();
  CHECK(asked.names ==
        std::vector<std::string>{"cycles", "cache-misses", "instructions", "branches"});
  CHECK(asked.pairs_for_one_pass[0] == EventNamePair{"cache-misses", "instructions"});
  CHECK(asked.pairs_for_one_pass[1] == EventNamePair{"cache-misses", "branches"});
  CHECK(*value(plan, "x", {1, 5, 400, 100}) == doctest::Approx(10.0));
  CHECK_FALSE(value(plan, "x", {1, 5, 0, 0}));  // divided by 0
  CHECK_FALSE(value(plan, "x", {1, std::nullopt, 400, 100}));
}

TEST_CASE("a built-in formula is measured where a row, a gate or a formula names it") {
  Engine engine;
  Options options = with_formulas({});
  options.counting.metric_selection = MetricSelection::Listed;
  options.counting.listed_metrics = {"wall_time", "mpki"};
  const auto plan = make_plan(options, engine.select(), {.clock_seed = 1}).value();
  CHECK(engine.asked.back().names == std::vector<std::string>{"cache-misses", "instructions"});
  CHECK(*value(plan, "mpki", {3, 1000}) == doctest::Approx(3.0));
  CHECK_FALSE(find_metric(plan.metrics, "clock"));
  Options gated = with_formulas({"worse=branch_miss_rate*100"});
  gated.gates.conditions.push_back({.metric = "cpu_utilization"});
  const auto other = make_plan(gated, engine.select(), {.clock_seed = 1}).value();
  CHECK(*value(other, "cpu_utilization", {}) == doctest::Approx(1.0));
  CHECK(*value(other, "worse", {9, 1, 4}) == doctest::Approx(25.0));
}

TEST_CASE("--metrics all has the built-in formulas whose parts are measured, and no others") {
  Engine engine;
  Options options = with_formulas({});
  options.counting.metric_selection = MetricSelection::All;
  const auto plan = make_plan(options, engine.select(), {.clock_seed = 1}).value();
  CHECK(find_metric(plan.metrics, "cpu_utilization"));
  CHECK_FALSE(find_metric(plan.metrics, "mpki"));
  CHECK(*value(plan, "clock", {3'000'000'000}) == doctest::Approx(1.5e9));
  CHECK(find_metric(plan.metrics, Role::Clock) == find_metric(plan.metrics, "clock"));
}

TEST_CASE("the clock divides cycles by the time of the levels in which they were counted") {
  for (const auto levels :
       {CountedPrivilegeLevels::UserAndKernel, CountedPrivilegeLevels::UserOnly}) {
    Engine engine{.levels = levels};
    Options options = with_formulas({});
    options.counting.metric_selection = MetricSelection::All;
    const auto plan = make_plan(options, engine.select(), {.clock_seed = 1}).value();
    // 1.5 s in user space, 0.5 s in the kernel.
    CHECK(*value(plan, "clock", {3'000'000'000}) ==
          doctest::Approx(levels == CountedPrivilegeLevels::UserOnly ? 2e9 : 1.5e9));
    CHECK(plan.metrics[find_metric(plan.metrics, "clock").value()].counted_privilege_levels ==
          levels);
  }
}

TEST_CASE("topdown's shares are made of the events that the processor has") {
  Options options = with_formulas({});
  options.counting.metric_selection = MetricSelection::Listed;
  options.counting.listed_metrics = {"topdown_retiring", "topdown_backend_bound"};
  Engine engine;
  const auto plan = make_plan(options, engine.select(), {.clock_seed = 1}).value();
  CHECK(engine.asked.back().names ==
        std::vector<std::string>{"topdown-retiring", "slots", "topdown-be-bound"});
  CHECK(*value(plan, "topdown_retiring", {400, 1000, 300}) == doctest::Approx(0.4));
  CHECK(*value(plan, "topdown_backend_bound", {400, 1000, 300}) == doctest::Approx(0.3));

  options.counting.listed_metrics = {"topdown_retiring", "topdown_bad_speculation",
                                     "topdown_frontend_bound", "topdown_backend_bound"};
  std::vector<EventRequest> asked;
  const auto skylake = [&](const EventRequest& wanted) -> Result<EventSet> {
    asked.push_back(wanted);
    for (const std::string& name : wanted.names)
      if (name == "slots") return Error{"there is no event 'slots'", ""};
    EventSet set;
    set.passes.emplace_back();
    for (const std::string& name : wanted.names) {
      set.passes.back().event_indices.push_back(set.events.size());
      set.events.push_back({.name = name, .meaning = name});
    }
    return set;
  };
  const auto older = make_plan(options, skylake, {.clock_seed = 1}).value();
  CHECK(asked.back().names ==
        std::vector<std::string>{"topdown-slots-retired", "topdown-total-slots",
                                 "topdown-slots-issued", "topdown-recovery-bubbles",
                                 "topdown-fetch-bubbles"});
  // retired 400, of 1000 slots; 500 issued, 50 lost in recovery, 200 never filled
  const std::vector<std::optional<std::uint64_t>> counts = {400, 1000, 500, 50, 200};
  CHECK(*value(older, "topdown_retiring", counts) == doctest::Approx(0.4));
  CHECK(*value(older, "topdown_bad_speculation", counts) == doctest::Approx(0.15));
  CHECK(*value(older, "topdown_frontend_bound", counts) == doctest::Approx(0.2));
  CHECK(*value(older, "topdown_backend_bound", counts) == doctest::Approx(0.25));
  const auto none = make_plan(options,
                              [](const EventRequest&) -> Result<EventSet> {
                                return Error{"no counters", ""};
                              },
                              {.clock_seed = 1});
  CHECK(none.error().line() == "no counters");
}

TEST_CASE("times and counts of different runs are not divided, but for the clock") {
  const Engine apart{.kind = RoundKind::Counting};
  CHECK(refusal_of_formulas(with_formulas({"x=cycles/wall_time"}), apart) ==
        "--derive 'x=cycles/wall_time' needs times and counts of the same run; add --counting "
        "together");
  CHECK(refusal_of_formulas(with_formulas({"x=cycles/wall_time"})) == "accepted");
  CHECK(
      refusal_of_formulas(with_formulas({"x=cycles/wall_time"}), {.kind = RoundKind::Simulated}) ==
      "--derive 'x=cycles/wall_time' needs times and counts of the same run, but the counts are "
      "simulated; divide counts by counts");
  Options clock = with_formulas({});
  clock.gates.conditions.push_back({.metric = "clock", .fails_below_limit = true});
  CHECK(refusal_of_formulas(clock, apart) == "accepted");
  CHECK(refusal_of_formulas(clock, {.kind = RoundKind::Simulated}).starts_with("clock needs "));
}

TEST_CASE("a formula that cannot be measured is refused with what to do") {
  CHECK(refusal_of_formulas(with_formulas({"x=cycles/instructions"}), {.apart = true}) ==
        "--derive 'x=cycles/instructions' needs events that are not counted in the same run; count "
        "fewer events with -e; --explain-events shows which of them compete");
  CHECK(refusal_of_formulas(with_formulas({"wall_time=cpu_time"})) ==
        "--derive 'wall_time=cpu_time' has the name of another metric; give it a name of its own");
  CHECK(refusal_of_formulas(with_formulas({"x=cpu_time", "x=wall_time"}))
            .starts_with("--derive 'x=wall_time' "));
  CHECK(refusal_of_formulas(with_formulas({"x=nosuch"})) == "there is no event 'nosuch'");
  CHECK(refusal_of_formulas(with_formulas({"x=wal_time"})) ==
        "a formula of --derive needs 'wal_time', which is not measured; did you mean wall_time?");
  CHECK(refusal_of_formulas(with_formulas({"x=2*wall_time.p99.9"})) ==
        "a formula of --derive combines values of one run, but 'wall_time.p99.9' is computed from "
        "all runs; use 'wall_time' in the formula");
  CHECK(refusal_of_formulas(with_formulas({"x=wall_time-1"})) ==
        "a formula of --derive needs 'wall_time-1', which is not measured; put spaces around a "
        "minus sign");
}

TEST_CASE("a chain of formulas that use each other twice stays as short as it is long") {
  Engine engine;
  std::vector<std::string> chain = {"x0=instructions/instructions", "y0=1*branches"};
  for (int i = 1; i <= 200; ++i) {
    const std::string before = std::to_string(i - 1);
    chain.push_back("x" + std::to_string(i) + "=(x" + before + "+x" + before + "+y" + before +
                    " - y" + before + ")/2");
    chain.push_back("y" + std::to_string(i) + "=y" + before + "+x" + before + " - x" + before);
  }
  const auto plan = make_plan(with_formulas({chain.begin(), chain.begin() + 102}), engine.select(),
                              {.clock_seed = 1})
                        .value();
  const Metric& last = plan.metrics[*find_metric(plan.metrics, "x50")];
  CHECK(last.source.terms.size() < 2000);
  CHECK(*value(plan, "x50", {1, 7, 5}) == doctest::Approx(1.0));
  CHECK(*value(plan, "y49", {1, 7, 5}) == doctest::Approx(5.0));
  CHECK_FALSE(value(plan, "x50", {1, std::nullopt, 5}));
  const std::string refused = refusal_of_formulas(with_formulas(chain));
  CHECK(refused.starts_with("--derive '"));
  CHECK(
      refused.ends_with("and the formulas before it have more than 100,000 parts together; use "
                        "fewer formulas, or shorter ones"));
}

TEST_CASE("a formula with the name of a metric is refused, whichever formula uses that before") {
  CHECK(refusal_of_formulas(with_formulas({"a=wall_time*2", "wall_time=a+1"}))
            .starts_with("--derive 'wall_time=a+1' "));
}

}  // namespace lauka
