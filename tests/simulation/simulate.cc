// gate_simulator: lauka's own gate on simulated rounds, and alongside it the rules of others on the
// same noise. scripts/bench gate runs it. Exits with 1 where a limit is broken.
//
//   gate_simulator [--gates N] [--naive] RECORDED.json
//
// A round is two consecutive runs of one series of noise, in an order that a coin decides; the
// candidate's is multiplied by the true ratio. Recorded series are read from a random place on, so
// that their slow waves stay. --naive gives each look the whole error, as who does not know better
// would: the limits have to find that.

#include "gate/schedule.h"
#include "gate/verdict.h"
#include "simulation/advice.h"
#include "simulation/benchmarks.h"
#include "simulation/rules.h"
#include "simulation/series.h"
#include "stats/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace lauka::simulation {
namespace {

/// The number of times that each rule said "fail", and lauka's other answers.
struct Tally {
  double gates = 0, fail = 0, pass = 0, rounds = 0;
  double poop = 0, sigma = 0, looking = 0;
  double share(double count) const { return count / gates; }
};

Tally tally_of(const Noise& noise, const Case& what, const Options& options, bool others) {
  noise::Source source(20261121);
  Tally tally;
  tally.gates = static_cast<double>(options.gates);
  for (std::size_t gate = 0; gate < options.gates; ++gate) {
    const Measured rounds = in_random_order(noise, source, kMaxRounds, what.truth);
    const Ended ended = end_of(rounds, what, kPlanned, gate::LookTiming::Early, options.naive);
    tally.fail += ended.answer == gate::Answer::Fail ? 1 : 0;
    tally.pass += ended.answer == gate::Answer::Pass ? 1 : 0;
    tally.rounds += static_cast<double>(ended.rounds);
    if (!others) continue;
    tally.looking += fails_t_at_any_round(rounds.reference, rounds.candidate, what.limit) ? 1 : 0;
    const Measured blocks = one_after_the_other(noise, source, kMaxRounds, what.truth);
    tally.poop += fails_poop(blocks.reference, blocks.candidate, what.limit) ? 1 : 0;
    tally.sigma += fails_mean_sigma(blocks.reference, blocks.candidate, what.limit) ? 1 : 0;
  }
  return tally;
}

struct Outcome {
  Tally at_limit, equal, above;
  std::array<Intervals, kRoundsShown.size()> intervals{};
  Speed speed_equal, speed_above;
};

Outcome outcome_of(const Noise& noise, const Options& options) {
  Outcome outcome;
  outcome.at_limit = tally_of(noise, kAtLimit, options, true);
  outcome.equal = tally_of(noise, kEqual, options, true);
  outcome.above = tally_of(noise, kAbove, options, true);
  for (std::size_t i = 0; i < kRoundsShown.size(); ++i)
    outcome.intervals[i] = intervals_of(noise, kRoundsShown[i], options);
  outcome.speed_equal = speed_of(noise, kEqual, gate::Answer::Pass, options);
  outcome.speed_above = speed_of(noise, kAbove, gate::Answer::Fail, options);
  return outcome;
}

/// Returns the chance variation of a share in so many gates: three standard errors, of which the
/// whole simulation's 20,000 leave next to nothing.
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
  std::printf("|%5.0f%5.0f\n", o.equal.share(o.equal.rounds), o.above.share(o.above.rounds));
}

void print_head(const Options& options) {
  std::printf("%zu gates each; %zu rounds planned, looks from 10 to %zu. Fails in percent:\n",
              options.gates, kPlanned, kMaxRounds);
  std::printf(
      "lauka, poop (one after the other), mean +- sigma (likewise), t test after each round\n");
  std::printf(
      "%-36s| at the limit: +10%%, 10%% | equal, gate 5%%          | +15%%, gate 10%%          |"
      " rounds\n%-36s",
      "", "noise");
  for (int i = 0; i < 3; ++i) std::printf("| lauka  poop mn+-s ttest ");
  std::printf("|equal +15%%\n");
}

