#pragma once

#include "core/condition.h"
#include "core/decision.h"
#include "core/metric.h"
#include "core/settings.h"
#include "gate/race.h"
#include "gate/schedule.h"
#include "stats/delta.h"
#include "stats/distributions.h"
#include "stats/layouts.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lauka::gate {

enum class Answer : unsigned char { Pass, Fail, Inconclusive };

using lauka::Decision;

/// Returns the answer behind a decision.
Answer answer_of(Decision decision);

/// The samples of one metric on which a gate decides.
struct Evidence {
  std::span<const double> reference;
  std::span<const double> candidate;
  bool paired = true;
  /// Quantile that the gate is on, as a fraction; nullopt for other gates.
  std::optional<double> gated_quantile{};
  /// Layout of each sample of the reference; empty without --layouts.
  std::span<const std::uint32_t> reference_layouts{};
  std::span<const std::uint32_t> candidate_layouts{};

  bool has_layouts() const { return !candidate_layouts.empty(); }
  stats::SamplePair samples() const { return {reference, candidate, paired}; }
  stats::LayoutSamplePair samples_with_layouts() const {
    return {.reference = {reference, reference_layouts},
            .candidate = {candidate, candidate_layouts},
            .paired = paired};
  }
};

/// Returns the evidence of `samples`, which it refers to.
Evidence evidence_of(const Comparison& samples, std::optional<double> gated_quantile);

/// The reason why a gate cannot decide. More runs would not remove it, but for None and CutShort.
enum class Obstacle : unsigned char {
  None,           ///< the values were compared, and are too few or too noisy to decide
  NoSuccess,      ///< no run that could give the metric succeeded
  FailureRates,   ///< the commands fail at different rates, so they may do different work
  NoValue,        ///< no run gave the metric, though some succeeded
  NoCommonRound,  ///< no round gave the metric of both commands
  UpperBounds,    ///< some values are known only as upper bounds
  NoPercentage,   ///< some values are negative, or those of the reference are 0
  FewLayouts,     ///< too few layouts to estimate the change over layouts
  NoFunction,     ///< a command lacks the function that the gate is on
  NoCallers,      ///< a total time, but the callers of much of the sampled time are not known
  NoSamples,      ///< a sampled event has only values of 0, which prove nothing
  OtherSettings,  ///< the two sides measured something else: Hindrance::differences
  SameRuns,       ///< both sides are the same runs, of a session that was given twice
  CutShort,       ///< the session was ended before its last look at the gate
  NotRecorded,    ///< the decision that a candidate is kept is not in the file of its series
};

/// The command that an obstacle is about, or both.
enum class Side : unsigned char { Both, Reference, Candidate };

/// Returns the side to which something applies. At least one argument must be true.
constexpr Side side_of(bool applies_to_reference, bool applies_to_candidate) {
  if (applies_to_reference && applies_to_candidate) return Side::Both;
  return applies_to_reference ? Side::Reference : Side::Candidate;
}

/// An obstacle with what its explanation needs.
struct Hindrance {
  Obstacle obstacle = Obstacle::None;
  Side side = Side::Both;
  std::vector<SettingDifference> differences{};

  bool operator==(const Hindrance&) const = default;
};

/// The test that decided. Ranks: the rank test, or the interval of a quantile. Mean: the test of
/// the mean, or the test over layouts. Both: both tests, or fail_gates_by_error_rate().
enum class DecidedBy : unsigned char { Nothing, Ranks, Mean, Both };

enum class FailsWhen : unsigned char { Above, Below };

/// The decision of one look.
struct Judgement {
  std::optional<Answer> answer{};  ///< nullopt: wait for the next look
  DecidedBy decided_by = DecidedBy::Nothing;
  double p_value_of_fail = 1.0;  ///< p value of the answer Fail
  double p_value_of_pass = 1.0;  ///< p value of the answer Pass
  /// Error that the look may spend on its answer or, if undecided, on the likelier answer; 0 if the
  /// look cannot give that answer.
  double allowed_error = 0.0;
  double mean_difference = 0.0;
  stats::TailProbabilities rank_test_tails{};
  stats::TailProbabilities mean_test_tails{};
};

/// What one look tests.
struct GateTest {
  double limit = 0.0;  ///< limit of the candidate's change, as a fraction of the reference
  FailsWhen fails_when = FailsWhen::Above;
  LookErrors levels{};
  bool is_last_look = false;  ///< true: an undecided gate becomes inconclusive
};

/// Decides, at one look, if the candidate's change is beyond the limit.
Judgement judge(const Evidence& evidence, const GateTest& test);

/// The one-sided bounds of a decision, as fractions of the reference. A bound is how far the
/// gate's limit could be moved towards the estimate before the test's answer would change; nullopt
/// if the test did not decide, or if there is no estimate.
struct DecisionBounds {
  std::optional<double> ranks{};  ///< bound of the rank test, or of the interval of a quantile
  std::optional<double> mean{};
};

/// Finds the bounds of a `judgement` that has an answer. `delta` has the estimates.
DecisionBounds decision_bounds(const Judgement& judgement, const Evidence& evidence,
                               const GateTest& test, const stats::Delta& delta);

