#pragma once

#include "core/metric.h"
#include "gate/schedule.h"
#include "stats/delta.h"
#include "stats/distributions.h"
#include "stats/layouts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lauka::gate {

enum class Answer : unsigned char { Pass, Fail, Inconclusive };

/// The samples of one metric that a gate decides on.
struct Evidence {
  std::span<const double> reference;
  std::span<const double> candidate;
  bool paired = true;             ///< reference[i] and candidate[i] are of the same round
  std::optional<double> share{};  ///< the gate is on this quantile of them
  /// The layouts of the samples; empty without --layouts.
  std::span<const std::uint32_t> reference_layouts{};
  std::span<const std::uint32_t> candidate_layouts{};

  bool has_layouts() const { return !candidate_layouts.empty(); }
  stats::LayoutSamples of_reference() const { return {reference, reference_layouts}; }
  stats::LayoutSamples of_candidate() const { return {candidate, candidate_layouts}; }

  /// Returns its rounds; unpaired: the candidate's runs, because a baseline does not grow.
  std::size_t rounds() const { return candidate.size(); }
};

/// The reason why samples decide nothing, however clear they are.
enum class Obstacle : unsigned char {
  None,
  FailureRates,  ///< one of the two commands fails more often: they do not do the same work
  FewLayouts,    ///< fewer than four layouts are left
};

/// The test that decided an answer.
enum class DecidedBy : unsigned char { Nothing, Ranks, Mean, Both };

/// The side of the limit on which a gate fails.
enum class FailsWhen : unsigned char { Above, Below };

/// The result of one look at the evidence, without values for display only.
struct Judgement {
  std::optional<Answer> answer{};  ///< nullopt: go on to the next look
  DecidedBy decided_by = DecidedBy::Nothing;
  double p_fail = 1.0;           ///< the risk of `fail`: decided if at most Levels::fail
  double p_pass = 1.0;           ///< the risk of `pass`
  double level = 0.0;            ///< allowed at this look to the answer on the mean's side
  double mean_difference = 0.0;  ///< mean of c - (1 + limit) * r, in the samples' unit
  stats::Tails rank_part{};      ///< paired: Wilcoxon's signed rank; unpaired: Mann-Whitney
  stats::Tails mean_part{};      ///< paired: Student's t; unpaired: Welch's
};

/// Decides, at one look, whether the candidate's change is beyond `limit` (a fraction of the
/// reference, above -1). A rank test and a test of the mean share the error of the look; with too
/// few rounds for ranks, the mean's test gets all of it. The mean's test fails a gate only if the
/// mean is beyond the limit. A gate passes only if neither the mean nor the ranks are beyond it. A
/// quantile is decided by its interval alone. `last`: an undecided gate becomes inconclusive.
Judgement judge(const Evidence& evidence, double limit, FailsWhen fails_when, const Levels& levels,
                bool last);

/// The one-sided bounds of a decision: the limits nearest to the estimates, as fractions, at which
/// the same look would give the same answer. nullopt for a test that did not decide.
struct DecisionBounds {
  std::optional<double> ranks{};  ///< bound of the typical round, or of the quantile
  std::optional<double> mean{};
};

/// Finds them for a `judgement` with an answer; `delta` has the estimates.
DecisionBounds decision_bounds(const Judgement& judgement, const Evidence& evidence, double limit,
                               FailsWhen fails_when, const Levels& levels,
                               const stats::Delta& delta);

/// The answer of one gate about one candidate, and its evidence.
struct Verdict {
  Condition condition{};
  std::size_t candidate = 0;  ///< index of the command
  std::size_t metric = 0;     ///< index into Plan::metrics
  Answer answer = Answer::Inconclusive;
  stats::Delta
      delta{};  ///< change of the gated metric from the reference, or from the gate's bound
  std::size_t rounds = 0;
  std::size_t planned_rounds =
      0;                ///< estimate of all rounds of the session at an early look; else 0
  double p_fail = 1.0;  ///< probability of so much beyond the limit, if the truth is at the limit
  double p_pass = 1.0;  ///< probability of so much within the limit, if the truth is at the limit
  double level = 0.0;   ///< the error allowed at this look to the answer on the mean's side
  double p_of_fail =
      1.0;  ///< p_fail over all looks up to this one, for gates of a job that share the error rate
  std::optional<double> times_as_many{};  ///< multiple of the rounds that would decide, 1..50
  /// The layouts that would most likely decide where more rounds would not; nullopt without.
  std::optional<std::size_t> layouts_to_decide{};
  std::size_t look = 1;  ///< the look at which it was given, from 1
  DecidedBy decided_by = DecidedBy::Nothing;
  Obstacle obstacle = Obstacle::None;      ///< why it is inconclusive
  DecisionBounds bounds{};                 ///< bounds of a pass or a fail, by the rule that decided
  std::optional<std::size_t> too_small{};  ///< a command of which the metric is only known to be at
                                           ///< most some value, so that nothing can be compared
};

