// detectable_simulator: how often sessions find the difference that another session of the same
// kind calls detectable. scripts/bench detectable runs it. Exits with 1 if a promise is broken.
//
//   detectable_simulator SESSIONS
//
// Each session says which difference would have been found. Each of the next sessions then shows if
// it finds this difference, which shifts the logarithms of its ratios, and so its interval.

#include "stats/delta.h"
#include "stats/detectable.h"
#include "stats/layouts.h"
#include "stats/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lauka::simulation {
namespace {

constexpr double kTail = 0.025;
constexpr std::size_t kFollowers = 20;  // sessions in which a session's difference is looked for
constexpr double kTolerance = 0.03;

enum class Shape : unsigned char { Normal, Spikes, HeavyTails };

/// Sessions of one kind.
struct Cell {
  std::size_t rounds = 20;
  bool are_paired = true;
  double autoregression = 0.0;  ///< of the noise of the candidate alone
  Shape shape = Shape::Normal;
  std::size_t layouts = 0;  ///< 0: without layouts
  double placement = 0.0;   ///< standard deviation between layouts
  bool is_promised = true;

  std::string name() const {
    static constexpr std::array shapes{"normal", "spikes", "heavy tails"};
    std::string text = std::to_string(rounds) + " rounds, ";
    text += shapes.at(static_cast<std::size_t>(shape));
    if (!are_paired) text += ", unpaired";
    char part[64];
    if (autoregression > 0.0) {
      std::snprintf(part, sizeof part, ", AR %.1f of one command", autoregression);
      text += part;
    }
    if (layouts > 0) {
      std::snprintf(part, sizeof part, ", %zu layouts, placement %.0f%%", layouts,
                    100.0 * placement);
      text += part;
    }
    return text;
  }
};

constexpr double kNoise = 0.02;

double disturbance(Shape shape, noise::Source& source) {
  switch (shape) {
    case Shape::Normal:
      break;
    case Shape::Spikes:
      return source.normal() + (source.uniform() < 0.05 ? 50.0 * source.uniform() : 0.0);
    case Shape::HeavyTails: {
      double squares = 0.0;
      for (int i = 0; i < 3; ++i) squares += std::pow(source.normal(), 2);
      return source.normal() / std::sqrt(squares / 3.0);
    }
  }
  return source.normal();
}

std::vector<double> draw_side(const Cell& cell, double autoregression, noise::Source& source) {
  const std::vector<double> placed = source.normals(cell.layouts, 0.0, cell.placement);
  const std::vector<double> waves = source.waves(cell.rounds, autoregression);
  std::vector<double> values(cell.rounds);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double noise = autoregression > 0.0 ? waves[i] : disturbance(cell.shape, source);
    values[i] = std::exp(kNoise * noise + (cell.layouts > 0 ? placed[i % cell.layouts] : 0.0));
  }
  return values;
}

struct SimulatedSession {
  double low = 0.0;         ///< end of the interval of log(candidate / reference)
  double detectable = 0.0;  ///< logarithm of the detectable ratio
};

SimulatedSession simulate_session(const Cell& cell, noise::Source& source) {
  // The reference's noise is smaller if the candidate's lasts, so that most noise of a round lasts.
  std::vector<double> reference = draw_side(cell, 0.0, source);
  if (cell.autoregression > 0.0)
    for (double& value : reference) value = std::pow(value, 0.3);
  const std::vector<double> candidate = draw_side(cell, cell.autoregression, source);

  stats::Delta delta;
  std::optional<double> detectable;
  if (cell.layouts > 0) {
    std::vector<std::uint32_t> layouts(cell.rounds);
    for (std::size_t i = 0; i < layouts.size(); ++i)
      layouts[i] = static_cast<std::uint32_t>(i % cell.layouts);
    const stats::LayoutSamples to{reference, layouts};
    const stats::LayoutSamples of{candidate, layouts};
    delta = stats::delta_over_layouts({.reference = to, .candidate = of, .paired = cell.are_paired},
                                      {kTail, kTail});
    detectable = stats::detectable_change_by_t(
        delta, kTail,
        stats::log_ratio_over_layouts({.reference = to, .candidate = of, .paired = cell.are_paired})
            ->degrees);
  } else {
    delta = stats::estimate_delta(
        {.reference = reference, .candidate = candidate, .paired = cell.are_paired},
        {kTail, kTail});
    detectable = stats::detectable_change(delta, kTail, {reference, candidate, cell.are_paired});
  }
  return {std::log1p(delta.bounds->low), std::log1p(detectable.value())};
}

/// Prints how often the sessions' differences are found, and returns if the promise holds.
bool check(const Cell& cell, std::size_t count) {
  noise::Source source(20261128 + cell.rounds);
  std::vector<SimulatedSession> sessions(count);
  for (SimulatedSession& session : sessions) session = simulate_session(cell, source);

  double found = 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += sessions[i].detectable;
    for (std::size_t next = 1; next <= kFollowers; ++next)
      found += sessions[(i + next) % count].low + sessions[i].detectable > 0.0 ? 1.0 : 0.0;
  }

  const auto sessions_in_all = static_cast<double>(count);
  const double share = found / (sessions_in_all * static_cast<double>(kFollowers));
  const double chance =
      3.0 * std::sqrt(stats::kShareThatFinds * (1.0 - stats::kShareThatFinds) / sessions_in_all);
  const bool holds = std::abs(share - stats::kShareThatFinds) <= kTolerance + chance;
  std::printf("%-52s %5.1f%% find the mean of %.2f%%%s\n", cell.name().c_str(), 100.0 * share,
              100.0 * std::expm1(sum / sessions_in_all),
              !cell.is_promised ? "  (no promise)"
              : holds           ? ""
                                : "  BROKEN");
  return holds || !cell.is_promised;
}

std::vector<Cell> all_cells() {
  std::vector<Cell> cells;
  const auto add = [&](Cell cell) { cells.push_back(cell); };
  for (const Shape shape : {Shape::Normal, Shape::Spikes, Shape::HeavyTails})
    for (const std::size_t rounds : {10U, 20U, 30U, 60U, 100U, 200U})
      add({.rounds = rounds, .shape = shape, .is_promised = rounds >= 20});
  for (const std::size_t rounds : {20U, 60U}) add({.rounds = rounds, .are_paired = false});
  for (const double autoregression : {0.3, 0.6, 0.8})
    for (const std::size_t rounds : {20U, 60U, 100U, 200U})
      add({.rounds = rounds,
           .autoregression = autoregression,
           .is_promised = rounds >= 60 && autoregression <= 0.6});
  for (const double placement : {0.0, 0.02})
    for (const std::size_t layouts : {4U, 8U, 12U, 16U})
      add({.rounds = 6 * layouts,
           .layouts = layouts,
           .placement = placement,
           .is_promised = layouts >= 8});
  return cells;
}

}  // namespace
}  // namespace lauka::simulation

int main(int argc, char** argv) {
  constexpr unsigned long fewest_sessions = 100;
  const unsigned long sessions = argc == 2 ? std::strtoul(argv[1], nullptr, 10) : 0;
  if (sessions < fewest_sessions) {
    std::fprintf(stderr, "usage: detectable_simulator SESSIONS (at least %lu)\n", fewest_sessions);
    return 2;
  }

  bool all_hold = true;
  for (const lauka::simulation::Cell& cell : lauka::simulation::all_cells())
    all_hold = lauka::simulation::check(cell, sessions) && all_hold;
  std::printf("%s\n", all_hold ? "all promises hold" : "promises are broken");
  return all_hold ? 0 : 1;
}
