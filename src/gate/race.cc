#include "gate/race.h"

#include "gate/schedule.h"
#include "gate/verdict.h"
#include "stats/distributions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace lauka::gate {

namespace {

/// Rounds before the first look, as before the first early look of a gate.
constexpr std::size_t kFirstLook = 10;
/// The number of rounds doubles from one look to the look that comes so many looks later.
constexpr double kRaceLooksPerDoubling = 8.0;
/// Look until which the looks spend more and more. It has 2^(17/8), about 4.4 times, the rounds of
/// the first look. Each later look spends 8% less than the one before, so that the sum stays
/// finite.
constexpr std::size_t kPeakLook = 18;
constexpr double kShareOfNextLook = 0.92;

/// Commands with which each command is compared at a look. With fewer, a loser may stay longer, but
/// the best command is not lost more often.
constexpr std::size_t kLeaders = 8;

/// Returns how much a look (from 1) spends, as a share of what the look kPeakLook spends.
///
/// The first look spends as much as that one, because it finds the commands that are far slower,
/// and they are dropped soonest then. The looks that follow it see almost the same rounds.
double weight_of_look(std::size_t look) {
  constexpr auto peak = static_cast<double>(kPeakLook);
  const auto number = static_cast<double>(look);
  if (look == 1) return 1.0;
  return look <= kPeakLook ? number / peak : std::pow(kShareOfNextLook, number - peak);
}

Judgement judge_pair(const Comparison& samples, double limit, const RaceRule& rule,
                     const LookErrors& levels) {
  const Evidence evidence = evidence_of(samples, rule.quantile);
  const bool is_less_better = rule.better == Better::Less;
  return judge(evidence, {.limit = is_less_better ? limit : -limit,
                          .fails_when = is_less_better ? FailsWhen::Above : FailsWhen::Below,
                          .levels = levels});
}

/// Failed runs may leave fewer values than rounds, too few for the first look.
bool is_comparable(const Comparison& samples) {
  const bool are_enough = samples.has_layouts() || samples.candidate.size() >= kFirstLook;
  return !samples.is_empty() && are_enough &&
         stats::allows_percentages(samples.reference, samples.candidate);
}

bool is_shown_to_be_worse(const Comparison& samples, const RaceRule& rule, const RaceLook& look) {
  return is_comparable(samples) &&
         judge_pair(samples, 0.0, rule, {.error_of_false_fail = look.error}).answer == Answer::Fail;
}

bool is_shown_to_be_within_limit(const Comparison& samples, const RaceRule& rule,
                                 const RaceLook& look) {
  const LookErrors levels{.error_of_false_pass = look.error,
                          .max_mean_test_p_of_pass = look.max_mean_test_p};
  return is_comparable(samples) &&
         judge_pair(samples, rule.limit, rule, levels).answer == Answer::Pass;
}

/// What a look compares commands by.
struct PairTest {
  const SamplesOfPair& samples;
  const RaceRule& rule;
  const RaceLook& look;
};

/// Returns the command that is shown to be better than `command`, if there is one among the first
/// of `left`.
std::optional<std::size_t> find_better(std::size_t command, std::span<const std::size_t> left,
                                       const PairTest& test) {
  for (const std::size_t leader : left.first(std::min(kLeaders, left.size())))
    if (leader != command &&
        is_shown_to_be_worse(test.samples(leader, command), test.rule, test.look))
      return leader;
  return std::nullopt;
}

/// True if each of `left` is shown to be within the limit of each other one. Begins with the pairs
/// that are farthest apart, because one pair is enough to answer no.
bool are_all_equal(std::span<const std::size_t> left, const PairTest& test) {
  for (std::size_t i = left.size(); i > 0; --i)
    for (const std::size_t reference : left)
      if (reference != left[i - 1] &&
          !is_shown_to_be_within_limit(test.samples(reference, left[i - 1]), test.rule, test.look))
        return false;
  return true;
}

/// Returns the value at `share` (0..1) of the sorted values; infinity without values.
double find_value_at_share(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::infinity();
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

}  // namespace

double level_of_race_look(double error, std::size_t look) {
  // The looks resemble each other, so that together they may spend more than `error`.
  const double z = stats::normal_quantile_above(error);
  const double gain = 1.0 + std::exp(2.1444 - 0.593 * z + 0.02449 * z * z);

  // The first look, those from the second to the peak, and the geometric series of all later ones.
  constexpr auto peak = static_cast<double>(kPeakLook);
  constexpr double all_weights =
      1.0 + ((peak + 1.0) / 2.0 - 1.0 / peak) + kShareOfNextLook / (1.0 - kShareOfNextLook);
  return error * gain * weight_of_look(look) / all_weights;
}

RaceSchedule::RaceSchedule(double error, std::size_t min_rounds) : error_(error) {
  rounds_at_first_look_ = std::max(kFirstLook, min_rounds);
  while (!rank_test_can_decide(rounds_at_first_look_, level_of_race_look(error, 1)))
    ++rounds_at_first_look_;
}

std::size_t RaceSchedule::rounds_at_next_look() const {
  return rounds_at_look(rounds_at_first_look_, looks_reached_, kRaceLooksPerDoubling);
}

double RaceSchedule::take_look(std::size_t rounds, bool last) {
  if (last && looks_reached_ == 0) return error_;
  // Looks that were passed over spend nothing.
  do ++looks_reached_;
  while (rounds_at_next_look() <= rounds);
  return level_of_race_look(error_, looks_reached_);
}

RaceDecision decide_race(std::span<const std::size_t> best_first, const SamplesOfPair& samples,
                         const RaceRule& rule, const RaceLook& look) {
  const PairTest test{samples, rule, look};
  RaceDecision decision;
  std::vector<std::size_t> left(best_first.begin(), best_first.end());

  for (std::size_t i = best_first.size(); i > 0; --i) {
    const std::size_t command = best_first[i - 1];
    const auto better = find_better(command, left, test);
    if (!better) continue;
    decision.exits.push_back({command, look.rounds, better});
    std::erase(left, command);
  }

  decision.are_rest_equal =
      left.size() > 1 && look.may_find_equals && rule.limit > 0.0 && are_all_equal(left, test);
  return decision;
}

std::vector<std::size_t> sort_best_first(
    std::span<const std::size_t> commands,
    const std::function<std::vector<double>(std::size_t command)>& values_of,
    const RaceRule& rule) {
  std::vector<std::pair<double, std::size_t>> values;
  values.reserve(commands.size());
  for (const std::size_t command : commands) {
    const double value = find_value_at_share(values_of(command), rule.quantile.value_or(0.5));
    // Values of which more is better are sorted by their negative.
    const bool is_turned = rule.better == Better::More && std::isfinite(value);
    values.emplace_back(is_turned ? -value : value, command);
  }
  std::ranges::stable_sort(values, {}, &std::pair<double, std::size_t>::first);

  std::vector<std::size_t> sorted;
  sorted.reserve(values.size());
  for (const auto& [value, command] : values) sorted.push_back(command);
  return sorted;
}

std::size_t RaceResult::count_runs() const {
  std::size_t runs = left.size() * rounds;
  for (const RaceExit& exit : exits) runs += exit.rounds;
  return runs;
}

std::vector<std::size_t> RaceResult::order() const {
  std::vector<std::size_t> all = left;
  all.reserve(count_commands());
  for (std::size_t i = exits.size(); i > 0; --i) all.push_back(exits[i - 1].command);
  return all;
}

const RaceExit* RaceResult::find_exit(std::size_t command) const {
  const auto found = std::ranges::find(exits, command, &RaceExit::command);
  return found == exits.end() ? nullptr : &*found;
}

Race::Race(std::size_t commands, const RaceRule& rule, const RaceError& error,
           std::size_t min_rounds)
    : rule_(rule),
      error_(error),
      schedule_(error.of_comparison(commands), min_rounds),
      left_(commands) {
  std::iota(left_.begin(), left_.end(), std::size_t{0});
}

void Race::look(std::size_t rounds, bool last, const RaceSamples& samples) {
  if (decision_) return;

  const RaceLook look{
      .rounds = rounds,
      .error = schedule_.take_look(rounds, last),
      .may_find_equals = last || rounds >= fewest_rounds_of_early_pass(error_.confidence),
      .max_mean_test_p = error_.of_race()};
  const RaceDecision found =
      decide_race(sort_best_first(left_, samples.of_command, rule_), samples.of_pair, rule_, look);

  for (const RaceExit& exit : found.exits) {
    std::erase(left_, exit.command);
    exits_.push_back(exit);
  }
  if (found.are_rest_equal) decision_ = RaceEnd::Equal;
  if (left_.size() == 1) decision_ = RaceEnd::OneLeft;
}

void Race::drop(std::size_t command, std::size_t rounds) {
  std::erase(left_, command);
  exits_.push_back({command, rounds, std::nullopt});
}

}  // namespace lauka::gate
