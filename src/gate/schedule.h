#pragma once

#include "stats/delta.h"

#include <array>
#include <cstddef>
#include <optional>

namespace lauka::gate {

/// A gate looks at most so often once the rounds are there at which counting would stop without it.
inline constexpr std::size_t kLooks = 5;

/// Two tests share the error of a look: ranks, which spikes do not move, and the mean, which a tail
/// of the candidate alone does move.
inline constexpr double kShareOfRanks = 0.8;
inline constexpr double kShareOfMean = 0.2;

/// The rounds of the planned looks, ascending: `first` (at least 1) times 1, sqrt 2, 2, 2 sqrt 2
/// and 4, rounded up. `first` is the round at which counting would stop without a gate. Where the
/// rounds end early, the last look is taken there. For `first` below 3 two looks may coincide.
std::array<std::size_t, kLooks> look_rounds(std::size_t first);

/// Pocock's constant boundary for these looks: the normal deviate that, asked for at every look,
/// leaves `error` (1e-6..0.5) over all of them. A quadratic in the deviate of one look, fitted to
/// the recursion of Armitage, McPherson and Rowe 1969; it meets the total error to 0.3%.
double z_look(double error);

/// The error allowed at each look so that all five together have `error`.
double p_look(double error);

/// The error that an early look spends: the smallest share with which ten rounds can speak at 95%.
double p_early(double error);

/// The error allowed at each planned look after so many early ones (0..20), so that all of them
/// have `error` (1e-5..0.5) together: fitted to the same recursion, 0.993 to 1.0016 of it. Without
/// early looks it is p_look.
double p_late(double error, std::size_t early_looks);

/// True if the signs of so many rounds are enough for ranks to reach their part of `level`: a bound
/// for every test that uses only the symmetry of the rounds.
bool ranks_can_speak(std::size_t rounds, double level);

/// The fewest rounds of an early pass: a slow run of about one in 20 shows at least once in them
/// with `confidence`. 57 at 95%, which is a place of the early looks (59 would put it off to 80).
std::size_t fewest_rounds_of_early_pass(double confidence);

/// Computes the share of slow runs that `rounds` (at least 1) show at least once with `confidence`;
/// rarer ones may be missed.
double rarest_shown(std::size_t rounds, double confidence);

/// The errors allowed at one look.
struct Levels {
  std::optional<double> fail{};          ///< error of a fail; nullopt: the look is not taken for it
  std::optional<double> pass{};          ///< error of a pass, likewise
  stats::IntervalTails tails{};          ///< tails of the intervals shown with the answer
  std::optional<double> mean_of_pass{};  ///< required of the mean too in an early pass by ranks
};

/// Levels of a gate that looks once, at the end of a fixed number of rounds. `confidence` is a
/// fraction, `gates` (at least 1) the number of gate decisions of the whole job, which share the
/// rate of false fails; the rate of false passes need not be divided.
Levels levels_of_one_look(double confidence, std::size_t gates);

/// Looks of a gate: one at the end; planned looks, from the round at which counting would
/// stop without gates; or also before that round.
enum class WatchSchedule : unsigned char { Once, Planned, Early };

/// Decides when the gates on one kind of rounds look at the samples, and how much of the error rate
/// (1 - confidence) each look may spend. Early looks begin at ten rounds, or at --min-runs if that
/// is more, and end where counting would stop without gates; each spends little. The planned looks
/// share the remainder.
class Schedule {
 public:
  /// `min_rounds`: of the session.
  Schedule(double confidence, std::size_t gates, std::size_t min_rounds, WatchSchedule looks);

  /// Returns the rounds of the next early look; nullopt if it was the last.
  std::optional<std::size_t> next_early() const;

  /// Takes the early look that is due after `rounds`. nullopt: no look is due, or it allows no
  /// answer.
  std::optional<Levels> look_early(std::size_t rounds);

  /// Takes the next planned look; the first is taken after `rounds`. A look that is both the first
  /// and the `last` may use the whole error. Ends the early looks.
  Levels look_as_planned(std::size_t rounds, bool last);

  /// Returns the levels of a planned look after the looks so far.
  Levels late() const;

  /// Returns the smallest total error (of all looks, early ones too) at which a look with the
  /// probability `p` would have failed: valid wherever the rounds end. `early`: an early look.
  double over_all_looks(double p, bool early) const;

  /// Returns the number of planned looks so far.
  std::size_t planned_looks() const { return planned_; }

  /// Returns the rounds of the next planned look, once the first has been taken.
  std::size_t next_planned() const;

  /// Returns the early and planned looks so far.
  std::size_t looks_taken() const { return early_looks_ + planned_; }

  /// Returns the tails of an interval if the rounds end now because of what they showed.
  stats::IntervalTails tails() const;

  /// Returns the fewest rounds after which the first planned look decides about a constant metric,
  /// whichever way it differs: the chance of n equal differences is put at 4^-n (judge).
  std::size_t rounds_of_constants() const;

 private:
  bool is_early_look(std::size_t rounds) const;

  double error_;
  double error_of_fail_;
  std::size_t first_early_;
  bool looks_early_;
  bool is_only_look_;
  std::size_t early_ = 0;        // places of the list that were passed
  std::size_t early_looks_ = 0;  // of these, taken for one answer or both
  std::size_t for_fail_ = 0;
  std::size_t for_pass_ = 0;
  std::size_t for_interval_ = 0;
  std::size_t planned_ = 0;
  std::size_t first_planned_ = 1;
};

}  // namespace lauka::gate
