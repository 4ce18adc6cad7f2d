#include "fakes/analysed.h"
#include "plan/rows.h"
#include "results/analyse.h"
#include "results/results.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

// Made sessions: two programs of known instructions, instructions per cycle, clock and utilisation,
// and small noise that is different in each run.

namespace lauka {
namespace {

struct Program {
  double instructions;
  double ipc;
  double clock;  ///< cycles per second of CPU time
  double busy;   ///< CPU time / wall time
};

constexpr Program kOld{5.6e9, 1.0, 3.82e9, 0.99};
constexpr Program kNew{1.0e9, 1.35, 3.82e9, 0.98};

/// 1 ± 0.2 %, in another order for each.
double noise(std::uint32_t round, std::uint32_t of) {
  return 1.0 + 0.001 * (static_cast<double>((round * 7 + of * 3) % 5) - 2.0);
}

std::uint64_t whole(double value) {
  return static_cast<std::uint64_t>(std::llround(value));
}

RunRecord run_of(const Program& program, std::uint32_t command, std::uint32_t round,
                 RoundKind kind) {
  RunRecord run;
  run.step = {command, round, 0, kind};
  run.outcome = Exited{0};
  const double cycles = program.instructions / program.ipc * noise(round, command + 1);
  const double cpu = cycles / program.clock * noise(round, command + 2);
  run.usage.user_ns = whole(cpu * 1e9);
  run.usage.wall_ns = whole(cpu / program.busy * noise(round, command + 4) * 1e9);
  run.usage.peak_rss_bytes = 1;
  if (kind == RoundKind::Counting)
    run.counts = {whole(cycles), whole(program.instructions * noise(round, command + 3))};
  return run;
}

/// The events counted, and their names.
struct Counted {
  bool cycles = true;
  bool instructions = true;
  CountedPrivilegeLevels levels = CountedPrivilegeLevels::UserAndKernel;
  bool of_region = false;
  CountedPrivilegeLevels of_cycles = levels;
};

Results results_of(const Program& old, const Program& now, const Counted& counted = {},
                   std::uint32_t rounds = 12) {
  MadeSession session;
  Plan plan;
  plan.commands = {{.name = "old", .text = "old", .words = {"old"}},
                   {.name = "new", .text = "new", .words = {"new"}}};
  Pass pass{{}, RoundKind::Counting};
  const auto add = [&](const char* name, Role role, CountedPrivilegeLevels levels) {
    pass.event_indices.push_back(plan.setting.events.events.size());
    // A meaning is for users: here it misleads whoever searches it.
    plan.setting.events.events.push_back({.name = name,
                                          .meaning = "perf, user space and kernel only",
                                          .privilege_levels = levels,
                                          .of_region = counted.of_region,
                                          .name_suffix = "(all users)",
                                          .role = role});
  };
  if (counted.cycles) add("cycles", Role::Cycles, counted.of_cycles);
  if (counted.instructions) add("instructions", Role::Instructions, counted.levels);
  if (!pass.event_indices.empty()) plan.setting.events.passes = {{{}}, pass};
  plan.metrics = make_metrics(plan.setting.events, MetricSelection::All, false);
  for (const RoundKind kind : {RoundKind::Timed, RoundKind::Counting}) {
    if (kind == RoundKind::Counting && pass.event_indices.empty()) break;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (std::uint32_t c = 0; c < 2; ++c) {
        RunRecord run = run_of(c == 0 ? old : now, c, round, kind);
        run.step.pass = kind == RoundKind::Counting ? 1 : 0;
        if (!counted.cycles && !run.counts.empty()) run.counts.erase(run.counts.begin());
        session.runs.push_back(run);
      }
    }
  }
  return analyse(plan, session, {});
}

const WallFactor* factor_of(const WallTimeExplanation& why, WallFactorKind part) {
  const auto found =
      std::find_if(why.factors.begin(), why.factors.end(),
                   [part](const WallFactor& one) { return one.factor_kind == part; });
  return found == why.factors.end() ? nullptr : &*found;
}

double product_of(const WallTimeExplanation& why) {
  double sum = 0.0;
  for (const WallFactor& factor : why.factors) sum += factor.log_contribution();
  return std::exp(sum);
}

double ratio_of(const Results& results, Role role) {
  return 1.0 + *metric_result_of(results, 1, role)->delta->change;
}

}  // namespace

