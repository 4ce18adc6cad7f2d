// race_simulator: lauka's own race on simulated rounds. scripts/bench race runs it. Exits with 1
// where a limit is broken.
//
//   race_simulator [--races N]
//
// The noise of a run has a deviation of 2% of its mean, or 4% with heavy tails. A command that is
// better by 1 is better by one deviation, 2%.

#include "gate/race.h"
#include "stats/delta.h"
#include "stats/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace lauka::simulation {
namespace {

constexpr double kDeviation = 0.02;
constexpr double kLimit = 0.01;
/// The difference, in deviations, of commands that are equal but for a name for the best one. These
/// races are the hardest ones to get right: the best command is nowhere seen to be better.
constexpr double kHair = 1e-6;
constexpr double kConfidence = 0.95;
constexpr std::size_t kMinRounds = 10;
/// Rounds of all commands for which the time is enough; what one does not use goes to the others.
constexpr std::size_t kRoundsInTime = 200;

/// Returns the deviations of a round's runs, one for each command.
using Noise =
    std::function<std::vector<double>(noise::Source&, std::size_t round, std::size_t commands)>;

std::vector<double> normal(noise::Source& source, std::size_t /*round*/, std::size_t commands) {
  return source.normals(commands, 0.0, 1.0);
}

/// Student's t with three degrees of freedom, scaled to a deviation of two.
std::vector<double> heavy(noise::Source& source, std::size_t /*round*/, std::size_t commands) {
  std::vector<double> values(commands);
  for (double& value : values) {
    double squares = 0.0;
    for (int i = 0; i < 3; ++i) {
      const double z = source.normal();
      squares += z * z;
    }
    value = 2.0 * source.normal() / std::sqrt(squares);
  }
  return values;
}

/// Slow minutes that all runs of a round share, and a machine that gets slower.
std::vector<double> drifting(noise::Source& source, std::size_t round, std::size_t commands) {
  std::vector<double> values = source.normals(commands, 0.0, 1.0);
  const auto at = static_cast<double>(round);
  const double shared = 3.0 * std::sin(at / 15.0) + 0.01 * at;
  for (double& value : values) value += shared;
  return values;
}

struct Case {
  std::string name;
  std::size_t commands = 2;
  Noise noise = normal;
  /// Returns how much slower a command is than the best one, in deviations.
  std::function<double(std::size_t command)> gap = [](std::size_t) { return 0.0; };
};

std::function<double(std::size_t)> one_better_by(double gap) {
  return [gap](std::size_t command) { return command == 0 ? 0.0 : gap; };
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::size_t commands : {2U, 4U, 16U, 64U}) {
    const auto add = [&](std::string name, Noise noise, std::function<double(std::size_t)> gap) {
      cases.push_back({std::move(name), commands, std::move(noise), std::move(gap)});
    };
    add("all equal", normal, one_better_by(0.0));
    add("one better by a hair", normal, one_better_by(kHair));
    add("one by just the limit", normal, one_better_by(kLimit / kDeviation + kHair));
    add("one better by 0.6", normal, one_better_by(0.6));
    add("one better by 1", normal, one_better_by(1.0));
    add("one better by 2", normal, one_better_by(2.0));
    add("evenly spread", normal,
        [](std::size_t command) { return 0.3 * static_cast<double>(command); });
    add("heavy tails, equal", heavy, one_better_by(0.0));
    add("heavy tails, a hair", heavy, one_better_by(kHair));
    add("heavy tails, the limit", heavy, one_better_by(kLimit / kDeviation + kHair));
    add("heavy tails, one by 1", heavy, one_better_by(1.0));
    add("drift, one better by 1", drifting, one_better_by(1.0));
  }
  return cases;
}

/// One race as it goes on: the values of each command, and who is left.
class Rounds {
 public:
  Rounds(const Case& what, std::uint64_t seed)
      : case_(what), source_(seed), values_(what.commands) {}

  void run(const std::vector<std::size_t>& left) {
    const std::vector<double> noise = case_.noise(source_, rounds_++, case_.commands);
    for (const std::size_t c : left)
      values_[c].push_back(1.0 + kDeviation * (case_.gap(c) + noise[c]));
    runs_ += left.size();
  }

  std::size_t rounds() const { return rounds_; }
  std::size_t runs() const { return runs_; }
  const std::vector<double>& values(std::size_t command) const { return values_[command]; }

 private:
  const Case& case_;
  noise::Source source_;
  std::vector<std::vector<double>> values_;
  std::size_t rounds_ = 0;
  std::size_t runs_ = 0;
};

struct Outcome {
  std::vector<std::size_t> left{};
  std::optional<gate::RaceEnd> decision{};
  std::size_t runs = 0;
};

