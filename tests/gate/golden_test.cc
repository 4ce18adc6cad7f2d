#include "stats/golden.h"

#include "fakes/one_look.h"
#include "gate/schedule.h"
#include "gate/verdict.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka::gate {

using golden::Json;

namespace {

std::string name_of(Answer answer) {
  switch (answer) {
    case Answer::Pass:
      return "pass";
    case Answer::Fail:
      return "fail";
    case Answer::Inconclusive:
      break;
  }
  return "inconclusive";
}

/// The golden traces call "go on" inconclusive, too.
std::string name_of(const std::optional<Answer>& answer) {
  return name_of(answer.value_or(Answer::Inconclusive));
}

Evidence first_rounds(std::span<const double> reference, std::span<const double> candidate,
                      std::size_t rounds) {
  return {.reference = reference.first(rounds), .candidate = candidate.first(rounds)};
}

/// The looks of a golden case, and the risk of each: its schedule, walked round by round.
struct LookAt {
  std::size_t rounds = 0;
  bool early = false;
  bool last = false;
  LookErrors levels;
};

std::vector<LookAt> looks_of(const Json& c) {
  Schedule schedule(c.at("confidence"), c.at("gates").get<std::size_t>(),
                    c.at("min_runs").get<std::size_t>(), LookTiming::Early);
  const auto n1 = c.at("n1").get<std::size_t>();
  const std::size_t most =
      c.at("max_runs").is_null() ? 4 * n1 : std::min(4 * n1, c.at("max_runs").get<std::size_t>());
  std::vector<LookAt> looks;
  std::size_t planned = std::min(n1, most);
  for (std::size_t rounds = 1; rounds <= most; ++rounds) {
    if (rounds == planned) {
      const bool last = rounds == most;
      looks.push_back({rounds, false, last, schedule.look_as_planned(rounds, last)});
      planned = std::min(schedule.rounds_at_next_planned_look(), most);
    } else if (const auto levels = schedule.look_early(rounds)) {
      looks.push_back({rounds, true, false, *levels});
    }
  }
  return looks;
}

void check_level(const std::optional<double>& level, const Json& expected) {
  CHECK(golden::agrees_or_neither(level, expected));
}

void check_trace(const Judgement& judgement, const LookAt& look, const Json& expected) {
  CHECK(look.rounds == expected.at("rounds").get<std::size_t>());
  CHECK(look.early == expected.at("early").get<bool>());
  check_level(look.levels.error_of_false_fail, expected.at("p_fail"));
  check_level(look.levels.error_of_false_pass, expected.at("p_pass"));
  CHECK_GOLDEN(judgement.rank_test_tails.above, expected.at("w_plus"));
  CHECK_GOLDEN(judgement.rank_test_tails.below, expected.at("w_minus"));
  CHECK_GOLDEN(judgement.mean_test_tails.above, expected.at("t_plus"));
  CHECK_GOLDEN(judgement.mean_test_tails.below, expected.at("t_minus"));
  CHECK((judgement.mean_difference > 0) == expected.at("mean_above").get<bool>());
}

std::string name_of(DecidedBy part) {
  switch (part) {
    case DecidedBy::Ranks:
      return "\"ranks\"";
    case DecidedBy::Mean:
      return "\"mean\"";
    case DecidedBy::Both:
      return "\"both\"";
    case DecidedBy::Nothing:
      break;
  }
  return "null";
}

}  // namespace

TEST_CASE("the boundary of five looks agrees with the golden cases") {
  const Json quantiles = golden::section("quantiles");
  for (const Json& c : quantiles.at("look")) {
    CHECK_GOLDEN(pocock_boundary(c.at("alpha")), c.at("z_look"));
    CHECK_GOLDEN(level_of_pocock_look(c.at("alpha")), c.at("p_look"));
  }
}

TEST_CASE("the levels of early and of planned looks agree with the golden cases") {
  for (const Json& c : golden::section_2("levels")) {
    const double error = c.at("error");
    INFO("error ", error);
    CHECK_GOLDEN(level_of_early_look(error), c.at("p_early"));
    const auto first = c.at("first_round_of_ranks").get<std::size_t>();
    CHECK(rank_test_can_decide(first, level_of_early_look(error)));
    CHECK_FALSE(rank_test_can_decide(first - 1, level_of_early_look(error)));
    CHECK(fewest_rounds_of_early_pass(1.0 - error) == c.at("first_pass_round").get<std::size_t>());
    for (const Json& late : c.at("p_late"))
      CHECK_GOLDEN(level_of_planned_look(error, late.at("early_looks").get<std::size_t>()),
                   late.at("p"));
  }
}

