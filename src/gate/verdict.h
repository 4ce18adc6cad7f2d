#pragma once

#include "core/condition.h"
#include "gate/evidence.h"
#include "gate/judge.h"
#include "gate/schedule.h"
#include "stats/delta.h"

#include <cstddef>
#include <optional>

namespace lauka::gate {

/// The change of the typical round (Hodges-Lehmann), as fractions.
struct Typical {
  double change = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// The answer of one gate about one candidate, and what it rests on.
struct Verdict {
  Condition condition;
  std::size_t candidate = 0;  ///< index of the command
  Answer answer = Answer::Inconclusive;
  stats::Delta delta{};  ///< of the gated metric
  std::size_t rounds = 0;
  double p_slower = 1.0;      ///< that so much more is chance, were the truth at the threshold
  double p_not_slower = 1.0;  ///< that so much less is
  double level = 0.0;         ///< the error allowed at this look to the answer on the delta's side
  std::optional<Typical> typical{};  ///< paired only, and where it has bounds
  std::optional<double>
      times_as_many{};   ///< rounds that would decide, as a multiple; where inconclusive and 1..50
  std::size_t look = 1;  ///< the look at which it was given, from 1
  DecidedBy decided_by = DecidedBy::Nothing;
  std::optional<std::size_t> too_small{};  ///< a command of which the metric is only known to be at
                                           ///< most some value, so that nothing can be compared
};

/// Which look it is.
struct Look {
  std::size_t number = 1;  ///< from 1
  bool last = true;        ///< what is not decided now is inconclusive
};

/// Looks at the evidence so far; none where the rounds are to go on, which only happens before the
/// last look. The first answer other than none is final. The delta's interval has the levels' tail.
std::optional<Verdict> decide_at_look(const Condition& condition, std::size_t candidate,
                                      const Evidence& evidence, const Levels& levels, Look look);

}  // namespace lauka::gate
