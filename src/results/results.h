#pragma once

#include "core/choices.h"
#include "core/command.h"
#include "core/metric.h"
#include "gate/verdict.h"
#include "plan/plan.h"
#include "results/functions.h"
#include "session/baseline.h"
#include "session/recording.h"
#include "stats/delta.h"
#include "stats/layouts.h"
#include "stats/quantiles.h"
#include "stats/summary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lauka {

/// Finding: the first run was slower than all later runs.
struct SlowFirstRun {
  stats::FirstRun seen;
  std::uint64_t warmup = 0;  ///< number of warm-up runs before it; 0 if unknown
  bool alone_read_disk =
      false;  ///< true if the first run, and no other, is known to have read from the disk
};

/// Finding: some runs were far slower or faster than the others.
struct ManyOutliers {
  std::size_t count = 0;  ///< number of runs more than 1.5 interquartile ranges beyond the
                          ///< quartiles
  std::size_t runs = 0;   ///< number of runs examined, without a slow first run
};

/// The limit that kept the number of runs low. Ended: the session ended before it reached a limit.
enum class FewBecause : unsigned char { Runs, MinRuns, MaxRuns, Ended };

/// Finding: too few runs for a reliable result.
struct FewRuns {
  std::size_t runs = 0;    ///< fewest rounds of an undecided gate; else fewest runs of a delta
  bool has_gates = false;  ///< true: a gate could not be decided; false: deltas are uncertain
  FewBecause because = FewBecause::MinRuns;
};

/// Finding: deltas, and perhaps gates, compare runs that did not alternate.
struct NotInterleaved {
  bool has_gates = false;  ///< true if the session has gates
  bool for_hooks =
      false;  ///< true if the order is due to --setup or --cleanup, not to the user's choice
};

/// A property of the machine, or lauka's version, that differs between two sessions.
struct Difference {
  std::string_view what;  ///< name of the property
  std::string then;       ///< value in the baseline, or in the joined session
  std::string now;        ///< value in this session, or in the reference's session
};

/// Finding: deltas, and perhaps gates, compare runs of different sessions.
struct AgainstBaseline {
  bool has_gates = false;  ///< true if the session has gates
  bool is_joined = false;  ///< true: sessions were joined; false: there is a baseline
};

/// Finding: the baseline, or a joined session without the reference, is of another or an unknown
/// machine, of the same machine in another state, or by another lauka.
struct ForeignBaseline {
  bool names_machine = true;              ///< false: the file does not name its machine
  std::string file{};                     ///< file of the joined session; empty for the baseline
  std::vector<Difference> differences{};  ///< empty if the file does not name its machine
};

/// Finding: the clock is so coarse that a run takes few of its steps.
struct CoarseClock {
  double median_seconds = 0.0;
  double step_seconds = 0.0;
};

/// Finding: CPU time is so short that its division into user and system time is random.
struct UncertainSplit {
  double median_cpu_seconds = 0.0;
  double tick_seconds = 0.0;  ///< scheduler's tick; if unknown, the longest common one
};

/// Finding: runs took no longer than the shell alone, so that a time became 0.
struct BelowShell {
  std::size_t runs = 0;   ///< number of all timed runs of the command
  std::size_t below = 0;  ///< number of those that took no longer than the shell
};

/// Finding: candidate and reference spent different shares of their CPU time on the fast cores.
struct OtherCores {
  /// Mean cycles on one core kind.
  struct Cycles {
    std::string event;  ///< "cycles (P)"
    double candidate = 0.0;
    double reference = 0.0;
  };
  std::string metric;  ///< "p_share"
  double candidate_share = 0.0;
  double reference_share = 0.0;
  std::vector<Cycles> cycles{};  ///< cycles by core kind, as far as counted in both
};

/// Finding: runs that count stayed below --min-p-share, even when they were repeated.
struct LowShare {
  std::string metric;        ///< "p_share"
  double least = 0.0;        ///< --min-p-share, as a fraction
  std::size_t runs = 0;      ///< number of runs below --min-p-share
  std::size_t all_runs = 0;  ///< number of all runs of the command with a share
};

/// Finding: the engine counted too small a part of a command.
struct LowCoverage {
  double median =
      0.0;  ///< median share of the command's instructions that were counted, a fraction
};

