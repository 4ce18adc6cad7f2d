#pragma once

#include "gate/evidence.h"
#include "gate/schedule.h"
#include "stats/tails.h"

#include <optional>

namespace lauka::gate {

/// What settled an answer.
enum class DecidedBy : unsigned char { Nothing, Ranks, Mean, Both };

/// What one look at the evidence says, without what is only shown of it.
struct Judgement {
  std::optional<Answer> answer{};  ///< none: go on, there is another look
  DecidedBy decided_by = DecidedBy::Nothing;
  bool slower = false;        ///< the delta is above the limit, so the question is whether it fails
  double p_slower = 1.0;      ///< what `fail` would risk: decided where at most Levels::fail
  double p_not_slower = 1.0;  ///< what `pass` would risk
  double level = 0.0;         ///< allowed at this look to the answer that `slower` points to
  double mean_difference = 0.0;  ///< mean of c - (1 + limit) * r, in the samples' unit
  stats::Tails rank_part{};      ///< paired: Wilcoxon's signed rank; unpaired: Mann-Whitney
  stats::Tails mean_part{};      ///< paired: Student's t; unpaired: Welch's
};

/// Looks once at whether the candidate is more than `limit` (a fraction above -1) above the
/// reference. Two one-sided tests on the same samples share the error: ranks, which spikes do not
/// move, get 80% of it; the mean, which a tail of the candidate alone does move, 20%. Ranks of too
/// few rounds could never speak, and the mean has all of it. The answer always agrees with the
/// delta's side of the limit. `last`: what is not decided now is inconclusive.
Judgement judge(const Evidence& evidence, double limit, const Levels& levels, bool last);

}  // namespace lauka::gate
