#include "simulation/benchmarks.h"

#include "gate/verdict.h"
#include "stats/delta.h"
#include "stats/noise.h"
#include "stats/summary.h"

#include <algorithm>
#include <span>

namespace lauka::simulation {

Measured in_random_order(const Noise& noise, noise::Source& source, std::size_t rounds,
                         double truth) {
  const std::vector<double> times = noise(source, 2 * rounds);
  Measured measured;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t first = source.uniform() < 0.5 ? 0 : 1;
    measured.reference.push_back(times[2 * round + first]);
    measured.candidate.push_back(truth * times[2 * round + 1 - first]);
  }
  return measured;
}

Measured one_after_the_other(const Noise& noise, noise::Source& source, std::size_t runs,
                             double truth) {
  const std::vector<double> times = noise(source, 2 * runs);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(runs);
  Measured measured{{times.begin(), middle}, {middle, times.end()}};
  for (double& value : measured.candidate) value *= truth;
  return measured;
}

Ended end_of(const Measured& measured, const Case& what, std::size_t planned,
             gate::LookTiming looks, bool naive) {
  gate::Schedule schedule(0.95, 1, 10, looks);
  const auto answer_at = [&](std::size_t rounds, const gate::LookErrors& levels, bool last) {
    const gate::Evidence evidence{std::span(measured.reference).first(rounds),
                                  std::span(measured.candidate).first(rounds)};
    return gate::judge(evidence, {.limit = what.limit - 1.0,
                                  .levels = naive ? gate::errors_of_only_look(0.95, 1) : levels,
                                  .is_last_look = last})
        .answer;
  };
  while (schedule.rounds_at_next_early_look() && *schedule.rounds_at_next_early_look() < planned) {
    const std::size_t rounds = *schedule.rounds_at_next_early_look();
    const auto levels = schedule.look_early(rounds);
    if (!levels) continue;
    if (const auto answer = answer_at(rounds, *levels, false)) return {*answer, rounds};
  }
  for (const std::size_t rounds : gate::look_rounds(planned)) {
    const gate::LookErrors levels = schedule.look_as_planned(rounds, false);
    if (const auto answer = answer_at(rounds, levels, rounds == 4 * planned))
      return {*answer, rounds};
  }
  return {};
}

Intervals intervals_of(const Noise& noise, std::size_t rounds, const Options& options) {
  noise::Source source(rounds);
  const auto delta_at = [&](double truth) {
    const Measured measured = in_random_order(noise, source, rounds, truth);
    return stats::estimate_delta(
        {.reference = measured.reference, .candidate = measured.candidate, .paired = true},
        stats::tails_of(0.95));
  };
  constexpr double truth = 1.1;
  Intervals seen;
  for (std::size_t i = 0; i < options.gates; ++i) {
    const stats::Delta changed = delta_at(truth);
    seen.coverage += changed.bounds && !changed.bounds->leave_out(truth - 1.0) ? 1 : 0;
    const stats::Delta equal = delta_at(1.0);
    seen.slower += equal.is_significant() && *equal.change > 0 ? 1 : 0;
    seen.faster += equal.is_significant() && *equal.change < 0 ? 1 : 0;
  }
  for (double* const count : {&seen.coverage, &seen.slower, &seen.faster})
    *count /= static_cast<double>(options.gates);
  return seen;
}

double median_of(const std::vector<double>& values) {
  return values.empty() ? 4.0 * kManyPlanned : stats::median(stats::sorted(values));
}

Speed speed_of(const Noise& noise, const Case& what, gate::Answer right, const Options& options) {
  constexpr std::size_t part = 10;  // of the gates: each takes up to a thousand rounds
  noise::Source source(20261122);
  std::vector<double> early;
  std::vector<double> planned;
  for (std::size_t gate = 0; gate < std::max<std::size_t>(options.gates / part, 50); ++gate) {
    const Measured rounds = in_random_order(noise, source, 4 * kManyPlanned, what.truth);
    const auto enter = [&](gate::LookTiming looks, std::vector<double>& into) {
      const Ended ended = end_of(rounds, what, kManyPlanned, looks, options.naive);
      if (ended.answer == right) into.push_back(static_cast<double>(ended.rounds));
    };
    enter(gate::LookTiming::Early, early);
    enter(gate::LookTiming::Planned, planned);
  }
  return {median_of(early), median_of(planned)};
}

}  // namespace lauka::simulation