Outcome race(const Case& what, std::uint64_t seed, std::size_t rounds_in_time) {
  Rounds rounds(what, seed);
  gate::Race race(what.commands, {.limit = kLimit}, {.confidence = kConfidence}, kMinRounds);
  const gate::RaceSamples samples{
      .of_pair =
          [&](std::size_t reference, std::size_t candidate) {
            Comparison pair{rounds.values(reference), rounds.values(candidate)};
            const std::size_t common = std::min(pair.reference.size(), pair.candidate.size());
            pair.reference.resize(common);
            pair.candidate.resize(common);
            return pair;
          },
      .of_command = [&](std::size_t command) { return rounds.values(command); }};

  while (!race.decision()) {
    rounds.run(race.left());
    const bool last = rounds.runs() >= rounds_in_time * what.commands;
    if (last || rounds.rounds() >= race.rounds_at_next_look())
      race.look(rounds.rounds(), last, samples);
    if (last) break;
  }
  return {race.left(), race.decision(), rounds.runs()};
}

/// irace's rule: after each round from the fifth on, who is worse than the best by a paired t test
/// at 5% leaves.
Outcome race_like_irace(const Case& what, std::uint64_t seed, std::size_t rounds_in_time) {
  constexpr std::size_t first_test = 5;
  Rounds rounds(what, seed);
  std::vector<std::size_t> left(what.commands);
  std::iota(left.begin(), left.end(), std::size_t{0});
  const auto sum = [&](std::size_t c) {
    return std::accumulate(rounds.values(c).begin(), rounds.values(c).end(), 0.0);
  };

  while (left.size() > 1 && rounds.runs() < rounds_in_time * what.commands) {
    rounds.run(left);
    if (rounds.rounds() < first_test) continue;
    const std::size_t best = *std::ranges::min_element(left, {}, sum);
    std::erase_if(left, [&](std::size_t c) {
      if (c == best) return false;
      const auto test = stats::paired_mean_test(rounds.values(best), rounds.values(c), 1.0);
      return test.tails.above < 0.025;
    });
  }
  return {left, left.size() == 1 ? std::optional(gate::RaceEnd::OneLeft) : std::nullopt,
          rounds.runs()};
}

/// The fully sequential procedure of Kim and Nelson (2001) with an indifference zone of `zone`
/// deviations and a first stage of ten rounds.
Outcome race_like_kim_and_nelson(const Case& what, std::uint64_t seed, double zone) {
  constexpr std::size_t first_stage = 10;
  Rounds rounds(what, seed);
  const std::size_t k = what.commands;
  std::vector<std::size_t> left(k);
  std::iota(left.begin(), left.end(), std::size_t{0});
  for (std::size_t i = 0; i < first_stage; ++i) rounds.run(left);

  const double degrees = static_cast<double>(first_stage) - 1.0;
  const double eta =
      0.5 *
      (std::pow(2.0 * (1.0 - kConfidence) / (static_cast<double>(k) - 1.0), -2.0 / degrees) - 1.0);
  const double delta = zone * kDeviation;
  const auto difference = [&](std::size_t i, std::size_t j, std::size_t round) {
    return rounds.values(i)[round] - rounds.values(j)[round];
  };
  std::vector<std::vector<double>> variances(k, std::vector<double>(k));
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < k; ++j) {
      double mean = 0.0;
      for (std::size_t r = 0; r < first_stage; ++r) mean += difference(i, j, r) / first_stage;
      for (std::size_t r = 0; r < first_stage; ++r)
        variances[i][j] += std::pow(difference(i, j, r) - mean, 2.0) / degrees;
    }

  while (left.size() > 1) {
    const auto n = static_cast<double>(rounds.rounds());
    const std::vector<std::size_t> before = left;
    std::erase_if(left, [&](std::size_t i) {
      return std::ranges::any_of(before, [&](std::size_t j) {
        if (i == j) return false;
        double sum = 0.0;
        for (std::size_t r = 0; r < rounds.rounds(); ++r) sum += difference(i, j, r);
        const double square = 2.0 * eta * degrees * variances[i][j] / (delta * delta);
        return sum > std::max(0.0, delta / 2.0 * (square - n));
      });
    });
    if (left.empty()) left = {before.front()};
    if (left.size() > 1) rounds.run(left);
  }
  return {left, gate::RaceEnd::OneLeft, rounds.runs()};
}

struct Tally {
  double races = 0, lost = 0, wrong = 0, unfinished = 0, runs = 0, squared_runs = 0;
  double share(double count) const { return count / races; }

  /// Standard error of the mean of the runs.
  double error_of_runs() const {
    const double mean = share(runs);
    return std::sqrt(std::max(share(squared_runs) - mean * mean, 0.0) / races);
  }

