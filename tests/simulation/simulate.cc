// gate_simulator: lauka's own gate on simulated rounds, and beside it the rules of others on the
// same noise. scripts/bench-gate runs it. Exits with 1 where a limit is broken.
//
//   gate_simulator [--gates N] [--naive] RECORDED.json
//
// A round is two consecutive runs of one series of noise, in an order that a coin decides; the
// candidate's is multiplied by the true ratio. Recorded series are read from a random place on, so
// that their slow waves stay. --naive gives each of the five looks the whole error, as who does not
// know better would: the limits have to find that.

#include "gate/judge.h"
#include "gate/schedule.h"
#include "simulation/rules.h"
#include "simulation/series.h"
#include "stats/delta.h"
#include "stats/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace lauka::simulation {
namespace {

constexpr std::size_t kFirstLook = 25;
constexpr std::size_t kMostRounds = 4 * kFirstLook;

/// A true slow-down and a gate, both as ratios.
struct Case {
  double truth;
  double limit;
};

constexpr Case kAtLimit{1.10, 1.10};
constexpr Case kEqual{1.00, 1.05};
constexpr Case kAbove{1.15, 1.10};

/// How often each rule said "fail", and what else lauka said.
struct Tally {
  double gates = 0, fail = 0, pass = 0, rounds = 0;
  double poop = 0, sigma = 0, looking = 0;
  double share(double count) const { return count / gates; }
};

struct Options {
  std::size_t gates = 20000;
  bool naive = false;
  std::string recorded;
};

struct Measured {
  std::vector<double> reference;
  std::vector<double> candidate;
};

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

/// All runs of one command, then all of the other, as the others measure.
Measured one_after_the_other(const Noise& noise, noise::Source& source, std::size_t runs,
                             double truth) {
  const std::vector<double> times = noise(source, 2 * runs);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(runs);
  Measured measured{{times.begin(), middle}, {middle, times.end()}};
  for (double& value : measured.candidate) value *= truth;
  return measured;
}

void look_at(const Measured& measured, const Case& what, const gate::Levels& levels, Tally& tally) {
  for (const std::size_t look : gate::look_rounds(kFirstLook)) {
    const gate::Evidence evidence{std::span(measured.reference).first(look),
                                  std::span(measured.candidate).first(look)};
    const auto answer = gate::judge(evidence, what.limit - 1.0, levels, look == kMostRounds).answer;
    if (!answer) continue;
    tally.fail += *answer == gate::Answer::Fail ? 1 : 0;
    tally.pass += *answer == gate::Answer::Pass ? 1 : 0;
    tally.rounds += static_cast<double>(look);
    return;
  }
}

Tally tally_of(const Noise& noise, const Case& what, const Options& options, bool others) {
  const gate::Levels levels =
      options.naive ? gate::levels_of_one_look(0.95, 1) : gate::levels_of_five_looks(0.95, 1);
  noise::Source source(20261121);
  Tally tally;
  tally.gates = static_cast<double>(options.gates);
  for (std::size_t gate = 0; gate < options.gates; ++gate) {
    const Measured rounds = in_random_order(noise, source, kMostRounds, what.truth);
    look_at(rounds, what, levels, tally);
    if (!others) continue;
    tally.looking += fails_t_at_any_round(rounds.reference, rounds.candidate, what.limit) ? 1 : 0;
    const Measured blocks = one_after_the_other(noise, source, kMostRounds, what.truth);
    tally.poop += fails_poop(blocks.reference, blocks.candidate, what.limit) ? 1 : 0;
    tally.sigma += fails_mean_sigma(blocks.reference, blocks.candidate, what.limit) ? 1 : 0;
  }
  return tally;
}

/// How often the shown interval of the delta holds the truth.
double coverage_of(const Noise& noise, std::size_t rounds, const Options& options) {
  noise::Source source(rounds);
  constexpr double truth = 1.1;
  std::size_t held = 0;
  for (std::size_t i = 0; i < options.gates; ++i) {
    const Measured measured = in_random_order(noise, source, rounds, truth);
    const stats::Delta delta = stats::paired_delta(measured.reference, measured.candidate, 0.95);
    if (delta.change && delta.half_width &&
        std::abs(*delta.change - (truth - 1.0)) <= *delta.half_width)
      ++held;
  }
  return static_cast<double>(held) / static_cast<double>(options.gates);
}

constexpr std::array<std::size_t, 3> kCovered{10, 25, 100};

struct Outcome {
  Tally at_limit, equal, above;
  std::array<double, kCovered.size()> coverage{};
};

Outcome outcome_of(const Noise& noise, const Options& options) {
  Outcome outcome{tally_of(noise, kAtLimit, options, true),
                  tally_of(noise, kEqual, options, true),
                  tally_of(noise, kAbove, options, true),
                  {}};
  for (std::size_t i = 0; i < kCovered.size(); ++i)
    outcome.coverage[i] = coverage_of(noise, kCovered[i], options);
  return outcome;
}

/// What chance alone may add to a share in so many gates: three standard errors, where the whole
/// simulation's 20,000 leave next to nothing.
double allowance(double share, const Options& options) {
  return options.gates >= 20000
             ? 0.0
             : 3.0 * std::sqrt(share * (1.0 - share) / static_cast<double>(options.gates));
}

class Limits {
 public:
  explicit Limits(const Options& options) : options_(options) {}

