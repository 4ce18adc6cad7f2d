#pragma once

#include "stats/delta.h"

#include <array>
#include <cstddef>
#include <optional>

namespace lauka::gate {

/// The largest number of planned looks of a gate.
inline constexpr std::size_t kMaxPlannedLooks = 5;

/// The share of a look's error that the rank test gets, which is robust to spikes.
inline constexpr double kShareOfRanks = 0.8;
/// The share of a look's error that the mean's test gets, which reacts to a slow tail.
inline constexpr double kShareOfMean = 0.2;

/// Returns the numbers of rounds after which planned looks are taken: `first` (at least 1) times 1,
/// sqrt 2, 2, 2 sqrt 2 and 4, rounded up.
std::array<std::size_t, kMaxPlannedLooks> look_rounds(std::size_t first);

/// Returns Pocock's constant boundary for kMaxPlannedLooks looks: the normal deviate which, used at
/// every look, gives a total error of about `error` (1e-6..0.5). Fitted to the recursion of
/// Armitage, McPherson and Rowe 1969.
double z_look(double error);

/// Returns the error allowed at each of kMaxPlannedLooks looks, so that all looks together have
/// about `error`.
double p_look(double error);

/// Returns the error that an early look may spend of the total error `error`.
double p_early(double error);

/// Returns the error allowed at each planned look after `early_looks` (0..20) early looks, so that
/// all looks together have about `error` (1e-5..0.5). Fitted to the recursion of z_look. Equals
/// p_look without early looks.
double level_of_planned_look(double error, std::size_t early_looks);

/// True if the rank test of `rounds` paired rounds can reach kShareOfRanks of `level`.
bool rank_test_can_decide(std::size_t rounds, double level);

/// Returns the fewest rounds with which an early look can pass. If one run in 20 is slow, so many
/// rounds include a slow run with a probability of about `confidence`.
std::size_t fewest_rounds_of_early_pass(double confidence);

/// Returns the share of slow runs at which `rounds` rounds (at least 1) include a slow run with
/// probability `confidence`.
double visible_share(std::size_t rounds, double confidence);

/// The errors that one look may spend.
struct LookErrors {
  std::optional<double> fail{};  ///< error of the answer Fail; nullopt: the look cannot fail
  std::optional<double> pass{};  ///< error of the answer Pass; nullopt: the look cannot pass
  stats::IntervalTails tails{};
  /// Largest p value of the mean's test with which the look may pass; nullopt: no such limit.
  std::optional<double> max_mean_p_of_pass{};
};

/// Returns the levels of a gate that looks only once, at the end of all rounds. `gates` (at least
/// 1): number of gate decisions in the job, which share the rate of false fails, but not the rate
/// of false passes.
LookErrors levels_of_one_look(double confidence, std::size_t gates);

/// The looks of a gate. Once: one look, after all rounds. Planned: looks from the round after which
/// a session without gates would end. Early: also looks before that round.
enum class LookTiming : unsigned char { Once, Planned, Early };

/// Decides when gates look at the samples of one kind of round, and how much of the error rate (1 -
/// confidence) each look may spend.
class Schedule {
 public:
  /// `confidence`: a fraction; `gates`: number of gate decisions in the job (at least 1). Early
  /// looks begin after `min_rounds` rounds, but after ten at the earliest.
  Schedule(double confidence, std::size_t gates, std::size_t min_rounds, LookTiming looks);

  /// Returns the number of rounds at the next early look; nullopt if no early look is left.
  std::optional<std::size_t> next_early() const;

  /// Takes the early look that is due after `rounds` rounds. Returns nullopt if no look is due, or
  /// if the look allows no answer.
  std::optional<LookErrors> look_early(std::size_t rounds);

  /// Takes the next planned look after `rounds` rounds, and ends the early looks. The look may
  /// spend the whole error if it is the `last` look and no look was taken before.
  LookErrors look_as_planned(std::size_t rounds, bool last);

  LookErrors planned_levels() const;

  /// Returns the smallest total error, over all looks, with which a look fails if its own p value
  /// is `p`. `early`: true for an early look.
  double total_error_of(double p, bool early) const;

  std::size_t planned_looks() const { return planned_; }

  /// Returns the number of rounds at the next planned look; the first planned look must have been
  /// taken.
  std::size_t next_planned() const;

  /// Returns the number of looks taken so far, without early looks that allowed no answer.
  std::size_t looks_taken() const { return early_looks_ + planned_; }

  /// Returns the tails of a gated metric's intervals if the rounds ended now. IntervalTails::tail
  /// allows for the looks.
  stats::IntervalTails tails() const;

  /// Returns the fewest rounds with which a planned look decides about a constant metric: n equal
  /// differences have probability 4^-n (stats::tails_without_noise).
  std::size_t rounds_of_constants() const;

 private:
  bool is_early_look(std::size_t rounds) const;

  double error_;
  double error_of_fail_;
  std::size_t first_early_;
  bool looks_early_;
  bool is_only_look_;
  std::size_t early_ = 0;
  std::size_t early_looks_ = 0;
  std::size_t for_fail_ = 0;
  std::size_t for_pass_ = 0;
  std::size_t for_interval_ = 0;
  std::size_t planned_ = 0;
  std::size_t first_planned_ = 1;
};

}  // namespace lauka::gate
