#include "stats/golden.h"

#include "gate/judge.h"
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

/// The rounds of a golden case after which it looks: as planned, or where its values end.
std::vector<std::size_t> rounds_to_look_at(const Json& golden_case, std::size_t available) {
  if (golden_case.at("n1").is_null()) {
    return {available};
  }
  std::vector<std::size_t> result;
  for (const std::size_t rounds : look_rounds(golden_case.at("n1").get<std::size_t>())) {
    result.push_back(std::min(rounds, available));
    if (rounds >= available) {
      break;
    }
  }
  return result;
}

void check_trace(const Judgement& judgement, const Json& expected) {
  CHECK_GOLDEN(judgement.mean_difference, expected.at("mean_e"));
  CHECK_GOLDEN(judgement.rank_part.above, expected.at("rank_p_slower"));
  CHECK_GOLDEN(judgement.rank_part.below, expected.at("rank_p_not_slower"));
  CHECK_GOLDEN(judgement.mean_part.above, expected.at("mean_p_slower"));
  CHECK_GOLDEN(judgement.mean_part.below, expected.at("mean_p_not_slower"));
  CHECK(name_of(judgement.answer) == expected.at("verdict").get<std::string>());
}

}  // namespace

TEST_CASE("the boundary of five looks agrees with the golden cases") {
  const Json quantiles = golden::section("quantiles");
  for (const Json& c : quantiles.at("look")) {
    CHECK_GOLDEN(z_look(c.at("alpha")), c.at("z_look"));
    CHECK_GOLDEN(p_look(c.at("alpha")), c.at("p_look"));
  }
}

TEST_CASE("the rounds to look at agree with the golden cases") {
  const Json quantiles = golden::section("quantiles");
  for (const Json& c : quantiles.at("schedule")) {
    CHECK(look_rounds(c.at("n1").get<std::size_t>()) ==
          c.at("looks").get<std::array<std::size_t, kLooks>>());
  }
}

TEST_CASE("one look at pairs and at independent samples agrees with the golden cases") {
  const Levels levels{.fail = 0.05, .pass = 0.05, .tail = 0.025};
  for (const Json& c : golden::section("tests")) {
    INFO(c.at("name").get<std::string>());
    const std::vector<double> reference = golden::series(c, "reference");
    const std::vector<double> candidate = golden::series(c, "candidate");
    const double limit = c.at("percent").get<double>() / 100.0;
    CHECK(name_of(judge({reference, candidate, true}, limit, levels, true).answer) ==
          c.at("paired_one_look_verdict").get<std::string>());
    CHECK(name_of(judge({reference, candidate, false}, limit, levels, true).answer) ==
          c.at("unpaired_one_look_verdict").get<std::string>());
  }
}

TEST_CASE("every look of a gate, and where it ends, agrees with the golden cases") {
  for (const Json& c : golden::section("gate")) {
    INFO(c.at("name").get<std::string>());
    const std::vector<double> reference = golden::series(c, "reference");
    const std::vector<double> candidate = golden::series(c, "candidate");
    const Condition condition{.metric = "wall_time", .limit_percent = c.at("percent")};
    const auto gates = c.at("gates").get<std::size_t>();
    const Levels levels = c.at("n1").is_null() ? levels_of_one_look(c.at("confidence"), gates)
                                               : levels_of_five_looks(c.at("confidence"), gates);
    CHECK_GOLDEN(levels.fail, c.at("p_fail"));
    CHECK_GOLDEN(levels.pass, c.at("p_pass"));

    const std::vector<std::size_t> looks = rounds_to_look_at(c, reference.size());
    std::optional<Verdict> verdict;
    for (std::size_t look = 0; look < looks.size() && !verdict; ++look) {
      INFO("look ", look + 1);
      REQUIRE(look < c.at("trace").size());
      const Json& expected = c.at("trace").at(look);
      CHECK(looks[look] == expected.at("rounds").get<std::size_t>());
      const Evidence evidence = first_rounds(reference, candidate, looks[look]);
      const bool last = look + 1 == looks.size();
      check_trace(judge(evidence, condition.limit_percent / 100.0, levels, last), expected);
      verdict = decide_at_look(condition, 1, evidence, levels, {.number = look + 1, .last = last});
    }
    REQUIRE(verdict.has_value());
    CHECK(name_of(verdict->answer) == c.at("expected").at("verdict").get<std::string>());
    CHECK(verdict->look == c.at("expected").at("look").get<std::size_t>());
    CHECK(verdict->look == c.at("trace").size());
    CHECK(verdict->rounds == c.at("expected").at("rounds").get<std::size_t>());
  }
}

}  // namespace lauka::gate
