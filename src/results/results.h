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

struct SlowFirstRun {
  stats::FirstRun seen;
  std::uint64_t warmup = 0;  ///< number of warm-up runs before the first run; 0 if unknown
  bool alone_read_disk =
      false;  ///< true if the first run is the only run known to have read from the disk
};

struct ManyOutliers {
  std::size_t count = 0;
  std::size_t runs = 0;
};

/// The limit that kept the number of runs low. Ended: the session was cut short.
enum class FewBecause : unsigned char { Runs, MinRuns, MaxRuns, Ended };

struct FewRuns {
  std::size_t runs = 0;
  bool has_gates = false;  ///< true: `runs` is the fewest rounds of an undecided gate; false: the
                           ///< fewest runs of a delta
  FewBecause because = FewBecause::MinRuns;
};

/// Finding: deltas compare runs that did not alternate.
struct NotInterleaved {
  bool has_gates = false;
  bool for_hooks =
      false;  ///< true if --setup or --cleanup, not the user's choice, caused the order
};

/// A property that differs between two sessions. `then` is its value in the baseline or in a joined
/// session, `now` its value in this session or in the reference's session.
struct Difference {
  std::string_view what;
  std::string then;
  std::string now;
};

/// Finding: deltas compare runs of different sessions.
struct AgainstBaseline {
  bool has_gates = false;
  bool is_joined = false;
};

/// Finding: the baseline, or a joined session, names no machine, or differs from this session in
/// its machine or lauka's version.
struct ForeignBaseline {
  bool names_machine = true;
  std::string file{};  ///< file of the joined session; empty for the baseline
  std::vector<Difference> differences{};
};

struct CoarseClock {
  double median_seconds = 0.0;
  double step_seconds = 0.0;
};

/// Finding: CPU time is so short that its split into user and system time is random.
struct UncertainSplit {
  double median_cpu_seconds = 0.0;
  double tick_seconds = 0.0;  ///< scheduler's tick; 4 ms if unknown
};

/// Finding: runs took no longer than the shell alone, so that a time became 0. `runs` is the number
/// of all timed runs of the command.
struct BelowShell {
  std::size_t runs = 0;
  std::size_t below = 0;
};

/// Finding: candidate and reference spent different shares of their CPU time on the fast cores.
struct OtherCores {
  struct Cycles {
    std::string event;
    double candidate = 0.0;
    double reference = 0.0;
  };
  std::string metric;
  double candidate_share = 0.0;
  double reference_share = 0.0;
  std::vector<Cycles> cycles{};
};

/// Finding: `runs` of `all_runs` runs stayed below --min-p-share, even when they were repeated.
struct LowShare {
  std::string metric;
  double least = 0.0;  ///< --min-p-share, as a fraction
  std::size_t runs = 0;
  std::size_t all_runs = 0;
};

struct LowCoverage {
  double median = 0.0;  ///< median share of the command's instructions that were counted
};

struct MeanDiffers {
  std::string metric;
  stats::Delta delta;
  bool has_tail = false;  ///< true if runs far above the other runs are known to raise the mean
};

/// Finding: neighbouring rounds resemble each other, which widens a delta's interval.
struct AlikeRounds {
  std::string metric;
  double widening = 1.0;  ///< factor by which the interval is wider; the largest of several deltas
  bool is_own = false;    ///< true: the runs of Warning::command alone cause it; false: no single
                          ///< command of this session does
};

/// Finding: an event was 0 in every run of a command, and was probably not counted.
struct NeverCounted {
  std::string event;
};

struct SlowedByCounting {
  double ratio =
      1.0;  ///< typical wall time of counting runs, divided by the typical wall time of timed runs
};

struct LostCounts {
  UncountedFile file;
};

struct Throttled {
  Throttling seen;  ///< throttling of the session, or of the joined session that waited longest
};

/// Finding: the command probably had to wait for a CPU. The medians are of the command's runs.
struct BusyMachine {
  double median_wall_seconds = 0.0;
  double median_cpu_seconds = 0.0;
  double median_preemptions = 0.0;
};

struct SamePrograms {
  std::string reference;
};

