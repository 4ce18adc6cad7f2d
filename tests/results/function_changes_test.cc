#include "results/function_changes.h"

#include "core/function_table.h"
#include "fakes/analysed.h"
#include "fakes/change_runs.h"
#include "plan/plan.h"
#include "plan/rows.h"
#include "results/analyse.h"
#include "results/results.h"
#include "session/function_metrics.h"
#include "session/series.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using Rounds = std::vector<std::vector<FunctionCounts>>;

/// A session of simulated runs of two commands, whose instructions are those of their functions.
struct Made {
  Plan plan;
  MadeSession session;

  Made(const Rounds& reference, const Rounds& candidate) {
    plan.commands = {{.name = "old", .text = "old", .words = {}},
                     {.name = "new", .text = "new", .words = {}}};
    plan.setting.events.events = {{.name = "instructions", .meaning = "", .simulated = true}};
    plan.setting.events.passes = {Pass{}, Pass{{0}, RoundKind::Simulated}};
    plan.metrics = make_metrics(plan.setting.events, MetricSelection::Default, true);
    session.functions.resize(2);
    add(0, reference);
    add(1, candidate);
  }

  void add(std::uint32_t command, const Rounds& rounds) {
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      RunRecord run;
      run.step = {command, static_cast<std::uint32_t>(round), 1, RoundKind::Simulated};
      run.outcome = Exited{0};
      std::uint64_t sum = 0;
      for (const FunctionCounts& function : rounds[round]) sum += function.counts.at(0);
      run.counts = {sum};
      session.runs.push_back(run);
      session.functions[command].add_round(std::vector<std::string>{"instructions"}, rounds[round]);
    }
  }

  Results analysed() const { return analyse(plan, session, {}); }

  std::optional<MetricByFunction> changes() const {
    const Results results = analysed();
    const MetricByFunction* changes =
        find_changes(results, *find_metric(results.session.metrics, "instructions"), 1);
    return changes == nullptr ? std::nullopt : std::optional(*changes);
  }
};

Rounds same(std::size_t rounds, std::vector<FunctionCounts> counts) {
  return Rounds(rounds, std::move(counts));
}

/// Rounds of a function whose count varies by up to 4, in an order that `step` determines.
Rounds varying(std::size_t rounds, std::uint64_t base, std::uint64_t step) {
  Rounds made;
  for (std::uint64_t i = 0; i < rounds; ++i)
    made.push_back({{"hash", {base + (i * step) % 5}}, {"main", {10}}});
  return made;
}

double sum_of(const MetricByFunction& changes) {
  double sum = 0.0;
  for (const FunctionChange& change : changes.functions) sum += change.difference();
  return sum;
}

}  // namespace

TEST_CASE("functions are sorted by difference, and their rows add up to the whole difference") {
  const Made made(same(3, {{"main", {100}}, {"parse", {1000}}, {"old_hash", {50}}, {"read", {7}}}),
                  same(3, {{"main", {101}}, {"parse", {1200}}, {"new_hash", {30}}, {"read", {7}}}));
  const auto changes = made.changes();
  REQUIRE(changes.has_value());
  CHECK(changes->mean_of_whole_reference == 1157.0);
  CHECK(changes->mean_of_whole_candidate == 1338.0);
  CHECK(sum_of(*changes) == changes->difference());
  REQUIRE(changes->functions.size() == 5);
  CHECK(changes->functions[0].name == "parse");
  CHECK(changes->functions[0].difference() == 200.0);
  CHECK(changes->functions[0].is_certain());
  CHECK(changes->functions[1].name == "old_hash");
  CHECK(changes->functions[1].is_gone);
  CHECK(changes->functions[2].name == "new_hash");
  CHECK(changes->functions[2].is_new);
  CHECK(changes->functions[3].name == "main");
  CHECK_FALSE(changes->functions[4].is_certain());  // read: equal
}

