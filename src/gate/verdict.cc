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

Verdict verdict_of(const Judgement& judgement, const Question& question, const Evidence& evidence,
                   const Levels& levels, const Look& look) {
  Verdict verdict{.condition = question.condition,
                  .candidate = question.candidate,
                  .metric = question.metric,
                  .answer = judgement.answer.value_or(Answer::Inconclusive),
                  .rounds = evidence.rounds(),
                  .planned_rounds = look.planned_rounds,
                  .p_fail = judgement.p_fail,
                  .p_pass = judgement.p_pass,
                  .level = judgement.level,
                  .look = look.number,
                  .decided_by = judgement.decided_by};
  verdict.delta = stats::delta_of(evidence.reference, evidence.candidate, evidence.paired,
                                  levels.tails, evidence.share);
  if (verdict.answer != Answer::Inconclusive) {
    const Condition& condition = question.condition;
    verdict.bounds =
        bounds_of(judgement, evidence, condition.limit_percent / 100.0,
                  condition.below ? FailsWhen::Below : FailsWhen::Above, levels, verdict.delta);
  }
  if (verdict.answer == Answer::Inconclusive) {
    verdict.times_as_many = times_to_decide(judgement, levels);
  }
  return verdict;
}

}  // namespace

std::optional<Verdict> decide_at_look(const Question& question, const Comparison& samples,
                                      std::optional<std::size_t> too_small, const Levels& levels,
                                      Look look) {
  const Condition& condition = question.condition;
  if (samples.is_empty()) {
    if (!look.last && !too_small) return std::nullopt;
    Verdict nothing{
        .condition = condition, .candidate = question.candidate, .metric = question.metric};
    nothing.too_small = too_small;
    nothing.level = levels.pass.value_or(0.0);
    nothing.look = look.number;
    return nothing;
  }
  const Evidence evidence{samples.reference, samples.candidate, samples.paired, question.share};
  const Judgement judgement =
      judge(evidence, condition.limit_percent / 100.0,
            condition.below ? FailsWhen::Below : FailsWhen::Above, levels, look.last);
  if (!judgement.answer) {
    return std::nullopt;
  }
  return verdict_of(judgement, question, evidence, levels, look);
}

Comparison against_bound(const Condition& condition, const Series& series) {
  Comparison samples{{}, series.values, true};
  if (series.largest_bound) {
    const bool is_within = !condition.below && *series.largest_bound <= *condition.bound;
    if (!is_within) return {};
    samples.candidate.insert(samples.candidate.end(), series.bounded, *series.largest_bound);
  }
  samples.reference.assign(samples.candidate.size(), *condition.bound);
  return samples;
}

}  // namespace lauka::gate