/// A look at a gate.
struct Look {
  std::size_t number = 1;  ///< number of the look, from 1
  bool last = true;        ///< an undecided gate is then inconclusive
  std::size_t planned_rounds =
      0;  ///< estimate of all rounds of the session at an early look; else 0
};

/// A gate about one candidate.
struct Question {
  Condition condition{};
  std::size_t candidate = 0;
  std::size_t metric = 0;
  std::optional<double> share{};  ///< share of the quantile, if the metric is a quantile
};

/// Looks at the samples so far; nullopt if the rounds go on, which only happens before the
/// last look. The first answer other than none is final. The delta has the levels' intervals.
/// `too_small`: as the verdict's; without samples that, or the last look, ends it.
std::optional<Verdict> decide_at_look(const Question& question, const Comparison& samples,
                                      std::optional<std::size_t> too_small, const Levels& levels,
                                      Look look);

/// The candidate's values against a reference that always is at the bound of `condition`. A value
/// that is only known as "at most x" counts as x where the bound must not be exceeded and is above
/// x.
Comparison against_bound(const Condition& condition, const Series& series);

/// The failures of a command, among its runs.
struct FailureCount {
  std::size_t failed = 0;
  std::size_t runs = 0;
};

/// True if a gate between two commands gives no verdict: their failure rates differ (Fisher's exact
/// test, 1%), or exactly one of them failed in every run.
bool failures_differ(const FailureCount& reference, const FailureCount& candidate);

/// Makes a verdict inconclusive, whatever its samples say.
void hold_back(Verdict& verdict, Obstacle obstacle);

/// Tails of the intervals of a gated metric. They allow for a gate that ended the rounds because of
/// what they showed.
struct GatedInterval {
  std::size_t metric = 0;  ///< index into Plan::metrics
  stats::IntervalTails tails;
};

/// The decisions about the samples while they came in, which also affect how they are shown. The
/// runner makes it once: looking again afterwards would be another look.
struct Findings {
  std::vector<Verdict> verdicts;  ///< verdicts by condition, then by candidate
  std::vector<GatedInterval> intervals{};
  std::optional<Precision> precision{};  ///< precision reached; nullopt without --precision

  /// Returns the tails of the intervals of `metric`; `otherwise` if it has no gate.
  stats::IntervalTails tails_of(std::size_t metric, stats::IntervalTails otherwise) const {
    const auto found = std::ranges::find(intervals, metric, &GatedInterval::metric);
    return found == intervals.end() ? otherwise : found->tails;
  }
};

/// The risk of a job's gates together: of any false fail, or of the expected share of false fails
/// among all fails.
enum class Risk : unsigned char { Any, Share };

/// Returns which hypotheses Holm's step-down procedure rejects (Scandinavian Journal of Statistics
/// 6, 1979): the rate of any false rejection is at most `error`, whatever depends on what.
std::vector<bool> holm(std::span<const double> p, double error);

/// Returns which of them Benjamini and Hochberg's step-up procedure rejects (Journal of the Royal
/// Statistical Society B 57, 1995): the expected share of false ones among them is at most `error`.
std::vector<bool> benjamini_hochberg(std::span<const double> p, double error);

/// Looks once more at the gates of all benchmarks, each of which decided alone what its part of
/// `error` lets it: one that is inconclusive fails where the procedure rejects it. A pass stays,
/// and so does a fail, which any of both procedures rejects.
void settle_job(std::span<Findings* const> findings, double error, Risk risk);

}  // namespace lauka::gate