  void at_most(const std::string& series, const char* what, double share, double limit) {
    if (share > limit + allowance(limit, options_)) broken(series, what, share, "above", limit);
  }
  void at_least(const std::string& series, const char* what, double share, double limit) {
    if (share < limit - allowance(limit, options_)) broken(series, what, share, "below", limit);
  }
  int count() const { return count_; }

 private:
  void broken(const std::string& series, const char* what, double share, const char* side,
              double limit) {
    std::printf("BROKEN: %s: %s is %.2f%%, %s %.1f%%\n", series.c_str(), what, 100 * share, side,
                100 * limit);
    ++count_;
  }
  const Options& options_;
  int count_ = 0;
};

void print_row(const std::string& name, const Outcome& o) {
  const auto four = [](const Tally& t) {
    std::printf("|%6.2f%6.1f%6.1f%6.1f ", 100 * t.share(t.fail), 100 * t.share(t.poop),
                100 * t.share(t.sigma), 100 * t.share(t.looking));
  };
  std::printf("%-36s", name.c_str());
  four(o.at_limit);
  four(o.equal);
  four(o.above);
  std::printf("|%5.0f%5.0f |%6.1f%6.1f%6.1f\n", o.equal.share(o.equal.rounds),
              o.above.share(o.above.rounds), 100 * o.coverage[0], 100 * o.coverage[1],
              100 * o.coverage[2]);
}

void print_head(const Options& options) {
  std::printf("%zu gates each; first look after %zu rounds, last after %zu. Fails in percent:\n",
              options.gates, kFirstLook, kMostRounds);
  std::printf(
      "lauka, poop (one after the other), mean +- sigma (likewise), t test after each round\n");
  std::printf(
      "%-36s| at the limit: +10%%, 10%% | equal, gate 5%%          | +15%%, gate 10%%          |"
      " rounds  | interval holds\n%-36s",
      "", "noise");
  for (int i = 0; i < 3; ++i) std::printf("| lauka  poop mn+-s ttest ");
  std::printf("|equal +15%% |  n=10    25   100\n");
}

/// One look at 9.2 (sigma / m)^2 rounds finds m points above the limit in 80% of cases: the facts'
/// rule, for the noise that it speaks of (normal in the logarithm of the ratio).
double power_of_one_look(const Options& options) {
  constexpr double sigma = 0.08;  // of log(c / r)
  constexpr double limit = 1.10;
  constexpr double points = 0.05;
  const auto rounds = static_cast<std::size_t>(
      std::ceil(9.2 * sigma * sigma / ((points / limit) * (points / limit))));
  const Noise noise = lognormal(sigma / std::sqrt(2.0));
  const gate::Levels levels = gate::levels_of_one_look(0.95, 1);
  noise::Source source(7);
  double found = 0;
  for (std::size_t i = 0; i < options.gates; ++i) {
    const Measured measured = in_random_order(noise, source, rounds, limit + points);
    const gate::Evidence evidence{measured.reference, measured.candidate};
    found += gate::judge(evidence, limit - 1.0, levels, true).answer == gate::Answer::Fail ? 1 : 0;
  }
  return found / static_cast<double>(options.gates);
}

void check(const Series& series, const Outcome& outcome, Limits& limits) {
  limits.at_most(series.name, "false fails at the limit",
                 outcome.at_limit.share(outcome.at_limit.fail), 0.05);
  limits.at_most(series.name, "false fails of equal programs at 5%",
                 outcome.equal.share(outcome.equal.fail), 0.015);
  for (const double share : outcome.coverage)
    limits.at_least(series.name, "coverage of the interval", share, 0.93);
}

/// How often a slow-down of 5 points more than the limit is found, as a mean over series of a kind,
/// and how often the facts' table has it for theirs.
struct Power {
  const char* kind;
  bool recorded;
  double least;
};
constexpr std::array<Power, 2> kPowers{{{"synthetic", false, 0.93}, {"recorded", true, 0.66}}};

void check_power(const std::vector<Series>& all, const std::vector<Outcome>& outcomes,
                 Limits& limits) {
  for (const Power& power : kPowers) {
    double found = 0;
    double count = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].recorded != power.recorded) continue;
      found += outcomes[i].above.share(outcomes[i].above.fail);
      count += 1;
    }
    std::printf(
        "found at +5 points, mean of the %s series: %.1f%% (the facts, for theirs: %.0f%%)\n",
        power.kind, 100 * found / count, 100 * power.least);
    limits.at_least(power.kind, "found at +5 points over the limit", found / count, power.least);
  }
}

