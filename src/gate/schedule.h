#pragma once

#include <array>
#include <cstddef>

namespace lauka::gate {

/// A gate looks at most this often.
inline constexpr std::size_t kLooks = 5;

/// The rounds after which a gate looks, ascending: `first` (at least 1) times 1, sqrt 2, 2, 2 sqrt
/// 2 and 4, rounded up. `first` is the round at which counting would stop without a gate. Where the
/// rounds end early, the last look is taken there. For `first` below 3 two looks may coincide.
std::array<std::size_t, kLooks> look_rounds(std::size_t first);

/// Pocock's constant boundary for these looks: the normal deviate that, asked for at every look,
/// leaves `error` (1e-6..0.5) over all of them. A quadratic in the deviate of one look, fitted to
/// the recursion of Armitage, McPherson and Rowe 1969; it meets the total error to 0.3%.
double z_look(double error);

/// The error allowed at each look so that all five together have `error`.
double p_look(double error);

/// What is allowed at one look.
struct Levels {
  double fail = 0.0;  ///< error of a fail
  double pass = 0.0;  ///< error of a pass
  double tail = 0.0;  ///< error on either side of the intervals shown with the answer

  /// Confidence of an interval with these tails, a fraction.
  double interval_confidence() const { return 1.0 - 2.0 * tail; }
};

/// Levels of a gate that looks once, at the end of a fixed number of rounds. `confidence` is a
/// fraction, `gates` (at least 1) the number of gate decisions of the whole job: the rate of false
/// fails is divided among them, that of false passes need not be.
Levels levels_of_one_look(double confidence, std::size_t gates);

/// Levels of each look of a gate that looks at look_rounds. Its metric's interval has to be wider
/// than at one look (interval_confidence): it is shown at a moment that the samples chose.
Levels levels_of_five_looks(double confidence, std::size_t gates);

/// The fewest rounds after which one look decides about a metric that never varies, whichever way
/// it differs: the chance of n equal differences is put at 4^-n (judge).
std::size_t rounds_of_constants(const Levels& levels);

}  // namespace lauka::gate
