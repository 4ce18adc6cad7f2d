#include "gate/verdict.h"
#include "stats/noise.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::gate {
namespace {

using Flags = std::vector<bool>;

constexpr double kError = 0.05;

/// Watches the gate "more than the reference" of one of `gates`, from 10 rounds on as in a session;
/// the candidate is `shift` standard deviations of a round's noise above.
Findings watched(noise::Source& noise, std::size_t gates, double shift) {
  Schedule schedule(1.0 - kError, gates, 10, LookTiming::Planned);
  std::vector<double> reference;
  std::vector<double> candidate;
  Verdict verdict;
  const auto looks = look_rounds(10);
  for (std::size_t look = 0; look < looks.size(); ++look) {
    while (reference.size() < looks[look]) {
      reference.push_back(100.0);
      candidate.push_back(100.0 + shift + noise.normal());
    }
    const bool last = look + 1 == looks.size();
    const LookErrors levels = schedule.look_as_planned(looks[look], last);
    const Judgement judged =
        judge({reference, candidate}, {.limit = 0.0, .levels = levels, .is_last_look = last});
    verdict.p_over_all_looks = schedule.p_over_looks_of_planned_look(judged.p_value_of_fail);
    verdict.answer = judged.answer.value_or(Answer::Inconclusive);
    if (judged.answer) break;
  }
  return {{verdict}};
}

struct Job {
  std::size_t fails = 0;
  std::size_t false_fails = 0;
};

/// The first `changed` of `gates` gates have worse candidates.
Job job(noise::Source& noise, std::size_t gates, std::size_t changed, ErrorRate risk) {
  std::vector<Findings> findings;
  for (std::size_t i = 0; i < gates; ++i)
    findings.push_back(watched(noise, gates, i < changed ? 0.55 : 0.0));
  std::vector<Findings*> all;
  for (Findings& one : findings) all.push_back(&one);
  fail_gates_by_error_rate(all, kError, risk);
  Job result;
  for (std::size_t i = 0; i < gates; ++i) {
    if (findings[i].verdicts[0].answer != Answer::Fail) continue;
    ++result.fails;
    result.false_fails += i < changed ? 0U : 1U;
  }
  return result;
}

/// Returns the p of a gate that looks once, at 20 rounds of a metric that scatters by `spread`
/// about its limit, which is 0 or (page faults that never happen) on any side of it.
Verdict at_the_limit(noise::Source& noise, std::size_t gates, double spread) {
  const std::vector<double> reference(20, spread > 0.0 ? 100.0 : 0.0);
  std::vector<double> candidate = reference;
  for (double& value : candidate) value += spread * noise.normal();
  const LookErrors levels = errors_of_only_look(1.0 - kError, gates);
  const double limit = spread > 0.0 ? 0.0 : 0.05;
  const Judgement judged =
      judge({reference, candidate}, {.limit = limit, .levels = levels, .is_last_look = true});
  Verdict verdict;
  verdict.answer = judged.answer.value();
  verdict.p_over_all_looks = judged.p_value_of_fail;
  return verdict;
}

}  // namespace

TEST_CASE("a gate that fails with its job asks for no more layouts or rounds") {
  Findings findings{{Verdict{.p_over_all_looks = 1e-6, .rounds_factor = 2.0}}};
  findings.verdicts[0].layouts_to_decide = 12;
  Findings* const all[] = {&findings};
  fail_gates_by_error_rate(all, kError, ErrorRate::AnyFalseFail);
  const Verdict& verdict = findings.verdicts[0];
  CHECK(verdict.answer == Answer::Fail);
  CHECK_FALSE(verdict.rounds_factor);
  CHECK_FALSE(verdict.layouts_to_decide);
}

TEST_CASE("suites of equal programs fail in at most 5% of cases, values at their limit or not") {
  constexpr std::size_t suites = 600;
  constexpr std::size_t pairs = 8;
  for (const ErrorRate risk : {ErrorRate::AnyFalseFail, ErrorRate::ShareOfFalseFails}) {
    noise::Source noise(19);
    std::size_t failing = 0;
    for (std::size_t suite = 0; suite < suites; ++suite) {
      // cpu_time > 0, major_faults > 5 and block_reads > 5.
      Findings all;
      for (std::size_t pair = 0; pair < pairs; ++pair)
        for (const double spread : {1.0, 0.0, 0.0})
          all.verdicts.push_back(at_the_limit(noise, 3 * pairs, spread));
      std::vector<Findings*> job = {&all};
      fail_gates_by_error_rate(job, kError, risk);
      failing += std::any_of(all.verdicts.begin(), all.verdicts.end(),
                             [](const Verdict& one) { return one.answer == Answer::Fail; });
    }
    CHECK(static_cast<double>(failing) / suites <= 0.05);
  }
}

