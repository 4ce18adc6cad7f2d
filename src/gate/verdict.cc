#include "gate/verdict.h"

#include "stats/quantiles.h"
#include "stats/rank_tests.h"
#include "stats/resemblance.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace lauka::gate {

namespace {

constexpr std::size_t kMinForMannWhitney = 5;  // runs of each side, for the normal approximation

/// The results of the two tests of one look. `ranks_above`: rank statistic minus its mean without a
/// change.
struct LookTests {
  stats::MeanTest mean{};
  stats::TailProbabilities ranks{};
  double ranks_above = 0.0;
};

/// Returns the tests of samples that are paired by their rounds. Only the mean's test is widened.
LookTests run_paired_tests(const stats::SamplePair& samples, double ratio,
                           const stats::Widening& widening) {
  // Without a change, half of the sum of all ranks, n (n + 1) / 2, belongs to rounds in which the
  // candidate is above the reference.
  const auto ranks = stats::signed_rank(samples.reference, samples.candidate, ratio);
  const auto rounds = static_cast<double>(ranks.ranked_rounds);
  return {.mean = stats::paired_mean_test(samples.reference, samples.candidate, ratio, widening),
          .ranks = ranks.tails,
          .ranks_above = ranks.positive_sum - rounds * (rounds + 1.0) / 4.0};
}

/// Returns the tests of independent samples. Only the mean's test is widened.
LookTests run_unpaired_tests(const stats::SamplePair& samples, double ratio,
                             const stats::Widening& widening) {
  // Without a change, the candidate is above the reference in half of all pairs of runs.
  const auto ranks = stats::mann_whitney(samples.reference, samples.candidate, ratio);
  const double pairs =
      static_cast<double>(samples.reference.size()) * static_cast<double>(samples.candidate.size());
  return {.mean = stats::welch_mean_test(samples.reference, samples.candidate, ratio, widening),
          .ranks = ranks.tails,
          .ranks_above = ranks.u - pairs / 2.0};
}

/// Tests the candidate against `ratio` times the reference, by means and by ranks. If neighbouring
/// rounds resemble each other, the p values are larger.
LookTests run_tests(const Evidence& evidence, double ratio) {
  // Each layout (a build with its code at other addresses) counts as one value. The change over
  // layouts is tested by its mean only.
  if (evidence.has_layouts())
    return {.mean = stats::test_over_layouts(evidence.samples_with_layouts(), ratio,
                                             evidence.gated_quantile)};

  const stats::SamplePair samples = evidence.samples();
  const stats::Widening widening = stats::widening_of(samples);
  LookTests tests = evidence.paired ? run_paired_tests(samples, ratio, widening)
                                    : run_unpaired_tests(samples, ratio, widening);
  tests.ranks = stats::widen_tails(
      tests.ranks, widening.rank_test_factor(samples.reference.size(), samples.candidate.size()));
  return tests;
}

/// Returns the tests with "above" as the side on which the gate fails.
LookTests turn_towards_fail(LookTests tests, FailsWhen fails_when) {
  auto& [mean, ranks, ranks_above] = tests;
  if (fails_when == FailsWhen::Above) return tests;
  // Rounds that are all exactly at the limit support a pass, also if the gate fails below the
  // limit.
  const bool are_at_limit = !mean.t && mean.difference == 0.0;
  if (!are_at_limit) std::swap(mean.tails.above, mean.tails.below);
  std::swap(ranks.above, ranks.below);
  mean.difference = -mean.difference;
  ranks_above = -ranks_above;
  return tests;
}

/// True if there are enough rounds for the rank test, which is not used over layouts.
bool are_enough_for_ranks(const Evidence& evidence, double level) {
  if (evidence.has_layouts()) return false;
  const std::size_t fewer = std::min(evidence.reference.size(), evidence.candidate.size());
  return evidence.paired ? rank_test_can_decide(fewer, level) : fewer >= kMinForMannWhitney;
}

/// Returns the p value of both tests together (Bonferroni, with unequal shares), or that of the
/// mean alone.
double combine_p_values(double p_of_ranks, double p_of_mean, bool may_ranks_decide) {
  if (!may_ranks_decide) return p_of_mean;
  return std::min({1.0, p_of_ranks / kErrorShareOfRankTest, p_of_mean / kErrorShareOfMeanTest});
}

/// Which tests may decide, and the error that they may spend together.
struct DecidingTests {
  double level = 0.0;
  bool may_ranks_decide = false;
  bool may_mean_decide = true;
};

/// Returns which of the p values of the rank test and of the mean's test are small enough.
DecidedBy find_deciding_tests(double p_of_ranks, double p_of_mean, const DecidingTests& deciding) {
  const double level = deciding.level;
  const bool by_ranks = deciding.may_ranks_decide && p_of_ranks <= kErrorShareOfRankTest * level;
  const bool by_mean =
      deciding.may_mean_decide &&
      p_of_mean <= (deciding.may_ranks_decide ? kErrorShareOfMeanTest * level : level);
  if (by_ranks) return by_mean ? DecidedBy::Both : DecidedBy::Ranks;
  return by_mean ? DecidedBy::Mean : DecidedBy::Nothing;
}

/// Returns which tests let the gate pass. `ranks_alone`: true if only the rank test may decide,
/// which then spends all of the error.
DecidedBy find_passing_tests(const LookTests& tests, const DecidingTests& deciding,
                             bool ranks_alone, std::optional<double> max_mean_test_p) {
  if (tests.mean.difference > 0 || tests.ranks_above > 0) return DecidedBy::Nothing;
  if (max_mean_test_p && tests.mean.tails.below > *max_mean_test_p) return DecidedBy::Nothing;
  if (ranks_alone)
    return tests.ranks.below <= deciding.level ? DecidedBy::Ranks : DecidedBy::Nothing;
  return find_deciding_tests(tests.ranks.below, tests.mean.tails.below, deciding);
}

bool is_fail_likelier(const Judgement& judgement) {
  return judgement.p_value_of_fail < judgement.p_value_of_pass;
}

/// Returns the error that a look may spend on the likelier answer.
std::optional<double> level_of_likelier_answer(const Judgement& judgement,
                                               const LookErrors& levels) {
  return is_fail_likelier(judgement) ? levels.error_of_false_fail : levels.error_of_false_pass;
}

void judge_quantile(const Evidence& evidence, const GateTest& test, Judgement& result) {
  const LookErrors& levels = test.levels;
  const bool above = test.fails_when == FailsWhen::Above;
  const stats::TailProbabilities tails =
      stats::quantile_tails(evidence.samples(), *evidence.gated_quantile, 1.0 + test.limit,
                            above ? stats::EqualToLimit::IsBelow : stats::EqualToLimit::IsAbove);
  result.rank_test_tails = tails;
  result.p_value_of_fail = above ? tails.above : tails.below;
  result.p_value_of_pass = above ? tails.below : tails.above;
  const bool is_fail =
      levels.error_of_false_fail && result.p_value_of_fail <= *levels.error_of_false_fail;
  const bool is_pass = !is_fail && levels.error_of_false_pass &&
                       result.p_value_of_pass <= *levels.error_of_false_pass;
  if (is_fail || is_pass) {
    result.answer = is_fail ? Answer::Fail : Answer::Pass;
    result.decided_by = DecidedBy::Ranks;
  }
  result.allowed_error = level_of_likelier_answer(result, levels).value_or(0.0);
}

/// Finds the value nearest to `estimate` for which `holds` is true, to a millionth of the distance
/// between `limit` and `estimate`. `holds` must be true for `limit`.
template <typename Holds>
std::optional<double> find_farthest(double limit, std::optional<double> estimate, Holds holds) {
  if (!estimate) return std::nullopt;
  if (holds(*estimate)) return *estimate;
  double held = limit;
  double not_held = *estimate;
  constexpr int halvings = 20;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (held + not_held) / 2.0;
    (holds(middle) ? held : not_held) = middle;
  }
  return not_held == *estimate ? *estimate : held;
}