/// Prints how good the shown intervals are, and how soon a gate knows.
void print_intervals(const std::vector<Series>& all, const std::vector<Outcome>& outcomes) {
  std::printf(
      "\nIntervals that hold a true +10%%; rows of equal programs coloured slower / faster; in "
      "percent. Median rounds\nof right answers with %zu planned, without early looks : with.\n"
      "%-36s",
      kManyPlanned, "noise");
  for (const std::size_t rounds : kRoundsShown) std::printf("|    %4zu rounds    ", rounds);
  std::printf("| equal, 5%%   | +15%%, 10%%\n");
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::printf("%-36s", all[i].name.c_str());
    for (const Intervals& seen : outcomes[i].intervals)
      std::printf("| %5.1f %4.1f /%4.1f ", 100 * seen.coverage, 100 * seen.slower,
                  100 * seen.faster);
    const Outcome& o = outcomes[i];
    std::printf("| %4.0f : %4.0f | %4.0f : %4.0f\n", o.speed_equal.planned, o.speed_equal.early,
                o.speed_above.planned, o.speed_above.early);
  }
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
  const gate::LookErrors levels = gate::errors_of_only_look(0.95, 1);
  noise::Source source(7);
  double found = 0;
  for (std::size_t i = 0; i < options.gates; ++i) {
    const Measured measured = in_random_order(noise, source, rounds, limit + points);
    const gate::Evidence evidence{measured.reference, measured.candidate};
    found += gate::judge(evidence, {.limit = limit - 1.0, .levels = levels, .is_last_look = true})
                         .answer == gate::Answer::Fail
                 ? 1
                 : 0;
  }
  return found / static_cast<double>(options.gates);
}

void check(const Series& series, const Outcome& outcome, Limits& limits) {
  limits.at_most(series.name, "false fails at the limit",
                 outcome.at_limit.share(outcome.at_limit.fail), 0.05);
  limits.at_most(series.name, "false fails of equal programs at 5%",
                 outcome.equal.share(outcome.equal.fail), 0.015);
  for (const Intervals& seen : outcome.intervals) {
    limits.at_least(series.name, "coverage of the interval", seen.coverage, 0.93);
    limits.at_most(series.name, "equal rows coloured slower", seen.slower, 0.04);
    limits.at_most(series.name, "equal rows coloured faster", seen.faster, 0.04);
  }
}

/// Colours are as rare on average as they should be, and early looks save three quarters of the
/// rounds.
void check_means(const std::vector<Outcome>& outcomes, Limits& limits) {
  const auto count = static_cast<double>(outcomes.size());
  for (std::size_t i = 0; i < kRoundsShown.size(); ++i) {
    Intervals mean;
    for (const Outcome& outcome : outcomes) {
      mean.slower += outcome.intervals[i].slower / count;
      mean.faster += outcome.intervals[i].faster / count;
    }
    limits.at_most("all series", "equal rows coloured slower", mean.slower, 0.03);
    limits.at_most("all series", "equal rows coloured faster", mean.faster, 0.03);
  }
  const auto median_ratio = [&](Speed Outcome::*member) {
    std::vector<double> ratios;
    for (const Outcome& outcome : outcomes)
      ratios.push_back((outcome.*member).early / (outcome.*member).planned);
    return median_of(ratios);
  };
  const double equal = median_ratio(&Outcome::speed_equal);
  const double above = median_ratio(&Outcome::speed_above);
  std::printf(
      "rounds with early looks to those without, %zu planned, median of the series: equal %.2f, +5 "
      "points %.2f\n",
      kManyPlanned, equal, above);
  limits.at_most("all series", "rounds of a pass of equal programs, of the old", equal, 0.25);
  limits.at_most("all series", "rounds of a fail at +5 points, of the old", above, 0.25);
}

/// The share of slow-downs of 5 points more than the limit that is found, as a mean over series of
/// a kind, and the share in the facts' table for theirs.
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

/// Advice holds in four of five cases, less three standard errors of so many pieces of advice.
void check_advice(const std::vector<Advice>& all, Limits& limits) {
  constexpr double promised = 0.8;
  for (const Advice& advice : all) {
    if (advice.given == 0) continue;
    const double chance = 3.0 * std::sqrt(promised * (1.0 - promised) / advice.given);
    limits.at_least(advice.name, "advice that held", advice.share_held(), promised - chance);
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
  print_intervals(all, outcomes);
  check_means(outcomes, limits);
  check_power(all, outcomes, limits);
  const double power = power_of_one_look(options);
  std::printf("one look at 9.2 (sigma/m)^2 rounds finds +m points: %.1f%% (the facts: 80%%)\n",
              100 * power);
  limits.at_least("log-normal", "found by one look", power, 0.80);
  const std::vector<Advice> advice = simulate_advice(all, options);
  print_advice(advice);
  check_advice(advice, limits);
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
