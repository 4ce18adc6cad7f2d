// Simulates series of candidates with lauka's own rules (gate/lord, gate/schedule, gate/verdict),
// next to two rules of others on the same candidates. scripts/bench series runs it. Exits with 1 if
// more is kept falsely than a series promises.
//
//   candidates_simulator [--series N] [--candidates N]
//
// Each candidate is faster or slower than the program that was kept last. A round is one run of
// each. A kept candidate becomes the reference of the next one.

#include "gate/lord.h"
#include "gate/schedule.h"
#include "gate/verdict.h"
#include "stats/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace lauka::simulation {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kNoise = 0.02;         // of a run, as a share of its time
constexpr std::size_t kPlanned = 50;    // rounds at the first planned look; the last is at 200
constexpr std::size_t kMinRounds = 10;  // of lauka's default
constexpr std::array<double, 3> kGoodShares{0.0, 0.05, 0.20};

struct Options {
  std::size_t series = 2000;
  std::size_t candidates = 100;
};

/// A candidate: the logarithm of its time as a share of the reference's.
double draw_candidate(noise::Source& source, double good_share) {
  if (source.uniform() < good_share) return std::log1p(-0.01 - 0.04 * source.uniform());
  // Half of the others change nothing, which is where false decisions come from.
  return source.uniform() < 0.5 ? 0.0 : std::log1p(0.05 * source.uniform());
}

struct Samples {
  std::vector<double> reference;
  std::vector<double> candidate;

  void extend(std::size_t rounds, double log_ratio, noise::Source& source) {
    while (reference.size() < rounds) {
      reference.push_back(std::exp(kNoise * source.normal()));
      candidate.push_back(std::exp(log_ratio + kNoise * source.normal()));
    }
  }
};

struct Ended {
  bool is_kept = false;
  std::size_t rounds = 0;
};

/// Decides about a candidate as a session without -r does.
Ended decide(double log_ratio, double level, noise::Source& source) {
  gate::Schedule schedule =
      gate::Schedule::for_keeping(kConfidence, level, kMinRounds, gate::LookTiming::Early);
  Samples samples;
  const std::size_t most = gate::look_rounds(kPlanned).back();
  gate::Verdict verdict;
  verdict.condition.purpose = ConditionPurpose::Keep;

  const auto is_decided = [&](std::size_t rounds, const gate::LookErrors& levels, bool last) {
    samples.extend(rounds, log_ratio, source);
    const Comparison compared{.reference = samples.reference, .candidate = samples.candidate};
    return gate::decide_at_look(verdict, {.samples = compared}, levels,
                                {.last = last, .rounds_at_last_look = most});
  };
  const auto ended = [&] {
    return Ended{verdict.answer == gate::Answer::Pass, samples.reference.size()};
  };

  while (schedule.rounds_at_next_early_look().value_or(kPlanned) < kPlanned) {
    const std::size_t rounds = *schedule.rounds_at_next_early_look();
    const auto levels = schedule.look_early(rounds);
    if (levels && is_decided(rounds, *levels, false)) return ended();
  }
  for (const std::size_t rounds : gate::look_rounds(kPlanned))
    if (is_decided(rounds, schedule.look_as_planned(rounds, rounds == most), rounds == most))
      return ended();
  return ended();
}

struct Tally {
  double kept = 0, false_kept = 0, good = 0, found = 0, tried = 0, rounds = 0;
  double false_share = 0;  ///< sum over series of false / max(1, kept)
  double series = 0;

  void add(const Tally& other) {
    kept += other.kept;
    false_kept += other.false_kept;
    good += other.good;
    found += other.found;
    tried += other.tried;
    rounds += other.rounds;
    false_share += other.false_share;
    series += other.series;
  }
};

enum class Rule : unsigned char { Series, FivePercentEach, BestOfOneSample };