constexpr double kMaxFactorWorthTelling = 50.0;  // of the number of rounds
constexpr std::size_t kFewestRoundsForAdvice = 10;

/// Returns a gate's own limit as a change from what its deltas are changes from: the reference or,
/// if the limit is a value, the tested limit.
double own_limit_as_change(const GateLimit& own, const GateLimit& tested) {
  return own.is_change() ? own.fraction() : own.number / tested.number - 1.0;
}

FailsWhen fails_when(const Condition& condition) {
  return condition.fails_below_limit ? FailsWhen::Below : FailsWhen::Above;
}

std::optional<std::size_t> estimate_layouts_to_decide(const Judgement& judgement,
                                                      const Evidence& evidence,
                                                      const GateTest& test) {
  const LookErrors& levels = test.levels;
  // Independent layouts may be those of a baseline, of which there will not be more.
  if (!evidence.paired || !level_of_likelier_answer(judgement, levels)) return std::nullopt;
  const auto estimate =
      stats::log_ratio_over_layouts(evidence.samples_with_layouts(), evidence.gated_quantile);
  if (!estimate) return std::nullopt;
  const bool fails_above = test.fails_when == FailsWhen::Above;
  const stats::AllowedErrors allowed{
      .above = fails_above ? levels.error_of_false_fail : levels.error_of_false_pass,
      .below = fails_above ? levels.error_of_false_pass : levels.error_of_false_fail};
  return estimate->layouts_to_decide(std::log1p(test.limit), allowed);
}

