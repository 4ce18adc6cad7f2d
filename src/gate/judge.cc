#include "gate/judge.h"

#include "stats/mann_whitney.h"
#include "stats/mean_test.h"
#include "stats/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lauka::gate {

namespace {

constexpr double kShareOfRanks = 0.8;
constexpr double kShareOfMean = 0.2;
constexpr std::size_t kFewestForMannWhitney = 5;
constexpr std::size_t kSmallestPower = 1000;  // 2^-1000: below any level, and not yet 0

/// Whether the rank test could reach its share of `level` at all with so many rounds.
bool ranks_can_speak(const Evidence& evidence, double level) {
  const std::size_t fewer = std::min(evidence.reference.size(), evidence.candidate.size());
  if (!evidence.paired) {
    return fewer >= kFewestForMannWhitney;
  }
  return std::ldexp(1.0, -static_cast<int>(std::min(fewer, kSmallestPower))) <=
         kShareOfRanks * level;
}

/// The smallest level at which an answer is decided.
double combined(double ranks, double mean, bool ranks_speak) {
  return ranks_speak ? std::min({1.0, ranks / kShareOfRanks, mean / kShareOfMean}) : mean;
}

DecidedBy decided_by(double ranks, double mean, double level, bool ranks_speak) {
  if (!ranks_speak) {
    return mean <= level ? DecidedBy::Mean : DecidedBy::Nothing;
  }
  const bool by_ranks = ranks <= kShareOfRanks * level;
  const bool by_mean = mean <= kShareOfMean * level;
  if (by_ranks && by_mean) {
    return DecidedBy::Both;
  }
  if (by_ranks) {
    return DecidedBy::Ranks;
  }
  return by_mean ? DecidedBy::Mean : DecidedBy::Nothing;
}

}  // namespace

Judgement judge(const Evidence& evidence, double limit, const Levels& levels, bool last) {
  Judgement result;
  if (last) {
    result.answer = Answer::Inconclusive;
  }
  if (evidence.reference.empty() || evidence.candidate.empty()) {
    result.level = levels.pass;
    return result;
  }

  const double ratio = 1.0 + limit;
  const stats::MeanTest mean =
      evidence.paired ? stats::paired_mean_test(evidence.reference, evidence.candidate, ratio)
                      : stats::welch_mean_test(evidence.reference, evidence.candidate, ratio);
  result.mean_difference = mean.difference;
  result.mean_part = mean.tails;
  result.rank_part = evidence.paired
                         ? stats::signed_rank(evidence.reference, evidence.candidate, ratio).tails
                         : stats::mann_whitney(evidence.reference, evidence.candidate, ratio).tails;

  const bool can_fail = ranks_can_speak(evidence, levels.fail);
  const bool can_pass = ranks_can_speak(evidence, levels.pass);
  result.p_slower = combined(result.rank_part.above, result.mean_part.above, can_fail);
  result.p_not_slower = combined(result.rank_part.below, result.mean_part.below, can_pass);
  result.slower = mean.difference > 0.0;
  result.level = result.slower ? levels.fail : levels.pass;
  result.decided_by =
      result.slower
          ? decided_by(result.rank_part.above, result.mean_part.above, levels.fail, can_fail)
          : decided_by(result.rank_part.below, result.mean_part.below, levels.pass, can_pass);
  if (result.decided_by != DecidedBy::Nothing) {
    result.answer = result.slower ? Answer::Fail : Answer::Pass;
  }
  return result;
}

}  // namespace lauka::gate
