#include "session/candidate_series.h"

#include "core/choices.h"
#include "gate/lord.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

SeriesDecision decided(std::size_t number, gate::Decision decision) {
  return {.number = number,
          .decision = decision,
          .reference = {"./best", "base", ""},
          .candidate = {"./candidate", "bytes of " + std::to_string(number), ""}};
}

gate::Verdict verdict(ConditionPurpose purpose, gate::Answer answer) {
  gate::Verdict verdict;
  verdict.condition.purpose = purpose;
  verdict.answer = answer;
  return verdict;
}

}  // namespace

TEST_CASE("the level of the next candidate follows from those that were kept") {
  CandidateSeries series;
  CHECK(series.next_level(0.95) == gate::level_of_candidate(1, {}, 0.95));

  series.reservations.resize(4);
  series.decisions = {decided(4, gate::Decision::Kept), decided(1, gate::Decision::Equal),
                      decided(2, gate::Decision::Kept)};
  CHECK(series.list_kept() == std::vector<std::size_t>{2, 4});
  CHECK(series.next_level(0.95) ==
        gate::level_of_candidate(5, std::vector<std::size_t>{2, 4}, 0.95));
}

TEST_CASE("the next reference is the last kept candidate, or else the first reference") {
  CandidateSeries series;
  CHECK_FALSE(series.expected_reference());
  series.decisions = {decided(1, gate::Decision::Worse)};
  CHECK(series.expected_reference()->executable_sha256 == "base");
  series.decisions.push_back(decided(3, gate::Decision::Kept));
  series.decisions.push_back(decided(2, gate::Decision::Kept));
  CHECK(series.expected_reference()->executable_sha256 == "bytes of 3");
}

TEST_CASE("programs of unknown bytes are neither the same nor others") {
  const SeriesProgram unknown{"./a", "", ""};
  const SeriesProgram known{"./b", "11", "22"};
  CHECK_FALSE(unknown.has_same_bytes_as(unknown));
  CHECK_FALSE(unknown.has_other_bytes_than(known));
  CHECK(known.has_same_bytes_as({"./c", "11", "22"}));
  CHECK(known.has_other_bytes_than({"./c", "11", "33"}));
}

TEST_CASE("a difference of terms is told in the words of the options") {
  const SeriesTerms terms{.confidence = 0.95, .conditions = {"keep if v < -1%"}, .engine = "none"};
  CHECK_FALSE(find_difference(terms, terms));
  SeriesTerms other = terms;
  other.engine = "perf";
  CHECK(*find_difference(terms, other) == "was begun with --engine none, but this call has perf");
  other.confidence = 0.99;
  CHECK(*find_difference(terms, other) == "was begun with --confidence 95, but this call has 99");
}

TEST_CASE("a candidate is kept only with status 0; else a condition for keeping says why not") {
  using gate::Answer;
  using gate::Decision;
  const auto done = static_cast<int>(ExitStatus::Done);
  const auto failed = static_cast<int>(ExitStatus::GateFailed);
  const std::vector<gate::Verdict> kept{verdict(ConditionPurpose::Fail, Answer::Pass),
                                        verdict(ConditionPurpose::Keep, Answer::Pass)};
  CHECK(decision_of(kept, done) == Decision::Kept);

  const std::vector<gate::Verdict> by_gate{verdict(ConditionPurpose::Fail, Answer::Fail),
                                           verdict(ConditionPurpose::Keep, Answer::Pass)};
  CHECK(decision_of(by_gate, failed) == Decision::Fail);
  const std::vector<gate::Verdict> both{verdict(ConditionPurpose::Fail, Answer::Fail),
                                        verdict(ConditionPurpose::Keep, Answer::Inconclusive)};
  CHECK(decision_of(both, failed) == Decision::Undecided);
}

// Expected: the level of each of five looks, 0.00805 in all, is about 0.0024, whose normal deviate
// is 2.82. 57 rounds of 2% noise have a standard error of 0.02 / sqrt(57 * 3 / pi) = 0.271%, so the
// gain beyond the limit is (2.82 + 0.842) * 0.271% = 0.99%.
TEST_CASE("the outlook is the change that four of five sessions of the usual length would keep") {
  CandidateSeries series{.terms = SeriesTerms{.confidence = 0.95, .limit_percent = -1.0}};
  CHECK_FALSE(make_outlook(series).change);

  SeriesDecision decision = decided(1, gate::Decision::Equal);
  decision.rounds_at_last_look = 57;
  decision.noise = 0.02;
  series.decisions = {decision};
  const KeepingOutlook outlook = make_outlook(series);
  CHECK(outlook.level == doctest::Approx(0.00805).epsilon(0.01));
  CHECK(*outlook.change == doctest::Approx(-0.0199).epsilon(0.03));

  series.terms->keeps_lower = false;
  series.terms->limit_percent = 1.0;
  CHECK(*make_outlook(series).change == doctest::Approx(0.0199).epsilon(0.03));

  series.decisions.front().rounds_at_last_look = 5;
  CHECK_FALSE(make_outlook(series).change);
}

}  // namespace lauka
