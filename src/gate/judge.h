#pragma once

#include "gate/schedule.h"
#include "stats/distributions.h"

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::gate {

enum class Answer : unsigned char { Pass, Fail, Inconclusive };

/// The samples of one metric that a gate decides on.
struct Evidence {
  std::span<const double> reference;
  std::span<const double> candidate;
  bool paired = true;             ///< reference[i] and candidate[i] are of the same round
  std::optional<double> share{};  ///< the gate is on this quantile of them

  /// Returns its rounds; unpaired: the candidate's runs, because a baseline does not grow.
  std::size_t rounds() const { return candidate.size(); }
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

/// Looks once at whether the candidate is beyond `limit` (a fraction above -1: of the change from
/// the reference). Two one-sided tests on the same samples share the error; with too few
/// rounds for ranks, the mean has all of it. A fail by the mean agrees with the mean's side of
/// the limit, a pass with the mean's and with the ranks', so that no verdict contradicts the
/// numbers next to it. `last`: what is not decided now is inconclusive. A quantile is decided by
/// its interval alone.
Judgement judge(const Evidence& evidence, double limit, FailsWhen fails_when, const Levels& levels,
                bool last);

/// The one-sided bounds of a decision: the limits nearest to the estimates, as fractions, at which
/// the same look would give the same answer. nullopt for a test that did not decide.
struct DecisionBounds {
  std::optional<double> ranks{};  ///< of the typical round, or of the quantile
  std::optional<double> mean{};
};

/// Finds them for a `judgement` with an answer; `delta` has the estimates.
DecisionBounds bounds_of(const Judgement& judgement, const Evidence& evidence, double limit,
                         FailsWhen fails_when, const Levels& levels, const stats::Delta& delta);

}  // namespace lauka::gate
