#pragma once

#include "stats/delta.h"

#include <array>
#include <cstddef>
#include <optional>

namespace lauka::gate {

/// The largest number of planned looks of a gate.
inline constexpr std::size_t kMaxPlannedLooks = 5;

/// Share of a look's error that the rank test may spend, if both tests are used.
inline constexpr double kErrorShareOfRankTest = 0.8;
/// Share of a look's error that the test of the mean may spend, if both tests are used.
inline constexpr double kErrorShareOfMeanTest = 0.2;

/// Returns the number of rounds at a look: `first` doubles every `looks_per_doubling` looks, and is
/// rounded up. `look`: 0 for the first one.
std::size_t rounds_at_look(std::size_t first, std::size_t look, double looks_per_doubling);

/// Returns numbers of rounds for planned looks: `first` (at least 1) times 1, sqrt 2, 2, 2 sqrt 2
/// and 4, each rounded up.
std::array<std::size_t, kMaxPlannedLooks> look_rounds(std::size_t first);

/// Returns Pocock's boundary: the normal deviate that gives a total error of about `error` if it is
/// used at each of kMaxPlannedLooks looks. Fitted for 1e-6..0.5 to the recursion of Armitage,
/// McPherson and Rowe 1969.
double pocock_boundary(double error);

/// Returns the error allowed at each of kMaxPlannedLooks looks, so that the total error is about
/// `error`.
double level_of_pocock_look(double error);

/// Returns the error that each early look may spend, if the total error is `error`.
double level_of_early_look(double error);

/// Returns the error allowed at each planned look after `early_looks` (0..20) early looks, so that
/// the total error is about `error`. Fitted for 1e-5..0.5 to the same recursion as pocock_boundary.
double level_of_planned_look(double error, std::size_t early_looks);

/// True if the p value of the signed-rank test can be as small as kErrorShareOfRankTest times
/// `level` with `rounds` paired rounds.
bool rank_test_can_decide(std::size_t rounds, double level);

/// Returns the fewest rounds with which an early look can pass. With one slow run in 20, these
/// rounds include a slow run with a probability of about `confidence`.
std::size_t fewest_rounds_of_early_pass(double confidence);

/// Returns the share of slow runs with which `rounds` rounds (at least 1) include a slow run with
/// probability `confidence`.
double detectable_slow_share(std::size_t rounds, double confidence);

/// The errors that one look may spend.
struct LookErrors {
  /// Error of the answer Fail; nullopt: the look cannot fail.
  std::optional<double> error_of_false_fail{};
  /// Error of the answer Pass; nullopt: the look cannot pass.
  std::optional<double> error_of_false_pass{};
  stats::IntervalTails tails{};
  /// Largest p value of the mean's test with which the look may pass; nullopt: no limit.
  std::optional<double> max_mean_test_p_of_pass{};
  /// True if a pass keeps a candidate. Then values exactly at the limit do not pass, and values
  /// that vary pass by ranks alone, because at small levels the test of the mean is wrong too often
  /// if the commands' times are distributed differently.
  bool pass_keeps = false;
  /// Error that the last look may spend on a pass, if a pass keeps a candidate.
  std::optional<double> error_of_pass_at_last_look{};
};

/// Returns the errors that a gate's only look may spend. `gates` (at least 1): number of gate
/// decisions in the job, which share the error of fails, but not the error of passes.
LookErrors errors_of_only_look(double confidence, std::size_t gates);

/// The looks of a gate. Once: a single look, after all rounds. Planned: at most kMaxPlannedLooks
/// looks. Early: also early looks, which end at the first planned look.
enum class LookTiming : unsigned char { Once, Planned, Early };

/// Decides when gates look at the samples of one kind of round, and how much of the error rate (1 -
/// confidence) each look may spend.
class Schedule {
 public:
  /// `confidence`: a fraction; `gates`: number of gate decisions in the job (at least 1). Early
  /// looks begin after `min_rounds` rounds, but not before ten rounds.
  Schedule(double confidence, std::size_t gates, std::size_t min_rounds, LookTiming looks);

  /// Returns the schedule of conditions for keeping. A pass keeps the candidate, and spends
  /// `error_of_keeping` over all looks. A fail discards it, and spends at each look what an
  /// interval at `confidence` does, because a wrong discard proves nothing false.
  static Schedule for_keeping(double confidence, double error_of_keeping, std::size_t min_rounds,
                              LookTiming looks);

  /// Returns the number of rounds at the next early look; nullopt if no early look is left.
  std::optional<std::size_t> rounds_at_next_early_look() const;

  /// Returns the errors that the early look after `rounds` rounds may spend; nullopt if no early
  /// look is due, or if the look can give no answer.
  std::optional<LookErrors> look_early(std::size_t rounds);

  /// Returns the errors that the next planned look, after `rounds` rounds, may spend. Ends the
  /// early looks. `last`: true if no look follows.
  LookErrors look_as_planned(std::size_t rounds, bool last);

  LookErrors planned_levels() const;

  /// Converts the p value of an early look into a p value over all looks.
  static double p_over_looks_of_early_look(double p);
  /// Converts the p value of a planned look into a p value over all looks.
  double p_over_looks_of_planned_look(double p) const;

  std::size_t count_planned_looks_taken() const { return planned_looks_taken_; }

  /// Returns the number of rounds at the first planned look, which must have been taken.
  std::size_t rounds_at_first_planned_look() const { return rounds_at_first_planned_look_; }

  /// Returns the number of rounds at the next planned look; the first planned look must have been
  /// taken.
  std::size_t rounds_at_next_planned_look() const;

  /// Returns the number of looks taken so far, without early looks that could give no answer.
  std::size_t looks_taken() const { return early_looks_that_may_decide_ + planned_looks_taken_; }

  /// Returns the tails of a gated metric's intervals. IntervalTails::tail_of_delta allows for the
  /// looks.
  stats::IntervalTails tails() const;

  /// Returns the number of rounds with which planned looks can decide about a constant metric: n
  /// equal differences have the p value 4^-n (stats::tails_without_noise).
  std::size_t rounds_to_decide_constants() const;

 private:
  bool is_early_look(std::size_t rounds) const;
  LookErrors early_levels_for_keeping(std::size_t rounds) const;
  LookErrors early_levels_for_failing(std::size_t rounds) const;
  void count_early_look(std::size_t rounds, const LookErrors& levels);
  double level_of_planned_fail() const;
  double level_of_planned_pass() const;

  double error_;
  double error_of_fail_;
  double error_of_pass_;
  bool is_for_keeping_ = false;
  std::size_t rounds_at_first_early_look_;
  bool looks_early_;
  bool is_only_look_;
  std::size_t early_looks_reached_ = 0;
  std::size_t early_looks_that_may_decide_ = 0;
  std::size_t early_looks_that_may_fail_ = 0;
  std::size_t early_looks_that_may_pass_ = 0;
  std::size_t early_looks_of_interval_ = 0;
  std::size_t planned_looks_taken_ = 0;
  std::size_t rounds_at_first_planned_look_ = 1;
};

}  // namespace lauka::gate
