#pragma once

#include "stats/delta.h"

#include <optional>
#include <span>

// The difference that a session would have found. A session finds a difference if the interval of
// its delta leaves out 0, so the noise behind the interval tells how large the difference must be.

namespace lauka::stats {

/// The share of sessions that find a detectable difference.
inline constexpr double kShareThatFinds = 0.8;

/// Returns the difference, in units of a session's estimate of its standard error, that
/// kShareThatFinds of sessions of the same kind find. They find it if their intervals, by Student's
/// t with `degrees` degrees of freedom (at least 1) and the probability `tail` (0..0.5, exclusive)
/// beyond each end, leave out 0. The standard error of this session is as uncertain as theirs.
double detectable_errors(double tail, double degrees);

/// The samples of a delta's two sides. `are_paired`: as in estimate_delta().
struct ComparedSamples {
  std::span<const double> reference{};
  std::span<const double> candidate{};
  bool are_paired = true;
};

/// Returns the smallest increase, as a fraction of the reference, that kShareThatFinds of sessions
/// with as many rounds and the same noise would have found. They find a decrease of this size at
/// least as often. `delta` must be estimate_delta() of `samples`; `tail` is the probability beyond
/// each end of its interval. nullopt if the delta has no interval or no noise, or is of a quantile,
/// whose interval does not follow Student's t.
std::optional<double> detectable_change(const Delta& delta, double tail,
                                        const ComparedSamples& samples);

/// Does the same for a change whose logarithm has an interval by Student's t, as over layouts or
/// machines: `degrees` are its degrees of freedom. nullopt also for fewer than two.
std::optional<double> detectable_change_by_t(const Change& change, double tail, double degrees);

}  // namespace lauka::stats
