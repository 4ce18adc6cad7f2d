#include "gate/schedule.h"

#include "stats/distributions.h"

#include <algorithm>
#include <cmath>

namespace lauka::gate {

namespace {

constexpr double kErrorShareOfEarlyLook = 0.04;      // of the whole error, for each early look
constexpr std::size_t kRoundsAtFirstEarlyLook = 10;  // rounds before the first early look
constexpr std::size_t kMaxEarlyLooks = 20;
constexpr std::size_t kMaxHalvings = 1000;

constexpr double kLooksPerDoubling = 2.0;

/// True if the look can give an answer.
bool may_decide(const LookErrors& levels) {
  return levels.error_of_false_fail || levels.error_of_false_pass;
}

/// Returns what an early look may spend of `error`; nullopt if even rounds that all agree are too
/// few for an answer at this level.
std::optional<double> find_level_of_early_look(std::size_t rounds, double error) {
  const double level = level_of_early_look(error);
  return rank_test_can_decide(rounds, level) ? std::optional(level) : std::nullopt;
}

}  // namespace

std::size_t rounds_at_look(std::size_t first, std::size_t look, double looks_per_doubling) {
  // Without the subtraction, a rounding error could raise the result by 1.
  const double exact =
      static_cast<double>(first) * std::exp2(static_cast<double>(look) / looks_per_doubling) - 1e-9;
  return static_cast<std::size_t>(std::ceil(exact));
}

std::array<std::size_t, kMaxPlannedLooks> look_rounds(std::size_t first) {
  std::array<std::size_t, kMaxPlannedLooks> rounds{};
  for (std::size_t look = 0; look < kMaxPlannedLooks; ++look)
    rounds[look] = rounds_at_look(first, look, kLooksPerDoubling);
  return rounds;
}

double pocock_boundary(double error) {
  const double z = stats::normal_quantile_above(error);
  return z + 0.59297 - 0.085173 * z + 0.004706 * z * z;
}

double level_of_pocock_look(double error) {
  return stats::normal_above(pocock_boundary(error));
}

double level_of_early_look(double error) {
  return kErrorShareOfEarlyLook * error;
}

double level_of_planned_look(double error, std::size_t early_looks) {
  const double z = stats::normal_quantile_above(error);
  const double bend = 8.634 * std::exp(-1.172 * z + 0.0873 * z * z);
  const auto looks = static_cast<double>(early_looks);
  return level_of_pocock_look(error) -
         0.00816 * error * (looks - bend * (1.0 - std::exp(-looks / bend)));
}

bool rank_test_can_decide(std::size_t rounds, double level) {
  return std::ldexp(1.0, -static_cast<int>(std::min(rounds, kMaxHalvings))) <=
         kErrorShareOfRankTest * level;
}

std::size_t fewest_rounds_of_early_pass(double confidence) {
  constexpr double at_95_percent = 57.0;
  const double rounds = at_95_percent * std::log(1.0 - confidence) / std::log(0.05);
  return static_cast<std::size_t>(std::ceil(rounds - 1e-9));
}

double detectable_slow_share(std::size_t rounds, double confidence) {
  return 1.0 - std::pow(1.0 - confidence, 1.0 / static_cast<double>(rounds));
}

LookErrors errors_of_only_look(double confidence, std::size_t gates) {
  const double error = 1.0 - confidence;
  return {.error_of_false_fail = error / static_cast<double>(gates),
          .error_of_false_pass = error,
          .tails = stats::tails_of(confidence)};
}

Schedule::Schedule(double confidence, std::size_t gates, std::size_t min_rounds, LookTiming looks)
    : error_(1.0 - confidence),
      error_of_fail_(error_ / static_cast<double>(gates)),
      error_of_pass_(error_),
      rounds_at_first_early_look_(std::max(kRoundsAtFirstEarlyLook, min_rounds)),
      looks_early_(looks == LookTiming::Early),
      is_only_look_(looks == LookTiming::Once) {}

Schedule Schedule::for_keeping(double confidence, double error_of_keeping, std::size_t min_rounds,
                               LookTiming looks) {
  Schedule schedule(confidence, 1, min_rounds, looks);
  schedule.error_of_fail_ = schedule.error_ / 2.0;
  schedule.error_of_pass_ = error_of_keeping;
  schedule.is_for_keeping_ = true;
  return schedule;
}

std::optional<std::size_t> Schedule::rounds_at_next_early_look() const {
  if (!looks_early_ || planned_looks_taken_ > 0 || early_looks_reached_ == kMaxEarlyLooks)
    return std::nullopt;
  return rounds_at_look(rounds_at_first_early_look_, early_looks_reached_, kLooksPerDoubling);
}

bool Schedule::is_early_look(std::size_t rounds) const {
  const std::optional<std::size_t> next = rounds_at_next_early_look();
  return next && *next <= rounds;
}

/// Returns what an early look may spend if a pass keeps a candidate, and a fail discards it.
/// Whoever discards a candidate claims nothing that may be false, so each look, early or planned,
/// may spend the whole error on fails. The error of the last look, before this look is counted,
/// tells the caller whether a pass is still possible.
LookErrors Schedule::early_levels_for_keeping(std::size_t rounds) const {
  return {.error_of_false_fail = error_of_fail_,
          .error_of_false_pass = find_level_of_early_look(rounds, error_of_pass_),
          .pass_keeps = true,
          .error_of_pass_at_last_look = level_of_planned_pass()};
}

/// Returns what an early look at a gate may spend. An early pass needs the consent of a second
/// test, that of the mean. It also needs so many rounds that one has probably seen even those slow
/// runs that happen only now and then.
LookErrors Schedule::early_levels_for_failing(std::size_t rounds) const {
  LookErrors levels{.error_of_false_fail = find_level_of_early_look(rounds, error_of_fail_),
                    .max_mean_test_p_of_pass = error_};
  if (rounds >= fewest_rounds_of_early_pass(1.0 - error_))
    levels.error_of_false_pass = find_level_of_early_look(rounds, error_of_pass_);
  return levels;
}

/// Counts an early look for each answer that it could give. The confidence interval of the change
/// has half of the error at each end. It has its own count of looks, because another error decides
/// from how many rounds on a look can exclude a change.
void Schedule::count_early_look(std::size_t rounds, const LookErrors& levels) {
  if (levels.error_of_false_fail) ++early_looks_that_may_fail_;
  if (levels.error_of_false_pass) ++early_looks_that_may_pass_;
  if (find_level_of_early_look(rounds, error_ / 2.0)) ++early_looks_of_interval_;
  if (may_decide(levels)) ++early_looks_that_may_decide_;
}

/// At an early look (an interim analysis), a gate may be decided long before all rounds have run.
/// All looks share one error, so this look counts itself for each answer that it could give, and
/// the planned looks that follow get less of the error. Returns nullopt if it cannot give any
/// answer.
std::optional<LookErrors> Schedule::look_early(std::size_t rounds) {
  if (!is_early_look(rounds)) return std::nullopt;

  // The rounds of a batch run without a look in between. They may pass several early looks, of
  // which only the latest is taken. is_early_look() asks about the next look that is not reached.
  while (is_early_look(rounds)) ++early_looks_reached_;

  LookErrors levels =
      is_for_keeping_ ? early_levels_for_keeping(rounds) : early_levels_for_failing(rounds);
  count_early_look(rounds, levels);
  if (!may_decide(levels)) return std::nullopt;

  levels.tails = tails();  // of the confidence interval, after this look was counted
  return levels;
}

LookErrors Schedule::look_as_planned(std::size_t rounds, bool last) {
  if (planned_looks_taken_++ == 0) {
    rounds_at_first_planned_look_ = std::max<std::size_t>(rounds, 1);
    is_only_look_ = is_only_look_ || (last && early_looks_that_may_decide_ == 0);
  }
  return planned_levels();
}

LookErrors Schedule::planned_levels() const {
  return {.error_of_false_fail = level_of_planned_fail(),
          .error_of_false_pass = level_of_planned_pass(),
          .tails = tails(),
          .pass_keeps = is_for_keeping_,
          .error_of_pass_at_last_look =
              is_for_keeping_ ? std::optional(level_of_planned_pass()) : std::nullopt};
}

double Schedule::level_of_planned_fail() const {
  if (is_only_look_ || is_for_keeping_) return error_of_fail_;
  return level_of_planned_look(error_of_fail_, early_looks_that_may_fail_);
}

double Schedule::level_of_planned_pass() const {
  if (is_only_look_) return error_of_pass_;
  return level_of_planned_look(error_of_pass_, early_looks_that_may_pass_);
}

double Schedule::p_over_looks_of_early_look(double p) {
  return std::min(1.0, p / kErrorShareOfEarlyLook);
}

double Schedule::p_over_looks_of_planned_look(double p) const {
  if (is_only_look_) return p;

  // Finds the error with which level_of_planned_look equals `p`.
  double low = 1e-12;
  double high = 0.5;
  if (p >= level_of_planned_look(high, early_looks_reached_)) return 1.0;
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const double middle = std::sqrt(low * high);
    (level_of_planned_look(middle, early_looks_reached_) < p ? low : high) = middle;
  }
  return high;
}

std::size_t Schedule::rounds_at_next_planned_look() const {
  return rounds_at_look(rounds_at_first_planned_look_, planned_looks_taken_, kLooksPerDoubling);
}

stats::IntervalTails Schedule::tails() const {
  const double plain = error_ / 2.0;
  const double tail_of_delta =
      is_only_look_ ? plain : level_of_planned_look(plain, early_looks_of_interval_);
  return {.tail_of_delta = tail_of_delta, .tail_of_mean_change = plain};
}

std::size_t Schedule::rounds_to_decide_constants() const {
  const double level =
      std::min(level_of_planned_look(error_of_fail_, 0), level_of_planned_look(error_of_pass_, 0));
  // Without noise, chance explains one more round only with a quarter of the probability
  // (stats::tails_without_noise).
  std::size_t rounds = 1;
  double chance = 0.25;
  while (chance > level) {
    chance /= 4.0;
    ++rounds;
  }
  return rounds;
}

}  // namespace lauka::gate
