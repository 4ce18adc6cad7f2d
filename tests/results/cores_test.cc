#include "fakes/one_look.h"
#include "results/results.h"

#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

/// Commands whose runs took 10 ms, with these shares of their time on P, and cycles by kind.
struct Wandering {
  Plan plan;
  Session session;

  explicit Wandering(const std::vector<double>& shares) {
    CoreUse cores;
    cores.timed = {"P", "E"};
    Options options;
    for (std::size_t c = 0; c < shares.size(); ++c)
      options.commands.emplace_back(1, static_cast<char>('a' + c));
    const auto select = [](const EventRequest&) -> Result<EventSet> {
      EventSet set;
      set.events = {{.name = "cycles", .meaning = "", .role = Role::Cycles},
                    {.name = "cycles (P)", .meaning = "", .part_of = 0, .role = Role::Cycles},
                    {.name = "cycles (E)", .meaning = "", .part_of = 0, .role = Role::Cycles}};
      set.passes = {{{0, 1, 2}}};
      return set;
    };
    plan = *make_plan(options, select, 1, cores);
    for (std::uint32_t round = 0; round < 12; ++round)
      for (std::uint32_t c = 0; c < shares.size(); ++c) add(round, c, shares[c]);
  }

  void add(std::uint32_t round, std::uint32_t command, double share) {
    RunRecord run;
    run.step = {command, round, 0, RoundKind::Timed};
    run.outcome = Exited{0};
    run.usage.wall_ns = 10'000'000;
    const auto p = static_cast<std::uint64_t>(1000 * share);
    run.counts = {1000, p, 1000 - p, p * 10, (1000 - p) * 10};
    session.runs.push_back(run);
  }

  std::vector<Warning> warnings() const { return analyse(plan, session, {}).warnings; }
};

template <typename Kind>
std::vector<Warning> of_kind(const std::vector<Warning>& all) {
  std::vector<Warning> found;
  for (const Warning& warning : all)
    if (std::holds_alternative<Kind>(warning.finding)) found.push_back(warning);
  return found;
}

}  // namespace

TEST_CASE("shares that differ by more than five points from the reference's are warned of, once") {
  const auto found = of_kind<OtherCores>(Wandering({0.95, 0.88, 0.4}).warnings());
  REQUIRE(found.size() == 1);
  CHECK(found[0].command == 2U);
  const auto& seen = std::get<OtherCores>(found[0].finding);
  CHECK(seen.metric == "p_share");
  CHECK(seen.candidate == doctest::Approx(0.4));
  CHECK(seen.reference == doctest::Approx(0.95));
  REQUIRE(seen.cycles.size() == 2);
  CHECK(seen.cycles[0].event == "cycles (P)");
  CHECK(seen.cycles[0].candidate == 400);
  CHECK(seen.cycles[1].reference == 50);
}

TEST_CASE("shares within five points of each other are one machine's noise") {
  CHECK(of_kind<OtherCores>(Wandering({0.95, 0.901}).warnings()).empty());
  CHECK(of_kind<OtherCores>(Wandering({0.2}).warnings()).empty());
}

TEST_CASE("runs below the least share are reported, and repeated ones are counted") {
  Wandering it({0.9, 0.5});
  it.plan.cores.min_share = 0.8;
  it.session.redone.push_back({it.session.runs[1], "because"});
  it.session.redone.push_back({it.session.runs[1], "because"});
  const Results results = analyse(it.plan, it.session, {});
  CHECK(results.commands[0].redone_runs == 0);
  CHECK(results.commands[1].redone_runs == 2);
  CHECK(results.commands[1].runs == 12);
  const auto found = of_kind<LowShare>(results.warnings);
  REQUIRE(found.size() == 1);
  CHECK(found[0].command == 1U);
  CHECK(std::get<LowShare>(found[0].finding).runs == 12);
}

}  // namespace lauka
