#pragma once

#include "gate/schedule.h"
#include "gate/verdict.h"
#include "simulation/series.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

// Simulated benchmarks: measurements of a series of noise, how lauka's gate ends on it, and how
// good its intervals are.

namespace lauka::simulation {

constexpr std::size_t kPlanned = 25;  // rounds, after ten of which the first look is taken
constexpr std::size_t kMaxRounds = 4 * kPlanned;
constexpr std::size_t kManyPlanned = 250;  // where early looks are worth most

/// A true slow-down and a gate, both as ratios.
struct Case {
  double truth;
  double limit;
};

constexpr Case kAtLimit{1.10, 1.10};
constexpr Case kEqual{1.00, 1.05};
constexpr Case kAbove{1.15, 1.10};

struct Options {
  std::size_t gates = 20000;
  bool naive = false;
  std::string recorded;
};

struct Measured {
  std::vector<double> reference;
  std::vector<double> candidate;
};

/// A coin decides whose run of a round comes first.
Measured in_random_order(const Noise& noise, noise::Source& source, std::size_t rounds,
                         double truth);

/// All runs of one command, then all of the other, as the others measure.
Measured one_after_the_other(const Noise& noise, noise::Source& source, std::size_t runs,
                             double truth);

/// The end of a gate.
struct Ended {
  gate::Answer answer = gate::Answer::Inconclusive;
  std::size_t rounds = 0;
};

/// lauka's gate, with `planned` rounds before the first planned look.
Ended end_of(const Measured& measured, const Case& what, std::size_t planned,
             gate::LookTiming looks, bool naive);

constexpr std::array<std::size_t, 4> kRoundsShown{6, 10, 25, 100};

/// The share of shown intervals that hold a true change of 10%, and of coloured rows of equal
/// programs.
struct Intervals {
  double coverage = 0, slower = 0, faster = 0;
};

Intervals intervals_of(const Noise& noise, std::size_t rounds, const Options& options);

/// Median rounds of the right answers where many are planned, with and without early looks.
struct Speed {
  double early = 0, planned = 0;
};

/// A missing value counts as the largest number of rounds.
double median_of(const std::vector<double>& values);

Speed speed_of(const Noise& noise, const Case& what, gate::Answer right, const Options& options);

}  // namespace lauka::simulation