/// Returns the probability that a new session with `times` as many rounds decides. `deviate`:
/// normal deviate of this session's change from the limit, positive if it is beyond the limit. The
/// new session's deviate is expected to be sqrt(times) * deviate. Its variance is times + 1,
/// because both sessions vary (the predictive distribution with a flat prior).
double chance_to_decide(double times, double deviate, const LookErrors& levels) {
  const double expected = std::sqrt(times) * deviate;
  const double spread = std::sqrt(times + 1.0);
  const auto chance = [&](std::optional<double> error, double towards) {
    if (!error) return 0.0;
    return stats::normal_above((stats::normal_quantile_above(*error) - towards) / spread);
  };
  return chance(levels.error_of_false_fail, expected) +
         chance(levels.error_of_false_pass, -expected);
}

/// Returns the smallest factor of the number of rounds with which a new session decides in four of
/// five cases; nullopt if even kMaxFactorWorthTelling is too small. `deviate`: as in
/// chance_to_decide().
std::optional<double> find_smallest_rounds_factor(double deviate, const LookErrors& levels) {
  const auto is_enough = [&](double times) {
    return chance_to_decide(times, deviate, levels) >= stats::kChanceOfAdvice;
  };
  double too_few = 1.0;
  double enough = kMaxFactorWorthTelling;
  if (!is_enough(enough)) return std::nullopt;

  // Bisects on a logarithmic scale.
  constexpr int halvings = 40;
  for (int i = 0; i < halvings; ++i) {
    const double middle = std::sqrt(too_few * enough);
    (is_enough(middle) ? enough : too_few) = middle;
  }
  return enough;
}

/// Advises how many times as many rounds a new session needs to decide in four of five cases,
/// whatever its answer. Returns nullopt if more rounds would not help, or if there is too little
/// evidence for advice. `scripts/bench gate` checks this rate.
std::optional<double> estimate_rounds_factor(const Judgement& judgement, const Evidence& evidence,
                                             const LookErrors& levels) {
  // Samples that are not paired may be those of a baseline, of which there will not be more.
  if (!evidence.paired || evidence.candidate.size() < kFewestRoundsForAdvice) return std::nullopt;

  // A p value that is small enough already means that something else prevented the answer. From 0.5
  // on, the change is about at the limit, and no number of rounds decides.
  const double p_value = std::min(judgement.p_value_of_fail, judgement.p_value_of_pass);
  const std::optional<double> level = level_of_likelier_answer(judgement, levels);
  if (!level || p_value <= *level || p_value >= 0.5) return std::nullopt;

  // The deviate tells by how many standard errors the change is beyond the limit.
  const double distance = stats::normal_quantile_above(p_value);
  return find_smallest_rounds_factor(is_fail_likelier(judgement) ? distance : -distance, levels);
}

