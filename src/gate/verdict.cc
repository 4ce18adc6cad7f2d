#include "gate/verdict.h"

#include "stats/normal.h"
#include "stats/typical.h"

#include <algorithm>

namespace lauka::gate {

namespace {

constexpr double kMostTimesWorthTelling = 50.0;

stats::Delta delta_of(const Evidence& evidence, double confidence) {
  if (evidence.reference.empty() || evidence.candidate.empty()) {
    return {};
  }
  return evidence.paired
             ? stats::paired_delta(evidence.reference, evidence.candidate, confidence)
             : stats::unpaired_delta(evidence.reference, evidence.candidate, confidence);
}

/// Only with its bounds: an estimate alone says nothing that the delta does not.
std::optional<Typical> typical_of(const Evidence& evidence, double tail) {
  if (!evidence.paired) {
    return std::nullopt;
  }
  const auto typical = stats::typical_change(evidence.reference, evidence.candidate, tail);
  if (!typical || !typical->bounds) {
    return std::nullopt;
  }
  return Typical{
      .change = typical->change, .low = typical->bounds->low, .high = typical->bounds->high};
}

/// A deviate grows with the root of the rounds: how many times the rounds would take the smaller
/// probability to its level, if what was seen so far is the truth.
std::optional<double> times_to_decide(const Judgement& judgement, const Levels& levels) {
  const bool towards_fail = judgement.p_slower < judgement.p_not_slower;
  const double probability = std::min(judgement.p_slower, judgement.p_not_slower);
  if (probability <= 0.0 || probability >= 0.5) {
    return std::nullopt;
  }
  const double ratio = stats::normal_quantile_above(towards_fail ? levels.fail : levels.pass) /
                       stats::normal_quantile_above(probability);
  const double times = ratio * ratio;
  if (times < 1.0 || times > kMostTimesWorthTelling) {
    return std::nullopt;
  }
  return times;
}

Verdict verdict_of(const Judgement& judgement, const Condition& condition, std::size_t candidate,
                   const Evidence& evidence, const Levels& levels, std::size_t look) {
  Verdict verdict{.condition = condition,
                  .candidate = candidate,
                  .answer = judgement.answer.value_or(Answer::Inconclusive),
                  .delta = delta_of(evidence, levels.interval_confidence()),
                  .rounds = evidence.rounds(),
                  .p_slower = judgement.p_slower,
                  .p_not_slower = judgement.p_not_slower,
                  .level = judgement.level,
                  .typical = typical_of(evidence, levels.tail),
                  .look = look,
                  .decided_by = judgement.decided_by};
  if (verdict.answer == Answer::Inconclusive) {
    verdict.times_as_many = times_to_decide(judgement, levels);
  }
  return verdict;
}

}  // namespace

std::optional<Verdict> decide_at_look(const Condition& condition, std::size_t candidate,
                                      const Evidence& evidence, const Levels& levels, Look look) {
  const Judgement judgement = judge(evidence, condition.limit_percent / 100.0, levels, look.last);
  if (!judgement.answer) {
    return std::nullopt;
  }
  return verdict_of(judgement, condition, candidate, evidence, levels, look.number);
}

}  // namespace lauka::gate