/// Finding: processes of a run went on after it. `runs` of `of` runs had such processes, `fewest`
/// to `most` of them per run.
struct OutlivedRuns {
  std::size_t runs = 0;
  std::size_t of = 0;
  std::size_t fewest = 0;
  std::size_t most = 0;
};

/// A finding with its numbers; report/ puts it into words.
using Finding = std::variant<SlowFirstRun, stats::Drift, stats::TwoModes, ManyOutliers,
                             stats::SlowNoise, CoarseClock, UncertainSplit, BelowShell, FewRuns,
                             NotInterleaved, AgainstBaseline, ForeignBaseline, OtherCores, LowShare,
                             LowCoverage, NeverCounted, MeanDiffers, AlikeRounds, SlowedByCounting,
                             BusyMachine, SamePrograms, LostCounts, Throttled, OutlivedRuns>;

struct Warning {
  Finding finding;
  std::optional<std::size_t>
      command{};  ///< index of the command that the finding is about; nullopt: the finding is about
                  ///< several commands, or about the session
  Shown shown = Shown::Always;
};

/// A factor of the wall time, which is Instructions / InstructionsPerCycle / Clock / Utilisation.
/// The other parts replace factors that cannot be used.
enum class WallPart : unsigned char {
  Instructions,
  InstructionsPerCycle,
  Cycles,           ///< replaces Instructions / InstructionsPerCycle
  Clock,            ///< cycles per CPU time, a divisor
  CpuTimePerCycle,  ///< CPU time per cycle; replaces the clock if cycles lack a part of the CPU
                    ///< time, or include the shell
  CpuTimePerInstruction,
  CpuTime,
  Utilisation,  ///< CPU time / wall time, a divisor
};

struct WallFactor {
  WallPart part = WallPart::CpuTime;
  /// Candidate's factor divided by the reference's, minus 1.
  stats::Change change{};
  std::optional<double>
      reference{};  ///< median over the reference's runs; only Clock and Utilisation may have one
  std::optional<double> candidate{};

  /// Returns the logarithm that this factor adds to the log ratio of the wall times.
  double log_of_wall_time() const;
};

/// The explanation of a candidate's speed: factors whose product is the ratio of wall times.
struct Why {
  std::size_t command = 0;
  std::vector<WallFactor> factors{};
  bool lacks_instructions =
      false;  ///< true if instructions have no usable delta, so that no factor is about them
  bool lacks_cycles = false;  ///< true if cycles have no usable delta, or one at other privilege
                              ///< levels than the instructions'
  bool is_simulated = false;
  CountedLevels levels = CountedLevels::UserAndKernel;  ///< privilege levels of the counts; times
                                                        ///< always include user space and kernel
  bool has_other_levels = false;  ///< true if cycles were left out because they were counted at
                                  ///< other privilege levels than instructions
  bool counted_kernel = false;
  bool has_shell = false;        ///< true if counts include the shell, while times do not
  bool sums_core_kinds = false;  ///< true if cycles are a sum over several core kinds
};

struct LayoutResult {
  std::optional<stats::LayoutEstimate>
      mean{};  ///< mean of the command's values; nullopt if unknown or for a percentile
  std::optional<stats::LayoutEstimate>
      compared{};  ///< mean of log(candidate / reference); nullopt if unknown
  std::optional<stats::Delta>
      first_alone{};  ///< delta from the first layout's runs alone; nullopt if unknown
};

struct MetricResult {
  std::size_t metric = 0;
  std::size_t runs =
      0;  ///< number of runs with a value; with `at_most` or `only_mean`, number of all timed runs
  std::optional<stats::Summary> summary{};  ///< nullopt without usable values or for a percentile
  bool is_doubtful = false;                 ///< true: 0 in every run, and probably not counted
  std::optional<stats::QuantileEstimate>
      quantile{};  ///< nullopt if the metric is not a percentile, or there are too few usable runs
  std::size_t fewest_runs =
      0;  ///< number of runs that the percentile needs; 0 if unknown, or not a percentile
  std::optional<double> only_mean{};  ///< mean, if the values of the runs are unknown
  std::optional<double>
      at_most{};  ///< upper bound of all values, if some are known only as upper bounds
  std::optional<stats::Delta>
      delta{};  ///< change from the reference; nullopt if unknown, or for the reference
  std::shared_ptr<const LayoutResult> layouts{};

