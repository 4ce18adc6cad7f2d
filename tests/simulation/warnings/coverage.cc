#include "simulation/warnings/sessions.h"
#include "simulation/warnings/simulate.h"
#include "stats/rank_tests.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka::simulation {
namespace {

constexpr double kTruth = 1.1;
constexpr double kTail = 0.025;

/// A kind of session, and the least coverage that is promised of it.
struct Interval {
  std::string name;
  Make make;
  std::size_t rounds = 0;
  double least = 0.95;
};

struct Coverage {
  double held = 0.0;
  double widened = 0.0;  ///< sessions whose interval was made wider
};

Coverage coverage_of(const Interval& cell, std::size_t sessions) {
  Analysis analysis;
  noise::Source source(20261126 + cell.rounds);
  Coverage seen;
  for (std::size_t i = 0; i < sessions; ++i) {
    const Results results = analysis.of(cell.make(source, cell.rounds));
    const auto& delta = metric_result_of(results, 1, Role::WallTime)->delta;
    if (!delta || !delta->bounds) continue;
    // Of coarse values the interval may be the truth alone, but for a rounding error.
    constexpr double rounding = 1e-6;
    const bool is_held = delta->bounds->low <= kTruth - 1.0 + rounding &&
                         delta->bounds->high >= kTruth - 1.0 - rounding;
    seen.held += is_held ? 1.0 : 0.0;
    seen.widened += delta->widening > 1.0 ? 1.0 : 0.0;
  }
  seen.held /= static_cast<double>(sessions);
  seen.widened /= static_cast<double>(sessions);
  return seen;
}

/// The coverage of a rank interval of so many independent rounds: beyond 95 %, as ranks are few.
double exact_coverage(std::size_t rounds) {
  constexpr std::size_t most_counted = 50;
  if (rounds > most_counted) return 0.95;
  std::vector<double> ways(rounds * (rounds + 1) / 2 + 1, 0.0);
  ways[0] = 1.0;
  for (std::size_t rank = 1; rank <= rounds; ++rank)
    for (std::size_t sum = ways.size() - 1; sum >= rank; --sum) ways[sum] += ways[sum - rank];
  double below = 0.0;
  const std::uint64_t place = stats::signed_rank_place(rounds, kTail);
  for (std::size_t sum = 0; sum < place; ++sum) below += ways[sum];
  return 1.0 - 2.0 * std::ldexp(below, -static_cast<int>(rounds));
}

std::vector<Interval> white_noise() {
  const std::vector<std::pair<std::string, Times>> models{
      {"normal", normal},   {"log-normal", log_normal},
      {"t, 3 degrees", t3}, {"bimodal", bimodal},
      {"spikes", spikes},   {"ticks", ticks},
      {"drift", drift},     {"AR 0.6 of the machine", waves(0.6)}};
  std::vector<Interval> cells;
  for (const auto& [name, times] : models)
    for (const std::size_t rounds : {6U, 10U, 30U, 100U})
      cells.push_back({name, of_machine(times, kTruth), rounds});
  return cells;
}

/// Noise of one command. The limits are what the rule was chosen for, less three points.
std::vector<Interval> own_noise() {
  struct Limit {
    double persistence;
    std::size_t rounds;
    double coverage;
  };
  std::vector<Interval> cells;
  for (const auto& [persistence, rounds, coverage] : std::vector<Limit>{{0.0, 20, 0.950},
                                                                        {0.0, 30, 0.947},
                                                                        {0.0, 60, 0.955},
                                                                        {0.0, 100, 0.953},
                                                                        {0.3, 30, 0.900},
                                                                        {0.3, 60, 0.930},
                                                                        {0.3, 100, 0.942},
                                                                        {0.6, 20, 0.788},
                                                                        {0.6, 30, 0.882},
                                                                        {0.6, 60, 0.938},
                                                                        {0.6, 100, 0.940}})
    cells.push_back({"AR " + std::to_string(persistence).substr(0, 3) + " of one command",
                     of_candidate(waves(persistence), kTruth), rounds, coverage - 0.03});
  // Half of the noise has no memory, so the correlation says less than it should.
  cells.push_back({"AR 0.6 of one command, white noise of the other",
                   of_candidate(waves(0.6), kTruth, 0.02), 60, 0.83});
  return cells;
}

/// Returns how often the interval of a command's mean holds the truth, after so many runs.
double coverage_of_mean(const Times& times, std::size_t runs, double truth, std::size_t sessions) {
  noise::Source source(20261126 + runs);
  double held = 0.0;
  for (std::size_t i = 0; i < sessions; ++i) {
    const std::vector<double> values = times(source, runs);
    const double half = stats::mean_half_width(values, 0.95).value_or(0.0);
    held += std::abs(stats::moments(values).mean - truth) <= half ? 1.0 : 0.0;
  }
  return held / static_cast<double>(sessions);
}

/// Returns the same if runs end as soon as the interval is narrow enough (--precision).
double coverage_at_stop(const Times& times, double wanted, double truth, std::size_t sessions) {
  constexpr std::size_t most = 1000;
  constexpr std::size_t fewest = 10;
  noise::Source source(20261126);
  double held = 0.0;
  for (std::size_t i = 0; i < sessions; ++i) {
    const std::vector<double> values = times(source, most);
    for (std::size_t runs = fewest; runs <= most; ++runs) {
      const std::span<const double> some = std::span(values).first(runs);
      const double half = stats::mean_half_width(some, 0.95).value_or(1.0);
      if (half > wanted && runs < most) continue;
      held += std::abs(stats::moments(some).mean - truth) <= half ? 1.0 : 0.0;
      break;
    }
  }
  return held / static_cast<double>(sessions);
}

std::vector<double> rarely_slow(noise::Source& source, std::size_t runs) {
  std::vector<double> values = source.normals(runs, 1.0, 0.02);
  for (double& value : values) value *= source.uniform() < 0.03 ? 3.0 : 1.0;
  return values;
}

void print_means(std::size_t sessions) {
  std::printf(
      "\n| the mean of one command | 30 runs | 100 runs | --precision 1 | --precision 0.3 |\n");
  std::printf("|---|---|---|---|---|\n");
  struct Row {
    const char* name;
    Times times;
    double truth;
  };
  const double of_waves = std::exp(0.02 * 0.02 / 2.0);
  for (const auto& [name, times, truth] :
       {Row{"normal", normal, 1.0}, Row{"AR 0.6", waves(0.6), of_waves},
        Row{"3 % of the runs 3 times as long", rarely_slow, 1.06}})
    std::printf("| %s | %.1f | %.1f | %.1f | %.1f |\n", name,
                100.0 * coverage_of_mean(times, 30, truth, sessions),
                100.0 * coverage_of_mean(times, 100, truth, sessions),
                100.0 * coverage_at_stop(times, 0.01, truth, sessions),
                100.0 * coverage_at_stop(times, 0.003, truth, sessions));
}

}  // namespace