/// True if the rounds until the last look would hardly keep the candidate.
bool is_hopeless_to_keep(const Judgement& judgement, const Evidence& evidence,
                         const LookErrors& levels, const Look& look) {
  const std::size_t rounds = evidence.candidate.size();
  const bool is_estimable = levels.error_of_pass_at_last_look && evidence.paired &&
                            !evidence.has_layouts() && rounds >= kFewestRoundsForAdvice &&
                            rounds < look.rounds_at_last_look;
  if (!is_estimable) return false;
  const double share = static_cast<double>(rounds) / static_cast<double>(look.rounds_at_last_look);
  return chance_to_pass_at_last_look(judgement.p_value_of_pass, share,
                                     *levels.error_of_pass_at_last_look) < kMinChanceOfKeeping;
}

bool are_few_layouts(std::span<const std::uint32_t> layouts) {
  return std::set<std::uint32_t>(layouts.begin(), layouts.end()).size() < kMinLayouts;
}

/// Returns the change of the evidence: over layouts, if it has any.
stats::Delta estimate_change(const Evidence& evidence, const stats::IntervalTails& tails) {
  return evidence.has_layouts()
             ? stats::delta_over_layouts(evidence.samples_with_layouts(), tails,
                                         evidence.gated_quantile)
             : stats::estimate_delta(evidence.samples(), tails, evidence.gated_quantile);
}

/// Sets what prevented the answer of an inconclusive verdict, or what would lead to one: more
/// rounds or, with --layouts, more layouts (builds of each command).
void enter_advice(const Judgement& judgement, const Evidence& evidence, const GateTest& test,
                  Verdict& verdict) {
  if (!evidence.has_layouts()) {
    verdict.rounds_factor = estimate_rounds_factor(judgement, evidence, test.levels);
    return;
  }

  if (are_few_layouts(evidence.reference_layouts) || are_few_layouts(evidence.candidate_layouts))
    verdict.hindrance = {.obstacle = Obstacle::FewLayouts};
  if (verdict.delta.change)
    verdict.layouts_to_decide = estimate_layouts_to_decide(judgement, evidence, test);
}

/// Turns the outcome of a look's tests (`judgement`) into the verdict that the user sees: the
/// answer, the change with its interval and, depending on the answer, its bounds or advice.
void enter_judgement(const Judgement& judgement, const Evidence& evidence, const GateTest& test,
                     Verdict& verdict) {
  verdict.answer = judgement.answer.value_or(Answer::Inconclusive);
  verdict.p_value_of_fail = judgement.p_value_of_fail;
  verdict.p_value_of_pass = judgement.p_value_of_pass;
  verdict.spendable_error = judgement.allowed_error;
  verdict.decided_by = judgement.decided_by;
  verdict.delta = estimate_change(evidence, test.levels.tails);

  if (verdict.answer == Answer::Inconclusive)
    enter_advice(judgement, evidence, test, verdict);
  else
    verdict.bounds = decision_bounds(judgement, evidence, test, verdict.delta);
}