  /// Returns the mean of the runs (harmonic for a throughput without zeros); nullopt if unknown or
  /// for a percentile.
  std::optional<double> mean() const { return summary ? std::optional(summary->mean) : only_mean; }
};

/// The results of a command, with the same index as in Recording::commands.
struct CommandResult {
  std::size_t runs = 0;  ///< number of timed runs that count
  Endings endings{};
  std::size_t redone_runs = 0;
  std::optional<double> coverage{};
  std::optional<double> slowdown{};  ///< median wall time of counting runs, divided by the median
                                     ///< of timed runs; nullopt if unknown
  std::vector<MetricResult> rows{};
};

/// A comparison in one line: by the primary metric, or by a gated or user-defined metric if only
/// that metric differs.
struct Ranking {
  std::size_t command = 0;
  std::size_t metric = 0;
  stats::RelativeSpeed speed{};
  bool is_significant = false;
};

struct Results {
  Recording session{};
  gate::Findings findings{};
  std::string benchmark{};  ///< name of the benchmark in a suite; empty outside suites
  std::vector<CommandResult> commands{};
  std::vector<Ranking> rankings{};
  std::vector<Why> explanations{};
  std::vector<FunctionChanges> function_changes{};
  bool paired = true;  ///< true if all deltas compare values within rounds
  Presentation presentation{};
  bool is_inconclusive_ok = false;  ///< true: inconclusive gates alone leave the exit status 0
  std::vector<Warning> warnings{};

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

/// Returns the results of a metric (index into Recording::metrics); null if missing.
inline const MetricResult* row_of(const CommandResult& command, std::optional<std::size_t> metric) {
  const auto found = std::ranges::find(command.rows, metric, &MetricResult::metric);
  return found == command.rows.end() ? nullptr : &*found;
}

/// Returns the results of the metric with that role; null if it was not measured.
inline const MetricResult* row_of(const Results& results, std::size_t command, Role role) {
  return row_of(results.commands[command], find_metric(results.session.metrics, role));
}

/// Returns the results of the reference of `command`, in this session or in the baseline. The
/// results of a baseline come from its runs' values alone.
MetricResult result_of_reference(const Results& results, std::size_t command, std::size_t metric);

struct Geomean {
  std::size_t place = 0;    ///< position among its benchmark's candidates
  std::string candidate{};  ///< name of the candidate; empty if the benchmarks use several names
  std::size_t benchmarks = 0;
  std::string metric{};
  Better better = Better::Less;
  stats::Change change{};
};

/// The results of a suite's benchmarks; of a plain call, a single unnamed benchmark.
struct Report {
  std::vector<Results> benchmarks;
  std::vector<Geomean> geomeans{};  ///< means over at least two benchmarks; empty outside suites
  gate::ErrorRate risk = gate::ErrorRate::Any;

