// warnings_simulator: lauka's own analysis of simulated sessions. scripts/bench warnings runs it.
//
//   warnings_simulator [--sessions N] [--quick] [--coverage]
//
// Prints how often each statement is made where it is false (equal commands under eight kinds of
// noise) and where it is true (at some sizes of effect), or how often the shown intervals hold the
// truth. Exits with 1 if a statement errs in more than one of a hundred sessions, or an interval
// holds the truth less often than it says.

#include "simulation/warnings/simulate.h"

#include "report/screen.h"
#include "simulation/warnings/sessions.h"
#include "stats/summary.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lauka::simulation {
namespace {

enum class Statement : unsigned char {
  FirstRun,
  Drift,
  TwoModes,
  Outliers,
  Noise,
  Mean,
  MeansNote,
  Alike,
  NamedAlike,
  Counting,
  Busy,
};
constexpr std::size_t kStatements = 11;

constexpr std::array<std::string_view, kStatements> kNames{
    "the first run was slower",
    "wall time rose or fell",
    "two groups",
    "several runs took far longer",
    "consecutive runs resemble each other",
    "mean and typical round differ",
    "the line below the table, a few runs",
    "neighbouring rounds resemble",
    "... in this command",
    "counting slowed the runs down",
    "the machine seems busy",
};

/// The statements of one session.
using Made = std::array<bool, kStatements>;

struct Reader {
  Made& made;
  bool is_named;

