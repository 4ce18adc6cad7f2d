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
  bool paired = true;
  std::optional<double> share{};  ///< gated quantile, as a fraction; nullopt: not a quantile
  /// Layout of each sample; empty without --layouts.
  std::span<const std::uint32_t> reference_layouts{};
  std::span<const std::uint32_t> candidate_layouts{};

  bool has_layouts() const { return !candidate_layouts.empty(); }
  stats::LayoutSamples of_reference() const { return {reference, reference_layouts}; }
  stats::LayoutSamples of_candidate() const { return {candidate, candidate_layouts}; }

  /// Returns the number of rounds in which the candidate has a sample.
  std::size_t rounds() const { return candidate.size(); }
};

/// The reason why a gate cannot decide.
enum class Obstacle : unsigned char {
  None,
  FailureRates,  ///< the commands fail at different rates, so they may do different work
  FewLayouts,    ///< no change over layouts can be estimated
  NoSamples,     ///< all values of a sampled event are 0, which proves nothing
};

/// The test that decided. Ranks also stands for the interval of a quantile, Mean for the test over
/// layouts.
enum class DecidedBy : unsigned char { Nothing, Ranks, Mean, Both };

enum class FailsWhen : unsigned char { Above, Below };

/// The decision of one look.
struct Judgement {
  std::optional<Answer> answer{};  ///< nullopt: wait for the next look
  DecidedBy decided_by = DecidedBy::Nothing;
  double p_fail = 1.0;  ///< p value of the answer Fail
  double p_pass = 1.0;  ///< p value of the answer Pass
  /// Error that the look allows for the answer or, if undecided, for the likelier answer; 0: none.
  double level = 0.0;
  double mean_difference = 0.0;
  stats::Tails rank_part{};
  stats::Tails mean_part{};
};

/// Decides, at one look, if the candidate's change is beyond `limit` (a fraction of the reference,
/// above -1). `last`: an undecided gate becomes inconclusive.
Judgement judge(const Evidence& evidence, double limit, FailsWhen fails_when, const Levels& levels,
                bool last);

/// The one-sided bounds of a decision, as changes in fractions of the reference: the limits nearest
/// to the estimate at which the look would give the same answer. nullopt for a test that did not
/// decide or has no estimate.
struct DecisionBounds {
  std::optional<double> ranks{};  ///< bound of the typical round, or of the quantile
  std::optional<double> mean{};
};

/// Finds the bounds of a `judgement` that has an answer. `delta` has the estimates.
DecisionBounds decision_bounds(const Judgement& judgement, const Evidence& evidence, double limit,
                               FailsWhen fails_when, const Levels& levels,
                               const stats::Delta& delta);

/// The answer of one gate about one candidate, with its evidence.
struct Verdict {
  Condition condition{};
  std::size_t candidate = 0;
  std::size_t metric = 0;  ///< index into Plan::metrics
  Answer answer = Answer::Inconclusive;
  stats::Delta delta{};  ///< change from the reference, or from the gate's bound
  std::size_t rounds = 0;
  /// At an early look, the estimated number of all rounds in the session; else 0.
  std::size_t planned_rounds = 0;
  double p_fail = 1.0;  ///< p value of the answer Fail
  double p_pass = 1.0;  ///< p value of the answer Pass
  double level = 0.0;
  /// P value of a fail over all looks, for settle_job; 1: settle_job must not fail the gate.
  double p_over_all_looks = 1.0;
  /// Factor, 1..50, by which the number of rounds must probably grow to decide; nullopt: not
  /// estimated.
  std::optional<double> times_as_many{};
  /// Number of layouts that would decide, if more rounds would not; else nullopt. kMaxLayouts + 1:
  /// more than allowed.
  std::optional<std::size_t> layouts_to_decide{};
  /// Number of the look that gave the answer, from 1; one more than all looks if none gave it.
  std::size_t look = 1;
  DecidedBy decided_by = DecidedBy::Nothing;
  Obstacle obstacle = Obstacle::None;
  DecisionBounds bounds{};  ///< bounds by the test that decided; empty if no test of a look decided
  /// Index of a command whose values cannot be compared, because some are only upper bounds; else
  /// nullopt.
  std::optional<std::size_t> incomparable_command{};
};

struct Look {
  std::size_t number = 1;
  bool last = true;
  std::size_t planned_rounds = 0;
};

/// A gate applied to one candidate.
struct Question {
  Condition condition{};
  std::size_t candidate = 0;
  std::size_t metric = 0;         ///< index into Plan::metrics
  std::optional<double> share{};  ///< quantile, as a fraction, if the metric is one; else nullopt
};

/// Returns the final verdict of a look at the samples; nullopt if the rounds must go on (never at
/// the last look). `incomparable_command`: see Verdict::incomparable_command.
std::optional<Verdict> decide_at_look(const Question& question, const Comparison& samples,
                                      std::optional<std::size_t> too_small, const Levels& levels,
                                      Look look);

/// Returns the candidate's values against a reference that is always at the bound of `condition`.
/// Values known only as "at most x" count as the largest such x; the result is empty if that could
/// give a wrong answer.
Comparison against_bound(const Condition& condition, const Series& series);

struct FailureCount {
  std::size_t failed = 0;
  std::size_t runs = 0;
};

/// True if the failure rates differ (Fisher's exact test, 1%), or if exactly one command failed in
/// every run. False if a command has no runs.
bool failures_differ(const FailureCount& reference, const FailureCount& candidate);

void make_inconclusive(Verdict& verdict, Obstacle obstacle);

/// The tails of a gated metric's intervals. They allow for looks, whose results decide when the
/// rounds end.
struct GatedInterval {
  std::size_t metric = 0;
  stats::IntervalTails tails;
};

/// The decisions about a session's gates and its precision. They are made once, because deciding
/// again would be another look.
struct Findings {
  std::vector<Verdict> verdicts;  ///< verdicts ordered by condition, then by candidate
  std::vector<GatedInterval> intervals{};
  std::optional<Precision> precision{};

  /// Returns the tails of the metric's intervals; `otherwise` if the metric has no gate.
  stats::IntervalTails tails_of(std::size_t metric, stats::IntervalTails otherwise) const {
    const auto found = std::ranges::find(intervals, metric, &GatedInterval::metric);
    return found == intervals.end() ? otherwise : found->tails;
  }
};

/// The error rate that a job's gates control together. Any: probability of at least one false fail.
/// Share: expected share of false fails among all fails.
enum class ErrorRate : unsigned char { Any, Share };

/// Returns for each p value if Holm's step-down procedure rejects its hypothesis (Scandinavian
/// Journal of Statistics 6, 1979). The probability of any false rejection is at most `error`,
/// however the tests depend on each other.
std::vector<bool> holm(std::span<const double> p, double error);

/// Returns for each p value if the step-up procedure of Benjamini and Hochberg rejects its
/// hypothesis (Journal of the Royal Statistical Society B 57, 1995). For independent tests, the
/// expected share of false rejections is at most `error`.
std::vector<bool> benjamini_hochberg(std::span<const double> p, double error);

/// Applies the procedure of `risk` to the gates of all benchmarks, and fails each inconclusive gate
/// that it rejects. Passes and fails stay.
void settle_job(std::span<Findings* const> findings, double error, ErrorRate risk);

}  // namespace lauka::gate