/// Finding: the change of the mean is clearly outside the interval of the typical round.
struct MeanDiffers {
  std::string metric;
  stats::Delta delta;
  bool has_tail = false;  ///< true if the command whose mean is raised has runs far above its
                          ///< others; false if that is the baseline
};

/// Finding: neighbouring rounds resemble each other, which widens a delta's interval.
struct AlikeRounds {
  std::string metric;
  double widening =
      1.0;  ///< factor by which the interval is wider; the largest, if of several deltas
  bool is_own = false;  ///< true: neighbouring runs of Warning::command resemble each other; false:
                        ///< the differences within rounds do, or the runs of both commands or of
                        ///< the baseline
};

/// Finding: an event was 0 in every run of a command that executed instructions.
struct NeverCounted {
  std::string event;
};

/// Finding: counting made runs slower.
struct SlowedByCounting {
  double ratio =
      1.0;  ///< typical wall time of counting runs divided by the typical wall time of timed runs
};

/// Finding: a command has no counts, because it loses the counters when its program starts.
struct LostCounts {
  UncountedFile file;
};

/// Finding: processes of the session had to wait for the quota of a control group.
struct Throttled {
  Throttling seen;  ///< throttling; of joined sessions, the session that waited longest
};

/// Finding: the command probably had to wait for a CPU.
struct BusyMachine {
  double median_wall_seconds = 0.0;
  double median_cpu_seconds = 0.0;
  double median_preemptions = 0.0;
};

/// Finding: candidate and reference are the same program, so that differences are noise or have
/// another cause.
struct SamePrograms {
  std::string reference;  ///< name of the reference
};

/// Finding: processes of a run went on after it.
struct OutlivedRuns {
  std::size_t runs = 0;    ///< number of runs with such processes
  std::size_t of = 0;      ///< number of all runs of the command that count
  std::size_t fewest = 0;  ///< smallest number of such processes in one of `runs`
  std::size_t most = 0;    ///< largest number of such processes in one of `runs`
};

/// A finding with its numbers, which report/ puts into words.
using Finding = std::variant<SlowFirstRun, stats::Drift, stats::TwoModes, ManyOutliers,
                             stats::SlowNoise, CoarseClock, UncertainSplit, BelowShell, FewRuns,
                             NotInterleaved, AgainstBaseline, ForeignBaseline, OtherCores, LowShare,
                             LowCoverage, NeverCounted, MeanDiffers, AlikeRounds, SlowedByCounting,
                             BusyMachine, SamePrograms, LostCounts, Throttled, OutlivedRuns>;

/// A finding about a session, shown to users as a caveat.
struct Warning {
  Finding finding;
  std::optional<std::size_t> command{};  ///< index of the command that the finding is about;
                                         ///< nullopt: it is about several, or about the session
  Shown shown =
      Shown::Always;  ///< Verbose: the screen shows it with --verbose only; exports include it
};

/// A factor of the wall time: instructions / instructions per cycle / clock / utilisation. Other
/// factors replace those that were not counted.
enum class WallPart : unsigned char {
  Instructions,
  InstructionsPerCycle,  ///< a divisor
  Cycles,                ///< replaces the two above if instructions cannot be compared
  Clock,                 ///< cycles per CPU time, a divisor
  CpuTimePerCycle,  ///< CPU time per cycle; replaces the clock if counts lack a part of the run
                    ///< that CPU time includes, or include the shell
  CpuTimePerInstruction,  ///< replaces the factors that need cycles
  CpuTime,                ///< replaces the factors that need instructions or cycles
  Utilisation,            ///< CPU time / wall time, a divisor
};

/// A factor of the wall time in a candidate, relative to the reference.
struct WallFactor {
  WallPart part = WallPart::CpuTime;
  /// Candidate's factor divided by the reference's, minus 1.
  stats::Change change{};
  std::optional<double> reference{};  ///< median over the reference's runs; nullopt: unknown, a
                                      ///< baseline's clock, or neither clock nor utilisation
  std::optional<double> candidate{};  ///< median over the candidate's runs; nullopt: unknown, or
                                      ///< neither clock nor utilisation

  /// Returns the logarithm that this factor adds to the logarithm of the wall time's ratio.
  double log_of_wall_time() const;
};