TEST_CASE("Holm and Benjamini-Hochberg reject what R's p.adjust says") {
  const std::vector<double> rising = {0.01, 0.02, 0.03, 0.04, 0.05};  // holm .05 .08 .09, BH .05
  CHECK(holm(rising, kError) == Flags{true, false, false, false, false});
  CHECK(benjamini_hochberg(rising, kError) == Flags{true, true, true, true, true});
  const std::vector<double> mixed = {0.3, 0.001, 0.02, 0.012, 0.04};  // holm .005 .048 .06
  CHECK(holm(mixed, kError) == Flags{false, true, false, true, false});
  CHECK(benjamini_hochberg(mixed, kError) == Flags{false, true, true, true, true});
  CHECK(holm({}, kError).empty());
  CHECK(benjamini_hochberg({}, kError).empty());
}

TEST_CASE("a job's gates: what is open alone may fail alongside others, a pass never does") {
  Findings one{{{}, {}}};
  Findings other{{{}, {}}};
  one.verdicts[0].answer = Answer::Fail;
  one.verdicts[0].p_over_all_looks = 0.0001;
  one.verdicts[1].p_over_all_looks = 0.0152;  // at most 0.05 / 3
  other.verdicts[0].p_over_all_looks = 0.5;
  other.verdicts[1].p_over_all_looks = 0.0001;
  other.verdicts[1].answer = Answer::Pass;
  std::vector<Findings*> all = {&one, &other};
  fail_gates_by_error_rate(all, kError, ErrorRate::AnyFalseFail);
  CHECK(one.verdicts[0].answer == Answer::Fail);
  CHECK(one.verdicts[1].answer == Answer::Fail);
  CHECK(other.verdicts[0].answer == Answer::Inconclusive);
  CHECK(other.verdicts[1].answer == Answer::Pass);
}

TEST_CASE("a probability over all looks is the error whose last look it meets") {
  for (const double error : {0.001, 0.01, 0.05}) {
    Schedule schedule(0.95, 1, 10, LookTiming::Planned);
    static_cast<void>(schedule.look_as_planned(10, false));
    CHECK(schedule.p_over_looks_of_planned_look(level_of_planned_look(error, 0)) ==
          doctest::Approx(error).epsilon(1e-6));
    CHECK(Schedule::p_over_looks_of_early_look(level_of_early_look(error)) ==
          doctest::Approx(error));
    CHECK(schedule.p_over_looks_of_planned_look(0.9) == 1.0);
  }
  Schedule once(0.95, 1, 10, LookTiming::Once);
  CHECK(once.p_over_looks_of_planned_look(0.03) == 0.03);
}

TEST_CASE("a job of many gates without a change fails in at most 5% of all cases") {
  noise::Source noise(17);
  constexpr std::size_t jobs = 400;
  std::size_t any = 0;
  for (std::size_t i = 0; i < jobs; ++i)
    any += job(noise, 8, 0, ErrorRate::AnyFalseFail).fails > 0 ? 1U : 0U;
  CHECK(static_cast<double>(any) / jobs < 0.05 + 2.6 * 0.0109);  // 99.5% of binomial noise
}

TEST_CASE("with some gates that should fail, false ones stay as rare, and --fdr finds more") {
  noise::Source noise(18);
  constexpr std::size_t jobs = 150;
  std::size_t any = 0;
  std::size_t found = 0;
  std::size_t found_by_share = 0;
  double share = 0.0;
  for (std::size_t i = 0; i < jobs; ++i) {
    const Job strict = job(noise, 10, 5, ErrorRate::AnyFalseFail);
    any += strict.false_fails > 0 ? 1U : 0U;
    found += strict.fails - strict.false_fails;
    const Job lenient = job(noise, 10, 5, ErrorRate::ShareOfFalseFails);
    found_by_share += lenient.fails - lenient.false_fails;
    share += static_cast<double>(lenient.false_fails) /
             static_cast<double>(std::max<std::size_t>(lenient.fails, 1));
  }
  CHECK(static_cast<double>(any) / jobs < 0.05 + 2.6 * 0.0178);
  CHECK(share / jobs < 0.05 + 2.6 * 0.01);
  CHECK(found_by_share > found);
}

}  // namespace lauka::gate
