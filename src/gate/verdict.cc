#include "gate/verdict.h"

#include "stats/distributions.h"

#include <algorithm>

namespace lauka::gate {

namespace {

constexpr double kMostTimesWorthTelling = 50.0;

/// A deviate grows with the root of the rounds: how many times the rounds would take the smaller
/// probability to its level, if what was seen so far is the truth.
std::optional<double> times_to_decide(const Judgement& judgement, const Levels& levels) {
  const bool towards_fail = judgement.p_fail < judgement.p_pass;
  const double probability = std::min(judgement.p_fail, judgement.p_pass);
  const std::optional<double> level = towards_fail ? levels.fail : levels.pass;
  if (!level || probability <= 0.0 || probability >= 0.5) {
    return std::nullopt;
  }
  const double ratio =
      stats::normal_quantile_above(*level) / stats::normal_quantile_above(probability);
  const double times = ratio * ratio;
  if (times < 1.0 || times > kMostTimesWorthTelling) {
    return std::nullopt;
  }
  return times;
}

Verdict verdict_of(const Judgement& judgement, const Condition& condition, std::size_t candidate,
                   const Evidence& evidence, const Levels& levels, const Look& look) {
  Verdict verdict{.condition = condition,
                  .candidate = candidate,
                  .answer = judgement.answer.value_or(Answer::Inconclusive),
                  .rounds = evidence.rounds(),
                  .planned_rounds = look.planned_rounds,
                  .p_fail = judgement.p_fail,
                  .p_pass = judgement.p_pass,
                  .level = judgement.level,
                  .look = look.number,
                  .decided_by = judgement.decided_by};
  if (!evidence.reference.empty() && !evidence.candidate.empty())
    verdict.delta =
        stats::delta_of(evidence.reference, evidence.candidate, evidence.paired, levels.tails);
  if (verdict.answer == Answer::Inconclusive) {
    verdict.times_as_many = times_to_decide(judgement, levels);
  }
  return verdict;
}

}  // namespace

std::optional<Verdict> decide_at_look(const Condition& condition, std::size_t candidate,
                                      const Evidence& evidence, const Levels& levels, Look look) {
  const Judgement judgement =
      judge(evidence, condition.limit_percent / 100.0,
            condition.below ? FailsWhen::Below : FailsWhen::Above, levels, look.last);
  if (!judgement.answer) {
    return std::nullopt;
  }
  return verdict_of(judgement, condition, candidate, evidence, levels, look);
}

}  // namespace lauka::gate
