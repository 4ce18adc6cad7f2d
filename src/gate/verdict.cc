#include "gate/verdict.h"

#include "stats/distributions.h"

#include <numeric>

namespace lauka::gate {

namespace {

constexpr double kMostTimesWorthTelling = 50.0;

FailsWhen fails_when(const Condition& condition) {
  return condition.below ? FailsWhen::Below : FailsWhen::Above;
}

/// Returns how many times as many rounds would take the smaller probability to its level, if the
/// samples so far are typical: a deviate grows with the root of the rounds.
std::optional<double> times_to_decide(const Judgement& judgement, const Levels& levels) {
  const bool towards_fail = judgement.p_fail < judgement.p_pass;
  const double probability = std::min(judgement.p_fail, judgement.p_pass);
  const std::optional<double> level = towards_fail ? levels.fail : levels.pass;
  if (!level || probability <= 0.0 || probability >= 0.5) return std::nullopt;
  const double ratio =
      stats::normal_quantile_above(*level) / stats::normal_quantile_above(probability);
  const double times = ratio * ratio;
  if (times < 1.0 || times > kMostTimesWorthTelling) return std::nullopt;
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
    verdict.bounds = bounds_of(judgement, evidence, condition.limit_percent / 100.0,
                               fails_when(condition), levels, verdict.delta);
  }
  if (verdict.answer == Answer::Inconclusive)
    verdict.times_as_many = times_to_decide(judgement, levels);
  return verdict;
}

/// Returns the indices of `p`, the smallest value first.
std::vector<std::size_t> ascending(std::span<const double> p) {
  std::vector<std::size_t> places(p.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  return places;
}

std::vector<bool> first_of(const std::vector<std::size_t>& places, std::size_t count) {
  std::vector<bool> rejected(places.size(), false);
  for (std::size_t i = 0; i < count; ++i) rejected[places[i]] = true;
  return rejected;
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
      judge(evidence, condition.limit_percent / 100.0, fails_when(condition), levels, look.last);
  if (!judgement.answer) return std::nullopt;
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

std::vector<bool> holm(std::span<const double> p, double error) {
  const auto places = ascending(p);
  std::size_t count = 0;
  while (count < p.size() && p[places[count]] <= error / static_cast<double>(p.size() - count))
    ++count;
  return first_of(places, count);
}

std::vector<bool> benjamini_hochberg(std::span<const double> p, double error) {
  const auto places = ascending(p);
  const auto all = static_cast<double>(p.size());
  std::size_t count = p.size();
  while (count > 0 && p[places[count - 1]] > error * static_cast<double>(count) / all) --count;
  return first_of(places, count);
}

void settle_job(std::span<Findings* const> findings, double error, Risk risk) {
  std::vector<Verdict*> verdicts;
  for (Findings* one : findings)
    for (Verdict& verdict : one->verdicts) verdicts.push_back(&verdict);
  const double alone = error / static_cast<double>(std::max<std::size_t>(verdicts.size(), 1));
  std::vector<double> p;
  p.reserve(verdicts.size());
  for (const Verdict* verdict : verdicts)
    p.push_back(verdict->answer == Answer::Fail ? std::min(verdict->p_of_fail, alone)
                                                : verdict->p_of_fail);
  const auto rejected = risk == Risk::Any ? holm(p, error) : benjamini_hochberg(p, error);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    Verdict& verdict = *verdicts[i];
    if (!rejected[i] || verdict.answer != Answer::Inconclusive) continue;
    verdict.answer = Answer::Fail;
    verdict.decided_by = DecidedBy::Both;
    verdict.times_as_many.reset();
  }
}

}  // namespace lauka::gate