/// The answer of one gate about one candidate, with its evidence.
struct Verdict {
  Condition condition{};
  std::size_t candidate = 0;
  std::size_t metric = 0;  ///< index into Recording::metrics
  Answer answer = Answer::Inconclusive;
  stats::Delta delta{};  ///< change from the reference, or from the gate's bound
  std::size_t rounds = 0;
  /// Estimated number of rounds at the last look; 0 if unknown.
  std::size_t rounds_at_last_look = 0;
  /// Estimated number of timed rounds that the session would have had without gates. 0 if no
  /// early look decided, or if the metric is not of timed rounds.
  std::size_t estimated_rounds_without_gates = 0;
  double p_value_of_fail = 1.0;  ///< p value of the answer Fail
  double p_value_of_pass = 1.0;  ///< p value of the answer Pass
  double spendable_error = 0.0;
  /// P value of the answer Fail over all looks, for fail_gates_by_error_rate().
  double p_over_all_looks = 1.0;
  /// Factor (1..50) by which a session's number of rounds must grow to decide in four of five
  /// cases; nullopt if not estimated.
  std::optional<double> rounds_factor{};
  /// Number of layouts that decide in four of five cases; kMaxLayouts + 1 if kMaxLayouts do not.
  /// nullopt if not estimated, or if more rounds would decide.
  std::optional<std::size_t> layouts_to_decide{};
  /// Number of the look that gave the answer, from 1; one more than the looks taken if the session
  /// ended without an answer.
  std::size_t look = 1;
  DecidedBy decided_by = DecidedBy::Nothing;
  Hindrance hindrance{};
  DecisionBounds bounds{};
  /// True if the rounds ended before the last look, because the candidate would hardly be kept.
  bool is_given_up = false;

  Decision decision() const;
  /// True if a candidate is not kept because of this verdict.
  bool discards() const { return condition.is_for_keeping() && answer != Answer::Pass; }
};

/// Returns the first of those `verdicts` that have the most rounds. There must be one.
const Verdict& find_verdict_with_most_rounds(std::span<const Verdict> verdicts);

/// What a verdict says about the condition's acceptance.
enum class AcceptanceUse : unsigned char {
  None,       ///< nothing is accepted
  Used,       ///< the gate passes, but is not known to be within its own limit
  Unneeded,   ///< the gate passes, and its interval is within its own limit
  Exceeded,   ///< the gate fails by the accepted limit
  Undecided,  ///< the gate is inconclusive
  Expired,    ///< the gate tested its own limit
};

AcceptanceUse acceptance_use_of(const Verdict& verdict);

struct Look {
  std::size_t number = 1;
  bool last = true;
  std::size_t estimated_rounds_without_gates = 0;
  std::size_t rounds_at_last_look = 0;  ///< estimated; 0: unknown
};

/// Smallest chance of keeping a candidate in the remaining rounds with which a session goes on.
inline constexpr double kMinChanceOfKeeping = 0.1;

/// Returns the probability that the last look passes, if a look at a `share` (0..1, exclusive) of
/// all rounds has the p value `p_value_of_pass`. `error`: what the last look may spend on a pass.
double chance_to_pass_at_last_look(double p_value_of_pass, double share, double error);

/// What a look sees of one gate.
struct SamplesAtLook {
  const Comparison& samples;
  std::optional<double> gated_quantile{};  ///< Evidence::gated_quantile
  /// Reason why there are no samples, if further rounds would not change that.
  Hindrance lasting{};
};

/// Decides the gate of `verdict`, whose condition, candidate and metric are set, by a look at the
/// samples, and sets the answer with its evidence. Returns false, and changes nothing, if the
/// rounds must go on, which never happens at the last look.
bool decide_at_look(Verdict& verdict, const SamplesAtLook& at_look, const LookErrors& levels,
                    Look look);

/// Returns the values of `series` as the candidate's samples, and the limit, a value, as each
/// sample of the reference. Values with only an upper bound count as the largest of these bounds;
/// the result is empty if this could give a wrong answer.
Comparison samples_against_limit(const Condition& condition, const Series& series);

/// True if the shares of failed runs differ significantly (Fisher's exact test, 1%), or if exactly
/// one command failed in every run. False if a command has no runs.
bool failures_differ(const stats::CountedShare& reference, const stats::CountedShare& candidate);

void make_inconclusive(Verdict& verdict, Hindrance why);

/// The tails of a gated metric's confidence intervals.
struct GatedMetricTails {
  std::size_t metric = 0;
  stats::IntervalTails tails;
};

/// The decisions about a session's gates and its precision.
struct Findings {
  std::vector<Verdict> verdicts;  ///< verdicts in the order of the gates, then of the candidates
  std::vector<GatedMetricTails> gated_metric_tails{};
  std::optional<Precision> precision{};
  std::optional<RaceResult> race{};

  /// Returns the tails of the metric's intervals; `otherwise` if the metric has no gate.
  stats::IntervalTails tail_probabilities_of(std::size_t metric,
                                             stats::IntervalTails otherwise) const {
    const auto found = std::ranges::find(gated_metric_tails, metric, &GatedMetricTails::metric);
    return found == gated_metric_tails.end() ? otherwise : found->tails;
  }
};

/// The error rate that all gates of a job control together. Any: probability of at least one false
/// fail. Share: expected share of false fails among all fails.
enum class ErrorRate : unsigned char { AnyFalseFail, ShareOfFalseFails };

/// Returns for each p value if Holm's step-down procedure rejects its hypothesis (Scandinavian
/// Journal of Statistics 6, 1979). The probability of any false rejection is at most `error`,
/// however the tests depend on each other.
std::vector<bool> holm(std::span<const double> p, double error);

/// Returns for each p value if the step-up procedure of Benjamini and Hochberg rejects its
/// hypothesis (Journal of the Royal Statistical Society B 57, 1995). For independent tests, the
/// expected share of false rejections is at most `error`.
std::vector<bool> benjamini_hochberg(std::span<const double> p, double error);

/// Applies holm() or, for ErrorRate::ShareOfFalseFails, benjamini_hochberg() to the gates of all
/// benchmarks. Fails each inconclusive gate whose hypothesis is rejected; passes and fails stay.
void fail_gates_by_error_rate(std::span<Findings* const> findings, double error, ErrorRate risk);

}  // namespace lauka::gate
