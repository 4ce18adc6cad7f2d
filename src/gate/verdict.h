#pragma once

#include "core/condition.h"
#include "stats/delta.h"

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::gate {

enum class Answer : unsigned char { Pass, Fail, Inconclusive };

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
  double level = 0.0;         ///< the error each answer is allowed at this look
  std::optional<Typical> typical{};
  std::optional<double>
      times_as_many{};  ///< rounds that would decide, as a multiple; where inconclusive and 1..50
};

/// The samples of one metric that a gate decides on.
struct Evidence {
  std::span<const double> reference;
  std::span<const double> candidate;
  bool paired = true;  ///< reference[i] and candidate[i] are of the same round
};

/// Decides `condition` once, at the end of the planned rounds. `gates` is the number of gate
/// decisions of the whole job, among which the rate of false alarms (1 - confidence) is divided.
Verdict decide(const Condition& condition, std::size_t candidate, const Evidence& evidence,
               double confidence, std::size_t gates);

}  // namespace lauka::gate