int simulate_coverage(std::size_t sessions) {
  std::vector<Interval> cells = white_noise();
  const std::size_t white = cells.size();
  for (Interval& cell : own_noise()) cells.push_back(std::move(cell));
  std::vector<Coverage> all(cells.size());
  in_parallel(cells.size(), [&](std::size_t i) { all[i] = coverage_of(cells[i], sessions); });
  int broken = 0;
  std::printf("| noise | rounds | intervals that hold the truth, %% | made wider, %% |\n");
  std::printf("|---|---|---|---|\n");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Interval& cell = cells[i];
    std::printf("| %s | %zu | %.1f | %.1f |\n", cell.name.c_str(), cell.rounds, 100.0 * all[i].held,
                100.0 * all[i].widened);
    const double least = i < white ? cell.least - allowance(cell.least, sessions) : cell.least;
    const bool is_continuous = i < white && cell.name != "ticks" && cell.name != "bimodal";
    const double exact = exact_coverage(cell.rounds);
    const double most = is_continuous ? exact + allowance(exact, sessions) + all[i].widened : 1.0;
    if (all[i].held >= least && all[i].held <= most) continue;
    ++broken;
    std::fprintf(stderr, "BROKEN: coverage of %zu rounds, %s: %.2f%%, not %.2f to %.2f%%\n",
                 cell.rounds, cell.name.c_str(), 100.0 * all[i].held, 100.0 * least, 100.0 * most);
  }
  print_means(std::min<std::size_t>(sessions, 2000));
  return broken;
}

}  // namespace lauka::simulation
