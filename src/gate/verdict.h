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

/// The samples of one metric on which a gate decides.
struct Evidence {
  std::span<const double> reference;
  std::span<const double> candidate;
  bool paired = true;             ///< reference[i] and candidate[i] are of the same round
  std::optional<double> share{};  ///< quantile that the gate is about; nullopt: not a quantile
  /// Layout of each sample; empty without --layouts.
  std::span<const std::uint32_t> reference_layouts{};
  std::span<const std::uint32_t> candidate_layouts{};

  bool has_layouts() const { return !candidate_layouts.empty(); }
  stats::LayoutSamples of_reference() const { return {reference, reference_layouts}; }
  stats::LayoutSamples of_candidate() const { return {candidate, candidate_layouts}; }

  /// Returns the number of rounds; if unpaired, the candidate's runs, because a baseline does not
  /// grow.
  std::size_t rounds() const { return candidate.size(); }
};

/// The reason why samples cannot decide, however clear they are.
enum class Obstacle : unsigned char {
  None,
  FailureRates,  ///< one command fails more often, so both do not do the same work
  FewLayouts,    ///< fewer than four layouts are left
  NoSamples,     ///< neither command has a sample of it, which proves nothing
};

/// The test that decided; Ranks also stands for the interval of a quantile, Mean for the means of
/// layouts.
enum class DecidedBy : unsigned char { Nothing, Ranks, Mean, Both };

/// The side of the limit on which a gate fails.
enum class FailsWhen : unsigned char { Above, Below };

/// The decision of one look, without values that are only for display.
struct Judgement {
  std::optional<Answer> answer{};  ///< nullopt: undecided, wait for the next look
  DecidedBy decided_by = DecidedBy::Nothing;
  double p_fail = 1.0;  ///< p value of `fail`, at most Levels::fail if it decides; 1: cannot fail
  double p_pass = 1.0;  ///< p value of `pass`, at most Levels::pass if it decides; 1: cannot pass
  double level = 0.0;   ///< error that this look allows: for `fail` if that is the answer or more
                        ///< probable, else for `pass`; 0: none
  double mean_difference = 0.0;  ///< mean of c - (1 + limit) * r, in the samples' unit;
                                 ///< MeanTest::difference over layouts; 0 for a quantile
  stats::Tails rank_part{};  ///< tails of Wilcoxon's signed rank; unpaired: of Mann-Whitney; for a
                             ///< quantile, of its interval
  stats::Tails
      mean_part{};  ///< tails of Student's t; unpaired: of Welch's t; over layouts, of their means
};

/// Decides, at one look, if the candidate's change is beyond `limit` (a fraction of the reference,
/// above -1). A rank test and a test of the mean share the look's error; with too few rounds for
/// ranks, the mean's test gets all of it. The mean's test fails a gate only if the mean is beyond
/// the limit. A gate passes only if neither mean nor ranks are beyond the limit. For a quantile,
/// its interval decides alone; over layouts, the test of their means. `last`: an undecided gate
/// becomes inconclusive.
Judgement judge(const Evidence& evidence, double limit, FailsWhen fails_when, const Levels& levels,
                bool last);

/// The one-sided bounds of a decision, as fractions: the limits nearest to the estimates at which
/// the look would give the same answer. nullopt for a test that did not decide, or without an
/// estimate.
struct DecisionBounds {
  std::optional<double> ranks{};  ///< bound of the typical round, or of the quantile
  std::optional<double> mean{};
};

/// Finds the bounds of a `judgement` that has an answer; `delta` has the estimates.
DecisionBounds decision_bounds(const Judgement& judgement, const Evidence& evidence, double limit,
                               FailsWhen fails_when, const Levels& levels,
                               const stats::Delta& delta);

/// The answer of one gate about one candidate, with its evidence.
struct Verdict {
  Condition condition{};
  std::size_t candidate = 0;  ///< index of the candidate's command
  std::size_t metric = 0;     ///< index into Plan::metrics
  Answer answer = Answer::Inconclusive;
  stats::Delta
      delta{};  ///< change of the gated metric from the reference, or from the gate's bound
  std::size_t rounds = 0;  ///< Evidence::rounds; 0 without samples
  std::size_t planned_rounds =
      0;  ///< at an early look, the estimated number of all rounds in the session; else 0
  double p_fail =
      1.0;  ///< probability of values so far beyond the limit, if the truth is at the limit
  double p_pass =
      1.0;  ///< probability of values so far within the limit, if the truth is at the limit
  double level = 0.0;  ///< Judgement::level
  double p_of_fail =
      1.0;  ///< p_fail over all looks so far, for gates that share a job's error
            ///< rate; 1 if the verdict is of no look, or an obstacle was found after the runs
  std::optional<double> times_as_many{};  ///< factor, 1..50, by which more rounds would probably
                                          ///< decide; nullopt: decided, with layouts, or none would
  /// Number of layouts that would probably decide, if more rounds would not; else nullopt.
  std::optional<std::size_t> layouts_to_decide{};
  std::size_t look = 1;  ///< number of the look that gave the answer, from 1; one more than all
                         ///< looks if none gave it
  DecidedBy decided_by = DecidedBy::Nothing;
  Obstacle obstacle = Obstacle::None;  ///< reason why samples cannot decide; None: they did, are
                                       ///< unclear or missing, or `too_small`
  DecisionBounds bounds{};  ///< bounds of a pass or fail, by the test that decided; empty if
                            ///< settle_job decided
  std::optional<std::size_t>
      too_small{};  ///< index of a command with only an upper bound of some values of the metric,
                    ///< which prevents a comparison; else nullopt
};