  bool is_suite() const { return !benchmarks.front().benchmark.empty(); }
  bool complete() const;
  std::vector<gate::Verdict> verdicts() const;
};

/// Returns the indices of the commands that are compared with the reference.
std::vector<std::size_t> find_candidates(const Results& results);

/// Returns the metrics of a candidate's rows in a suite: the metrics of its gates, else the primary
/// metric (nullopt if the benchmark has none).
std::vector<std::optional<std::size_t>> suite_metrics(const Results& results,
                                                      std::size_t candidate);

/// Makes a report; of a suite, with geometric means. A mean leaves out benchmarks whose candidate
/// has no delta of the metric, or one of -100%.
Report make_report(std::vector<Results> benchmarks, gate::ErrorRate risk);

/// Makes verdicts inconclusive if reference and candidate fail at different rates, or neither has a
/// sample of sampled time. Leaves verdicts about a gate's bound unchanged. Must be called before
/// settle_job.
void hold_back_verdicts(const Recording& session, gate::Findings& findings);

/// True if the verdict's candidate failed in every run, so that its numbers mean nothing.
bool has_failed_throughout(const Results& results, const gate::Verdict& verdict);
/// True if the candidate of any verdict failed in every run.
bool has_failed_throughout(const Report& report);

/// Analyses `results`, which has a session, possibly cut short, and its findings. A run that failed
/// under --ignore-failure counts like any other.
void analyse(Results& results);
/// Analyses a session with its findings.
Results analyse(Recording session, gate::Findings findings);

/// Analyses a session that was just run on the machine of `timers`.
Results analyse(const Plan& plan, Session session, const gate::Findings& findings,
                const Timers& timers = {}, Circumstances circumstances = {});

/// Explains each candidate with deltas of wall and CPU time.
std::vector<Why> make_explanations(const Results& results);

/// Returns the logarithm of the ratio of a metric between two commands, `of` to `to`, within rounds
/// if possible. nullopt if unknown, or if a value is not positive.
std::optional<stats::LogRatio> log_ratio(const Recording& session, std::size_t metric,
                                         std::size_t of, std::size_t to);

/// Judges the gates of a session in a single look, which is valid only if the number of runs did
/// not depend on the gates. The verdicts share the rate of false fails; `gates_of_job` is the
/// number of decisions that share it, if above the session's own.
gate::Findings judge(const Recording& session, const std::vector<Gate>& gates,
                     std::size_t gates_of_job = 0);

/// Compares tuned and untuned runs for each command that has both; empty without --tune=compare.
std::vector<TunedComparison> compare_tuned(const Plan& plan, const Session& session);

/// Returns lauka's exit status for the verdicts. `if_inconclusive`: the status if a gate is
/// inconclusive and none failed; nullopt: 0.
int exit_status_of(const std::vector<gate::Verdict>& verdicts, std::optional<int> if_inconclusive);

/// Returns lauka's exit status for a session: for the signal or failure that cut it short, else for
/// the verdicts.
int exit_status_of(const Session& session, const std::vector<gate::Verdict>& verdicts,
                   std::optional<int> if_inconclusive);

struct FirstRunFacts {
  std::uint64_t warmup = 0;
  bool alone_read_disk = false;
  /// An upper bound, maybe above 1, of the probability that a first run is the slowest at random:
  /// for any command, or for all commands if all have a slow first run.
  double chance = 1.0;
};

/// Finds unsteadiness in the wall times of `command`, which are in the order run. Returns at most
/// two warnings, because one cause often has several effects: a slow first run, if it alone read
/// from the disk or is improbable, and unsteadiness of the other runs.
std::vector<Warning> warnings_of_series(std::size_t command, std::span<const double> series,
                                        const FirstRunFacts& first);

/// Returns the facts about each command's first run, given the wall times.
std::vector<FirstRunFacts> facts_of_first_runs(const Recording& session,
                                               std::span<const Series> series);

/// Returns a finding if the interval of `delta` is wider, and the rounds of `samples` resemble each
/// other clearly more than random rounds; else nullopt. `tests` is the number of such tests, which
/// share the rate of false alarms.
std::optional<AlikeRounds> find_alike_rounds(const Metric& metric, const stats::Delta& delta,
                                             const Comparison& samples, std::size_t tests);

/// Returns the command that alone causes the resemblance, `candidate` or `reference`; nullopt if
/// both or neither do. `reference` is nullopt if it is in a baseline.
std::optional<std::size_t> find_cause(std::span<const Series> series, std::size_t candidate,
                                      std::optional<std::size_t> reference);

/// True if the mean's change differs from the delta because of outliers: the command that raises
/// the mean has outliers as its largest values. The candidate's row of `metric` must have such a
/// delta. False if unknown, or if the baseline raises the mean.
bool mean_has_tail(const Results& results, std::size_t metric, std::size_t candidate);

/// Returns a finding if counting slowed a command's runs by more than 5%, with confidence; else
/// nullopt. The arguments are wall times in the order run.
std::optional<SlowedByCounting> slowed_by_counting(std::span<const double> timed,
                                                   std::span<const double> counting);

/// Finds weaknesses other than unsteady wall times, such as coarse clocks or few runs. `results`
/// must have its rows, rankings and verdicts.
std::vector<Warning> warnings_of_results(const Results& results);

}  // namespace lauka