TEST_CASE("the rounds to look at, and what counts as a look, agree with the golden cases") {
  for (const Json& c : golden::section_2("schedule")) {
    const auto n1 = c.at("n1").get<std::size_t>();
    INFO("first planned look after ", n1);
    CHECK(look_rounds(n1) == c.at("late").get<std::array<std::size_t, kMaxPlannedLooks>>());
    const Json& expected = c.at("early_looks");
    for (const std::size_t gates : {std::size_t{1}, std::size_t{5}}) {
      Schedule schedule(0.95, gates, c.at("min_runs").get<std::size_t>(), LookTiming::Early);
      std::vector<std::size_t> early;
      while (schedule.rounds_at_next_early_look() && *schedule.rounds_at_next_early_look() < n1) {
        early.push_back(*schedule.rounds_at_next_early_look());
        schedule.look_early(early.back());
      }
      CHECK(early == c.at("early").get<std::vector<std::size_t>>());
      const LookErrors late = schedule.look_as_planned(n1, false);
      const auto looks = [&](const char* name) { return expected.at(name).get<std::size_t>(); };
      CHECK(late.error_of_false_fail ==
            doctest::Approx(level_of_planned_look(
                0.05 / static_cast<double>(gates),
                looks(gates == 1 ? "fail_95_one_gate" : "fail_95_five_gates"))));
      CHECK(late.error_of_false_pass ==
            doctest::Approx(level_of_planned_look(0.05, looks("pass_95"))));
      CHECK(late.tails.tail_of_delta ==
            doctest::Approx(level_of_planned_look(0.025, looks("interval_95"))));
    }
  }
}

TEST_CASE("one look at pairs and at independent samples agrees with the golden cases") {
  const LookErrors levels{.error_of_false_fail = 0.05, .error_of_false_pass = 0.05, .tails = {}};
  for (const Json& c : golden::section("tests")) {
    INFO(c.at("name").get<std::string>());
    const std::vector<double> reference = golden::series(c, "reference");
    const std::vector<double> candidate = golden::series(c, "candidate");
    const double limit = c.at("percent").get<double>() / 100.0;
    CHECK(name_of(judge({reference, candidate, true},
                        {.limit = limit, .levels = levels, .is_last_look = true})
                      .answer) == c.at("paired_one_look_verdict").get<std::string>());
    CHECK(name_of(judge({reference, candidate, false},
                        {.limit = limit, .levels = levels, .is_last_look = true})
                      .answer) == c.at("unpaired_one_look_verdict").get<std::string>());
  }
}

TEST_CASE("every look of a gate, and where it ends, agrees with the golden cases") {
  for (const Json& c : golden::section_2("gate")) {
    INFO(c.at("name").get<std::string>());
    const std::vector<double> reference = golden::series(c, "reference");
    const std::vector<double> candidate = golden::series(c, "candidate");
    const Condition condition{.metric = "wall_time",
                              .limit = GateLimit::of_change(c.at("percent"))};
    const Json& expected = c.at("expected");

    Verdict verdict{.condition = condition, .candidate = 1};
    bool is_decided = false;
    std::size_t number = 0;
    for (const LookAt& look : looks_of(c)) {
      if (is_decided) break;
      REQUIRE(number < expected.at("trace").size());
      INFO("look ", number + 1);
      const Evidence evidence = first_rounds(reference, candidate, look.rounds);
      check_trace(judge(evidence, {.limit = condition.limit.fraction(),
                                   .levels = look.levels,
                                   .is_last_look = look.last}),
                  look, expected.at("trace").at(number));
      is_decided = decide_at_look(verdict, {.samples = comparison_of(evidence)}, look.levels,
                                  {++number, look.last});
      if (is_decided) CHECK_GOLDEN(look.levels.tails.tail_of_delta, expected.at("tail"));
    }
    REQUIRE(is_decided);
    CHECK(number == expected.at("trace").size());
    CHECK(name_of(verdict.answer) == expected.at("verdict").get<std::string>());
    CHECK(verdict.rounds == expected.at("rounds").get<std::size_t>());
    CHECK(name_of(verdict.decided_by) == expected.at("decided_by").dump());
    const Json& interval = expected.at("interval");
    const stats::Delta& delta = verdict.delta;
    REQUIRE(delta.bounds.has_value());
    CHECK(*delta.change == doctest::Approx(interval.at("delta").get<double>()).epsilon(1e-10));
    CHECK(delta.bounds->low == doctest::Approx(interval.at("low").get<double>()).epsilon(1e-10));
    CHECK(delta.bounds->high == doctest::Approx(interval.at("high").get<double>()).epsilon(1e-10));
    CHECK(delta.is_significant() == interval.at("significant").get<bool>());
  }
}

TEST_CASE("a gate that looks once agrees with the golden cases") {
  for (const Json& c : golden::section("gate")) {
    INFO(c.at("name").get<std::string>());
    const std::vector<double> reference = golden::series(c, "reference");
    const std::vector<double> candidate = golden::series(c, "candidate");
    const LookErrors levels =
        errors_of_only_look(c.at("confidence"), c.at("gates").get<std::size_t>());
    CHECK_GOLDEN(*levels.error_of_false_fail, c.at("p_fail"));
    CHECK_GOLDEN(*levels.error_of_false_pass, c.at("p_pass"));
    const double limit = c.at("percent").get<double>() / 100.0;
    CHECK(name_of(judge({reference, candidate},
                        {.limit = limit, .levels = levels, .is_last_look = true})
                      .answer) == c.at("expected").at("verdict").get<std::string>());
  }
}

}  // namespace lauka::gate