/// A look at a gate.
struct Look {
  std::size_t number = 1;  ///< number of the look, from 1
  bool last = true;        ///< true: an undecided gate becomes inconclusive
  std::size_t planned_rounds =
      0;  ///< at an early look, the estimated number of all rounds in the session; else 0
};

/// A gate applied to one candidate.
struct Question {
  Condition condition{};
  std::size_t candidate = 0;      ///< index of the candidate's command
  std::size_t metric = 0;         ///< index into Plan::metrics
  std::optional<double> share{};  ///< quantile that the metric is; nullopt: not a quantile
};

/// Looks at the samples so far. Returns the verdict, which is final, or nullopt if the rounds must
/// go on (only before the last look). The verdict's delta has intervals with the tails of `levels`.
/// `too_small` is Verdict::too_small; without samples, it or the last look ends the rounds as
/// inconclusive. With a negative sample, so does the last look, unless the condition has a bound.
std::optional<Verdict> decide_at_look(const Question& question, const Comparison& samples,
                                      std::optional<std::size_t> too_small, const Levels& levels,
                                      Look look);

/// Returns the candidate's values against a reference that is always at the bound of `condition`. A
/// value known only as "at most x" counts as the largest such x, if the bound is an upper limit of
/// at least x; else the result is empty.
Comparison against_bound(const Condition& condition, const Series& series);

/// The failed runs of a command, and all its runs.
struct FailureCount {
  std::size_t failed = 0;
  std::size_t runs = 0;
};

/// True if a gate between two commands cannot decide because of failures: the failure rates differ
/// (Fisher's exact test, 1%), or exactly one command failed in every run. False if one has no runs.
bool failures_differ(const FailureCount& reference, const FailureCount& candidate);

/// Makes a verdict inconclusive because of `obstacle`, which settle_job cannot change.
void hold_back(Verdict& verdict, Obstacle obstacle);

/// The tails of a gated metric's intervals, which allow for a gate that ended the rounds because of
/// their values.
struct GatedInterval {
  std::size_t metric = 0;  ///< index into Plan::metrics
  stats::IntervalTails tails;
};

/// The decisions that were made from the samples while they came in. The runner makes them once:
/// deciding again later would be another look.
struct Findings {
  std::vector<Verdict> verdicts;  ///< verdicts ordered by condition, then by candidate
  std::vector<GatedInterval> intervals{};
  std::optional<Precision>
      precision{};  ///< result of --precision, reached or not; nullopt without it

  /// Returns the interval tails of `metric`; `otherwise` if the metric has no gate.
  stats::IntervalTails tails_of(std::size_t metric, stats::IntervalTails otherwise) const {
    const auto found = std::ranges::find(intervals, metric, &GatedInterval::metric);
    return found == intervals.end() ? otherwise : found->tails;
  }
};

/// The error rate that a job's gates control together. Any: probability of at least one false fail.
/// Share: expected share of false fails among all fails.
enum class Risk : unsigned char { Any, Share };

/// Returns for each p value if Holm's step-down procedure rejects its hypothesis (Scandinavian
/// Journal of Statistics 6, 1979). The probability of any false rejection is at most `error`,
/// however the tests depend on each other.
std::vector<bool> holm(std::span<const double> p, double error);

/// Returns for each p value if the step-up procedure of Benjamini and Hochberg rejects its
/// hypothesis (Journal of the Royal Statistical Society B 57, 1995). The expected share of false
/// rejections is at most `error`.
std::vector<bool> benjamini_hochberg(std::span<const double> p, double error);

/// Decides the gates of all benchmarks together, after each benchmark has decided its own with its
/// part of `error`. An inconclusive gate fails if the procedure of `risk` rejects it. Passes and
/// fails stay: both procedures would reject the fails, too.
void settle_job(std::span<Findings* const> findings, double error, Risk risk);

}  // namespace lauka::gate