TEST_CASE("the factors of a wall time make up its delta to the last digit") {
  const Results results = results_of(kOld, kNew);
  REQUIRE(results.explanations.size() == 1);
  const WallTimeExplanation& why = results.explanations.front();
  CHECK(why.command == 1);
  REQUIRE(why.factors.size() == 4);
  CHECK(product_of(why) == doctest::Approx(ratio_of(results, Role::WallTime)).epsilon(1e-12));
  CHECK(1.0 + *factor_of(why, WallFactorKind::Instructions)->change.change ==
        doctest::Approx(ratio_of(results, Role::Instructions)).epsilon(1e-12));
  CHECK(1.0 + *factor_of(why, WallFactorKind::InstructionsPerCycle)->change.change ==
        doctest::Approx(ratio_of(results, Role::Ipc)).epsilon(1e-12));
  // 5.6 times fewer instructions, 1.35 times as many per cycle, within the noise.
  CHECK(ratio_of(results, Role::Instructions) == doctest::Approx(1 / 5.6).epsilon(0.002));
  CHECK(ratio_of(results, Role::Ipc) == doctest::Approx(1.35).epsilon(0.004));
  const WallFactor& clock = *factor_of(why, WallFactorKind::Clock);
  CHECK(1.0 + *clock.change.change ==
        doctest::Approx(ratio_of(results, Role::Instructions) / ratio_of(results, Role::Ipc) /
                        ratio_of(results, Role::CpuTime))
            .epsilon(1e-12));
  CHECK_FALSE(clock.change.is_significant());
  const WallFactor& busy = *factor_of(why, WallFactorKind::Utilisation);
  CHECK(busy.reference_median == doctest::Approx(0.99).epsilon(0.002));
  CHECK(busy.candidate_median == doctest::Approx(0.98).epsilon(0.002));
  CHECK(busy.change.bounds->low < 0.98 / 0.99 - 1);
  CHECK(busy.change.bounds->high > 0.98 / 0.99 - 1);
}

TEST_CASE("counts of a region explain nothing of the time of the whole run") {
  const Results results = results_of(kOld, kNew, {.of_region = true});
  REQUIRE(results.explanations.size() == 1);
  const WallTimeExplanation& why = results.explanations.front();
  CHECK(why.leaves_out_cycles);
  CHECK(why.lacks_instructions);
  CHECK(factor_of(why, WallFactorKind::Instructions) == nullptr);
  CHECK(product_of(why) == doctest::Approx(ratio_of(results, Role::WallTime)).epsilon(1e-12));
}

TEST_CASE("the clock's interval combines two independent estimates") {
  const Results results = results_of(kOld, {5.6e9, 1.0, 3.0e9, 0.99});
  const WallFactor& clock = *factor_of(results.explanations.front(), WallFactorKind::Clock);
  CHECK(clock.change.is_significant());
  const auto log_bounds = [&](Role role) {
    const stats::IntervalEnds bounds = *metric_result_of(results, 1, role)->delta->bounds;
    return std::pair(std::log1p(bounds.low), std::log1p(bounds.high));
  };
  const double value = std::log1p(*clock.change.change);
  const double cycles =
      std::log(ratio_of(results, Role::Instructions)) - std::log(ratio_of(results, Role::Ipc));
  const double cpu = std::log(ratio_of(results, Role::CpuTime));
  const auto of_cycles = log_bounds(Role::Cycles);
  const auto of_cpu = log_bounds(Role::CpuTime);
  const double down = std::hypot(cycles - std::min(of_cycles.first, cycles), of_cpu.second - cpu);
  const double up = std::hypot(std::max(of_cycles.second, cycles) - cycles, cpu - of_cpu.first);
  CHECK(std::log1p(clock.change.bounds->low) == doctest::Approx(value - down).epsilon(1e-9));
  CHECK(std::log1p(clock.change.bounds->high) == doctest::Approx(value + up).epsilon(1e-9));
  CHECK(1.0 + *clock.change.change == doctest::Approx(3.0 / 3.82).epsilon(0.004));
}