TEST_CASE("the largest difference is first, whether it is sure or not") {
  Rounds reference;
  Rounds candidate;
  for (std::uint64_t round = 0; round < 6; ++round) {
    reference.push_back({{"steady", {100}}, {"varying", {1'000'000 + 100'000 * (round % 3)}}});
    candidate.push_back({{"steady", {160}}, {"varying", {1'050'000 + 100'000 * (2 * round % 3)}}});
  }
  const auto changes = Made(reference, candidate).changes();
  REQUIRE(changes->functions.size() == 2);
  CHECK(changes->functions[0].name == "varying");
  CHECK_FALSE(changes->functions[0].is_certain());
  CHECK(changes->functions[1].is_certain());
}

TEST_CASE("functions that one side has folded into one are compared with their sum") {
  const auto changes = Made(same(3, {{"Neu::step", {40}}, {"Old::step", {60}}}),
                            same(3, {{"Neu::step", {100}, {"Old::step"}}}))
                           .changes();
  REQUIRE(changes->functions.size() == 1);
  CHECK(changes->functions[0].own.reference_mean == 100.0);
  CHECK(changes->functions[0].difference() == 0.0);
  CHECK(changes->functions[0].other_names == std::vector<std::string>{"Old::step"});
}

TEST_CASE("values of folded functions that vary are added up round by round") {
  Rounds apart;
  for (std::uint64_t round = 0; round < 6; ++round)
    apart.push_back({{"a", {100 + round}}, {"b", {200 - round}}});
  const auto changes = Made(apart, same(6, {{"a", {300}, {"b"}}})).changes();
  REQUIRE(changes->functions.size() == 1);
  CHECK(changes->functions[0].own.reference_mean == 300.0);
  CHECK(changes->functions[0].own.half_width.value_or(0.0) == 0.0);
}

TEST_CASE("a function with another metric on both sides is neither new nor gone") {
  Made made(same(3, {{"main", {0}}, {"read", {5}}}), same(3, {{"main", {4}}, {"write", {5}}}));
  for (FunctionTable& table : made.session.functions)
    for (int round = 0; round < 3; ++round)
      table.add_round(std::vector<std::string>{"branches"},
                      std::vector<FunctionCounts>{{"main", {7}}});
  const auto changes = made.changes();
  REQUIRE(changes->functions.size() == 3);
  for (const FunctionChange& change : changes->functions) {
    CHECK(change.is_new == (change.name == "write"));
    CHECK(change.is_gone == (change.name == "read"));
  }
}

TEST_CASE("a function that a compiler numbered anew is compared with itself") {
  const auto changes = Made(same(3, {{"camlProg__parse_81", {100}}, {"main", {1}}}),
                            same(3, {{"camlProg__parse_85", {103}}, {"main", {1}}}))
                           .changes();
  CHECK(changes->functions[0].name == "camlProg__parse");
  CHECK(changes->functions[0].difference() == 3.0);
  CHECK_FALSE(changes->functions[0].is_new);
  CHECK(changes->functions[0].paired_by == PairedBy::NameWithoutNumbers);
}

TEST_CASE("counts that vary name no function before six rounds") {
  const auto few = Made(varying(5, 1000, 7), varying(5, 2000, 3)).changes();
  REQUIRE(few.has_value());
  CHECK(few->functions[0].name == "hash");
  CHECK(few->functions[0].own.certainty == Certainty::Unproven);
  CHECK_FALSE(few->functions[0].own.half_width.has_value());
  const auto enough = Made(varying(6, 1000, 7), varying(6, 2000, 3)).changes();
  CHECK(enough->functions[0].own.certainty == Certainty::Significant);
  // The variance of the differences is 4, so the error is sqrt(4 / 6); t of five degrees is
  // 2.5705818.
  CHECK(enough->functions[0].own.half_width.value() == doctest::Approx(2.0988713));
  const auto equal = Made(varying(6, 1000, 7), varying(6, 1001, 3)).changes();
  CHECK(equal->functions[0].own.certainty == Certainty::Unproven);
}

TEST_CASE("functions are compared within rounds where the metric is, and else as independent") {
  Made made(varying(6, 1000, 7), varying(6, 2000, 3));
  made.plan.setting.order = Order::Sequential;
  // Each variance is 8/3, so the error is sqrt(2 * 8/3 / 6); t of ten degrees is 2.2281389.
  CHECK(made.changes()->functions[0].own.half_width.value() == doctest::Approx(2.1007095));
}

TEST_CASE("rounds of one side alone leave the functions compared as independent") {
  Made made(varying(6, 1000, 7), varying(6, 2000, 3));
  change(made.session.runs, [](RunRecord& run) {
    if (run.step.command == 1 && run.step.round == 5) run.step.round = 6;
  });
  CHECK(made.changes()->functions[0].own.half_width.value() == doctest::Approx(2.1007095));
}

TEST_CASE("noise that the runs of a round share hides no function that grew") {
  Rounds reference;
  Rounds candidate;
  for (std::uint64_t i = 0; i < 8; ++i) {
    const std::uint64_t shared = 4000 * (i % 4);
    reference.push_back({{"hash", {10'000 + shared}}});
    candidate.push_back({{"hash", {10'100 + shared + i % 2}}});
  }
  Made made(reference, candidate);
  CHECK(made.changes()->functions[0].own.certainty == Certainty::Significant);
  made.plan.setting.order = Order::Sequential;
  CHECK(made.changes()->functions[0].own.certainty == Certainty::Unproven);
}

TEST_CASE("a count that varies, but always by the same amount, is a certain difference") {
  const auto changes = Made(varying(6, 1000, 7), varying(6, 1010, 7)).changes();
  CHECK(changes->functions[0].own.certainty == Certainty::Significant);
  CHECK_FALSE(changes->functions[0].own.half_width.has_value());
  const auto few = Made(varying(5, 1000, 7), varying(5, 1010, 7)).changes();
  CHECK(few->functions[0].own.certainty == Certainty::Unproven);
}

TEST_CASE("equal programs whose counts vary name a function in at most 5 % of sessions") {
  constexpr int kSessions = 400;
  constexpr int kFunctions = 50;
  std::mt19937 generator(41);
  std::normal_distribution<double> noise(10'000, 100);
  const auto draw = [&] {
    Rounds rounds(6);
    for (auto& round : rounds)
      for (int f = 0; f < kFunctions; ++f)
        round.push_back({"f" + std::to_string(f),
                         {static_cast<std::uint64_t>(std::llround(noise(generator)))}});
    return rounds;
  };
  int named = 0;
  for (int i = 0; i < kSessions; ++i) {
    const Rounds reference = draw();
    const auto changes = Made(reference, draw()).changes();
    REQUIRE(changes.has_value());
    if (changes->functions.front().is_certain()) ++named;
  }
  CHECK(named <= 0.05 * kSessions + 2 * std::sqrt(0.05 * 0.95 * kSessions));
}

TEST_CASE("a run without its functions leaves none to compare, as rows would not add up") {
  Made made(same(3, {{"main", {100}}}), same(3, {{"main", {101}}}));
  CHECK(made.changes().has_value());
  made.session.functions[1] = {};
  made.session.functions[1].add_round(std::vector<std::string>{"instructions"},
                                      std::vector<FunctionCounts>{{"main", {101}}});
  CHECK_FALSE(made.changes().has_value());
  made.session.functions.clear();
  CHECK_FALSE(made.changes().has_value());
}

TEST_CASE("one or two rounds of each are no proof that a count never varies") {
  const auto certainty = [](std::size_t rounds) {
    return Made(same(rounds, {{"main", {100}}}), same(rounds, {{"main", {101}}}))
        .changes()
        ->functions.front()
        .own.certainty;
  };
  CHECK(certainty(1) == Certainty::Unproven);
  CHECK(certainty(2) == Certainty::Unproven);
  CHECK(certainty(3) == Certainty::Exact);
}

TEST_CASE("samples prove nothing by being equal, and name no function as new or gone") {
  Made made(same(6, {{"main", {100}}, {"rare", {1}}}), same(6, {{"main", {110}}}));
  made.plan.metrics[*find_metric(made.plan.metrics, "instructions")].role = Role::SampledTime;
  const auto changes = made.changes();
  REQUIRE(changes.has_value());
  REQUIRE(changes->functions.size() == 2);
  for (const FunctionChange& change : changes->functions) {
    CHECK_FALSE(change.is_certain());
    CHECK_FALSE(change.is_new);
    CHECK_FALSE(change.is_gone);
  }
}

TEST_CASE("a gate on a function without a sample on either side is held back") {
  const auto is_held_back = [](std::uint64_t reference, std::uint64_t candidate) {
    Made made(same(3, {{"main", {reference}}}), same(3, {{"main", {candidate}}}));
    const std::size_t metric = *find_metric(made.plan.metrics, "instructions");
    made.plan.metrics[metric].role = Role::SampledTime;
    const Recording recording = make_recording(made.plan, made.session);
    gate::Findings findings;
    findings.verdicts = {{.condition = {"instructions", GateLimit::of_change(10)},
                          .candidate = 1,
                          .metric = metric,
                          .answer = gate::Answer::Pass}};
    void_doubtful_verdicts(recording, findings);
    return findings.verdicts[0].hindrance.obstacle == gate::Obstacle::NoSamples;
  };
  CHECK(is_held_back(0, 0));
  CHECK_FALSE(is_held_back(1, 0));
  CHECK_FALSE(is_held_back(0, 1));
}

TEST_CASE("a gate on a function that one side lacks is held back, and names the side") {
  const auto hindrance = [](Role role, const Rounds& reference, const Rounds& candidate) {
    Made made(reference, candidate);
    const std::vector<Condition> gates = {{"instructions@step", GateLimit::of_change(1)}};
    Recording recording = make_recording(made.plan, made.session);
    REQUIRE(add_function_metrics(gates, true, recording));
    const std::size_t metric = *find_metric(recording.metrics, "instructions@step");
    recording.metrics[metric].role = role;
    gate::Findings findings;
    findings.verdicts = {
        {.condition = gates[0], .candidate = 1, .metric = metric, .answer = gate::Answer::Pass}};
    void_doubtful_verdicts(recording, findings);
    return findings.verdicts[0].hindrance;
  };
  const Rounds with = same(3, {{"step", {90}}, {"main", {10}}});
  const Rounds without = same(3, {{"main", {10}}});
  using gate::Hindrance;
  using gate::Obstacle;
  using gate::Side;
  for (const Role role : {Role::Other, Role::SampledTime}) {
    CHECK(hindrance(role, with, without) == Hindrance{Obstacle::NoFunction, Side::Candidate});
    CHECK(hindrance(role, without, with) == Hindrance{Obstacle::NoFunction, Side::Reference});
    CHECK(hindrance(role, with, with) == Hindrance{});
  }
  CHECK(hindrance(Role::Other, without, without) == Hindrance{Obstacle::NoFunction});
  CHECK(hindrance(Role::SampledTime, without, without) == Hindrance{Obstacle::NoSamples});
}

TEST_CASE("a gate on a total time is held back if many callers are not known, and names the side") {
  const auto paths_with = [](std::uint64_t below_main, std::uint64_t incomplete) {
    PathTable paths;
    paths.add_round(std::vector<PathCounts>{{kNoCaller, "prog", 0},
                                            {0, "main", below_main},
                                            {0, std::string(kIncompleteStack), 0},
                                            {2, "step", incomplete}},
                    1.0);
    return paths;
  };
  const auto hindrance = [](const PathTable& reference, const PathTable& candidate) {
    const Rounds rounds = same(3, {{"step", {90}}, {"main", {10}}});
    Made made(rounds, rounds);
    Recording recording = make_recording(made.plan, made.session);
    REQUIRE(add_function_metrics(
        std::vector<Condition>{{"instructions@step", GateLimit::of_change(1)}}, true, recording));
    const std::size_t metric = *find_metric(recording.metrics, "instructions@step");
    recording.metrics[metric].name = "total_time@step";
    recording.metrics[metric].role = Role::SampledTime;
    recording.function_tables[0].paths = reference;
    recording.function_tables[1].paths = candidate;

    gate::Findings findings;
    findings.verdicts = {{.condition = {"total_time@step", GateLimit::of_change(1)},
                          .candidate = 1,
                          .metric = metric,
                          .answer = gate::Answer::Pass}};
    void_doubtful_verdicts(recording, findings);
    return findings.verdicts[0].hindrance;
  };
  using gate::Hindrance;
  using gate::Obstacle;
  using gate::Side;
  const PathTable known = paths_with(95, 5);
  const PathTable unknown = paths_with(50, 50);
  CHECK(hindrance(known, known) == Hindrance{});
  CHECK(hindrance(known, unknown) == Hindrance{Obstacle::NoCallers, Side::Candidate});
  CHECK(hindrance(unknown, known) == Hindrance{Obstacle::NoCallers, Side::Reference});
  CHECK(hindrance({}, {}) == Hindrance{Obstacle::NoCallers});
}

TEST_CASE("functions are not compared if any of the runs failed") {
  Made made(same(3, {{"main", {100}}}), same(3, {{"main", {3}}}));
  CHECK(made.changes().has_value());
  made.plan.ignore_failure = IgnoreFailure{true};
  const auto fail_in_rounds = [&](std::uint32_t command, std::uint32_t first) {
    Made failed = made;
    change(failed.session.runs, [&](RunRecord& run) {
      if (run.step.command == command && run.step.round >= first) run.outcome = Signalled{4};
    });
    return failed;
  };
  CHECK_FALSE(fail_in_rounds(1, 0).changes().has_value());
  CHECK_FALSE(fail_in_rounds(1, 2).changes().has_value());
  CHECK_FALSE(fail_in_rounds(0, 2).changes().has_value());
}

TEST_CASE("values of one function are not those of other runs if a run is missing from the table") {
  const Rounds rounds = same(3, {{"step", {90}}, {"main", {10}}});
  Made made(rounds, rounds);
  const auto values = [](Made of) {
    Recording recording = make_recording(of.plan, of.session);
    REQUIRE(add_function_metrics(
        std::vector<Condition>{{"instructions@step", GateLimit::of_change(1)}}, true, recording));
    const std::size_t metric = *find_metric(recording.metrics, "instructions@step");
    return make_series(recording, metric, 1).values;
  };
  CHECK(values(made) == std::vector<double>{90.0, 90.0, 90.0});

  // The table has a round more than the metric has values, as if a run had timed out.
  made.session.functions[1].add_round(std::vector<std::string>{"instructions"},
                                      std::vector<FunctionCounts>{{"step", {50}}, {"main", {10}}});
  CHECK(values(made).empty());
}

TEST_CASE("the interval of a function rests on layouts, not on their runs") {
  const auto in_layouts = [](std::uint64_t base, std::uint64_t step) {
    Rounds rounds;
    for (std::uint64_t round = 0; round < 12; ++round)
      rounds.push_back({{"main", {base + 100 * (round * step % 4)}}});
    return rounds;
  };
  Made made(in_layouts(10'000, 1), in_layouts(10'200, 3));
  const auto of_runs = made.changes();
  CHECK(of_runs->functions[0].own.certainty == Certainty::Significant);
  made.plan.setting.layouts = 4;
  change(made.session.runs, [](RunRecord& run) { run.step.layout = run.step.round % 4; });
  const auto over_layouts = made.changes();
  CHECK(over_layouts->functions[0].own.certainty == Certainty::Unproven);
  // The differences within layouts are 200, 400, 200 and 0, so the error is sqrt(80000 / 3 / 4); t
  // of three degrees is 3.1824463.
  CHECK(over_layouts->functions[0].own.half_width.value() == doctest::Approx(259.8456));

  made.plan.setting.order = Order::Sequential;
  const auto independent = made.changes();
  // The variance of four means 100 apart is 50000 / 3, so the error is sqrt(2 * 50000 / 3 / 4); t
  // of six degrees is 2.4469119.
  CHECK(independent->functions[0].own.half_width.value() == doctest::Approx(223.3715));
}

TEST_CASE("the functions of a command by themselves are its parts") {
  const Results results =
      Made(same(3, {{"main", {100}}, {"parse", {1000}}}), same(3, {{"main", {1}}})).analysed();
  CHECK(function_metrics(results).size() == 1);
  const auto parts = list_functions(results, function_metrics(results).front(), 0);
  REQUIRE(parts.has_value());
  CHECK(parts->functions[0].name == "parse");
  CHECK(parts->functions[0].difference() == 1000.0);
  CHECK(parts->difference() == 1100.0);
}

}  // namespace lauka