/// Simulates one series.
Tally run_series(Rule rule, double good_share, std::size_t candidates, std::uint64_t seed) {
  noise::Source source(seed);
  Tally tally{.series = 1};
  std::vector<std::size_t> kept;
  double best_sample = std::exp(kNoise * source.normal());
  double log_base = 0.0;

  for (std::size_t number = 1; number <= candidates; ++number) {
    const double log_ratio = draw_candidate(source, good_share);
    Ended end{.rounds = 1};
    if (rule == Rule::BestOfOneSample) {
      // Compared with the stored number of the best one so far.
      const double sample = std::exp(log_base + log_ratio + kNoise * source.normal());
      end.is_kept = sample < best_sample;
      if (end.is_kept) best_sample = sample;
    } else {
      const double level = rule == Rule::Series
                               ? gate::level_of_candidate(number, kept, kConfidence)
                               : 1.0 - kConfidence;
      end = decide(log_ratio, level, source);
    }

    const bool is_good = log_ratio < 0.0;
    tally.tried += 1;
    tally.rounds += static_cast<double>(end.rounds);
    tally.good += is_good ? 1 : 0;
    if (!end.is_kept) continue;
    kept.push_back(number);
    log_base += log_ratio;
    tally.kept += 1;
    (is_good ? tally.found : tally.false_kept) += 1;
  }

  tally.false_share = tally.false_kept / std::max(1.0, tally.kept);
  return tally;
}

Tally run_all(Rule rule, double good_share, const Options& options) {
  std::array<Tally, 2> halves;
  // Every other series on a second thread: the seeds are each series' own.
  const auto work = [&](std::size_t first) {
    for (std::size_t i = first; i < options.series; i += 2)
      halves[first].add(run_series(rule, good_share, options.candidates, 1000 + i));
  };
  std::thread second(work, 1);
  work(0);
  second.join();
  halves[0].add(halves[1]);
  return halves[0];
}

void print_row(const char* name, const Tally& tally) {
  std::printf(" | %-18s %6.2f%% %7.2f %6.1f%% %7.1f", name, 100 * tally.false_share / tally.series,
              tally.kept / tally.series, tally.good > 0 ? 100 * tally.found / tally.good : 0.0,
              tally.rounds / tally.tried);
}

int simulate(const Options& options) {
  std::printf(
      "%zu series of %zu candidates, noise of %.0f%%, gains of 1 to 5%%; the others equal, or up "
      "to "
      "5%% slower.\nMean of false / max(1, kept), kept in a series, good ones found, rounds for a "
      "candidate:\n",
      options.series, options.candidates, 100 * kNoise);

  int broken = 0;
  for (const double good : kGoodShares) {
    std::printf("%3.0f%% good", 100 * good);
    const Tally series = run_all(Rule::Series, good, options);
    print_row("--series", series);
    print_row("5% each", run_all(Rule::FivePercentEach, good, options));
    print_row("best of one sample", run_all(Rule::BestOfOneSample, good, options));
    std::printf("\n");

    // A rule that finds fewer is another rule.
    constexpr double least_found = 0.8;
    if (series.found < least_found * series.good) {
      std::printf("BROKEN: fewer than %.0f%% of the good ones are found\n", 100 * least_found);
      broken = 1;
    }

    // Three standard errors of a share in so many series.
    constexpr double promised = 1.0 - kConfidence;
    const double chance = 3.0 * std::sqrt(promised * (1.0 - promised) / series.series);
    if (series.false_share / series.series <= promised + (options.series < 2000 ? chance : 0.0))
      continue;
    std::printf("BROKEN: %.2f%% of what a series keeps is false\n",
                100 * series.false_share / series.series);
    broken = 1;
  }

  std::printf("%s\n", broken == 0 ? "all limits hold" : "limits are broken");
  return broken;
}

bool read(int argc, const char* const* argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string word = argv[i];
    const std::size_t number = std::strtoul(argv[i + 1], nullptr, 10);
    if (word == "--series")
      options.series = number;
    else if (word == "--candidates")
      options.candidates = number;
    else
      return false;
  }
  return argc % 2 == 1 && options.series > 0 && options.candidates > 0;
}

}  // namespace
}  // namespace lauka::simulation

int main(int argc, char** argv) {
  lauka::simulation::Options options;
  if (!lauka::simulation::read(argc, argv, options)) {
    std::fprintf(stderr, "usage: candidates_simulator [--series N] [--candidates N]\n");
    return 2;
  }
  return lauka::simulation::simulate(options);
}