/// Returns the indices of p values, that of the smallest first.
std::vector<std::size_t> sort_indices(std::span<const double> p) {
  std::vector<std::size_t> indices(p.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::ranges::stable_sort(indices, [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  return indices;
}

/// Returns for each index whether it is among the first `count` of `indices`.
std::vector<bool> mark_first(const std::vector<std::size_t>& indices, std::size_t count) {
  std::vector<bool> rejected(indices.size(), false);
  for (std::size_t i = 0; i < count; ++i) rejected[indices[i]] = true;
  return rejected;
}

/// Returns why samples cannot be compared; nullopt if later looks may see samples that can.
std::optional<Hindrance> find_hindrance_to_compare(const SamplesAtLook& at_look,
                                                   bool is_last_look) {
  const bool is_empty = at_look.samples.is_empty();
  const bool is_hopeless = is_empty && at_look.lasting.obstacle != Obstacle::None;
  if (!is_last_look && !is_hopeless) return std::nullopt;

  if (!is_empty) return Hindrance{Obstacle::NoPercentage};
  return is_hopeless ? at_look.lasting : Hindrance{Obstacle::NoCommonRound};
}

/// The tests of one look, and how they relate to the limit.
struct TestsAtLimit {
  LookTests towards_fail{};  ///< "above" is the side on which the gate fails
  bool has_noise = false;
  /// True if a pass keeps the candidate, and all rounds are exactly at the limit. They show that
  /// the candidate is not better than that.
  bool are_at_limit = false;
};

/// Returns the tests turned towards a fail, with what they say about the limit.
TestsAtLimit relate_to_limit(const LookTests& tests, const GateTest& test) {
  const bool has_noise = tests.mean.t.has_value();
  TestsAtLimit related{
      .towards_fail = turn_towards_fail(tests, test.fails_when),
      .has_noise = has_noise,
      .are_at_limit = test.levels.pass_keeps && !has_noise && tests.mean.difference == 0.0};
  if (related.are_at_limit) {
    auto& tails = related.towards_fail.mean.tails;
    std::swap(tails.above, tails.below);
  }
  return related;
}

/// Enters in `result` whether the gate fails, at a look that can fail.
void judge_fail(const TestsAtLimit& tests, const Evidence& evidence, double level,
                Judgement& result) {
  const stats::TailProbabilities& ranks = tests.towards_fail.ranks;
  const stats::MeanTest& mean = tests.towards_fail.mean;
  const bool may_ranks_decide = are_enough_for_ranks(evidence, level);
  result.p_value_of_fail = combine_p_values(ranks.above, mean.tails.above, may_ranks_decide);
  result.decided_by =
      find_deciding_tests(ranks.above, mean.tails.above,
                          {.level = level,
                           .may_ranks_decide = may_ranks_decide,
                           .may_mean_decide = mean.difference > 0 || tests.are_at_limit});
  if (result.decided_by == DecidedBy::Nothing) return;

  result.answer = Answer::Fail;
  result.allowed_error = level;
}

/// Enters in `result` whether the gate passes, unless it has failed or the look cannot pass. The p
/// value is entered in any case.
void judge_pass(const TestsAtLimit& tests, const Evidence& evidence, const LookErrors& levels,
                Judgement& result) {
  const stats::TailProbabilities& ranks = tests.towards_fail.ranks;
  const stats::MeanTest& mean = tests.towards_fail.mean;
  const double level = levels.error_of_false_pass.value_or(0.0);
  const bool may_ranks_decide = are_enough_for_ranks(evidence, level);
  const bool ranks_alone = levels.pass_keeps && tests.has_noise && !evidence.has_layouts();
  result.p_value_of_pass =
      ranks_alone ? ranks.below : combine_p_values(ranks.below, mean.tails.below, may_ranks_decide);

  if (!levels.error_of_false_pass || result.answer == Answer::Fail) return;
  result.decided_by =
      find_passing_tests(tests.towards_fail, {.level = level, .may_ranks_decide = may_ranks_decide},
                         ranks_alone, levels.max_mean_test_p_of_pass);
  if (result.decided_by != DecidedBy::Nothing) result.answer = Answer::Pass;
}

/// Enters in `result` what the tests of the mean and of the ranks, or over layouts, say.
void judge_change(const Evidence& evidence, const GateTest& test, Judgement& result) {
  const LookErrors& levels = test.levels;
  const LookTests tests = run_tests(evidence, 1.0 + test.limit);
  result.mean_difference = tests.mean.difference;
  result.mean_test_tails = tests.mean.tails;
  result.rank_test_tails = tests.ranks;

  const TestsAtLimit related = relate_to_limit(tests, test);
  if (related.towards_fail.mean.difference > 0)
    result.allowed_error = levels.error_of_false_fail.value_or(0.0);
  if (levels.error_of_false_fail)
    judge_fail(related, evidence, *levels.error_of_false_fail, result);

  // A look that is too early to keep a candidate still tells how likely a later look keeps it.
  if (levels.error_of_false_pass || levels.pass_keeps)
    judge_pass(related, evidence, levels, result);
}

/// Returns the judgement that `test` would have given at another limit.
Judgement judge_at_limit(double limit, const Evidence& evidence, const GateTest& test) {
  return judge(evidence, {.limit = limit, .fails_when = test.fails_when, .levels = test.levels});
}

bool was_decided_by(const Judgement& judgement, DecidedBy test) {
  return judgement.decided_by == test || judgement.decided_by == DecidedBy::Both;
}

/// True if the samples can be tested. A change from a reference is tested in percent, which is not
/// defined for negative values. A limit that is a value needs no percentage.
bool can_be_tested(const Comparison& samples, const GateLimit& limit) {
  const bool has_needed_percentage =
      !limit.needs_reference() || stats::allows_percentages(samples.reference, samples.candidate);
  return !samples.is_empty() && has_needed_percentage;
}

/// Tests the evidence at one look at the results. Enters in `verdict` what the test decides.
/// Returns false, and enters nothing, if the rounds must go on.
bool decide_by_test(Verdict& verdict, const Evidence& evidence, const LookErrors& levels,
                    const Look& look) {
  const GateTest test{.limit = verdict.condition.limit.fraction(),
                      .fails_when = fails_when(verdict.condition),
                      .levels = levels,
                      .is_last_look = look.last};
  Judgement judgement = judge(evidence, test);

  if (!judgement.answer) {
    // A gate that decides whether a candidate is kept gives up if the remaining rounds would hardly
    // keep it.
    if (!is_hopeless_to_keep(judgement, evidence, levels, look)) return false;
    judgement.answer = Answer::Inconclusive;
    verdict.is_given_up = true;
  }

  enter_judgement(judgement, evidence, test, verdict);
  verdict.estimated_rounds_without_gates = look.estimated_rounds_without_gates;

  // Before the last look, its number of rounds is an estimate.
  verdict.rounds_at_last_look = look.last ? evidence.candidate.size() : look.rounds_at_last_look;
  return true;
}

std::vector<Verdict*> list_verdicts(std::span<Findings* const> findings) {
  std::vector<Verdict*> verdicts;
  for (Findings* benchmark : findings)
    for (Verdict& verdict : benchmark->verdicts) verdicts.push_back(&verdict);
  return verdicts;
}

/// Returns the p value of each gate over all looks. A gate that failed by itself spent at most its
/// own part of the error, so its p value is at most this part.
std::vector<double> list_p_values(const std::vector<Verdict*>& verdicts, double error) {
  const double gates = static_cast<double>(std::max<std::size_t>(verdicts.size(), 1));
  const double error_of_gate = error / gates;
  std::vector<double> p_values;
  p_values.reserve(verdicts.size());
  for (const Verdict* verdict : verdicts) {
    const bool has_failed = verdict->answer == Answer::Fail;
    p_values.push_back(has_failed ? std::min(verdict->p_over_all_looks, error_of_gate)
                                  : verdict->p_over_all_looks);
  }
  return p_values;
}

/// Fails a gate that was inconclusive. The verdict now has an answer, so it needs no advice on how
/// to get one.
void make_fail(Verdict& verdict) {
  verdict.answer = Answer::Fail;
  verdict.decided_by = DecidedBy::Both;
  verdict.rounds_factor.reset();
  verdict.layouts_to_decide.reset();
}

}  // namespace

Evidence evidence_of(const Comparison& samples, std::optional<double> gated_quantile) {
  return {.reference = samples.reference,
          .candidate = samples.candidate,
          .paired = samples.paired,
          .gated_quantile = gated_quantile,
          .reference_layouts = samples.reference_layouts,
          .candidate_layouts = samples.candidate_layouts};
}

// With layouts, only the test over layouts decides; for a quantile without layouts, only the
// quantile's interval. Otherwise the rank test and the mean's test can decide; with too few rounds
// for the rank test, the mean's test may spend the whole error. A gate passes only if neither the
// mean nor the ranks are beyond the limit.
Judgement judge(const Evidence& evidence, const GateTest& test) {
  Judgement result;
  // Before the last look, no answer means that further rounds are made.
  if (test.is_last_look) result.answer = Answer::Inconclusive;
  result.allowed_error = test.levels.error_of_false_pass.value_or(0.0);
  if (evidence.reference.empty() || evidence.candidate.empty()) return result;

  if (evidence.gated_quantile && !evidence.has_layouts())
    judge_quantile(evidence, test, result);
  else
    judge_change(evidence, test, result);
  return result;
}

/// A bound shows a reader how clear a decision was: "+7.2%, at least +6.1%" for a limit of +5%.
DecisionBounds decision_bounds(const Judgement& judgement, const Evidence& evidence,
                               const GateTest& test, const stats::Delta& delta) {
  // The bound of a test is the farthest limit at which it would still have given this answer.
  const auto find_bound = [&](DecidedBy deciding_test,
                              std::optional<double> estimate) -> std::optional<double> {
    if (!was_decided_by(judgement, deciding_test)) return std::nullopt;

    return find_farthest(test.limit, estimate, [&](double limit) {
      const Judgement moved = judge_at_limit(limit, evidence, test);
      return moved.answer == judgement.answer && was_decided_by(moved, deciding_test);
    });
  };

  // Over layouts, `delta` is the change of the mean itself.
  const std::optional<double> mean_change =
      evidence.has_layouts() ? delta.change : delta.change_of_mean.change;
  return {.ranks = find_bound(DecidedBy::Ranks, delta.change),
          .mean = find_bound(DecidedBy::Mean, mean_change)};
}

/// A look is a test of the samples so far, before or after the last round. It either decides, or
/// says why nothing can decide, or leaves the gate to a later look.
bool decide_at_look(Verdict& verdict, const SamplesAtLook& at_look, const LookErrors& levels,
                    Look look) {
  const Comparison& samples = at_look.samples;
  if (can_be_tested(samples, verdict.condition.limit)) {
    const Evidence evidence = evidence_of(samples, at_look.gated_quantile);
    if (!decide_by_test(verdict, evidence, levels, look)) return false;
  } else {
    const auto hindrance = find_hindrance_to_compare(at_look, look.last);
    if (!hindrance) return false;
    verdict.hindrance = *hindrance;
    verdict.spendable_error = levels.error_of_false_pass.value_or(0.0);
  }

  if (!samples.is_empty()) verdict.rounds = samples.candidate.size();
  verdict.look = look.number;
  return true;
}

// The deviate of all rounds is expected to be that of the look divided by sqrt(share). Its
// variance, (1 - share) / share, is that of the predictive distribution with a flat prior, because
// both the estimate and the remaining rounds vary.
double chance_to_pass_at_last_look(double p_value_of_pass, double share, double error) {
  constexpr double smallest = 1e-15;
  const double p = std::clamp(p_value_of_pass, smallest, 1.0 - smallest);
  const double expected = stats::normal_quantile_above(p) / std::sqrt(share);
  const double spread = std::sqrt((1.0 - share) / share);
  return stats::normal_above((stats::normal_quantile_above(error) - expected) / spread);
}

Answer answer_of(Decision decision) {
  switch (decision) {
    case Decision::Pass:
    case Decision::Kept:
      return Answer::Pass;
    case Decision::Fail:
    case Decision::Worse:
    case Decision::Equal:
      return Answer::Fail;
    case Decision::Inconclusive:
    case Decision::Undecided:
      break;
  }
  return Answer::Inconclusive;
}

const Verdict& find_verdict_with_most_rounds(std::span<const Verdict> verdicts) {
  return *std::ranges::max_element(verdicts, {}, &Verdict::rounds);
}

Decision Verdict::decision() const {
  const bool keeps = condition.is_for_keeping();
  if (answer == Answer::Pass) return keeps ? Decision::Kept : Decision::Pass;
  if (answer == Answer::Inconclusive) return keeps ? Decision::Undecided : Decision::Inconclusive;
  if (!keeps) return Decision::Fail;

  // Without an interval, the change itself is exact or all that is known.
  const double change = delta.change.value_or(0.0);
  const stats::IntervalEnds ends = delta.bounds.value_or(stats::IntervalEnds{change, change});
  const bool is_worse = condition.fails_below_limit ? ends.high < 0.0 : ends.low > 0.0;
  return is_worse || !condition.limit.needs_reference() ? Decision::Worse : Decision::Equal;
}

Comparison samples_against_limit(const Condition& condition, const Series& series) {
  Series known = series;
  if (known.largest_bound) {
    if (condition.fails_below_limit || *known.largest_bound > condition.limit.number) return {};
    known.values.insert(known.values.end(), known.runs_with_bound, *known.largest_bound);
    known.layouts.insert(known.layouts.end(), known.layouts_of_bounded_runs.begin(),
                         known.layouts_of_bounded_runs.end());
    known.largest_bound.reset();
  }
  Comparison samples = pair_samples(known, known, false);
  samples.paired = true;
  samples.reference.assign(samples.candidate.size(), condition.limit.number);
  return samples;
}

bool failures_differ(const stats::CountedShare& reference, const stats::CountedShare& candidate) {
  constexpr double max_p_value = 0.01;
  if (reference.trials == 0 || candidate.trials == 0) return false;
  const bool has_one_failed_throughout = (reference.trials_with_result == reference.trials) !=
                                         (candidate.trials_with_result == candidate.trials);
  return has_one_failed_throughout || stats::fisher_exact(reference, candidate) <= max_p_value;
}

AcceptanceUse acceptance_use_of(const Verdict& verdict) {
  const Condition& condition = verdict.condition;
  if (!condition.acceptance) return AcceptanceUse::None;
  if (condition.acceptance->has_expired) return AcceptanceUse::Expired;
  if (verdict.answer == Answer::Fail) return AcceptanceUse::Exceeded;
  if (verdict.answer == Answer::Inconclusive) return AcceptanceUse::Undecided;

  const stats::Delta& delta = verdict.delta;
  if (!delta.change || (!delta.bounds && !delta.is_exact)) return AcceptanceUse::Used;

  const double limit = own_limit_as_change(condition.acceptance->own_limit, condition.limit);
  const stats::IntervalEnds ends =
      delta.is_exact ? stats::IntervalEnds{*delta.change, *delta.change} : *delta.bounds;
  const bool is_within = condition.fails_below_limit ? ends.low >= limit : ends.high <= limit;
  return is_within ? AcceptanceUse::Unneeded : AcceptanceUse::Used;
}

void make_inconclusive(Verdict& verdict, Hindrance why) {
  verdict.answer = Answer::Inconclusive;
  verdict.hindrance = std::move(why);
  verdict.decided_by = DecidedBy::Nothing;
  verdict.bounds = {};
  verdict.rounds_factor.reset();
  verdict.layouts_to_decide.reset();
  verdict.p_over_all_looks = 1.0;
}

std::vector<bool> holm(std::span<const double> p, double error) {
  const auto indices = sort_indices(p);
  std::size_t count = 0;
  while (count < p.size() && p[indices[count]] <= error / static_cast<double>(p.size() - count))
    ++count;
  return mark_first(indices, count);
}

std::vector<bool> benjamini_hochberg(std::span<const double> p, double error) {
  const auto indices = sort_indices(p);
  const auto all = static_cast<double>(p.size());
  std::size_t count = p.size();
  while (count > 0 && p[indices[count - 1]] > error * static_cast<double>(count) / all) --count;
  return mark_first(indices, count);
}

/// While they ran, the gates shared the error equally, which is strict (Bonferroni). With the p
/// values of all gates, a less strict procedure controls the same error rate, and may fail more
/// gates.
void fail_gates_by_error_rate(std::span<Findings* const> findings, double error, ErrorRate risk) {
  const std::vector<Verdict*> verdicts = list_verdicts(findings);
  const std::vector<double> p_values = list_p_values(verdicts, error);

  // What is rejected is the hypothesis that the gate should not fail.
  const auto is_rejected =
      risk == ErrorRate::AnyFalseFail ? holm(p_values, error) : benjamini_hochberg(p_values, error);
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (is_rejected[i] && verdicts[i]->answer == Answer::Inconclusive) make_fail(*verdicts[i]);
}

}  // namespace lauka::gate