/// The explanation of a candidate's speed: factors whose product is the ratio of wall times.
struct Why {
  std::size_t command = 0;  ///< index of the candidate
  std::vector<WallFactor> factors{};
  bool lacks_instructions = false;  ///< true if instructions were not counted or have no usable
                                    ///< delta, so that no factor is about them
  bool lacks_cycles =
      false;  ///< likewise for cycles; also true if they are left out (has_other_levels)
  bool is_simulated = false;  ///< true if the counts were simulated
  CountedLevels levels =
      CountedLevels::UserAndKernel;  ///< privilege levels of the counts, if there are any; times
                                     ///< always include both
  bool has_other_levels =
      false;  ///< true if cycles are left out because instructions were counted at other levels
  bool counted_kernel = false;   ///< true if any event was counted in the kernel only
  bool has_shell = false;        ///< true if counts include the shell, while times do not
  bool is_of_all_kinds = false;  ///< true if cycles are a sum over several core kinds
};

/// The estimates of a metric over a command's layouts.
struct LayoutResult {
  std::optional<stats::LayoutEstimate>
      mean{};  ///< mean of the command's values; nullopt: too few layouts, or a percentile
  std::optional<stats::LayoutEstimate> compared{};  ///< mean of log(candidate / reference);
                                                    ///< nullopt: too few layouts, not compared, or
                                                    ///< a value is not positive
  std::optional<stats::Delta> first_alone{};  ///< delta from the first layout's runs only; nullopt:
                                              ///< not compared, or a side has no such run
};

/// The results of one metric of one command.
struct MetricResult {
  std::size_t metric = 0;  ///< index into Recording::metrics
  std::size_t runs = 0;    ///< number of runs with a value, which may be fewer than the command's
                           ///< runs; of all timed runs with `at_most` or `only_mean`
  std::optional<stats::Summary>
      summary{};  ///< nullopt: no run has a value, some values are upper bounds only, the metric is
                  ///< a percentile, or is_doubtful
  bool is_doubtful =
      false;  ///< true: 0 in every run, and probably not counted; there is no summary
  std::optional<stats::QuantileEstimate>
      quantile{};  ///< nullopt: the metric is not a percentile, there are too few runs, or some
                   ///< values are upper bounds only
  std::size_t fewest_runs = 0;        ///< number of runs that a percentile needs; 0 for other
                                      ///< metrics, or if some values are upper bounds only
  std::optional<double> only_mean{};  ///< mean, if the values of runs are unknown; else nullopt
  std::optional<double>
      at_most{};  ///< upper bound of all runs' values, if some values are unknown; else nullopt
  std::optional<stats::Delta>
      delta{};  ///< nullopt: the command is no candidate, or there is too little to compare
  std::shared_ptr<const LayoutResult> layouts{};  ///< null without --layouts, or without values

  /// Returns the mean of the runs; nullopt if unknown, or for a percentile.
  std::optional<double> mean() const { return summary ? std::optional(summary->mean) : only_mean; }
};

/// The results of a command, with the same index as in Recording::commands.
struct CommandResult {
  std::size_t runs = 0;              ///< number of timed runs that count
  Endings endings{};                 ///< endings of runs of all kinds that count
  std::size_t redone_runs = 0;       ///< number of runs that were repeated and do not count
  std::optional<double> coverage{};  ///< median of RunRecord::coverage; nullopt: unknown
  std::optional<double> slowdown{};  ///< median wall time of counting runs divided by the timed
                                     ///< runs'; nullopt: a kind has no runs, or the timed ones took
                                     ///< no longer than the shell
  std::vector<MetricResult> rows{};  ///< results of each metric, in the order of Recording::metrics
};

/// A comparison in one line: by the primary metric, or by a gated or user-defined metric if only
/// that differs.
struct Ranking {
  std::size_t command = 0;
  std::size_t metric = 0;        ///< index into Recording::metrics
  stats::RelativeSpeed speed{};  ///< delta of the metric, as a factor
  bool is_significant = false;   ///< true if the delta is significant
};

/// A session, findings made while it ran, and conclusions: all that reports and exports show.
struct Results {
  Recording session{};
  gate::Findings findings{};
  std::string benchmark{};  ///< name of the benchmark in a suite; empty outside suites
  std::vector<CommandResult> commands{};  ///< results of each of the session's commands
  std::vector<Ranking> rankings{};        ///< one per candidate that can be compared
  std::vector<Why> explanations{};  ///< one per candidate whose wall time can be split into factors
  std::vector<FunctionChanges>
      function_changes{};  ///< changes by metric, then by candidate; empty if nothing is compared
  bool paired = true;      ///< true if all deltas compare values within rounds
  Presentation presentation{};
  bool is_inconclusive_ok = false;  ///< true: inconclusive gates alone leave the exit status 0
  std::vector<Warning> warnings{};  ///< ordered by the kind of finding, else as found