  /// Adds a race. Any of several commands that are equally good may be left.
  void add(const Case& what, const Outcome& outcome) {
    const auto is_best = [&](std::size_t c) { return what.gap(c) == 0.0; };
    const bool keeps_best = std::ranges::any_of(outcome.left, is_best);
    const bool has_worse = std::ranges::any_of(
        outcome.left, [&](std::size_t c) { return kDeviation * what.gap(c) > kLimit; });
    const bool is_wrong = outcome.decision == gate::RaceEnd::Equal && has_worse;
    ++races;
    lost += keeps_best ? 0 : 1;
    wrong += !keeps_best || is_wrong ? 1 : 0;
    unfinished += outcome.decision ? 0 : 1;
    const auto count = static_cast<double>(outcome.runs);
    runs += count;
    squared_runs += count * count;
  }
};

constexpr std::uint64_t kSeed = 20261128;

Tally tally_of(const Case& what, std::size_t races) {
  Tally tally;
  for (std::size_t i = 0; i < races; ++i) tally.add(what, race(what, kSeed + i, kRoundsInTime));
  return tally;
}

int count_broken(const Case& what, const Tally& tally) {
  constexpr double limit = 0.05;
  const double chance = 3.0 * std::sqrt(limit * (1.0 - limit) / tally.races);
  if (tally.share(tally.wrong) <= limit + chance) return 0;
  std::printf("BROKEN: %zu commands, %s: the last line is wrong in %.1f%% of races, above 5%%\n",
              what.commands, what.name.c_str(), 100 * tally.share(tally.wrong));
  return 1;
}

/// Four commands, of which one is better by 0.6 deviations: lauka, irace's rule, and Kim and
/// Nelson.
int compare_rules(std::size_t races) {
  const Case what{"one better by 0.6", 4, normal, one_better_by(0.6)};
  std::array<Tally, 3> tallies;
  for (std::size_t i = 0; i < races; ++i) {
    tallies[0].add(what, race(what, kSeed + i, kRoundsInTime));
    tallies[1].add(what, race_like_irace(what, kSeed + i, kRoundsInTime));
    tallies[2].add(what, race_like_kim_and_nelson(what, kSeed + i, 0.6));
  }

  std::printf("\n4 commands, one better by 0.6; runs of each command on average\n");
  constexpr std::array names{"lauka", "irace's rule", "Kim and Nelson, zone 0.6"};
  for (std::size_t i = 0; i < names.size(); ++i)
    std::printf("%-26s runs %6.1f   best lost %5.2f%%   undecided %5.2f%%\n", names.at(i),
                tallies.at(i).share(tallies.at(i).runs) / 4.0,
                100 * tallies.at(i).share(tallies.at(i).lost),
                100 * tallies.at(i).share(tallies.at(i).unfinished));

  // A rule that needs more is another rule. Three standard errors are what chance explains.
  constexpr double most_runs_of_each = 65.0;
  constexpr double most_undecided = 0.02;
  int broken = 0;
  const double chance = 3.0 * tallies[0].error_of_runs();
  if (tallies[0].share(tallies[0].runs) > 4 * most_runs_of_each + chance) {
    std::printf("BROKEN: more than %.0f runs of each command\n", most_runs_of_each);
    ++broken;
  }
  if (tallies[0].share(tallies[0].unfinished) > most_undecided) {
    std::printf("BROKEN: more than %.0f%% of races are undecided\n", 100 * most_undecided);
    ++broken;
  }
  return broken;
}

int simulate(std::size_t races) {
  const std::vector<Case> cases = all_cases();
  std::vector<Tally> tallies(cases.size());
  // Every other case on a second thread. Races of many commands take longer.
  const auto races_of = [&](const Case& what) {
    return what.commands > 16 ? std::max<std::size_t>(races / 10, 20) : races;
  };
  const auto work = [&](std::size_t first) {
    for (std::size_t i = first; i < cases.size(); i += 2)
      tallies[i] = tally_of(cases[i], races_of(cases[i]));
  };
  std::thread second(work, 1);
  work(0);
  second.join();

  std::printf("%-9s %-24s %6s %12s %7s %7s %10s\n", "commands", "truth", "races", "runs of each",
              "lost", "wrong", "undecided");
  int broken = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Tally& tally = tallies[i];
    std::printf("%8zu  %-24s %6.0f %12.1f %6.2f%% %6.2f%% %9.1f%%\n", cases[i].commands,
                cases[i].name.c_str(), tally.races,
                tally.share(tally.runs) / static_cast<double>(cases[i].commands),
                100 * tally.share(tally.lost), 100 * tally.share(tally.wrong),
                100 * tally.share(tally.unfinished));
    broken += count_broken(cases[i], tally);
  }
  broken += compare_rules(races);
  std::printf("%s\n", broken == 0 ? "all limits hold" : "limits are broken");
  return broken == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lauka::simulation

int main(int argc, char** argv) {
  std::size_t races = 2000;
  if (argc == 3 && std::string(argv[1]) == "--races") races = std::strtoul(argv[2], nullptr, 10);
  if ((argc != 1 && argc != 3) || races == 0) {
    std::fprintf(stderr, "usage: race_simulator [--races N]\n");
    return 2;
  }
  return lauka::simulation::simulate(races);
}