TEST_CASE("what was not counted is said, and what is left makes up the wall time as well") {
  struct Case {
    Counted counted;
    std::vector<WallFactorKind> parts;
  };
  using enum WallFactorKind;
  for (const Case& it :
       {Case{{false, false}, {CpuTime, Utilisation}},
        Case{{false, true}, {Instructions, CpuTimePerInstruction, Utilisation}},
        Case{{true, false}, {Cycles, Clock, Utilisation}},
        Case{{true, true, CountedPrivilegeLevels::UserAndKernel},
             {Instructions, InstructionsPerCycle, Clock, Utilisation}},
        Case{{true, true, CountedPrivilegeLevels::UserOnly},
             {Instructions, InstructionsPerCycle, CpuTimePerCycle, Utilisation}},
        Case{{true, true, CountedPrivilegeLevels::Unknown},
             {Instructions, InstructionsPerCycle, CpuTimePerCycle, Utilisation}}}) {
    const Results results = results_of(kOld, kNew, it.counted);
    REQUIRE(results.explanations.size() == 1);
    const WallTimeExplanation& why = results.explanations.front();
    std::vector<WallFactorKind> parts;
    for (const WallFactor& factor : why.factors) parts.push_back(factor.factor_kind);
    CHECK(parts == it.parts);
    CHECK(product_of(why) == doctest::Approx(ratio_of(results, Role::WallTime)).epsilon(1e-12));
    CHECK(why.lacks_instructions == !it.counted.instructions);
    CHECK(why.leaves_out_cycles == !it.counted.cycles);
    if (it.counted.instructions || it.counted.cycles) CHECK(why.levels == it.counted.levels);
  }
}

TEST_CASE("cycles and instructions of other privilege levels are not divided by each other") {
  const Results results = results_of(kOld, kNew,
                                     {.levels = CountedPrivilegeLevels::UserOnly,
                                      .of_cycles = CountedPrivilegeLevels::UserAndKernel});
  const WallTimeExplanation& why = results.explanations.front();
  CHECK(why.cycles_have_other_levels);
  CHECK(factor_of(why, WallFactorKind::InstructionsPerCycle) == nullptr);
  CHECK(factor_of(why, WallFactorKind::CpuTimePerInstruction) != nullptr);
  CHECK_FALSE(find_metric(results.session.metrics, Role::Ipc));
}

TEST_CASE("a program with many threads is busy for more than one CPU") {
  const Results results = results_of({4e9, 2.0, 3e9, 1.0}, {4e9, 2.0, 3e9, 3.8});
  const WallFactor& busy = *factor_of(results.explanations.front(), WallFactorKind::Utilisation);
  CHECK(busy.candidate_median == doctest::Approx(3.8).epsilon(0.004));
  CHECK(1.0 + *busy.change.change == doctest::Approx(3.8).epsilon(0.004));
  CHECK(busy.change.is_significant());
}

TEST_CASE("too few runs have factors without intervals, and one command has none") {
  const Results few = results_of(kOld, kNew, {}, 1);
  REQUIRE(few.explanations.size() == 1);
  for (const WallFactor& factor : few.explanations.front().factors)
    CHECK_FALSE(factor.change.bounds);
  CHECK(product_of(few.explanations.front()) ==
        doctest::Approx(ratio_of(few, Role::WallTime)).epsilon(1e-12));
}

}  // namespace lauka