  /// Returns the reference of `command`, in this session or in the baseline.
  const Command& reference_of(std::size_t command) const {
    const auto& baseline = session.reference.baseline;
    return baseline ? baseline->session->commands[baseline->commands[command]]
                    : session.commands[session.reference.command];
  }

  /// Returns the endings of the reference of `command`, in this session or in the baseline.
  Endings endings_of_reference(std::size_t command) const {
    const auto& baseline = session.reference.baseline;
    return baseline ? count_endings(*baseline->session->runs, baseline->commands[command])
                    : commands[session.reference.command].endings;
  }
};

/// Returns the results of a metric (index into Recording::metrics); null if there is no such
/// metric.
inline const MetricResult* row_of(const CommandResult& command, std::optional<std::size_t> metric) {
  const auto found = std::ranges::find(command.rows, metric, &MetricResult::metric);
  return found == command.rows.end() ? nullptr : &*found;
}

/// Returns the results of the metric with that role; null if it was not measured.
inline const MetricResult* row_of(const Results& results, std::size_t command, Role role) {
  return row_of(results.commands[command], find_metric(results.session.metrics, role));
}

/// Returns the results of the reference of `command`, in this session or in the baseline. A
/// baseline's are those of its runs' values alone.
MetricResult row_of_reference(const Results& results, std::size_t command, std::size_t metric);

/// The geometric mean of a candidate's changes over a suite's benchmarks.
struct Geomean {
  std::size_t place = 0;       ///< position among the candidates of its benchmark
  std::string candidate{};     ///< name of the candidate if all benchmarks included use the same;
                               ///< else empty
  std::size_t benchmarks = 0;  ///< number of benchmarks included, at least 2
  std::string metric{};
  Better better = Better::Less;
  stats::Change change{};
};

/// The results of a suite's benchmarks, or the results of a plain call as a single unnamed
/// benchmark: all that screen and exports show.
struct Report {
  std::vector<Results> benchmarks;  ///< benchmarks; at least one
  std::vector<Geomean> geomeans{};  ///< for each candidate's position and metric with deltas in at
                                    ///< least two benchmarks; empty outside suites
  gate::Risk risk = gate::Risk::Any;  ///< error rate that the gates control together

  bool is_suite() const { return !benchmarks.front().benchmark.empty(); }
  bool complete() const;
  std::vector<gate::Verdict> verdicts() const;
};

/// Returns the commands (indices) that are compared with the benchmark's reference.
std::vector<std::size_t> find_candidates(const Results& results);

/// Returns the metrics of a candidate's rows in a suite (indices into Results::metrics): the
/// metrics of its gates, else the primary metric. nullopt stands for a row without a metric.
std::vector<std::optional<std::size_t>> suite_metrics(const Results& results,
                                                      std::size_t candidate);

/// Makes a report; of a suite, with geometric means of the metrics in its rows. A mean leaves out
/// benchmarks whose candidate has no delta of the metric, or one of -100%.
Report make_report(std::vector<Results> benchmarks, gate::Risk risk);

/// Makes verdicts inconclusive if reference and candidate have different failure rates or no
/// samples; not those about a gate's bound. Must be called before settle_job.
void hold_back_verdicts(const Recording& session, gate::Findings& findings);

/// True if a verdict's candidate failed in every run, so that its numbers mean nothing.
bool has_failed_throughout(const Results& results, const gate::Verdict& verdict);
/// True if a verdict's candidate failed in every run, in any of the report's benchmarks.
bool has_failed_throughout(const Report& report);

/// Analyses `results`, which has a session and its findings; the session may have been cut short.
/// Commands without a run that counts have 0 runs and rows without values. A run that failed under
/// --ignore-failure counts like any other.
void analyse(Results& results);
/// Analyses a session with its findings.
Results analyse(Recording session, gate::Findings findings);