int simulate(const Options& options) {
  const std::vector<Series> all = all_series(options.recorded);
  std::vector<Outcome> outcomes(all.size());
  // Every other series on a second thread: the seeds are each series' own.
  const auto work = [&](std::size_t first) {
    for (std::size_t i = first; i < all.size(); i += 2)
      outcomes[i] = outcome_of(all[i].noise, options);
  };
  std::thread second(work, 1);
  work(0);
  second.join();
  print_head(options);
  Limits limits(options);
  for (std::size_t i = 0; i < all.size(); ++i) print_row(all[i].name, outcomes[i]);
  for (std::size_t i = 0; i < all.size(); ++i) check(all[i], outcomes[i], limits);
  check_power(all, outcomes, limits);
  const double power = power_of_one_look(options);
  std::printf("one look at 9.2 (sigma/m)^2 rounds finds +m points: %.1f%% (the facts: 80%%)\n",
              100 * power);
  limits.at_least("log-normal", "found by one look", power, 0.80);
  std::printf("%s\n", limits.count() == 0 ? "all limits hold" : "limits are broken");
  return limits.count() == 0 ? 0 : 1;
}

bool read(int argc, const char* const* argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--naive") {
      options.naive = true;
    } else if (word == "--gates" && i + 1 < argc) {
      options.gates = std::strtoul(argv[++i], nullptr, 10);
    } else {
      options.recorded = word;
    }
  }
  return options.gates > 0 && std::ifstream(options.recorded).good();
}

}  // namespace
}  // namespace lauka::simulation

int main(int argc, char** argv) {
  lauka::simulation::Options options;
  if (!lauka::simulation::read(argc, argv, options)) {
    std::fprintf(stderr, "usage: gate_simulator [--gates N] [--naive] RECORDED.json\n");
    return 2;
  }
  return lauka::simulation::simulate(options);
}
