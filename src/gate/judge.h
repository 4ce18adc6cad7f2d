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

  /// Rounds behind it; unpaired: runs of the candidate, since a baseline does not grow.
  std::size_t rounds() const { return candidate.size(); }
};

/// What settled an answer.
enum class DecidedBy : unsigned char { Nothing, Ranks, Mean, Both };

/// The side of the limit on which a gate fails.
enum class FailsWhen : unsigned char { Above, Below };

/// What one look at the evidence says, without what is only shown of it.
struct Judgement {
  std::optional<Answer> answer{};  ///< none: go on, there is another look
  DecidedBy decided_by = DecidedBy::Nothing;
  double p_fail = 1.0;           ///< what `fail` would risk: decided where at most Levels::fail
  double p_pass = 1.0;           ///< what `pass` would risk
  double level = 0.0;            ///< allowed at this look to the answer on the mean's side
  double mean_difference = 0.0;  ///< mean of c - (1 + limit) * r, in the samples' unit
  stats::Tails rank_part{};      ///< paired: Wilcoxon's signed rank; unpaired: Mann-Whitney
  stats::Tails mean_part{};      ///< paired: Student's t; unpaired: Welch's
};

/// Looks once at whether the candidate is beyond `limit` (a fraction above -1: of the change from
/// the reference). Two one-sided tests on the same samples share the error; ranks of too few rounds
/// could never speak, and the mean has all of it. A fail by the mean agrees with the mean's side of
/// the limit, a pass with the mean's and with the ranks', so that no verdict contradicts what is
/// shown beside it. `last`: what is not decided now is inconclusive. Of a
/// quantile its interval alone decides.
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