/// Analyses a session that was just run on the machine of `timers`; the results include
/// `circumstances`.
Results analyse(const Plan& plan, Session session, const gate::Findings& findings,
                const Timers& timers = {}, Circumstances circumstances = {});

/// Explains each candidate with deltas of wall and CPU time. Factors that have rows use the rows'
/// deltas.
std::vector<Why> make_explanations(const Results& results);

/// Returns the logarithm of the ratio of a metric between two commands, `of` to `to`, within rounds
/// if runs were interleaved and any round has both. nullopt if a command has no value, if a value
/// is not positive or is an upper bound only, or with too few layouts.
std::optional<stats::LogRatio> log_ratio(const Recording& session, std::size_t metric,
                                         std::size_t of, std::size_t to);

/// Judges the gates of a session in a single look, which is valid only if its number of runs did
/// not depend on them. They share the rate of false fails, with `gates_of_job` decisions if that is
/// more.
gate::Findings judge(const Recording& session, const std::vector<Gate>& gates,
                     std::size_t gates_of_job = 0);

/// Compares the tuned and untuned runs of a session with --tune=compare, for each command that has
/// both; empty for other sessions.
std::vector<TunedComparison> compare_tuned(const Plan& plan, const Session& session);

/// Returns lauka's exit status for the verdicts. `if_inconclusive`: the status if a gate is
/// inconclusive and none failed; nullopt: as if all had passed.
int exit_status_of(const std::vector<gate::Verdict>& verdicts, std::optional<int> if_inconclusive);

/// Returns lauka's exit status for a session that was just run: for what cut it short, a signal or
/// a failure; else for the verdicts.
int exit_status_of(const Session& session, const std::vector<gate::Verdict>& verdicts,
                   std::optional<int> if_inconclusive);

/// Facts about a command's first run, other than its wall time.
struct FirstRunFacts {
  std::uint64_t warmup = 0;      ///< SlowFirstRun::warmup
  bool alone_read_disk = false;  ///< SlowFirstRun::alone_read_disk
  /// An upper bound, maybe above 1, of the probability that in a random order the first run is the
  /// slowest: of any command or, if each command's first run is slow, of all of them.
  double chance = 1.0;
};

/// Finds unsteadiness in the wall times of `command`; `series` is in the order run. Returns at most
/// two warnings, because one cause often has several effects. The first is a slow first run, if it
/// alone read from the disk or is improbable otherwise, and unless it is one of many outliers after
/// a warm-up. The second is about the other runs: drift (unless it is small compared with the
/// spread and there are outliers), else two modes, outliers or slow noise.
std::vector<Warning> warnings_of_series(std::size_t command, std::span<const double> series,
                                        const FirstRunFacts& first);

/// Returns the facts about all commands' first runs, given the wall times of each command.
std::vector<FirstRunFacts> facts_of_first_runs(const Recording& session,
                                               std::span<const Series> series);

/// Returns a finding about the delta of `metric`, if its interval is wider because the rounds of
/// `samples` resemble each other clearly more than random ones do; else nullopt. `tests` is the
/// number of such tests in the session, which share the rate of false alarms.
std::optional<AlikeRounds> find_alike_rounds(const Metric& metric, const stats::Delta& delta,
                                             const Comparison& samples, std::size_t tests);

/// Returns the command that causes the resemblance: the only one of reference and candidate whose
/// own series shows it; else nullopt. `reference` is nullopt if it is in a baseline.
std::optional<std::size_t> find_cause(std::span<const Series> series, std::size_t candidate,
                                      std::optional<std::size_t> reference);

/// True if an outlying tail explains why the mean's change differs from the delta: the command that
/// raises the mean has outliers as its largest values. The candidate's row of `metric`
/// (index into Recording::metrics) must have such a delta. False if it is the baseline that raises
/// the mean, or if values are unknown.
bool mean_has_tail(const Results& results, std::size_t metric, std::size_t candidate);

/// Returns a finding if counting slowed a command's runs by more than 5%, as the whole interval of
/// the ratio says; else nullopt. `timed` and `counting` are wall times in the order run.
std::optional<SlowedByCounting> slowed_by_counting(std::span<const double> timed,
                                                   std::span<const double> counting);

/// Finds weaknesses other than unsteady wall times, such as the clocks, the number of runs or the
/// order. `results` must have its rows, rankings and verdicts.
std::vector<Warning> warnings_of_results(const Results& results);

}  // namespace lauka