  void add(Statement statement) const { made[static_cast<std::size_t>(statement)] = true; }
  void operator()(const SlowFirstRun&) const { add(Statement::FirstRun); }
  void operator()(const stats::Drift&) const { add(Statement::Drift); }
  void operator()(const stats::TwoModes&) const { add(Statement::TwoModes); }
  void operator()(const ManyOutliers&) const { add(Statement::Outliers); }
  void operator()(const stats::SlowNoise&) const { add(Statement::Noise); }
  void operator()(const MeanDiffers&) const { add(Statement::Mean); }
  void operator()(const AlikeRounds&) const {
    add(Statement::Alike);
    if (is_named) add(Statement::NamedAlike);
  }
  void operator()(const SlowedByCounting&) const { add(Statement::Counting); }
  void operator()(const BusyMachine&) const { add(Statement::Busy); }
  template <typename Other>
  void operator()(const Other&) const {}
};

Made statements_of(const Results& results) {
  Made made{};
  for (const Warning& warning : results.warnings)
    if (warning.shown == Shown::Always)
      std::visit(Reader{made, warning.command.has_value()}, warning.finding);
  made[static_cast<std::size_t>(Statement::MeansNote)] =
      !report::lines_about_contradicting_means(results, {}).empty();
  return made;
}

/// A kind of session, and the statements that are true of it.
struct Cell {
  std::string name;
  Make make;
  std::vector<Statement> truths{};
};

constexpr std::array<std::size_t, 4> kRounds{6, 10, 30, 100};

/// Shares of sessions by number of rounds.
using Shares = std::array<std::array<double, kStatements>, kRounds.size()>;

Shares shares_of(const Cell& cell, std::size_t sessions) {
  Shares shares{};
  Analysis analysis;
  for (std::size_t n = 0; n < kRounds.size(); ++n) {
    noise::Source source(20261126 + kRounds[n]);
    for (std::size_t i = 0; i < sessions; ++i) {
      const Made made = statements_of(analysis.of(cell.make(source, kRounds[n])));
      for (std::size_t s = 0; s < kStatements; ++s) shares[n][s] += made[s] ? 1.0 : 0.0;
    }
    for (double& share : shares[n]) share /= static_cast<double>(sessions);
  }
  return shares;
}

using enum Statement;

/// Equal commands. The runs of a model that has what a statement says are no false alarms.
std::vector<Cell> equal_commands() {
  std::vector<Cell> cells{
      {"normal", of_machine(normal)},
      {"log-normal", of_machine(log_normal)},
      {"t, 3 degrees", of_machine(t3), {Outliers, Mean, MeansNote}},
      {"bimodal", of_machine(bimodal), {TwoModes, Outliers, Mean, MeansNote}},
      {"spikes", of_machine(spikes), {Outliers, Mean, MeansNote}},
      {"ticks", of_machine(ticks)},
      {"drift", of_machine(drift), {Drift, Noise}},
      {"AR 0.6", of_machine(waves(0.6)), {Noise}},
  };
  for (Cell& cell : cells) {
    const Make make = cell.make;
    cell.make = [make](noise::Source& source, std::size_t rounds) {
      Simulated all = make(source, rounds);
      // Five counting runs of each, which take no longer.
      const Simulated counting = make(source, 5);
      all.counting_reference = counting.reference;
      all.counting_candidate = counting.candidate;
      return all;
    };
  }
  return cells;
}

template <typename Change>
Make changed(const Make& make, Change change) {
  return [make, change](noise::Source& source, std::size_t rounds) {
    Simulated all = make(source, rounds);
    change(all, source);
    return all;
  };
}

Make with_slow_first(double factor, bool reads, bool both) {
  return changed(of_machine(normal), [=](Simulated& all, noise::Source&) {
    all.candidate[0].wall *= factor;
    all.candidate[0].disk_reads = reads ? 100 : 0;
    if (both) all.reference[0].wall *= factor;
  });
}

Make with_counting(double factor) {
  return changed(of_machine(normal), [=](Simulated& all, noise::Source& source) {
    const Simulated counting = of_machine(normal)(source, 5);
    all.counting_reference = counting.reference;
    all.counting_candidate = counting.candidate;
    for (auto* runs : {&all.counting_reference, &all.counting_candidate})
      for (RunOf& run : *runs) run.wall *= factor;
  });
}

/// The candidate's runs take `factor` times as long in a `share` of cases.
Make with_rare(double share, double factor) {
  return changed(of_machine(normal), [=](Simulated& all, noise::Source& source) {
    for (RunOf& run : all.candidate) run.wall *= source.uniform() < share ? factor : 1.0;
  });
}

/// Every run gets a CPU for `share` of its time, and is preempted so often or waits as often.
Make with_waiting(double share, std::uint64_t pushes, std::uint64_t waits) {
  return changed(of_machine(normal), [=](Simulated& all, noise::Source&) {
    for (auto* runs : {&all.reference, &all.candidate})
      for (RunOf& run : *runs) {
        run.wall = 0.34 / share;
        run.cpu_share = share;
        run.pushes = pushes;
        run.waits = waits;
      }
  });
}

Make with_drift(double change) {
  return changed(of_machine(normal), [=](Simulated& all, noise::Source&) {
    for (auto* runs : {&all.reference, &all.candidate})
      for (std::size_t i = 0; i < runs->size(); ++i)
        (*runs)[i].wall *=
            1.0 + change * static_cast<double>(i) / static_cast<double>(runs->size());
  });
}

Make with_groups(double distance) {
  return changed(of_machine(normal), [=](Simulated& all, noise::Source& source) {
    for (auto* runs : {&all.reference, &all.candidate})
      for (RunOf& run : *runs) run.wall *= source.uniform() < 0.3 ? 1.0 + distance : 1.0;
  });
}

std::vector<Cell> effects() {
  return {
      {"first run of one 1.5 times as long", with_slow_first(1.5, false, false), {FirstRun}},
      {"the same, and only this run read from the disk",
       with_slow_first(1.5, true, false),
       {FirstRun}},
      {"first runs of both 1.5 times as long", with_slow_first(1.5, false, true), {FirstRun}},
      {"drift of 5 % (noise 2 %)", with_drift(0.05), {Drift}},
      {"drift of 20 %", with_drift(0.2), {Drift}},
      {"two groups 15 % apart, 70:30", with_groups(0.15), {TwoModes}},
      {"two groups 30 % apart", with_groups(0.3), {TwoModes}},
      {"one run in ten 3 times as long", with_rare(0.1, 3.0), {Outliers, Mean, MeansNote}},
      {"one run in 20 3 times as long", with_rare(0.05, 3.0), {Outliers, Mean, MeansNote}},
      {"AR 0.6 of one command", of_candidate(waves(0.6)), {Noise, Alike, NamedAlike}},
      {"AR 0.9 of one command", of_candidate(waves(0.9)), {Noise, Alike, NamedAlike}},
      {"counting takes 1.1 times as long", with_counting(1.1), {Counting}},
      {"counting takes 1.5 times as long", with_counting(1.5), {Counting}},
      {"a quarter of the time on a CPU, 100 preemptions", with_waiting(0.25, 100, 3), {Busy}},
      {"two thirds of the time, 10 preemptions", with_waiting(0.66, 10, 3), {Busy}},
      {"sleeps three quarters of the time, not busy", with_waiting(0.25, 1, 5)},
      {"one long sleep and a preemption, not busy", with_waiting(0.25, 4, 3)},
  };
}

bool is_true(const Cell& cell, Statement statement) {
  return std::ranges::find(cell.truths, statement) != cell.truths.end();
}

/// "0.3", "<0.1" or "-".
std::string percent(double share) {
  if (share == 0.0) return "-";
  std::array<char, 16> text{};
  const double value = 100.0 * share;
  std::snprintf(text.data(), text.size(),
                value >= 99.5 ? "%.0f"
                : value >= 10 ? "%.0f"
                              : "%.1f",
                value);
  return value < 0.05 ? "<0.1" : text.data();
}

void print_rounds(const Shares& shares, std::size_t statement) {
  for (std::size_t n = 0; n < kRounds.size(); ++n)
    std::printf("%s%s", n == 0 ? "" : " / ", percent(shares[n][statement]).c_str());
}

/// Prints the largest rate of each statement over all cells in which it is false.
int print_false_alarms(const std::vector<Cell>& cells, const std::vector<Shares>& all, double most,
                       bool verbose) {
  int broken = 0;
  std::printf("\n| false alarms, %% of sessions of 6 / 10 / 30 / 100 rounds | worst | under |\n");
  std::printf("|---|---|---|\n");
  for (std::size_t s = 0; s < kStatements; ++s) {
    Shares worst{};
    std::string where;
    double largest = 0.0;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (is_true(cells[c], static_cast<Statement>(s))) continue;
      for (std::size_t n = 0; n < kRounds.size(); ++n) {
        const double share = all[c][n][s];
        worst[n][s] = std::max(worst[n][s], share);
        if (share > largest) where = cells[c].name;
        largest = std::max(largest, share);
        if (share <= most) continue;
        ++broken;
        std::fprintf(stderr, "BROKEN: \"%s\" in %.2f%% of sessions of %zu rounds, %s\n",
                     kNames[s].data(), 100.0 * share, kRounds[n], cells[c].name.c_str());
      }
      if (verbose && largest > 0.0) {
        std::fprintf(stderr, "%-38s %-45s ", kNames[s].data(), cells[c].name.c_str());
        for (std::size_t n = 0; n < kRounds.size(); ++n)
          std::fprintf(stderr, " %s", percent(all[c][n][s]).c_str());
        std::fprintf(stderr, "\n");
      }
    }
    std::printf("| %s | ", kNames[s].data());
    print_rounds(worst, s);
    std::printf(" | %s |\n", where.c_str());
  }
  return broken;
}

void print_hits(const std::vector<Cell>& cells, const std::vector<Shares>& all) {
  std::printf("\n| found, %% of sessions | |\n|---|---|\n");
  for (std::size_t c = 0; c < cells.size(); ++c) {
    for (const Statement statement : cells[c].truths) {
      const auto s = static_cast<std::size_t>(statement);
      std::printf("| %s: %s | ", cells[c].name.c_str(), kNames[s].data());
      print_rounds(all[c], s);
      std::printf(" |\n");
    }
  }
}

struct Options {
  std::size_t sessions = 10000;
  bool coverage = false;
  bool verbose = false;
};

int statements(const Options& options) {
  std::vector<Cell> cells = equal_commands();
  const std::vector<Cell> of_effects = effects();
  const std::size_t equal = cells.size();
  cells.insert(cells.end(), of_effects.begin(), of_effects.end());
  std::vector<Shares> all(cells.size());
  in_parallel(cells.size(), [&](std::size_t i) { all[i] = shares_of(cells[i], options.sessions); });
  std::vector<Cell> false_cells(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(equal));
  std::vector<Shares> false_shares(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(equal));
  for (std::size_t c = equal; c < cells.size(); ++c) {
    if (!cells[c].truths.empty()) continue;
    false_cells.push_back(cells[c]);
    false_shares.push_back(all[c]);
  }
  constexpr double most = 0.01;
  const int broken = print_false_alarms(false_cells, false_shares,
                                        most + allowance(most, options.sessions), options.verbose);
  print_hits(cells, all);
  return broken;
}

}  // namespace
}  // namespace lauka::simulation

int main(int argc, char** argv) {
  using namespace lauka::simulation;
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--sessions" && i + 1 < argc)
      options.sessions = std::strtoul(argv[++i], nullptr, 10);
    else if (word == "--coverage")
      options.coverage = true;
    else if (word == "--verbose")
      options.verbose = true;
    else
      options.sessions = 0;
  }
  if (options.sessions == 0) {
    std::fprintf(stderr, "usage: warnings_simulator [--sessions N] [--coverage] [--verbose]\n");
    return 2;
  }
  const int broken = options.coverage ? simulate_coverage(options.sessions) : statements(options);
  std::printf("\n%zu sessions a cell; %s\n", options.sessions,
              broken == 0 ? "all limits hold" : "limits are broken");
  return broken == 0 ? 0 : 1;
}
